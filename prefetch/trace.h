/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Probes for tracers (doc/tracing.md).  Each costs one nop while nobody traces, if its
 * arguments are at hand: pass variables and members, not what has to be computed.
 */
#ifndef PREFETCH_TRACE_H
#define PREFETCH_TRACE_H

#ifdef ENABLE_TRACING
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define PF_TRACE(...) STAP_PROBEV(e2prefetch, __VA_ARGS__)
#else
#define PF_TRACE(...) do { } while (0)
#endif

#endif
