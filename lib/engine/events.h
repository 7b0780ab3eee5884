/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What follows from a change of a part.  The part's function returns a mask of these, and
 * pf_state_handle_events() acts on it. */
#ifndef PF_EVENTS_H
#define PF_EVENTS_H

enum pf_event {
	PF_EVENT_WORK = 1,	/* idle and throttled workers check again */
	PF_EVENT_ROOM = 2,	/* the same, if one of them is throttled */
	PF_EVENT_GATE = 4,	/* a checker that waits at the gate checks again */
	PF_EVENT_ENDED = 8,	/* callers that wait for the workers to end, or to
				   have nothing left to read, check again */
	PF_EVENT_GIVE_UP = 16,	/* the workers claim nothing any more */
	PF_EVENT_WAKE = 32	/* an engine that is asleep starts to read */
};

#endif
