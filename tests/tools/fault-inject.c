// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A library to preload into e2fsck, stock or with our module, that makes calls
 * fail: those on one file, as on a failing disk, or the n-th call made by the
 * launcher or the module.  It decides which calls fail and with which error;
 * the scripts decide what the result must be.
 *
 * E2PF_FAULT_FILE is the image or device.  E2PF_FAULT is one of
 *   none			nothing fails; the rest of this comment applies
 *   trace			the log lists each KiB that is read or written,
 *				with "new" before each read that is counted
 *   read:OFFSET+LENGTH		reads of pages in this range: EIO
 *   write:OFFSET+LENGTH:ERRNO	writes into this range fail
 *   gone:N			EIO for the checker's N-th read and all later
 *				reads, and for all later writes that would
 *				change something
 *   cut:N:SIZE			before the N-th read the file is cut to SIZE
 *   once:N:ERRNO		the N-th read fails; without ERRNO (0) it ends early.
 *				Repeated, it succeeds
 *   signal:N:SIGNAL		before the N-th read the process gets a signal
 *   hold:N			the checker waits before its N-th read until
 *				somebody opens the FIFO E2PF_FAULT_FIFO to write
 *   wfail:N:ERRNO		the N-th change by a write fails, and all later
 *				changes of the same unit
 *   wsignal:N:SIGNAL		a signal before the N-th change is written
 *   call:WHO:NAME:N		the N-th call of NAME by WHO (launcher, module)
 *   calls:WHO:NAME:N		the same, and all later ones
 * When the fault happens, a line is written to E2PF_FAULT_LOG.
 *
 * The two I/O managers do not make the same calls.  So a read is counted only
 * if it reads data that the checker has not read before, and a write counts
 * once for each unit of 1 KiB that it changes.  A read is the checker's unless
 * its descriptor has O_NONBLOCK, which only the descriptors for prefetching
 * have.
 *
 * A file that was just copied is in the page cache, where nothing can fail and
 * nothing is left to prefetch.  So mincore() reports only data as cached that
 * was read or requested; bad pages of mappings raise SIGBUS; and written data
 * can be read again, as from a disk's page cache.
 */
#include "fault-inject.h"

struct fault fault;
static uint64_t calls;

void __attribute__((constructor)) begin_faults(void);
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
/* The address sanitizer's functions, if it is linked in. */
void *__interceptor_malloc(size_t size) __attribute__((weak));
void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

/* Before glibc 2.33 programs call these functions, with the version of the
 * struct. */
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

int real_open(const char *path, int flags, int mode)
{
	REAL(open64);

	return real(path, flags, mode);
}

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

ssize_t real_write(int fd, const void *buf, size_t n)
{
	REAL(write);

	return real(fd, buf, n);
}

void log_line(const char *line)
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

void log_hit(void)
{
	log_line("hit\n");
}

/*
 * Choosing the fault.
 */

static uint64_t next_number(char **text)
{
	char *end;
	uint64_t n = strtoull(*text, &end, 0);

	*text = *end ? end + 1 : end;
	return n;
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

/* Name of this process's program; the module may be in any other program
 * too. */
static const char *self_name(void)
{
	return is_launcher() ? "launcher" : "module";
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
		"none", "trace", "read", "write", "gone", "cut", "once",
		"signal", "hold", "wfail", "wsignal", "call", "calls"
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

bool is_target(int fd)
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

/*
 * Failing the n-th call.
 */

bool call_fails(const char *name, const void *caller, int error)
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

/* Looked up without dlsym(), which allocates memory. */
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

/* TYPE NAME(PARAMETERS): followed by what a failing call returns, its errno,
 * and the arguments to pass on. */
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
WRAP(ssize_t, readlink, (const char *restrict p, char *restrict b, size_t n),
     -1, EIO, (p, b, n))
WRAP(int, access, (const char *p, int m), -1, EIO, (p, m))
WRAP(int, faccessat, (int d, const char *p, int m, int f), -1, EIO,
     (d, p, m, f))
#ifndef STAT_VERSIONED
WRAP(int, stat, (const char *restrict p, struct stat *restrict s), -1, ENOMEM,
     (p, s))
WRAP_AS("stat", int, stat64,
	(const char *restrict p, struct stat64 *restrict s), -1, ENOMEM, (p, s))
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
WRAP(int, poll, (struct pollfd *p, nfds_t n, int t), -1, ENOMEM, (p, n, t))
WRAP(int, pipe2, (int e[2], int f), -1, EMFILE, (e, f))
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

/* An open that the stock program makes too must not fail. */
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
