#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each folder includes only headers of the folders that CONTRIBUTING.md allows, and
# the sources of the engine contain no words of a filesystem.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

cd "$srcdir/.." || tap_bail "no sources"

# includes FOLDER ALLOWED: print lines of FOLDER that include a header which is
# neither in it nor matches the pattern.  Fails if there are any.
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
		includes lib/engine 'device/(device|probe|rate|thread)\.h'
	tap_check "the engine speaks of no filesystem" no_filesystem
	tap_check "the device knows nothing of what is read" \
		includes lib/device ''
	tap_check "the session knows no filesystem" includes lib \
		'e2prefetch\.h|(engine|device|report)/.*\.h'
	tap_check "the report knows no filesystem" includes lib/report \
		'e2prefetch\.h|(engine|device)/.*\.h'
	tap_check "ext4 is a source for the engine, and a session" \
		includes lib/ext4 'e2prefetch\.h|session\.h|libext2fs/observe\.h|(engine|device|report)/.*\.h'
	tap_check "btrfs is a source for the engine, and a session" \
		includes lib/btrfs 'array\.h|session\.h|engine/source\.h|device/device\.h'
	tap_check "what plugs into libext2fs includes no planner" \
		includes lib/libext2fs \
		'e2prefetch\.h|engine/engine\.h|ext4/journal\.h'
	tap_check "accelerations know nothing of the launcher and module" \
		includes accel 'settings\.h|report/decisions\.h|device/.*\.h'
	tap_check "what all launchers do knows no checker" includes launch \
		'e2prefetch\.h|settings\.h|session\.h|report/.*\.h|device/(sysfile|thread)\.h'
	tap_check "e2prefetch knows nothing of e2fsck's module" \
		includes prefetch \
		'e2prefetch\.h|settings\.h|session\.h|report/.*\.h'
}

tmp_setup
tap_run test_layers
