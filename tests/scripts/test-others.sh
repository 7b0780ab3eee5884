#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Other programs of e2fsprogs, with the module preloaded into them and with
# e2prefetch beside them: what they say, write and end with is what it is
# without.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

PREFETCHER=$top_builddir/prefetch/e2prefetch
MODULE=$top_builddir/e2fsck/.libs/e2fsck-prefetch.so

# use HOW COMMAND...: as it is, with the module, or with e2prefetch beside it.
use()
{
	local how=$1

	shift
	case $how in
	plain) "$@" ;;
	module) env PREFETCH=1 LD_PRELOAD="$MODULE" "$@" ;;
	beside) "$PREFETCHER" fs -- "$@" ;;
	esac
}

# run HOW COMMAND...: on a fresh, cold copy of the image in a folder of its
# own, so that all paths are alike; what it said and left is in there.
run()
{
	local how=$1 status

	shift
	rm -rf "${dir:?}/$how"
	mkdir "$dir/$how" && cp --sparse=auto "$image" "$dir/$how/fs" || return
	dd of="$dir/$how/fs" conv=notrunc,fdatasync oflag=nocache count=0 \
		status=none
	(cd "$dir/$how" && use "$how" "$@" >out 2>err </dev/null)
	status=$?
	echo $status >"$dir/$how/status"
}

same()
{
	local how

	run plain "$@"
	# Not an error of usage that is the same each time.
	[ "$(cat "$dir/plain/status")" = 0 ] || { cat "$dir/plain/err"; return 1; }
	for how in module beside; do
		run "$how" "$@"
		diff -r "$dir/plain" "$dir/$how" || return
	done
}

test_all()
{
	dir=$E2PF_TMP/others
	mkdir "$dir"
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	tap_check "dumpe2fs" same dumpe2fs fs
	tap_check "debugfs: where a block belongs" same \
		debugfs -R "icheck 1000 2000 3000" fs
	tap_check "debugfs: names of inodes" same \
		debugfs -R "ncheck 12 13 14 15" fs
	tap_check "debugfs: writing" same \
		debugfs -w -R "set_super_value mnt_count 7" fs
	tap_check "e2image -r" same e2image -r fs raw
	tap_check "e2image -Q" same e2image -Q fs qcow
	tap_check "resize2fs -P" same resize2fs -P fs
	tap_check "resize2fs -M" same resize2fs -f -M fs
	tap_check "e2freefrag" same e2freefrag fs
	tap_check "tune2fs: checksums off" same tune2fs -O ^metadata_csum fs
}

require_programs mke2fs debugfs dumpe2fs e2image resize2fs e2freefrag tune2fs \
	dd diff
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
tmp_setup
helpers_setup
images_setup
tap_run test_all
