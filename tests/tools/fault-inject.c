// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload into e2fsck, stock or helped, that makes calls fail:
 * those on one file, as a failing disk would, or the n-th of those that the
 * launcher or the module makes.  It decides which calls fail and with what;
 * what must come of it is the scripts' to say.
 *
 * E2PF_FAULT_FILE is the image or device.  E2PF_FAULT is one of
 *   none			nothing fails; what follows below holds
 *   trace			the log says which KiB are read or written, and
 *				"new" before each read that is counted
 *   read:OFFSET+LENGTH		reads of pages in this range: EIO
 *   write:OFFSET+LENGTH:ERRNO	writes into this range fail
 *   gone:N			the N-th read of the checker and all after, and
 *				then what would change by being written: EIO
 *   cut:N:SIZE			before the N-th read the file is cut to SIZE
 *   signal:N:SIGNAL		before the N-th read the process gets a signal
 *   wfail:N:ERRNO		writes that change what changed N-th fail
 *   wsignal:N:SIGNAL		a signal before the N-th change is written
 *   call:WHO:NAME:N		the N-th call of NAME by WHO (launcher,
 *				side-process, module)
 *   calls:WHO:NAME:N		the same, and all after it
 * E2PF_FAULT_LOG gets a line when it comes to that.
 *
 * The two I/O managers do not make the same calls: reads are counted when
 * they read what the checker did not read before, writes in units of 1 KiB
 * that they change.  Reads are the checker's unless their descriptor has
 * O_NONBLOCK, as those have that read ahead.
 *
 * A file just copied is in the page cache, where nothing can fail and nothing
 * is left to read ahead.  So mincore() answers for a device where nothing is
 * but what was read or asked for, bad pages of mappings raise SIGBUS, and what
 * was written can be read again, as a disk's page cache would have it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
/* Both names of each function are defined here, none of them inline. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _LARGEFILE64_SOURCE
#define _LARGEFILE64_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIT		1024u
#define UNITS		(128u << 10)	/* 128 MiB; nothing fails behind it */
#define BAD		1u		/* cannot be read */
#define READ		2u		/* the checker has read it */
#define AHEAD		4u		/* asked for or read by others */
#define MAPPINGS	16

enum kind {
	NONE, TRACE, READ_RANGE, WRITE_RANGE, GONE, CUT, SIGNAL, WFAIL, WSIGNAL,
	CALL, CALLS
};

static struct {
	enum kind kind;
	struct stat target;
	bool has_target;
	uint64_t n, start, end;
	long value;			/* errno, signal or size */
	char name[48];
	uintptr_t text, text_end;	/* whose calls are counted */
	const char *log;
} fault;

static unsigned char unit[UNITS];
static uint64_t reads, changes, calls, bad_change = UINT64_MAX;
static bool gone;
static struct mapping { char *start; size_t len; uint64_t off; }
	mappings[MAPPINGS];
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

void __attribute__((constructor)) begin_faults(void);
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
/* Those of the address sanitizer, which may be there. */
void *__interceptor_malloc(size_t size) __attribute__((weak));
void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

#define REAL(name) REAL_OF(name)
#define REAL_OF(name) \
	static __typeof__(&name) real; \
	if (!real) \
		real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int real_open(const char *path, int flags, int mode)
{
	REAL(open64);

	return real(path, flags, mode);
}

/* Before glibc 2.33 programs call these, with the version of the struct. */
#ifdef __GLIBC_PREREQ
#if !__GLIBC_PREREQ(2, 33)
#define STAT_VERSIONED
#endif
#endif
#ifndef STAT_VERSIONED
#define STAT_NAME(new, old) new
#define STAT_VERSION(...) (__VA_ARGS__)
#else
#define STAT_NAME(new, old) old
#define STAT_VERSION(...) (_STAT_VER, __VA_ARGS__)
#endif

static int real_stat(const char *path, struct stat64 *st)
{
	REAL(STAT_NAME(stat64, __xstat64));

	return real STAT_VERSION(path, st);
}

