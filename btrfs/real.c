/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Calls libc's functions.  Decides nothing. */
#include "real.h"

#include "interpose.h"

#define DEFINE(type, name, parameters, arguments) \
	type real_##name parameters \
	{ \
		REAL(name); \
		return real arguments; \
	}
REAL_FUNCTIONS(DEFINE)
