/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine's life: create, start, stop, free.  Starts and joins the threads, and reads
 * the device before there are any, which needs no lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/thread.h"
#include "sample.h"
#include "worker.h"

struct e2pf_engine *e2pf_engine_new(struct e2pf_source *source,
				    struct e2pf_device *const *devices)
{
	struct e2pf_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->source = source;
	e->devices = devices;
	e2pf_monitor_init(e);
	return e;
}

void e2pf_engine_free(struct e2pf_engine *e)
{
	if (!e)
		return;
	e2pf_engine_stop(e, -1);
	e2pf_monitor_destroy(e);
	free(e);
}

/* Create this many workers.  Returns how many there are; *err is an errno if there is
 * none. */
static unsigned start_threads(struct e2pf_engine *e, unsigned wanted, int *err)
{
	unsigned i;

	e->worker = calloc(wanted, sizeof(*e->worker));
	*err = ENOMEM;
	if (e->worker && e->cfg.before_threads)
		e->cfg.before_threads();
	for (i = 0; e->worker && i < wanted; i++) {
		struct e2pf_worker *w = &e->worker[i];

		e2pf_worker_init(w, e, i, wanted);
		*err = e2pf_thread_start(&w->thread, e2pf_worker_main, w);
		if (*err)
			break;
	}
	if (i)
		*err = 0;
	else
		free(e->worker);
	return i;
}

/* Measure the device if its kind is a guess, and start the workers.  Returns 0, also when
 * the engine was stopped meanwhile, or an errno. */
static int start_reading(struct e2pf_engine *e)
{
	struct e2pf_speed speed = { .seeks = false };
	const char *unmeasured;
	unsigned workers;
	uint64_t began;
	int err;

	if (e2pf_monitor_wants_speed(e)) {
		began = e2pf_now(e);
		unmeasured = e2pf_measure(e->source, e->devices[0], false,
					  &speed);
		e2pf_monitor_measured(e, unmeasured, &speed,
				      e2pf_now(e) - began);
	}
	workers = e2pf_monitor_prepare(e, &err);
	if (workers)
		workers = start_threads(e, workers, &err);
	e2pf_monitor_started(e, workers, E2PF_RUN_IDLE);
	return err;
}

int e2pf_engine_start(struct e2pf_engine *e,
		      const struct e2pf_engine_config *config)
{
	int err;

	if (!e2pf_monitor_start(e, config, &err))
		return err;
	if (!(config->paced || config->sampled) ||
	    !e2pf_samples_are_cached(e->source, e->devices))
		return start_reading(e);
	e2pf_monitor_started(e, 0, E2PF_RUN_ASLEEP);
	return 0;
}

void e2pf_engine_wake(struct e2pf_engine *e)
{
	if (e2pf_monitor_wake(e))
		start_reading(e);
}

bool e2pf_engine_after_read(struct e2pf_engine *e, const struct e2pf_read *r)
{
	bool ahead;

	if (e2pf_monitor_checker_read(e, r, &ahead))
		start_reading(e);
	return ahead;
}

bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds)
{
	unsigned i;

	if (!e2pf_monitor_stop(e, milliseconds))
		return false;
	/* Nobody else frees them: there is one that stops the engine. */
	for (i = 0; i < e->pool.workers; i++) {
		pthread_join(e->worker[i].thread, NULL);
		e2pf_worker_free(&e->worker[i]);
	}
	if (e->pool.workers)
		free(e->worker);
	e2pf_monitor_stopped(e);
	return true;
}
