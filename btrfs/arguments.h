/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The request in btrfs's arguments.  Each list of arguments ends with NULL. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

enum task { TASK_OTHER, TASK_CHECK, TASK_SEND };

enum task arguments_task(char *const *argv);

/* Why a check with these arguments should run without prefetching, in words;
 * NULL if there is no reason. */
const char *arguments_aside(char *const *argv);

#endif
