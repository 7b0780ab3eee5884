/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Whether the e2fsck and the libext2fs of this process allow a check to be
 * followed and accelerated. */
#ifndef ABILITY_H
#define ABILITY_H

#include "accelerate.h"

/* Whether the module can see where this e2fsck is in its check. */
bool ability_to_follow(void);

/* The module with the accelerations; NULL if it is not in the process, or if
 * another version of it is. */
const struct accel *ability_accel(void);

#endif
