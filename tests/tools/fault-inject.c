// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A library to preload into e2fsck, stock or with our preload library, that makes
 * calls fail: those on one file, as on a failing disk, or the n-th call made by the
 * wrapper or a preload library.  It decides which calls fail and with which error;
 * the scripts decide what the result must be.
 *
 * E2PF_FAULT_FILE is the image or device.  E2PF_FAULT is one of
 *   none			nothing fails; the rest of this comment applies
 *   trace			the log has a line "read" or "write" for each that is
 *				counted, and each KiB that is read
 *   read:OFFSET+LENGTH		reads of pages in this range: EIO
 *   gone:N			EIO for the checker's N-th read and all later
 *				reads and writes
 *   cut:N:SIZE			before the N-th read the file is cut to SIZE
 *   once:N:ERRNO		the N-th read fails; without ERRNO (0) it ends early.
 *				Repeated, it succeeds
 *   signal:N:SIGNAL		before the N-th read the process gets a signal
 *   hold:N			the checker waits before its N-th read until
 *				somebody opens the FIFO E2PF_FAULT_FIFO to write
 *   wfail:N:ERRNO		the N-th write fails, and all later ones of its
 *				first byte
 *   call:WHO:NAME:N		the N-th call of NAME by WHO: wrapper, or a
 *				preload library, as e2fsck-prefetch.so
 *   calls:WHO:NAME:N		the same, and all later ones
 * When the fault happens, a line is written to E2PF_FAULT_LOG.
 *
 * A read is the checker's unless its descriptor has O_NONBLOCK, which only the
 * descriptors for prefetching have.  It is counted only if it reads data that the
 * checker has not read before, because the btrfs preload library reads through the
 * program's descriptors, too.  The mmap manager makes fewer reads, so a fault at
 * the n-th is for the unix manager.
 *
 * A file that was just copied is in the page cache, where nothing can fail and
 * nothing is left to prefetch.  So mincore() reports only data as cached that
 * was read or requested; bad pages of mappings raise SIGBUS; and written data
 * can be read again, as from a disk's page cache.
 */
/* Both names (32-bit and 64-bit off_t) of each function are defined here, and
 * none of them inline. */
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
#include <inttypes.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
	NONE, TRACE, READ_RANGE, GONE, CUT, ONCE, SIGNAL, HOLD,
	WFAIL, CALL, CALLS
};

static struct fault {
	enum kind kind;
	struct stat target;
	bool has_target;
	uint64_t n, start, end;
	long value;			/* errno, signal or size */
	char name[48];
	uintptr_t text, text_end;	/* whose calls are counted */
	const char *log;
} fault;

#define UNIT		1024u
#define UNITS		(128u << 10)	/* 128 MiB; nothing fails beyond that */
#define BAD		1u		/* cannot be read */
#define READ		2u		/* the checker has read or written it */
#define AHEAD		4u		/* requested or read by others */
#define MAPPINGS	16

static unsigned char unit[UNITS];
static uint64_t calls, reads, writes, bad_write = UINT64_MAX;
static bool gone;
static struct mapping { char *start; size_t len; uint64_t off; }
	mappings[MAPPINGS];
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
/* The address sanitizer's functions, if it is linked in. */
void *__interceptor_malloc(size_t size) __attribute__((weak));
void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));

/* The function behind one that is defined here. */
#define REAL(name) ({ \
	static __typeof__(&name) real; \
	if (!real) \
		real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
	real; })

/* Write a line to E2PF_FAULT_LOG; preserves errno. */
static void log_line(const char *line)
{
	ssize_t len = (ssize_t)strlen(line);
	int err = errno, fd = -1;

	if (fault.log)
		fd = REAL(open64)(fault.log, O_WRONLY | O_CREAT | O_APPEND |
				  O_CLOEXEC, 0666);
	if (fd >= 0) {
		if (REAL(write)(fd, line, (size_t)len) != len)
			abort();
		close(fd);
	}
	errno = err;
}

/* The kernel reads whole pages. */
static void mark(uint64_t off, uint64_t len, unsigned flag)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), u, end;

	end = (off + len + page - 1) / page * page;
	for (u = off / page * (page / UNIT); u * UNIT < end && u < UNITS; u++)
		__atomic_fetch_or(&unit[u], flag, __ATOMIC_RELAXED);
}

/*
 * Choosing the fault.
 */

