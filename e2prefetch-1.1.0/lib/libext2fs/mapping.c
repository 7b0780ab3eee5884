/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when a read is served from the mapping: records which pages are in
 * memory, asks the kernel ahead of a sequential reader, and turns an unreadable
 * page into an error, so that it does not end the process.
 *
 * Where the time goes, reading 4 KiB at a time from a cached 1 GiB file (kernel
 * 6.18, 2 virtual processors; each figure from a loop around this one call):
 *
 * - pread: 650 ns in order, 980 at random;
 * - memcpy from the mapping: 145 ns in order, 560 at random on the first access
 *   and 460 after it;
 * - mincore: 940 ns for 1 page at random, 1050 for 64 pages that are mapped and
 *   4200 for 64 that are not;
 * - query by sigaction 205 ns, query of the signal mask 137, sigsetjmp 3.
 *
 * Calling mincore() before each read costs more than the mapping saves, so the
 * pages known to be resident are recorded.  A page is not read from the mapping
 * the first time: so the device gets the same requests as from unix_io_manager,
 * and an error is an errno.  The mapping serves pages that were read before,
 * and pages that mincore() has found ahead of a sequential reader.
 *
 * The mapping does not use MADV_RANDOM: a fault on the page that the kernel has
 * marked for readahead must start the next readahead, as a pread does.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guard.h"
#include "mapping.h"

/* The number of pages that one region covers, and the number of regions.  96
 * KiB of memory per channel record 1 GiB of 4 KiB pages.  A page that is no
 * longer recorded costs a pread; one that was evicted since costs a fault, with
 * the kernel's read-around. */
#define REGION_PAGES (sizeof(unsigned long) * CHAR_BIT)
#define REGIONS 4096
#define REGIONS_SIZE (REGIONS * sizeof(struct e2pf_region))

/* How far to look ahead of a sequential reader.  A page fault maps 16 pages at
 * once (fault_around_bytes), and looking at them costs about 1 us. */
#define AHEAD_PAGES 16

/* Larger reads use pread unless they are known to be resident: 64 KiB take 5.0
 * us by pread and 3.7 us from the mapping, which gains little over the cost of
 * mincore(). */
#define MOST_PAGES 256

#define LEAST_DESCRIPTOR 100

/* A 32-bit program needs most of its address space itself. */
#define MOST_MAPPED_32BIT (1ull << 30)

/* The pages of one region that were found resident.  Threads may update it at
 * the same time without a lock.  At worst, pages are then taken for resident
 * that are not: these are faulted in, under the guard. */
struct e2pf_region {
	unsigned long number;
	unsigned long resident;
	unsigned long last;	/* page where the last read in the region
				   ended */
};

static struct e2pf_region *region_of(const struct e2pf_mapping *m,
				     unsigned long number)
{
	return &m->regions[number % REGIONS];
}

/* The bits of the pages `first` to `last`, both in one region. */
static unsigned long bits(size_t first, size_t last)
{
	unsigned long mask = ~0ul;

	mask >>= REGION_PAGES - 1 - (last - first);
	return mask << (first % REGION_PAGES);
}

static size_t last_in_region(size_t page, size_t last)
{
	size_t end = page | (REGION_PAGES - 1);

	return end < last ? end : last;
}

static bool is_known(const struct e2pf_mapping *m, size_t first,
		     size_t last)
{
	while (first <= last) {
		size_t end = last_in_region(first, last);
		unsigned long number = first / REGION_PAGES;
		const struct e2pf_region *region = region_of(m, number);
		unsigned long want = bits(first, end);

		if (__atomic_load_n(&region->number, __ATOMIC_RELAXED) !=
		    number)
			return false;
		if ((__atomic_load_n(&region->resident, __ATOMIC_RELAXED) &
		     want) != want)
			return false;
		first = end + 1;
	}
	return true;
}