static int real_fstat(int fd, struct stat64 *st)
{
	REAL(STAT_NAME(fstat64, __fxstat64));

	return real STAT_VERSION(fd, st);
}

static ssize_t real_pread(int fd, void *buf, size_t n, off64_t off)
{
	REAL(pread64);

	return real(fd, buf, n, off);
}

static ssize_t real_pwrite(int fd, const void *buf, size_t n, off64_t off)
{
	REAL(pwrite64);

	return real(fd, buf, n, off);
}

static ssize_t real_write(int fd, const void *buf, size_t n)
{
	REAL(write);

	return real(fd, buf, n);
}

/* errno is the caller's. */
static void log_line(const char *line)
{
	ssize_t len = (ssize_t)strlen(line);
	int err = errno, fd = -1;

	if (fault.log)
		fd = real_open(fault.log, O_WRONLY | O_CREAT | O_APPEND |
			       O_CLOEXEC, 0666);
	if (fd >= 0) {
		if (real_write(fd, line, (size_t)len) != len)
			abort();
		close(fd);
	}
	errno = err;
}

static void log_hit(void)
{
	log_line("hit\n");
}

/*
 * What fails.
 */

static uint64_t next_number(char **text)
{
	char *end;
	uint64_t n = strtoull(*text, &end, 0);

	*text = *end ? end + 1 : end;
	return n;
}

/* The pages of the range cannot be read: the kernel reads whole ones. */
static void mark_bad(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), u;

	fault.start -= fault.start % page;
	fault.end = (fault.end + page - 1) / page * page;
	for (u = fault.start / UNIT; u < fault.end / UNIT && u < UNITS; u++)
		unit[u] |= BAD;
}

static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *who = arg;
	ElfW(Half) i;

	(void)size;
	if (strcmp(who, "module") ? *info->dlpi_name != '\0' :
	    !strstr(info->dlpi_name, "e2fsck-prefetch.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		fault.text = info->dlpi_addr + ph->p_vaddr;
		fault.text_end = fault.text + ph->p_memsz;
		return 1;
	}
	return 0;
}

