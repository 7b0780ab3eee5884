/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the checker would have asked the device for by itself. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "alone.h"

/* Blocks of metadata lie at multiples of large powers of two: the number is
 * multiplied by the golden ratio's, of which the upper bits are taken. */
static unsigned place(uint64_t page)
{
	return (unsigned)(page * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
	       E2PF_ALONE_PAGES;
}

static bool has_page(const struct e2pf_alone *a, uint64_t page)
{
	return a->page[place(page)] == page + 1;
}

/* More pages than there are places for would only displace one another. */
static void add_pages(struct e2pf_alone *a, uint64_t offset, uint64_t length)
{
	uint64_t page = offset / E2PF_ALONE_PAGE;
	uint64_t last = (offset + length - 1) / E2PF_ALONE_PAGE;

	if (last - page >= E2PF_ALONE_PAGES)
		page = last - E2PF_ALONE_PAGES + 1;
	for (; page <= last; page++)
		a->page[place(page)] = page + 1;
}

static void add_request(struct e2pf_alone *a, uint64_t offset, uint64_t length)
{
	uint64_t away = offset > a->asked ? offset - a->asked :
					    a->asked - offset;

	a->requests++;
	if (away <= E2PF_ALONE_NEAR)
		a->near++;
	a->asked = offset + length;
}

/* How far the kernel reads for a read that it does not have. */
static uint64_t window(struct e2pf_alone *a, uint64_t offset, uint64_t length)
{
	if (offset == a->next && a->window)
		a->window *= 2;
	else if (offset && has_page(a, offset / E2PF_ALONE_PAGE - 1))
		a->window = E2PF_ALONE_FIRST;
	else
		a->window = 0;
	if (a->window > E2PF_ALONE_LARGEST)
		a->window = E2PF_ALONE_LARGEST;
	return a->window > length ? a->window : length;
}

void e2pf_alone_add(struct e2pf_alone *a, uint64_t offset, uint64_t length,
		    uint64_t ahead)
{
	uint64_t last = (offset + length - 1) / E2PF_ALONE_PAGE, size;

	a->bytes += ahead;
	if (!has_page(a, offset / E2PF_ALONE_PAGE) || !has_page(a, last)) {
		size = window(a, offset, length);
		if (ahead)
			add_request(a, offset, size);
		add_pages(a, offset, size);
	}
	a->next = offset + length;
}
