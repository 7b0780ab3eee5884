/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access to libinih's parser. */
#ifndef INIH_H
#define INIH_H

#include <ini.h>

typedef __typeof__(&ini_parse_stream) inih_parse;

/* Returns libinih's ini_parse_stream(); NULL, with the reason in *why, if the
 * library cannot be loaded. */
inih_parse inih_load(const char **why);

#endif
