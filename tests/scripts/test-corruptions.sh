#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The seeded rows of test-compare.sh, in a script of their own because they run in
# memory: COUNT of each group, or with SOAK_SECONDS others until those are over.

srcdir=${srcdir:-$(dirname "$0")/..}
first=${FIRST:-1}
while :; do
	FIRST=$first bash "$srcdir/scripts/test-compare.sh" corruptions combinations ||
		exit
	first=$((first + ${COUNT:-84}))
	[ "$SECONDS" -lt "${SOAK_SECONDS:-0}" ] || break
done
