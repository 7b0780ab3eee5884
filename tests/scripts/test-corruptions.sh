#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The seeded rows of test-compare.sh, in a script of their own because they run in
# memory: COUNT of each group, or with SOAK_SECONDS others until those are over, every
# second time with jemalloc, if it is installed.  Between them come signals and changes of
# the file at any moment, refused calls, small cgroups, bad sectors, and habits.
# What differs does not end it.

srcdir=${srcdir:-$(dirname "$0")/..}
first=${FIRST:-1} status=0
jemalloc=$(ldconfig -p 2>/dev/null | awk '/libjemalloc/ { print $NF; exit }')
while :; do
	FIRST=$first bash "$srcdir/scripts/test-compare.sh" corruptions combinations ||
		status=1
	first=$((first + ${COUNT:-84}))
	[ "$SECONDS" -lt "${SOAK_SECONDS:-0}" ] || break
	E2PF_SEED=$first bash "$srcdir/scripts/test-limits.sh" moments seccomp cgroup \
		disk ||
		status=1
	bash "$srcdir/scripts/test-habits.sh" $first-$((first + 23)) || status=1
	export E2PF_ALLOCATOR=$([ -n "${E2PF_ALLOCATOR-}" ] || echo "$jemalloc")
done
exit $status