static bool is_launcher(void)
{
	const char *launcher = getenv("E2FSCK_TEST");
	struct stat a, b;

	return launcher && !stat(launcher, &a) && !stat("/proc/self/exe", &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_side_process(void)
{
	static const char name[] = "/side-process";
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	ssize_t len = (ssize_t)sizeof(name) - 1;

	return n >= len && !memcmp(exe + n - len, name, (size_t)len);
}

/* Who this process is; the module may be in any other program. */
static const char *self_name(void)
{
	return is_launcher() ? "launcher" :
	       is_side_process() ? "side-process" : "module";
}

static void parse_call(char *text)
{
	char *who = text, *name = strchr(text, ':'), *n;

	if (!name || !(n = strchr(name + 1, ':')))
		abort();
	*name++ = *n++ = '\0';
	snprintf(fault.name, sizeof(fault.name), "%s", name);
	fault.n = next_number(&n);
	if (!strcmp(who, self_name()))
		dl_iterate_phdr(find_text, who);
}

static void parse(char *text)
{
	static const char *const names[] = {
		"none", "trace", "read", "write", "gone", "cut", "signal", "wfail",
		"wsignal", "call", "calls"
	};
	size_t len = strcspn(text, ":"), i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && !strncmp(names[i], text, len))
			fault.kind = (enum kind)i;
	text += len + (text[len] == ':');
	if (fault.kind == CALL || fault.kind == CALLS) {
		parse_call(text);
		return;
	}
	fault.n = fault.start = next_number(&text);
	fault.value = (long)next_number(&text);
	if (fault.kind == READ_RANGE || fault.kind == WRITE_RANGE) {
		fault.end = fault.start + (uint64_t)fault.value;
		fault.value = (long)next_number(&text);
	}
	if (fault.kind == READ_RANGE)
		mark_bad();
}

void __attribute__((constructor)) begin_faults(void)
{
	const char *text = getenv("E2PF_FAULT");
	const char *path = getenv("E2PF_FAULT_FILE");
	static char copy[256];

	fault.log = getenv("E2PF_FAULT_LOG");
	if (!text)
		return;
	fault.has_target = path && !stat(path, &fault.target);
	snprintf(copy, sizeof(copy), "%s", text);
	parse(copy);
}

static bool is_target(int fd)
{
	struct stat64 st;
	bool is;
	int err = errno;

	if (!fault.has_target || real_fstat(fd, &st) < 0) {
		errno = err;
		return false;
	}
	is = S_ISBLK(fault.target.st_mode) ?
		st.st_rdev == fault.target.st_rdev :
		st.st_dev == fault.target.st_dev &&
		st.st_ino == fault.target.st_ino;
	return is;
}

static bool is_checkers(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/*
 * The n-th call.
 */

static bool call_fails(const char *name, const void *caller, int error)
{
	uintptr_t at = (uintptr_t)caller;
	uint64_t n;

	if (at < fault.text || at >= fault.text_end ||
	    strcmp(name, fault.name))
		return false;
	n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (fault.kind == CALL ? n != fault.n : n < fault.n)
		return false;
	log_hit();
	errno = error;
	return true;
}

#define FAILS(name, error) \
	call_fails(name, __builtin_return_address(0), error)

/* Found without dlsym(), which allocates. */
#define ALLOCATE(name, arguments) \
	(FAILS(#name, ENOMEM) ? NULL : \
	 __interceptor_##name ? __interceptor_##name arguments : \
	 __libc_##name arguments)

void *malloc(size_t size)
{
	return ALLOCATE(malloc, (size));
}

void *calloc(size_t n, size_t size)
{
	return ALLOCATE(calloc, (n, size));
}

void *realloc(void *old, size_t size)
{
	return ALLOCATE(realloc, (old, size));
}

/* TYPE NAME(PARAMETERS): what a call that fails returns, its errno, and the
 * arguments passed on. */
#define WRAP_AS(label, type, name, parameters, failed, error, arguments) \
type name parameters \
{ \
	REAL(name); \
	return FAILS(label, error) ? failed : real arguments; \
}
#define WRAP(type, name, parameters, failed, error, arguments) \
	WRAP_AS(#name, type, name, parameters, failed, error, arguments)

#undef strdup
#undef strndup
WRAP(char *, strdup, (const char *s), NULL, ENOMEM, (s))
WRAP(char *, strndup, (const char *s, size_t n), NULL, ENOMEM, (s, n))
WRAP(int, setenv, (const char *n, const char *v, int o), -1, ENOMEM, (n, v, o))
WRAP(DIR *, opendir, (const char *p), NULL, EMFILE, (p))
WRAP(FILE *, fdopen, (int fd, const char *m), NULL, ENOMEM, (fd, m))
WRAP(char *, realpath, (const char *restrict p, char *restrict r), NULL, EIO,
     (p, r))
WRAP(ssize_t, readlink, (const char *restrict p, char *restrict b, size_t n),
     -1, EIO, (p, b, n))
WRAP(int, access, (const char *p, int m), -1, EIO, (p, m))
WRAP(int, faccessat, (int d, const char *p, int m, int f), -1, EIO,
     (d, p, m, f))
#ifndef STAT_VERSIONED
WRAP(int, stat, (const char *restrict p, struct stat *restrict s), -1, ENOMEM,
     (p, s))
WRAP_AS("stat", int, stat64, (const char *restrict p, struct stat64 *restrict s), -1, ENOMEM,
     (p, s))
WRAP(int, fstat, (int fd, struct stat *s), -1, EIO, (fd, s))
WRAP_AS("fstat", int, fstat64, (int fd, struct stat64 *s), -1, EIO, (fd, s))
#else
WRAP_AS("stat", int, __xstat, (int v, const char *p, struct stat *s), -1, ENOMEM,
     (v, p, s))
WRAP_AS("stat", int, __xstat64, (int v, const char *p, struct stat64 *s), -1,
     ENOMEM, (v, p, s))
WRAP_AS("fstat", int, __fxstat, (int v, int fd, struct stat *s), -1, EIO,
     (v, fd, s))
WRAP_AS("fstat", int, __fxstat64, (int v, int fd, struct stat64 *s), -1, EIO,
     (v, fd, s))
#endif
WRAP(int, getrlimit, (__rlimit_resource_t r, struct rlimit *l), -1, EPERM,
     (r, l))
WRAP(int, sched_getaffinity, (pid_t p, size_t n, cpu_set_t *s), -1, EPERM,
     (p, n, s))
WRAP(int, sigaction, (int s, const struct sigaction *restrict n,
     struct sigaction *restrict o), -1, EINVAL, (s, n, o))
WRAP(pid_t, fork, (void), -1, EAGAIN, ())
WRAP(void *, dlopen, (const char *f, int m), NULL, ENOMEM, (f, m))
WRAP(int, execv, (const char *p, char *const v[]), -1, E2BIG, (p, v))
WRAP(int, execve, (const char *p, char *const v[], char *const e[]), -1, E2BIG,
     (p, v, e))
WRAP(int, poll, (struct pollfd *p, nfds_t n, int t), -1, ENOMEM, (p, n, t))
WRAP(int, pipe2, (int e[2], int f), -1, EMFILE, (e, f))
WRAP(int, posix_spawn, (pid_t *restrict c, const char *restrict p,
     const posix_spawn_file_actions_t *restrict f,
     const posix_spawnattr_t *restrict a, char *const v[restrict],
     char *const e[restrict]), EAGAIN, EAGAIN, (c, p, f, a, v, e))
WRAP(int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t *f),
     ENOMEM, ENOMEM, (f))
WRAP(int, posix_spawn_file_actions_addopen, (posix_spawn_file_actions_t *f,
     int fd, const char *restrict p, int o, mode_t m), ENOMEM, ENOMEM,
     (f, fd, p, o, m))
WRAP(int, posix_spawn_file_actions_adddup2, (posix_spawn_file_actions_t *f,
     int fd, int n), ENOMEM, ENOMEM, (f, fd, n))
WRAP(int, pthread_create, (pthread_t *restrict t,
     const pthread_attr_t *restrict a, void *(*f)(void *),
     void *restrict d), EAGAIN, EAGAIN, (t, a, f, d))
WRAP(int, pthread_attr_init, (pthread_attr_t *a), ENOMEM, ENOMEM, (a))
WRAP(int, pthread_attr_setstacksize, (pthread_attr_t *a, size_t n), EINVAL,
     EINVAL, (a, n))
WRAP(int, pthread_condattr_init, (pthread_condattr_t *a), ENOMEM, ENOMEM, (a))
WRAP(int, pthread_mutex_init, (pthread_mutex_t *m,
     const pthread_mutexattr_t *a), ENOMEM, ENOMEM, (m, a))
WRAP(int, pthread_sigmask, (int h, const sigset_t *restrict n,
     sigset_t *restrict o), EINVAL, EINVAL, (h, n, o))

/* The open that stock makes too is not one of ours to fail. */
static bool is_own_open(const char *path, int flags)
{
	struct stat64 st;

	return !fault.has_target || (flags & O_NONBLOCK) ||
	       real_stat(path, &st) < 0 || st.st_dev != fault.target.st_dev ||
	       st.st_ino != fault.target.st_ino;
}

#define OPEN_BODY(caller) do { \
	va_list ap; \
	int mode; \
	va_start(ap, flags); \
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0; \
	va_end(ap); \
	if (fault.text && is_own_open(path, flags) && \
	    call_fails("open", caller, EMFILE)) \
		return -1; \
	return real_open(path, flags, mode); \
} while (0)

int open(const char *path, int flags, ...)
{
	OPEN_BODY(__builtin_return_address(0));
}

int open64(const char *path, int flags, ...)
{
	OPEN_BODY(__builtin_return_address(0));
}

int __open_2(const char *path, int flags)
{
	if (fault.text && is_own_open(path, flags) && FAILS("open", EMFILE))
		return -1;
	return real_open(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	if (fault.text && is_own_open(path, flags) && FAILS("open", EMFILE))
		return -1;
	return real_open(path, flags, 0);
}

/*
 * Reading.
 */

/* The kernel reads whole pages. */
static void mark(uint64_t off, uint64_t len, unsigned flag)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), u, end;

	end = (off + len + page - 1) / page * page;
	for (u = off / page * (page / UNIT); u * UNIT < end && u < UNITS; u++)
		__atomic_fetch_or(&unit[u], flag, __ATOMIC_RELAXED);
}

static void trace(const char *what, uint64_t off, uint64_t len)
{
	char line[64];
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len; u++) {
		snprintf(line, sizeof(line), "%s %llu\n", what,
			 (unsigned long long)u);
		log_line(line);
	}
}

/* Where reads are counted both managers have to make them: what was read
 * ahead is not there for the one that asks. */
static void mark_ahead(uint64_t off, uint64_t len)
{
	if (fault.kind != GONE && fault.kind != CUT && fault.kind != SIGNAL)
		mark(off, len, AHEAD);
}

static bool may_be_read(uint64_t u, bool checker)
{
	if (u >= UNITS)
		return !gone;
	if (unit[u] & BAD)
		return false;
	return !gone || (checker && (unit[u] & READ));
}

static bool is_new(uint64_t off, uint64_t len)
{
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len && u < UNITS; u++)
		if (!(unit[u] & READ))
			return true;
	return false;
}