static void set_known(struct e2pf_mapping *m, size_t first,
		      size_t last)
{
	while (first <= last) {
		size_t end = last_in_region(first, last);
		unsigned long number = first / REGION_PAGES;
		struct e2pf_region *region = region_of(m, number);

		if (__atomic_load_n(&region->number, __ATOMIC_RELAXED) !=
		    number) {
			__atomic_store_n(&region->resident, 0,
					 __ATOMIC_RELAXED);
			__atomic_store_n(&region->number, number,
					 __ATOMIC_RELAXED);
		}
		__atomic_fetch_or(&region->resident, bits(first, end),
				  __ATOMIC_RELAXED);
		first = end + 1;
	}
}

static void forget(struct e2pf_mapping *m)
{
	size_t i;

	for (i = 0; i < REGIONS; i++)
		__atomic_store_n(&m->regions[i].resident, 0,
				 __ATOMIC_RELAXED);
}

/* The last read is recorded per region, so that several threads may each read a
 * sequence. */
static bool is_sequential(const struct e2pf_mapping *m, size_t first)
{
	const struct e2pf_region *region;
	size_t last;

	if (first == 0)
		return false;
	region = region_of(m, (first - 1) / REGION_PAGES);
	last = __atomic_load_n(&region->last, __ATOMIC_RELAXED);
	return last == first - 1 || last == first;
}

static void set_last(struct e2pf_mapping *m, size_t last)
{
	struct e2pf_region *region = region_of(m, last / REGION_PAGES);

	__atomic_store_n(&region->last, last, __ATOMIC_RELAXED);
}

/*
 * Ask the kernel about the pages from `first` on, at least up to `last`, and
 * record the answer.  Returns true if `first` to `last` are all resident.
 */
static bool look(struct e2pf_mapping *m, size_t first, size_t last)
{
	unsigned char resident[MOST_PAGES];
	size_t pages = (m->mapped - 1) / m->page_size + 1 - first;
	size_t wanted = last - first + 1;
	size_t i, most = wanted > AHEAD_PAGES ? wanted : AHEAD_PAGES;

	if (wanted > MOST_PAGES)
		return false;
	if (pages > most)
		pages = most;
	if (mincore((char *)m->map + first * m->page_size,
		    pages * m->page_size, resident) < 0)
		return false;
	for (i = 0; i < pages; i++)
		if (resident[i] & 1)
			set_known(m, first + i, first + i);
	return is_known(m, first, last);
}

/* If the range is inside the mapping, find its first and last page. */
static bool to_pages(const struct e2pf_mapping *m,
		     long long location, size_t size, size_t *first,
		     size_t *last)
{
	if (location < 0 || size == 0 || size > m->mapped ||
	    (unsigned long long)location > m->mapped - size)
		return false;
	*first = (size_t)location / m->page_size;
	*last = ((size_t)location + size - 1) / m->page_size;
	return true;
}

/* If a page of a file can be read, the file does not end in the one before it.
 * Only one that is known is tried: it needs no I/O, and no system call. */
static bool is_readable(const struct e2pf_mapping *m, size_t page)
{
	char byte;

	return page <= (m->mapped - 1) / m->page_size &&
	       is_known(m, page, page) &&
	       e2pf_guard_copy(&byte, m->map + page * m->page_size, 1) == 0;
}

/*
 * If a file is truncated in the middle of a page, the mapping reads as zeros up
 * to the end of that page, without a fault.  That can have happened only if the
 * last byte is zero, and only to a file.
 */
static bool is_cut_off(const struct e2pf_mapping *m,
		       long long location, const void *buf, size_t size,
		       size_t last)
{
	struct stat st;

	if (!m->regular || ((const char *)buf)[size - 1] != 0 ||
	    is_readable(m, last + 1))
		return false;
	return fstat(m->fd, &st) < 0 ||
	       st.st_size < (off_t)(location + (long long)size);
}

