/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A worker: requests the references of its stripes, and parses them, in the order of its
 * elevator. */
#ifndef PREFETCH_WORKER_H
#define PREFETCH_WORKER_H

/* The body of a worker's thread, whose argument is a struct pf_worker.  Returns NULL. */
void *pf_worker_run(void *worker);

#endif
