/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where libinih's parser comes from. */
#ifndef INIH_H
#define INIH_H

#include <ini.h>

typedef __typeof__(&ini_parse_stream) inih_parse;

/* libinih's ini_parse_stream().  NULL, and the reason in *why, when the library
 * cannot be loaded. */
inih_parse inih_load(const char **why);

#endif
