#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manuals are well formed, and the example in libe2prefetch.3 compiles.
# Prints TAP.

doc=${docdir:-$(dirname "$0")}
top=$doc/..

pages=("$doc"/*.[358])
echo "1..$((${#pages[@]} + 1))"

n=0
for page in "${pages[@]}"; do
	name=$(basename "$page")
	n=$((n + 1))
	if ! command -v mandoc >/dev/null; then
		echo "ok $n - $name # SKIP no mandoc"
	elif said=$(mandoc -Tlint -Wwarning "$page" 2>&1); then
		echo "ok $n - $name"
	else
		printf '%s\n' "$said" | sed 's/^/# /'
		echo "not ok $n - $name"
	fi
done

# The text between the first #include of the examples and the display's end.
example()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh ERRORS/p' "$doc/libe2prefetch.3" |
		sed -n '/^#include/,/^\.Ed/p' | sed -e '/^\.Ed/d' -e 's/\\e/\\/g'
}

n=$((n + 1))
cc=${CC:-cc}
flags=$(pkg-config --cflags ext2fs com_err 2>/dev/null)
if ! command -v "${cc%% *}" >/dev/null; then
	echo "ok $n - example # SKIP no compiler"
elif said=$(example | $cc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only \
	    -I"$top/lib" $flags -x c - 2>&1); then
	echo "ok $n - example"
else
	printf '%s\n' "$said" | sed 's/^/# /'
	echo "not ok $n - example"
fi