/* The checker is about to read what it did not read before. */
static void count_read(void)
{
	const char *file;

	if (fault.kind == TRACE)
		log_line("new\n");
	if (++reads != fault.n)
		return;
	switch (fault.kind) {
	case GONE:
		gone = true;
		break;
	case CUT:
		file = getenv("E2PF_FAULT_FILE");
		if (!file || truncate(file, fault.value))
			abort();
		break;
	case SIGNAL:
		log_hit();
		raise((int)fault.value);
		return;
	default:
		return;
	}
	log_hit();
}

/* Bytes of a read that come before what fails. */
static size_t readable(uint64_t off, size_t len, bool checker)
{
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len; u++)
		if (!may_be_read(u, checker))
			return u * UNIT > off ? (size_t)(u * UNIT - off) : 0;
	return len;
}

/* How much of a read on the target may be done; -1 with errno for none. */
static ssize_t before_read(int fd, uint64_t off, size_t len)
{
	bool checker = is_checkers(fd);
	size_t n;

	if (checker && is_new(off, len))
		count_read();
	if (checker && fault.kind == TRACE)
		trace("read", off, len);
	n = readable(off, len, checker);
	if (n < len && !gone)
		log_hit();
	if (n == 0 && len) {
		errno = EIO;
		return -1;
	}
	if (checker)
		mark(off, n, READ);
	else
		mark_ahead(off, n);
	return (ssize_t)n;
}

