/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a module does about the programs that its checker starts. */
#ifndef INHERIT_H
#define INHERIT_H

/*
 * Children of the checker are not ours to help: what the launcher put in front
 * of LD_PRELOAD goes from the environment, and what it found out with it; what
 * the user had stays.  `inside` is an address in the module.
 */
void inherit_environment(const void *inside);

#endif
