#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# coverage.sh DIR: builds with --coverage in DIR, runs the unit and script
# tests there, and prints the lines of lib/ and e2fsck/ that were executed, as
# a table.  The .gcov files with the lines stay in DIR/gcov.

srcdir=$(cd "${srcdir:-$(dirname "$0")}" && pwd)
dir=${1:-coverage-build}

mkdir -p "$dir" && cd "$dir" || exit
dir=$PWD
[ -e Makefile ] ||
	"$srcdir/../configure" -q CFLAGS="-O0 -g --coverage" || exit
find . -name '*.gcda' -delete
make -s >/dev/null || exit
make -s -C tests check >/dev/null 2>&1 ||
	echo "coverage: some tests fail: the figures are of this run" >&2

rm -rf gcov
mkdir gcov
cd gcov || exit
find "$dir/lib" "$dir/e2fsck" -name '*.gcda' -print0 |
	xargs -0 gcov -p -l >gcov.out 2>/dev/null
# A file may be in several programs: the best of them counts.
awk -v top="${srcdir%/tests}/" '
	/^File / { file = $0; gsub(/^File .|.$/, "", file)
		   gsub(/.*\/tests\/\.\.\//, "", file); sub(top, "", file) }
	/^Lines executed:/ && file ~ /^(lib|e2fsck)\/.*\.c$/ {
		split($0, part, /[:% ]+/)
		hit = part[3] * part[5] / 100
		if (!(file in lines) || hit > hits[file]) {
			hits[file] = hit; lines[file] = part[5]
		}
		file = ""
	}
	END {
		for (file in lines) {
			printf "| %s | %d | %.1f %% |\n", file, lines[file],
				100 * hits[file] / lines[file] | "sort"
			all += lines[file]; done += hits[file]
		}
		close("sort")
		if (all)
			printf "| all | %d | %.1f %% |\n", all, 100 * done / all
	}' gcov.out
