#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests that the example counts what e2fsck counts, and reports errors.  Prints
# TAP.
#
# example	the program (default: that of the build tree)

srcdir=${srcdir:-$(dirname "$0")/../tests}
# shellcheck source=../tests/tools/lib.sh
. "$srcdir/tools/lib.sh"

example=${example:-$top_builddir/examples/count-directories}

counts_as_e2fsck()
{
	local said ours

	ours=$("$example" "$image") || return
	said=$("$E2FSCK_STOCK" -fnv "$image" 2>/dev/null |
		sed -n 's/^ *\([0-9]* directories\)$/\1/p')
	printf 'example: %s, e2fsck: %s\n' "$ours" "$said"
	[ -n "$said" ] && [ "$ours" = "$said" ]
}

# fails TEXT ARGUMENT...: the example fails with status 8 and a message with TEXT.
fails()
{
	local text=$1 said status=0

	shift
	said=$("$example" "$@" 2>&1) || status=$?
	printf '%s\nstatus %s\n' "$said" "$status"
	[ "$status" = 8 ] && [[ $said = *"$text"* ]]
}

test_example()
{
	local i

	image=$E2PF_TMP/image
	mkdir "$E2PF_TMP/tree"
	for ((i = 0; i < 100; i++)); do
		mkdir -p "$E2PF_TMP/tree/$i/$i"
		echo "$i" >"$E2PF_TMP/tree/$i/file"
	done
	mke2fs -q -F -t ext4 -d "$E2PF_TMP/tree" "$image" 32M >/dev/null ||
		tap_bail "no image"
	tap_check "it counts what e2fsck counts" counts_as_e2fsck
	: >"$E2PF_TMP/empty"
	tap_check "no filesystem" fails "$E2PF_TMP/empty: " "$E2PF_TMP/empty"
	tap_check "no such file" fails "No such file" "$E2PF_TMP/none"
	tap_check "no device" fails ": "
}

require_programs mke2fs e2fsck
[ -x "$example" ] || tap_skip_all "not built: $example"
tmp_setup
tap_run test_example
