#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Static checkers over all sources but the disk models: clang-tidy, cppcheck
# and gcc -fanalyzer.  What is not asked of them, and why, is in .clang-tidy
# and cppcheck-suppressions.txt.  Says what they found; status 1 if anything.
#
# Needs a configured build in top_builddir for config.h.

srcdir=$(cd "${srcdir:-$(dirname "$0")}" && pwd)
top_builddir=$(cd "${top_builddir:-$srcdir/..}" && pwd)
cd "$srcdir/.." || exit

sources=(lib/*.c e2fsck/*.c prefetch/*.c)
read -ra cflags < <(pkg-config --cflags ext2fs com_err json-c)
cflags+=(-std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DHAVE_CONFIG_H
	'-DE2FSCK="/sbin/e2fsck"' -I"$top_builddir" -Ilib -Ie2fsck -Iprefetch)
found=0

# checker NAME COMMAND...: its lines about our sources are findings.
checker()
{
	local name=$1 log

	shift
	if ! command -v "$1" >/dev/null; then
		echo "$name: skipped, $1 not found"
		return
	fi
	log=$("$@" 2>&1 | grep -E '(warning|error|style|performance|portability):')
	if [ -n "$log" ]; then
		printf '%s:\n%s\n' "$name" "$log"
		found=1
	else
		echo "$name: nothing found"
	fi
}

analyzer()
{
	local source

	for source in "${sources[@]}"; do
		# gcc 12 takes a struct that is handed out by its first
		# member for a leak.
		gcc -O1 -fanalyzer -Wno-analyzer-malloc-leak -c -o /dev/null "${cflags[@]}" "$source"
	done
}

[ -e "$top_builddir/config.h" ] || {
	echo "lint: no $top_builddir/config.h: run configure" >&2
	exit 2
}
checker clang-tidy clang-tidy -quiet "${sources[@]}" -- "${cflags[@]}"
checker cppcheck cppcheck -q --enable=warning,performance,portability \
	--std=c11 --inline-suppr --suppress=missingIncludeSystem \
	--suppressions-list=tests/cppcheck-suppressions.txt \
	-I"$top_builddir" -Ilib -Ie2fsck -Iprefetch -DHAVE_CONFIG_H \
	-D_GNU_SOURCE lib e2fsck prefetch
if command -v gcc >/dev/null; then
	checker "gcc -fanalyzer" analyzer
fi
exit $found
