/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "state.h"
#include "trace.h"

void pf_state_set(struct pf_engine *e, enum pf_state state)
{
	if (state == PF_STATE_STARTING && e->state == PF_STATE_IDLE)
		e->gave_up = false;
	if (state == PF_STATE_GAVE_UP)
		e->gave_up = true;
	e->state = state;
}

bool pf_state_handle_events(struct pf_engine *e, unsigned events)
{
	bool wake = events & PF_EVENT_WAKE && e->state == PF_STATE_ASLEEP;

	if (wake) {
		pf_state_set(e, PF_STATE_STARTING);
		pf_pool_add_running(&e->pool);
	}
	if (events & PF_EVENT_GIVE_UP && pf_state_is_reading(e)) {
		pf_state_set(e, PF_STATE_GAVE_UP);
		PF_TRACE(give_up, e->health.errors);
		events |= PF_EVENT_WORK | PF_EVENT_GATE;
	}
	if (events & PF_EVENT_WORK ||
	    (events & PF_EVENT_ROOM && e->pool.throttled))
		pthread_cond_broadcast(&e->work);
	if (events & PF_EVENT_GATE && e->gate.waiters)
		pthread_cond_broadcast(&e->gate_opens);
	if (events & PF_EVENT_ENDED)
		pthread_cond_broadcast(&e->ended);
	return wake;
}
