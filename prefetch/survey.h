/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What a source shows while there are no workers: whether everything is cached, how
 * fast the device is, and how much there is to read ahead.
 */
#ifndef PREFETCH_SURVEY_H
#define PREFETCH_SURVEY_H

#include "speed.h"
#include "source.h"

/* Returns true if samples that are spread over the devices, and what they refer to, are
 * cached; false if there are no samples. */
bool pf_survey_is_cached(struct pf_source *source,
			 struct pf_device *const *devices);

/* Measure the first device where its metadata is.  `with_bytes`: measure also the cost
 * of a byte.  Returns NULL, or why nothing could be measured, as pf_speed_measure()
 * does. */
const char *pf_survey_measure(struct pf_source *source,
			      struct pf_device *dev, bool with_bytes,
			      struct pf_speed *speed);

/* Amount of metadata of one class. */
struct pf_class_count {
	uint64_t bytes;
	uint64_t runs;		/* of adjacent references */
};

/* Have the source begin, with room for everything.  Returns its first phase. */
const struct pf_phase *pf_survey_begin(struct pf_source *source);

/* Walk all phases that do not wait for the checker, reading only what must be parsed,
 * and count what would be read ahead.  `count` has an element for each class.  An
 * engine of this source must be idle.  Returns 0 or an errno. */
int pf_survey_count(struct pf_source *source,
		    struct pf_device *const *devices,
		    struct pf_class_count *count);

#endif
