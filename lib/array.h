/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Arrays that grow, and what sorts them. */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Less than 0, 0, or more than 0, as qsort() wants it. */
#define E2PF_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Make room for `more` elements of `size` bytes after those in use.  *array
 * points to an array of *room elements.  Returns false if memory runs out; then
 * nothing changes. */
static inline bool e2pf_have_room(void **array, size_t *room, size_t used,
				  size_t more, size_t size)
{
	size_t wanted = *room ? *room : 64;
	void *grown;

	while (wanted < used + more)
		wanted *= 2;
	if (*array && wanted == *room)
		return true;
	if (wanted > SIZE_MAX / size)
		return false;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

#endif
