// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Reads, writes and mappings of the image: decides which of them fail, and
 * simulates the page cache of a disk for them.  fault-inject.c defines the
 * faults.
 */
#include "fault-inject.h"

#define UNIT		1024u
#define UNITS		(128u << 10)	/* 128 MiB; nothing fails beyond that */
#define BAD		1u		/* cannot be read */
#define READ		2u		/* the checker has read it */
#define AHEAD		4u		/* requested or read by others */
#define MAPPINGS	16

static unsigned char unit[UNITS];
static uint64_t reads, changes, bad_change = UINT64_MAX;
static bool gone;
static struct mapping { char *start; size_t len; uint64_t off; }
	mappings[MAPPINGS];
static pthread_mutex_t map_lock = PTHREAD_MUTEX_INITIALIZER;

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

/* The kernel reads whole pages. */
void mark_bad(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), u;

	fault.start -= fault.start % page;
	fault.end = (fault.end + page - 1) / page * page;
	for (u = fault.start / UNIT; u < fault.end / UNIT && u < UNITS; u++)
		unit[u] |= BAD;
}

static bool is_checkers(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
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

/* For faults that count reads, both I/O managers must make the same reads.  So
 * prefetched data is not reported as cached: the manager that asks would skip
 * the read. */
static void mark_ahead(uint64_t off, uint64_t len)
{
	if (fault.kind != GONE && fault.kind != CUT && fault.kind != ONCE &&
	    fault.kind != SIGNAL)
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

static void hold(void)
{
	const char *fifo = getenv("E2PF_FAULT_FIFO");
	int fd;

	do
		fd = fifo ? real_open(fifo, O_RDONLY | O_CLOEXEC, 0) : -1;
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		abort();
	close(fd);
}

/* The checker is about to read something for the first time.  Returns whether this
 * read fails and its repetition does not. */
static bool count_read(void)
{
	const char *file;

	if (fault.kind == TRACE)
		log_line("new\n");
	if (++reads != fault.n)
		return false;
	switch (fault.kind) {
	case GONE:
		gone = true;
		break;
	case CUT:
		file = getenv("E2PF_FAULT_FILE");
		if (!file || truncate(file, fault.value))
			abort();
		break;
	case ONCE:
		break;
	case SIGNAL:
		log_hit();
		raise((int)fault.value);
		return false;
	case HOLD:
		log_hit();
		hold();
		return false;
	default:
		return false;
	}
	log_hit();
	return fault.kind == ONCE;
}

/* Number of bytes of a read before the first failing unit. */
static size_t readable(uint64_t off, size_t len, bool checker)
{
	uint64_t u;

	for (u = off / UNIT; u * UNIT < off + len; u++)
		if (!may_be_read(u, checker))
			return u * UNIT > off ? (size_t)(u * UNIT - off) : 0;
	return len;
}

/* Number of bytes of a read of the target that may succeed; -1 with errno if
 * none. */
static ssize_t before_read(int fd, uint64_t off, size_t len)
{
	bool checker = is_checkers(fd);
	size_t n;

	if (checker && is_new(off, len) && count_read()) {
		if (!fault.value)
			return (ssize_t)(len / 2);
		errno = (int)fault.value;
		return -1;
	}
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

/* Map an empty file over the bad pages: accessing them raises SIGBUS. */
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

/* Returns 1, with the file offset in *off, if the address is in a mapping of
 * the target. */
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

/* Number of bytes before the first one that is inside the range. */
static size_t before_range(uint64_t off, size_t len, uint64_t start,
			   uint64_t end)
{
	if (off >= end || off + len <= start)
		return len;
	return off < start ? (size_t)(start - off) : 0;
}

/* Whether the bytes to be written differ from those in the file. */
static bool changes_unit(int fd, const char *buf, uint64_t off, size_t len)
{
	char old[UNIT];
	char path[40];
	ssize_t got;
	int again = fd;

	/* The checker may have opened the file for writing only. */
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		again = real_open(path, O_RDONLY | O_CLOEXEC, 0);
	}
	got = real_pread(again, old, len, (off64_t)off);
	if (again != fd)
		close(again);
	return got != (ssize_t)len || memcmp(old, buf, len);
}

/* Number of bytes before the first changed unit. */
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

/* Number of bytes that may be written.  May not return: the fault may be a
 * signal. */
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
			/* Write what precedes the change, then raise the
			 * signal. */
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
	/* Written data is in the page cache, even on a bad sector. */
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

/* libext2fs reads bitmaps with one thread per processor: the order of reads
 * would then be random. */
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