static ssize_t read_at(int fd, void *buf, size_t len, off64_t off,
		       const void *caller)
{
	if (is_target(fd) && off >= 0) {
		ssize_t n;

		if (!is_checkers(fd) && call_fails("pread", caller, EIO))
			return -1;
		n = before_read(fd, (uint64_t)off, len);
		if (n < 0)
			return n;
		len = (size_t)n;
	}
	return real_pread(fd, buf, len, off);
}

#undef pread
#undef pread64
#undef read
ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
	return read_at(fd, buf, len, off, __builtin_return_address(0));
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t off)
{
	return read_at(fd, buf, len, off, __builtin_return_address(0));
}

ssize_t read(int fd, void *buf, size_t len)
{
	REAL(read);

	if (is_target(fd)) {
		off64_t off = lseek64(fd, 0, SEEK_CUR);
		ssize_t n = off < 0 ? 0 : before_read(fd, (uint64_t)off, len);

		if (n < 0)
			return n;
		len = (size_t)n;
	} else if (FAILS("read", EIO)) {
		return -1;
	}
	return real(fd, buf, len);
}

int posix_fadvise(int fd, off_t off, off_t len, int advice)
{
	REAL(posix_fadvise);

	if (FAILS("posix_fadvise", ENOMEM))
		return ENOMEM;
	if (advice == POSIX_FADV_WILLNEED && is_target(fd))
		mark_ahead((uint64_t)off, (uint64_t)len);
	return real(fd, off, len, advice);
}

