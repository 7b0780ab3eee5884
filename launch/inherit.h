/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hides a module from the programs that its checker starts. */
#ifndef INHERIT_H
#define INHERIT_H

/*
 * Remove our part of the environment, so that the checker's children run
 * without us: the module that the launcher put first in LD_PRELOAD, and the
 * findings of its self-test.  The user's own LD_PRELOAD entries stay.
 * `inside` is an address in the module.
 */
void inherit_environment(const void *inside);

#endif
