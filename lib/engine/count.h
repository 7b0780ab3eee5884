/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Counts what a source would have read ahead, in one thread, for `e2prefetch probe`. */
#ifndef PF_COUNT_H
#define PF_COUNT_H

#include "device/device.h"
#include "source.h"

/* Amount of metadata of one class. */
struct pf_class_count {
	uint64_t bytes;
	uint64_t runs;		/* of adjacent references */
};

/* Have the source begin, with room for everything.  Returns its first phase. */
const struct pf_phase *pf_count_begin(struct pf_source *source);

/* Walk all phases that do not wait for the checker, reading only what must be parsed, and
 * count what would be read ahead.  `count` has an element for each class.  An engine of this
 * source must be idle.  Returns 0 or an errno. */
int pf_count_metadata(struct pf_source *source,
		      struct e2pf_device *const *devices,
		      struct pf_class_count *count);

#endif
