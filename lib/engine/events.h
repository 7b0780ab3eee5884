/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What a part of the engine asks for when its state has changed.  It returns events, or
 * several of them, and wakes nobody: the monitor does (monitor.c: settle()).
 */
#ifndef E2PF_EVENTS_H
#define E2PF_EVENTS_H

enum e2pf_event {
	E2PF_EV_WORK = 1,	/* all workers that sleep look again */
	E2PF_EV_ROOM = 2,	/* the same, if one of them is throttled */
	E2PF_EV_GATE = 4,	/* whoever waits at the gate looks again; */
	E2PF_EV_IDLE = 8,	/* and who waits for the workers to end, or to
				   have nothing left to do */
	E2PF_EV_GIVE_UP = 16,	/* the workers take nothing any more */
	E2PF_EV_WAKE = 32	/* an engine that is asleep starts to read */
};

#endif
