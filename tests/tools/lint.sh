#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Runs clang-tidy, cppcheck and gcc -fanalyzer on all C sources, including tests and disk
# models, owners.py on the engine; counts the words of documents, and finds lines of more
# than 90 columns.  .clang-tidy and cppcheck-suppressions.txt list disabled checks with
# reasons.  Prints TAP: a finding is a failure.
#
# Needs a configured build in top_builddir for config.h.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
cd "$srcdir/.." || exit

directories=(lib prefetch ext4 preload e2fsck btrfs cmd tests bench)

# checker NAME COMMAND...: NAME ends with the program's name; its lines about our
# sources are findings.
checker()
{
	local name=$1 out log status

	skipped "$name" "$(lacks "${name##* of }")" && return
	shift
	out=$("$@" 2>&1)
	status=$?
	log=$(grep -E '(warning|error|style|performance|portability):' \
		<<<"$out" | sort -u)
	if [ -n "$log" ]; then
		tap_not_ok "$name" <(echo "$log")
	elif [ "$status" != 0 ]; then
		tap_not_ok "$name ended with status $status" <(echo "$out")
	else
		tap_ok "$name: nothing found"
	fi
}

# each -E|-vE PATTERN COMMAND...: on each source that matches or does not, as {}, several
# at a time.
each()
{
	printf '%s\n' "${sources[@]}" | grep "$1" "$2" |
		xargs -P "$E2PF_JOBS" -I{} "${@:3}"
}

# Unless LINT is "all", a path through a function ends after 50,000 nodes, not 225,000,
# which takes a quarter of the time; those through tests are left to gcc.
tidy()
{
	local -a how=(--extra-arg=-Xclang --extra-arg=-analyzer-config
		--extra-arg=-Xclang --extra-arg=max-nodes=50000)
	local tests='^(tests|bench)/' status=0

	[ "${LINT-}" != all ] || tests='^$' how=()
	each -vE "$tests" clang-tidy -quiet "${how[@]}" {} -- "${cflags[@]}" || status=$?
	each -E "$tests" clang-tidy -quiet '-checks=-clang-analyzer-*' {} \
		-- "${cflags[@]}" || status=$?
	return $status
}

# gcc 12 reports a leak if a struct is returned as a pointer to its first member, and
# does not know that a failed assert_non_null() of cmocka does not return.
analyze()
{
	local -a how=(gcc -O1 -fanalyzer -Wno-analyzer-malloc-leak)

	each -E '^tests/unit/' "${how[@]}" -Wno-analyzer-possible-null-dereference \
		-Wno-analyzer-possible-null-argument "${cflags[@]}" -c -o /dev/null {} &&
	each -vE '^tests/unit/' "${how[@]}" "${cflags[@]}" -c -o /dev/null {}
}

# Rows of tables and long strings may be wider.
wide_lines()
{
	local file

	find Makefile.am quickstart tests/ci boot doc examples "${directories[@]}" \
		-name '*.[ch]' -o -name '*.sh' -o -name Makefile.am -o -name quickstart \
		-o -name ci | while read -r file; do
		expand "$file" | grep -nE '^.{91,}' |
			grep -vE "\|[^ |&]|[\"'][^\"']{40,}" |
			sed "s|\([0-9]*\):.*|$file:\1: warning: more than 90 columns|"
	done
}

# The documents are no longer than word-limits.txt allows.
documents_are_short()
{
	local limits=tests/tools/word-limits.txt limit files words file

	while read -r limit files; do
		words=$(cat $files 2>/dev/null | wc -w)
		[ "$words" -le "$limit" ] ||
			echo "$files: error: $words words, more than $limit"
	done < <(grep -v '^#' $limits)
	for file in *.md */*.md; do
		grep -qwF "$file" $limits || echo "$file: error: not in $limits"
	done
}

[ -e "$top_builddir/config.h" ] || tap_bail "no $top_builddir/config.h: run configure"
mapfile -t sources < <(find "${directories[@]}" -name '*.c' | sort)
includes=(-I"$top_builddir" -I. -Itests/rigs -Ibench)
packages=(ext2fs com_err cmocka fuse3)
pkg-config "${packages[@]}" ||
	tap_skip_all "not all libraries are installed: ${packages[*]}"
read -ra cflags < <(pkg-config --cflags "${packages[@]}")
cflags+=(-std=gnu11 -include "$top_builddir/config.h"
	'-DPROGRAM="e2fsck"' '-DSTOCK="/sbin/e2fsck"'
	'-DVARIABLE="PREFETCH_E2FSCK"' '-DPACKAGE_OF="e2fsprogs"'
	'-DEXIT_MISSING=8' '-DUNFOLLOWED="pthread_create"'
	'-DMODELDIR="models"' '-DSCRIPTS="/libexec"'
	'-DCONFIGURATION="/etc/e2prefetch.conf"' "${includes[@]}")

test_all()
{
	checker clang-tidy tidy
	checker 'calls and writers of fields in the engine, says a script of python3' \
		python3 tests/tools/owners.py
	checker 'words that have another name here, says a script of python3' \
		python3 tests/tools/words.py
	checker 'lines above 90 columns, says a script of expand' wide_lines
	checker 'documents that are too long, by the count of wc' documents_are_short
	checker cppcheck cppcheck -q -j "$E2PF_JOBS" \
		--enable=warning,performance,portability \
		--std=c11 --inline-suppr --suppress=missingIncludeSystem \
		--suppressions-list=tests/fixtures/cppcheck-suppressions.txt \
		"${includes[@]}" --include="$top_builddir/config.h" \
		'-DElfW(type)=Elf64_##type' "${directories[@]}"
	checker "-fanalyzer of gcc" analyze
}

tap_run test_all