int posix_fadvise64(int fd, off64_t off, off64_t len, int advice)
{
	REAL(posix_fadvise64);

	if (FAILS("posix_fadvise", ENOMEM))
		return ENOMEM;
	if (advice == POSIX_FADV_WILLNEED && is_target(fd))
		mark_ahead((uint64_t)off, (uint64_t)len);
	return real(fd, off, len, advice);
}

/*
 * Mappings.
 */

static void *real_mmap(void *addr, size_t len, int prot, int flags, int fd,
		       off64_t off)
{
	REAL(mmap64);

	return real(addr, len, prot, flags, fd, off);
}

/* In place of the bad pages comes a file that has none: SIGBUS. */
static void spoil(const struct mapping *m, int prot)
{
	uint64_t start = fault.start, end = fault.end;
	int fd;

	if (start < m->off)
		start = m->off;
	if (end > m->off + m->len)
		end = m->off + m->len;
	if (start >= end)
		return;
	fd = memfd_create("bad", MFD_CLOEXEC);
	if (fd < 0 || real_mmap(m->start + (start - m->off),
				(size_t)(end - start), prot,
				MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		abort();
	close(fd);
}

static void *map_at(void *addr, size_t len, int prot, int flags, int fd,
		    off64_t off, const void *caller)
{
	struct mapping m = { .len = len, .off = (uint64_t)off };
	int i;

	if (call_fails("mmap", caller, ENOMEM))
		return MAP_FAILED;
	m.start = real_mmap(addr, len, prot, flags, fd, off);
	if (m.start == MAP_FAILED || fd < 0 || !is_target(fd))
		return m.start;
	if (fault.kind == READ_RANGE)
		spoil(&m, prot);
	pthread_mutex_lock(&map_lock);
	for (i = 0; i < MAPPINGS && mappings[i].start; i++)
		;
	if (i < MAPPINGS)
		mappings[i] = m;
	pthread_mutex_unlock(&map_lock);
	return m.start;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return map_at(addr, len, prot, flags, fd, off,
		      __builtin_return_address(0));
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off)
{
	return map_at(addr, len, prot, flags, fd, off,
		      __builtin_return_address(0));
}

int munmap(void *addr, size_t len)
{
	int i;
	REAL(munmap);

	pthread_mutex_lock(&map_lock);
	for (i = 0; i < MAPPINGS; i++)
		if (mappings[i].start == addr)
			mappings[i].start = NULL;
	pthread_mutex_unlock(&map_lock);
	return real(addr, len);
}

/* 1 and the place in the file, when it is in a mapping of the target. */
static int find_mapping(const char *addr, uint64_t *off)
{
	int i, found = 0;

	pthread_mutex_lock(&map_lock);
	for (i = 0; i < MAPPINGS && !found; i++) {
		const struct mapping *m = &mappings[i];

		if (!m->start || addr < m->start || addr >= m->start + m->len)
			continue;
		*off = m->off + (uint64_t)(addr - m->start);
		found = 1;
	}
	pthread_mutex_unlock(&map_lock);
	return found;
}

static bool is_resident(uint64_t off, uint64_t page)
{
	uint64_t u;

	for (u = off / UNIT; u < (off + page) / UNIT; u++)
		if (u >= UNITS || (unit[u] & BAD) ||
		    !(unit[u] & (READ | AHEAD)))
			return false;
	return true;
}

int mincore(void *addr, size_t len, unsigned char *vec)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), off = 0, i;
	int r;
	REAL(mincore);

	if (FAILS("mincore", EAGAIN))
		return -1;
	r = real(addr, len, vec);
	if (r == 0 && find_mapping(addr, &off))
		for (i = 0; i < (len + page - 1) / page; i++)
			vec[i] = is_resident(off + i * page, page);
	return r;
}

/*
 * Writing.
 */