static bool read_mapping(struct e2pf_mapping *m, long long location, void *buf,
			 size_t size, size_t first, size_t last)
{
	if (!is_known(m, first, last) &&
	    (!is_sequential(m, first) || !look(m, first, last)))
		return false;
	if (!e2pf_guard_ready())
		return false;
	if (e2pf_guard_copy(buf, m->map + location, size) == 0 &&
	    !is_cut_off(m, location, buf, size, last))
		return true;
	forget(m);
	return false;
}

bool e2pf_mapping_read(struct e2pf_mapping *m, long long location, void *buf,
		       size_t size)
{
	size_t first, last;
	bool inside = to_pages(m, location, size, &first, &last);

	if (!inside || !read_mapping(m, location, buf, size, first, last)) {
		if (pread(m->fd, buf, size, location) != (ssize_t)size)
			return false;
		if (inside)
			set_known(m, first, last);
	}
	if (inside)
		set_last(m, last);
	return true;
}

/* Creating and freeing */

/* The size to be mapped, 0 if the file should not be. */
static size_t mappable_size(int fd, const struct stat *st)
{
	unsigned long long size = 0;
	struct rlimit limit;

	if (S_ISREG(st->st_mode))
		size = (unsigned long long)st->st_size;
	else if (ioctl(fd, BLKGETSIZE64, &size) < 0)
		return 0;
	if (size > PTRDIFF_MAX ||
	    (sizeof(void *) == 4 && size > MOST_MAPPED_32BIT))
		return 0;
	/* The mapping must not take the address space that the program
	 * needs. */
	if (getrlimit(RLIMIT_AS, &limit) < 0 ||
	    (limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur / 2))
		return 0;
	return (size_t)size;
}

/*
 * True if mincore() tells this process the truth.  To a process that neither
 * owns the file nor may write to it, the kernel reports all pages as resident.
 */
static bool may_ask_residency(const char *name, bool writable,
			      const struct stat *st)
{
	return writable || geteuid() == 0 ||
	       st->st_uid == geteuid() || faccessat(AT_FDCWD, name, W_OK,
						    AT_EACCESS) == 0;
}

/* The descriptor stays out of the way of the program's. */
static int open_file(const char *name, const struct stat *st)
{
	int low = open(name, O_RDONLY | O_CLOEXEC);
	int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
	struct stat now;

	if (low >= 0)
		close(low);
	if (high >= 0 && (fstat(high, &now) < 0 || now.st_dev != st->st_dev ||
			  now.st_ino != st->st_ino ||
			  now.st_rdev != st->st_rdev)) {
		close(high);
		return -1;
	}
	return high;
}

/* Not from the heap: free() of so large a block makes the allocator go through
 * all that the check has freed, 5 of 160 ms of the check of extents@1/4. */
static struct e2pf_region *new_regions(void)
{
	void *regions = mmap(NULL, REGIONS_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return regions == MAP_FAILED ? NULL : regions;
}

bool e2pf_mapping_init(struct e2pf_mapping *m, const char *name, bool writable,
		       const struct stat *st)
{
	void *map = MAP_FAILED;

	/* Opening a pipe blocks, and opening a tape or a terminal twice has
	 * effects that opening it once has not. */
	if ((!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode)) ||
	    !may_ask_residency(name, writable, st))
		return false;
	m->fd = open_file(name, st);
	if (m->fd < 0)
		return false;
	m->page_size = (size_t)sysconf(_SC_PAGESIZE);
	m->regular = S_ISREG(st->st_mode);
	m->regions = new_regions();
	m->mapped = m->regions ? mappable_size(m->fd, st) : 0;
	if (m->mapped)
		map = mmap(NULL, m->mapped, PROT_READ, MAP_SHARED, m->fd, 0);
	if (map != MAP_FAILED) {
		m->map = map;
		return true;
	}
	if (m->regions)
		munmap(m->regions, REGIONS_SIZE);
	close(m->fd);
	return false;
}

void e2pf_mapping_fini(struct e2pf_mapping *m)
{
	munmap((void *)m->map, m->mapped);
	munmap(m->regions, REGIONS_SIZE);
	close(m->fd);
}
