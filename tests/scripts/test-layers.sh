#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# That each folder knows of the others only what CONTRIBUTING.md allows, by
# what its sources include; and that the engine knows no filesystem, by the
# words in it.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

cd "$srcdir/.." || tap_bail "no sources"

# includes FOLDER ALLOWED: lines of FOLDER that include a header which is
# neither in it nor matched by the pattern.  Fails when there is one.
includes()
{
	local folder=$1 allowed=$2 file line header bad=0

	for file in "$folder"/*.[ch]; do
		while IFS= read -r line; do
			header=${line#*\"} header=${header%%\"*}
			[ -e "$folder/$header" ] && continue
			[[ $header =~ ^($allowed)$ ]] && continue
			echo "$file: $line"
			bad=1
		done < <(grep '^#include "' "$file")
	done
	return $bad
}

no_filesystem()
{
	! grep -nwiE 'ext2fs|ext[234]|e2fsck|groups?|inodes?|tables?|director(y|ies)|bitmaps?' \
		lib/engine/*.[ch]
}

test_layers()
{
	tap_check "the engine includes the device and nothing else" \
		includes lib/engine 'device/device\.h'
	tap_check "the engine speaks of no filesystem" no_filesystem
	tap_check "the device knows nothing of what is read" \
		includes lib/device ''
	tap_check "ext4 is a source for the engine" \
		includes lib/ext4 'e2prefetch\.h|engine/.*\.h|device/device\.h'
	tap_check "btrfs is a source for the engine" \
		includes lib/btrfs 'engine/source\.h|device/device\.h'
	tap_check "what plugs into libext2fs includes no planner" \
		includes lib/libext2fs \
		'e2prefetch\.h|engine/engine\.h|ext4/journal\.h'
	tap_check "accelerations know nothing of the launcher and module" \
		includes accel 'decisions\.h|device/.*\.h'
	tap_check "e2prefetch knows nothing of e2fsck's module" \
		includes prefetch \
		'e2prefetch\.h|stats_file\.h|(configuration|environment)\.h'
}

tmp_setup
tap_run test_layers
