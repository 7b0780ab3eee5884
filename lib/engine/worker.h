/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The workers: threads that take units, and request and parse what they refer to in the
 * order of their elevators.
 */
#ifndef E2PF_WORKER_H
#define E2PF_WORKER_H

#include "monitor.h"

/* Create this many; order and budget are final.  Returns how many there are; *err is an
 * errno if there is none. */
unsigned e2pf_workers_start(struct e2pf_engine *e, unsigned wanted, int *err);

/* Wait for the threads, which have been told to end. */
void e2pf_workers_join(struct e2pf_engine *e);

#endif
