/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of decisions.  Knows nothing of what is decided. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdarg.h>

#include "decisions.h"

void e2pf_decide(struct e2pf_decisions *list, const char *about,
		 const char *decision, const char *reason, ...)
{
	struct e2pf_decision *d;
	va_list args;

	if (list->count >= E2PF_DECISIONS_MOST)
		return;
	d = &list->item[list->count++];
	snprintf(d->about, sizeof(d->about), "%s", about);
	snprintf(d->decision, sizeof(d->decision), "%s", decision);
	va_start(args, reason);
	vsnprintf(d->reason, sizeof(d->reason), reason, args);
	va_end(args);
}

void e2pf_decisions_print(const struct e2pf_decisions *list,
			  const char *program, FILE *out)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		fprintf(out, "%s: %s: %s (%s)\n", program, list->item[i].about,
			list->item[i].decision, list->item[i].reason);
}