/* Bytes before the first that is in the range. */
static size_t before_range(uint64_t off, size_t len, uint64_t start,
			   uint64_t end)
{
	if (off >= end || off + len <= start)
		return len;
	return off < start ? (size_t)(start - off) : 0;
}

/* Is what is to be written not what is there? */
static bool changes_unit(int fd, const char *buf, uint64_t off, size_t len)
{
	char old[UNIT];
	char path[40];
	ssize_t got;
	int again = fd;

	/* The checker may have opened it for writing only. */
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		again = real_open(path, O_RDONLY | O_CLOEXEC, 0);
	}
	got = real_pread(again, old, len, (off64_t)off);
	if (again != fd)
		close(again);
	return got != (ssize_t)len || memcmp(old, buf, len);
}

/* Bytes before the first that is changed. */
static size_t before_change(int fd, const char *buf, uint64_t off, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t n = UNIT - (off + done) % UNIT;

		if (n > len - done)
			n = len - done;
		if (changes_unit(fd, buf + done, off + done, n))
			break;
		done += n;
	}
	return done;
}

/* Bytes that may be written; may not come back. */
static size_t count_changes(int fd, const char *buf, uint64_t off, size_t len)
{
	size_t done = 0;

	while (done < len) {
		uint64_t u = (off + done) / UNIT;
		size_t n = (size_t)((u + 1) * UNIT - (off + done));

		if (n > len - done)
			n = len - done;
		if (u == bad_change && fault.kind == WFAIL &&
		    changes_unit(fd, buf + done, off + done, n))
			return done;
		if (bad_change == UINT64_MAX &&
		    changes_unit(fd, buf + done, off + done, n) &&
		    ++changes == fault.n) {
			bad_change = u;
			log_hit();
			if (fault.kind == WFAIL)
				return done;
			/* What comes before it is written. */
			real_pwrite(fd, buf, done, (off64_t)off);
			raise((int)fault.value);
		}
		done += n;
	}
	return len;
}

static ssize_t before_write(int fd, const char *buf, uint64_t off, size_t len)
{
	size_t n = len;
	uint64_t u;

	if (fault.kind == TRACE)
		trace("write", off, len);
	if (gone)
		n = before_change(fd, buf, off, len);
	else if (fault.kind == WRITE_RANGE)
		n = before_range(off, len, fault.start, fault.end);
	else if (fault.kind == WFAIL || fault.kind == WSIGNAL)
		n = count_changes(fd, buf, off, len);
	if (fault.kind == WRITE_RANGE && n < len)
		log_hit();
	if (n == 0 && len) {
		errno = gone ? EIO : (int)fault.value;
		return -1;
	}
	/* What was written is in the page cache, also of a bad sector. */
	for (u = (off + UNIT - 1) / UNIT; (u + 1) * UNIT <= off + n; u++)
		if (u < UNITS)
			unit[u] = READ;
	return (ssize_t)n;
}

static ssize_t write_at(int fd, const void *buf, size_t len, off64_t off)
{
	if (is_target(fd) && off >= 0) {
		ssize_t n = before_write(fd, buf, (uint64_t)off, len);

		if (n < 0)
			return n;
		len = (size_t)n;
	}
	return real_pwrite(fd, buf, len, off);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	return write_at(fd, buf, len, off);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t off)
{
	return write_at(fd, buf, len, off);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	if (is_target(fd)) {
		off64_t off = lseek64(fd, 0, SEEK_CUR);
		ssize_t n = off < 0 ? 0 :
			before_write(fd, buf, (uint64_t)off, len);

		if (n < 0)
			return n;
		len = (size_t)n;
	}
	return real_write(fd, buf, len);
}

/* libext2fs reads bitmaps by as many threads: which reads come first would
 * then be chance. */
long sysconf(int name)
{
	REAL(sysconf);

	return name == _SC_NPROCESSORS_CONF ? 1 : real(name);
}

int fsync(int fd)
{
	REAL(fsync);

	if (gone && is_target(fd)) {
		errno = EIO;
		return -1;
	}
	return real(fd);
}