static int find_text(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *who = arg;
	ElfW(Half) i;

	(void)size;
	if (strcmp(who, "wrapper") ? !strstr(info->dlpi_name, who) :
	    *info->dlpi_name != '\0')
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

static bool is_wrapper(void)
{
	const char *wrapper = getenv("E2FSCK_TEST");
	struct stat a, b;

	return wrapper && !stat(wrapper, &a) && !stat("/proc/self/exe", &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void parse_call(const char *text)
{
	char who[32];

	if (sscanf(text, "%31[^:]:%47[^:]:%" SCNu64, who, fault.name,
		   &fault.n) != 3)
		abort();
	/* The preload libraries may be in any other program. */
	if (is_wrapper() == !strcmp(who, "wrapper"))
		dl_iterate_phdr(find_text, who);
}

static void parse(const char *text)
{
	static const char *const names[] = {
		"none", "trace", "read", "gone", "cut", "once",
		"signal", "hold", "wfail", "call", "calls"
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
	if (fault.kind != READ_RANGE) {
		sscanf(text, "%" SCNu64 ":%ld", &fault.n, &fault.value);
		return;
	}
	sscanf(text, "%" SCNu64 "+%" SCNu64, &fault.start, &fault.end);
	mark(fault.start, fault.end, BAD);
	fault.end += fault.start;
}

static void __attribute__((constructor)) begin_faults(void)
{
	const char *text = getenv("E2PF_FAULT");
	const char *path = getenv("E2PF_FAULT_FILE");

	fault.log = getenv("E2PF_FAULT_LOG");
	if (!text)
		return;
	fault.has_target = path && !stat(path, &fault.target);
	parse(text);
}

/* Whether this is a descriptor of the image or device. */
static bool is_target(int fd)
{
	struct stat64 st;
	int err = errno;

	/* fstat() is one of the calls that fail. */
	if (!fault.has_target || fstatat64(fd, "", &st, AT_EMPTY_PATH) < 0) {
		errno = err;
		return false;
	}
	return S_ISBLK(fault.target.st_mode) ?
		st.st_rdev == fault.target.st_rdev :
		st.st_dev == fault.target.st_dev &&
		st.st_ino == fault.target.st_ino;
}

/*
 * Failing the n-th call.
 */

/* Count a call of `name` from the address `caller`; true, with errno set, if it
 * must fail. */
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
	log_line("hit\n");
	errno = error;
	return true;
}

#define FAILS(name, error) \
	call_fails(name, __builtin_return_address(0), error)

/* Looked up without dlsym(), which allocates memory. */
#define ALLOCATE(name, arguments) \
	(FAILS(#name, ENOMEM) ? NULL : \
	 __interceptor_##name ? __interceptor_##name arguments : \
	 __libc_##name arguments)

void *malloc(size_t size) { return ALLOCATE(malloc, (size)); }
void *calloc(size_t n, size_t size) { return ALLOCATE(calloc, (n, size)); }
void *realloc(void *old, size_t size) { return ALLOCATE(realloc, (old, size)); }

/* TYPE NAME(PARAMETERS): followed by what a failing call returns, its errno,
 * and the arguments to pass on. */
#define WRAP_AS(label, type, name, parameters, failed, error, arguments) \
type name parameters \
{ \
	return FAILS(label, error) ? failed : REAL(name) arguments; \
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
#if __GLIBC_PREREQ(2, 33)
WRAP(int, stat, (const char *restrict p, struct stat *restrict s), -1, ENOMEM,
     (p, s))
WRAP_AS("stat", int, stat64,
	(const char *restrict p, struct stat64 *restrict s), -1, ENOMEM, (p, s))
WRAP(int, fstat, (int fd, struct stat *s), -1, EIO, (fd, s))
WRAP_AS("fstat", int, fstat64, (int fd, struct stat64 *s), -1, EIO, (fd, s))
#else	/* programs call these, with the version of the struct */
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
	       fstatat64(AT_FDCWD, path, &st, 0) < 0 ||
	       st.st_dev != fault.target.st_dev ||
	       st.st_ino != fault.target.st_ino;
}

static int open_by(const void *caller, const char *path, int flags, int mode)
{
	if (fault.text && is_own_open(path, flags) &&
	    call_fails("open", caller, EMFILE))
		return -1;
	return REAL(open64)(path, flags, mode);
}

#define OPEN(symbol) \
int symbol(const char *path, int flags, ...) \
{ \
	va_list ap; \
	int mode; \
	va_start(ap, flags); \
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, int) : 0; \
	va_end(ap); \
	return open_by(__builtin_return_address(0), path, flags, mode); \
}
OPEN(open)
OPEN(open64)

/*
 * Reading.
 */

static bool is_checkers(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static uint64_t position(int fd)
{
	return (uint64_t)lseek64(fd, 0, SEEK_CUR);
}

static void trace(uint64_t off, uint64_t len)
{
	char line[64];
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len; u++) {
		snprintf(line, sizeof(line), "KiB %llu\n", (unsigned long long)u);
		log_line(line);
	}
}

static bool is_new(uint64_t off, uint64_t len)
{
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len && u < UNITS; u++)
		if (!(unit[u] & READ))
			return true;
	return false;
}

static void hold(void)
{
	const char *fifo = getenv("E2PF_FAULT_FIFO");
	int fd;

	do
		fd = fifo ? REAL(open64)(fifo, O_RDONLY | O_CLOEXEC, 0) : -1;
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		abort();
	close(fd);
}

/* The checker is about to read something for the first time.  Returns whether this
 * read fails and its repetition does not. */
static bool count_read(void)
{
	const char *file = getenv("E2PF_FAULT_FILE");

	if (fault.kind == TRACE)
		log_line("read\n");
	if (++reads != fault.n || fault.kind < GONE || fault.kind > HOLD)
		return false;
	log_line("hit\n");
	gone = fault.kind == GONE;
	if (fault.kind == CUT &&
	    (!file || truncate(file, fault.value)))
		abort();
	if (fault.kind == SIGNAL)
		raise((int)fault.value);
	if (fault.kind == HOLD)
		hold();
	return fault.kind == ONCE;
}

/* Number of bytes of a read before the first failing unit. */
static size_t readable(uint64_t off, size_t len)
{
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len && u < UNITS; u++)
		if (unit[u] & BAD)
			return u * UNIT > off ? (size_t)(u * UNIT - off) : 0;
	return len;
}

/* Shorten a read of the target to what may succeed; false with errno if nothing
 * may. */
static bool before_read(int fd, uint64_t off, size_t *len)
{
	bool checker = is_checkers(fd);
	size_t n;

	if (checker && is_new(off, *len) && count_read()) {
		errno = (int)fault.value;
		*len /= 2;
		return !fault.value;
	}
	if (checker && fault.kind == TRACE)
		trace(off, *len);
	n = gone ? 0 : readable(off, *len);
	if (n < *len && !gone)
		log_line("hit\n");
	if (n == 0 && *len) {
		errno = EIO;
		return false;
	}
	mark(off, n, checker ? READ : AHEAD);
	*len = n;
	return true;
}

static ssize_t read_at(int fd, void *buf, size_t len, off64_t off,
		       const void *caller)
{
	if (is_target(fd) && off >= 0 &&
	    ((!is_checkers(fd) && call_fails("pread", caller, EIO)) ||
	     !before_read(fd, (uint64_t)off, &len)))
		return -1;
	return REAL(pread64)(fd, buf, len, off);
}

#undef pread
#undef pread64
#undef read
#define PREAD(symbol, offset) \
ssize_t symbol(int fd, void *buf, size_t len, offset off) \
{ \
	return read_at(fd, buf, len, off, __builtin_return_address(0)); \
}
PREAD(pread, off_t)
PREAD(pread64, off64_t)

/* A read that need not wait counts like any other. */
ssize_t preadv2(int fd, const struct iovec *part, int parts, off_t off, int flags)
{
	if (is_target(fd)) {
		errno = EAGAIN;
		return -1;
	}
	return REAL(preadv2)(fd, part, parts, off, flags);
}

ssize_t read(int fd, void *buf, size_t len)
{
	if (is_target(fd) ? !before_read(fd, position(fd), &len) :
			    FAILS("read", EIO))
		return -1;
	return REAL(read)(fd, buf, len);
}

#define FADVISE(symbol, offset) \
int symbol(int fd, offset off, offset len, int advice) \
{ \
	if (FAILS("posix_fadvise", ENOMEM)) \
		return ENOMEM; \
	if (advice == POSIX_FADV_WILLNEED && is_target(fd)) \
		mark((uint64_t)off, (uint64_t)len, AHEAD); \
	return REAL(symbol)(fd, off, len, advice); \
}
FADVISE(posix_fadvise, off_t)
FADVISE(posix_fadvise64, off64_t)

/*
 * Mappings.
 */

/* Map an empty file over the bad pages: accessing them raises SIGBUS. */
static void spoil(const struct mapping *m, int prot)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = fault.start / page * page;
	uint64_t end = (fault.end + page - 1) / page * page;
	int fd;

	if (start < m->off)
		start = m->off;
	if (end > m->off + m->len)
		end = m->off + m->len;
	if (start >= end)
		return;
	fd = memfd_create("bad", MFD_CLOEXEC);
	if (fd < 0 || REAL(mmap64)(m->start + (start - m->off),
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
	m.start = REAL(mmap64)(addr, len, prot, flags, fd, off);
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

#define MMAP(symbol, offset) \
void *symbol(void *addr, size_t len, int prot, int flags, int fd, offset off) \
{ \
	return map_at(addr, len, prot, flags, fd, off, \
		      __builtin_return_address(0)); \
}
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int munmap(void *addr, size_t len)
{
	int i;

	pthread_mutex_lock(&map_lock);
	for (i = 0; i < MAPPINGS; i++)
		if (mappings[i].start == addr)
			mappings[i].start = NULL;
	pthread_mutex_unlock(&map_lock);
	return REAL(munmap)(addr, len);
}

/* The file offset that is mapped to this address; UINT64_MAX if it is in no
 * mapping of the target. */
static uint64_t mapped_offset(const char *addr)
{
	uint64_t off = UINT64_MAX;
	int i;

	pthread_mutex_lock(&map_lock);
	for (i = 0; i < MAPPINGS; i++) {
		const struct mapping *m = &mappings[i];

		if (m->start && addr >= m->start && addr < m->start + m->len)
			off = m->off + (uint64_t)(addr - m->start);
	}
	pthread_mutex_unlock(&map_lock);
	return off;
}

static bool is_resident(uint64_t off, uint64_t page)
{
	uint64_t u;

	for (u = off / UNIT; u < (off + page) / UNIT; u++)
		if (u >= UNITS || !unit[u] || unit[u] & BAD)
			return false;
	return true;
}

int mincore(void *addr, size_t len, unsigned char *vec)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), off, i;
	int r;

	if (FAILS("mincore", EAGAIN))
		return -1;
	r = REAL(mincore)(addr, len, vec);
	off = mapped_offset(addr);
	if (r == 0 && off != UINT64_MAX)
		for (i = 0; i < (len + page - 1) / page; i++)
			vec[i] = is_resident(off + i * page, page);
	return r;
}

/*
 * Writing.
 */

/* As before_read(). */
static bool before_write(uint64_t off, size_t len)
{
	uint64_t u;

	if (fault.kind == TRACE)
		log_line("write\n");
	if (fault.kind == WFAIL && ++writes == fault.n) {
		log_line("hit\n");
		bad_write = off;
	}
	if (gone || (fault.kind == WFAIL && off <= bad_write &&
		     bad_write - off < len)) {
		errno = gone ? EIO : (int)fault.value;
		return false;
	}
	/* Written data is in the page cache, even on a bad sector. */
	for (u = (off + UNIT - 1) / UNIT; (u + 1) * UNIT <= off + len; u++)
		if (u < UNITS)
			unit[u] = READ;
	return true;
}

static ssize_t write_at(int fd, const void *buf, size_t len, off64_t off)
{
	if (is_target(fd) && off >= 0 && !before_write((uint64_t)off, len))
		return -1;
	return REAL(pwrite64)(fd, buf, len, off);
}

#define PWRITE(symbol, offset) \
ssize_t symbol(int fd, const void *buf, size_t len, offset off) \
{ \
	return write_at(fd, buf, len, off); \
}
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *buf, size_t len)
{
	if (is_target(fd) && !before_write(position(fd), len))
		return -1;
	return REAL(write)(fd, buf, len);
}

/* libext2fs reads bitmaps with one thread per processor: the order of reads
 * would then be random. */
long sysconf(int name)
{
	return name == _SC_NPROCESSORS_CONF ? 1 : REAL(sysconf)(name);
}

int fsync(int fd)
{
	if (gone && is_target(fd)) {
		errno = EIO;
		return -1;
	}
	return REAL(fsync)(fd);
}
