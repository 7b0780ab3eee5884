#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# coverage.sh DIR: builds with gcc --coverage in DIR, runs the tests there, and
# prints which lines of lib/, launch/, e2fsck/ and accel/ none of them executed.  TABLE
# names a document, or their folder, for the figures.
#
# Many of these lines run in processes that are made to fail.  The counters of a
# killed process are lost.  Those of all others are kept, and writing them must not be
# visible: it prints no messages and makes no calls that the fault injection counts.

set -u

srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
top=${srcdir%/tests}
dir=${1:-coverage-build}
# shellcheck source=report.sh
. "$srcdir/tools/report.sh"
# Not passed to the tests, because one of them also writes a table.
document=${TABLE-}
unset TABLE

command -v gcovr >/dev/null || {
	echo "coverage: gcovr not found" >&2
	exit 1
}
mkdir -p "$dir" && cd "$dir" || exit
dir=$PWD

# gcc writes the counters at exit() and before exec(), but not at _exit().
cat >exit.h <<-END
	#ifndef COVERAGE_EXIT_H
	#define COVERAGE_EXIT_H
	#include <unistd.h>
	void __gcov_dump(void);
	#define _exit(status) (__gcov_dump(), _exit(status))
	#endif
END

# gcc's code for that is part of the programs, but its calls must not be counted as
# theirs.  Under other names the fault injection does not see them.
mkdir -p libgcov
objcopy --redefine-sym malloc=__libc_malloc --redefine-sym free=__libc_free \
	--redefine-sym open=__open --redefine-sym fdopen=_IO_fdopen \
	"$(gcc -print-file-name=libgcov.a)" libgcov/libgcov.a || exit
export GCOV_ERROR_FILE=/dev/null

[ -e Makefile ] ||
	"$top/configure" -q CC=gcc LDFLAGS="-L$dir/libgcov" CFLAGS="-O0 -g \
		--coverage -fprofile-update=atomic -D_GNU_SOURCE -include $dir/exit.h" ||
	exit
make -s >make.log || exit
find . -name '*.gcda' -delete
# Some tests run as user nobody, who must be able to open these files.
(umask 0 && make -s -k -C tests check) >check.log 2>&1 || {
	grep -E '^(FAIL|ERROR):' check.log
	echo "coverage: some tests fail: the figures are of this run"
} >&2

# A line counts as executed if it was in any of the objects compiled from it.
report()
{
	gcovr -r "$top" --object-directory "$dir" \
		-f "$top/(lib|launch|e2fsck|accel)/" lib launch e2fsck accel tests "$@"
}

print_table()
{
	report --csv - | awk -F, '
		function row(name, lines, covered) {
			printf "| %s | %d | %.1f %% |\n", name, lines,
				100 * covered / lines
		}
		BEGIN {
			print "| file | lines | covered |"
			print "| --- | --- | --- |"
		}
		NR > 1 && $2 {
			row("`" $1 "`", $2, $3)
			lines += $2
			covered += $3
		}
		END { row("all", lines, covered) }'
}

report --html-details uncovered.html --txt -
[ -z "$document" ] || { print_table >table && write_table coverage table "$document"; }
echo "The lines: $dir/uncovered.html"
