#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manuals are well formed; libe2prefetch.3 names everything that the library
# exports, and its example compiles.  Prints TAP.

doc=${docdir:-$(dirname "$0")}
top=$doc/..

pages=("$doc"/*.[358])
echo "1..$((${#pages[@]} + 3))"

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

exported=$(sed -n 's/^\t\(e2pf_[a-z0-9_]*\);$/\1/p' \
	"$top/lib/libe2prefetch.map" | sort)

# same_names WHAT NAMES: these are the exported names, each of them once.
same_names()
{
	n=$((n + 1))
	if [ "$2" = "$exported" ]; then
		echo "ok $n - $1"
	else
		diff <(echo "$exported") <(echo "$2") | sed 's/^/# /'
		echo "not ok $n - $1"
	fi
}

same_names "libe2prefetch.3: NAME has all that is exported" \
	"$(sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' \
		"$doc/libe2prefetch.3" | sort)"
same_names "libe2prefetch.3: so has SYNOPSIS" \
	"$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/{
		s/^\.F[no] \(e2pf_[a-z0-9_]*\).*/\1/p
		s/^\.Vt extern .* \(e2pf_[a-z0-9_]*\) ;/\1/p
	}' "$doc/libe2prefetch.3" | sort)"

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
