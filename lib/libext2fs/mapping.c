/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when the mapping serves: remembers which pages are in memory, asks
 * the kernel ahead of a sequential reader, and sees to it that a page that
 * cannot be had is an answer and not the end of the process.
 *
 * Where the time goes, 4 KiB at a time from a warm 1 GiB file (kernel 6.18,
 * 2 virtual processors; each a loop around the one call): pread in order
 * 650 ns, at random 980; memcpy from the mapping in order 145, at random 560
 * on first touch and 460 after; mincore of 1 page at random 940, of 64 pages
 * 1050 when mapped and 4200 when not; sigaction query 205, of the
 * signal mask 137; sigsetjmp 3.
 * Asking mincore() before each read costs more than the mapping saves, so
 * what is known to be resident is remembered.  The first read of a page is
 * not from here: the device sees the requests that unix_io_manager makes, and
 * an error is an errno.  Pages read before, and pages that mincore() has found
 * ahead of a sequential reader, come from the mapping.  It has no
 * MADV_RANDOM: a fault on the kernel's read-ahead mark must start the next
 * read-ahead as a pread would.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guard.h"
#include "mapping.h"

/* Pages a residency word covers, and how many words are kept.  96 KiB of
 * memory per channel know 1 GiB of 4 KiB pages; a page forgotten costs a
 * pread, one evicted since costs a fault with the kernel's read-around. */
#define REGION_PAGES (sizeof(unsigned long) * CHAR_BIT)
#define REGIONS 4096

/* How far to look ahead of a sequential reader.  16 pages are what a page
 * fault maps at once (fault_around_bytes) and cost about 1 us to look at. */
#define AHEAD_PAGES 16

/* Larger reads are a pread if not known to be resident: 64 KiB take 5.0 us
 * by pread and 3.7 from the mapping, little to win for the looking. */
#define MOST_PAGES 256

/* A 32-bit program needs its address space for itself. */
#define MOST_MAPPED_32BIT (1ull << 30)

/* Pages of one region found resident.  A torn update can only claim pages
 * that are not: they are faulted in, under the guard. */
struct e2pf_region {
	unsigned long number;
	unsigned long resident;
	unsigned long last;	/* page where the last read in it ended */
};

static struct e2pf_region *region_of(const struct e2pf_mapping *m,
				     unsigned long number)
{
	return &m->regions[number % REGIONS];
}

/* The bits of pages first to last, both of one region. */
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

void e2pf_mapping_forget(struct e2pf_mapping *m)
{
	size_t i;

	for (i = 0; i < REGIONS; i++)
		__atomic_store_n(&m->regions[i].resident, 0,
				 __ATOMIC_RELAXED);
}

/* Reads are told apart by region, so that several threads may each have a
 * sequence of their own. */
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
 * Ask the kernel about the pages from `first` on, at least to `last`, and
 * remember the answer.  Returns whether first to last are all resident.
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

/* Is the range inside the mapping?  If so, its first and last page. */
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

/*
 * A file cut off in the middle of a page reads as zeros up to the end of that
 * page through a mapping, without a fault.  Only where the last byte is zero
 * can that have happened, and only to a file.
 */
static bool is_cut_off(const struct e2pf_mapping *m,
		       long long location, const void *buf, size_t size)
{
	struct stat st;

	if (!m->regular || ((const char *)buf)[size - 1] != 0)
		return false;
	return fstat(m->fd, &st) < 0 ||
	       st.st_size < (off_t)(location + (long long)size);
}

bool e2pf_mapping_read(struct e2pf_mapping *m, long long location, void *buf,
		       size_t size)
{
	size_t first, last;

	if (!to_pages(m, location, size, &first, &last))
		return false;
	if (!is_known(m, first, last) &&
	    (!is_sequential(m, first) || !look(m, first, last)))
		return false;
	if (!e2pf_guard_ready())
		return false;
	if (e2pf_guard_copy(buf, m->map + location, size) != 0 ||
	    is_cut_off(m, location, buf, size)) {
		e2pf_mapping_forget(m);
		return false;
	}
	set_last(m, last);
	return true;
}

void e2pf_mapping_was_read(struct e2pf_mapping *m, long long location,
			   size_t size)
{
	size_t first, last;

	if (to_pages(m, location, size, &first, &last)) {
		set_known(m, first, last);
		set_last(m, last);
	}
}

bool e2pf_mapping_is_equal(struct e2pf_mapping *m, long long location,
			   const void *buf, size_t size)
{
	size_t first, last;

	if (!to_pages(m, location, size, &first, &last))
		return false;
	if (!is_known(m, first, last) && !look(m, first, last))
		return false;
	return e2pf_guard_ready() &&
	       e2pf_guard_equal(m->map + location, buf, size) &&
	       !is_cut_off(m, location, buf, size);
}

/* Making and ending */

/* The size of what can be mapped, 0 if it should not be. */
static size_t mappable_size(int fd, const struct stat *st)
{
	unsigned long long size = 0;
	struct rlimit limit;

	if (S_ISREG(st->st_mode))
		size = (unsigned long long)st->st_size;
	else if (!S_ISBLK(st->st_mode) || ioctl(fd, BLKGETSIZE64, &size) < 0)
		return 0;
	if (size > PTRDIFF_MAX ||
	    (sizeof(void *) == 4 && size > MOST_MAPPED_32BIT))
		return 0;
	/* A mapping that leaves the program without memory is no help. */
	if (getrlimit(RLIMIT_AS, &limit) < 0 ||
	    (limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur / 2))
		return 0;
	return (size_t)size;
}

/*
 * Does mincore() tell this process the truth?  To one that neither owns the
 * file nor may write it all pages are said to be resident.
 */
static bool may_ask_residency(const char *name, bool writable,
			      const struct stat *st)
{
	return writable || geteuid() == 0 ||
	       st->st_uid == geteuid() || faccessat(AT_FDCWD, name, W_OK,
						    AT_EACCESS) == 0;
}

bool e2pf_mapping_init(struct e2pf_mapping *m, int fd, const char *name,
		       bool writable, const struct stat *st)
{
	size_t size = mappable_size(fd, st);
	void *map = MAP_FAILED;

	if (size == 0 || !may_ask_residency(name, writable, st))
		return false;
	m->regions = calloc(REGIONS, sizeof(*m->regions));
	if (m->regions)
		map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		free(m->regions);
		return false;
	}
	m->fd = fd;
	m->map = map;
	m->mapped = size;
	m->page_size = (size_t)sysconf(_SC_PAGESIZE);
	m->regular = S_ISREG(st->st_mode);
	return true;
}

void e2pf_mapping_unmap(struct e2pf_mapping *m)
{
	if (m->map)
		munmap((void *)m->map, m->mapped);
	m->map = NULL;
}

void e2pf_mapping_fini(struct e2pf_mapping *m)
{
	e2pf_mapping_unmap(m);
	free(m->regions);
	m->regions = NULL;
}
