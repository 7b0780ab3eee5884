#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# When the process beside a static e2fsck has something to help with: where the
# check is one in full, of a filesystem that e2fsck finds as well.  That it
# helped is seen by its statistics.  What e2fsck says is test-cli.sh's matter.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

STATIC=${E2FSCK_STATIC:-$(command -v e2fsck.static)}

# run OPTION...: a check of $dir/fs or what the options name.  Both processes
# have ended when it returns.
run()
{
	rm -f "$dir/stats"
	PREFETCH=1 PREFETCH_E2FSCK=$STATIC PREFETCH_STATS=$dir/stats \
		"$IMGTOOL" run 60 e2fsck "$E2FSCK_TEST" "$@" \
		>"$dir/out" 2>&1 </dev/null
	no_process_left || return
	cat "$dir/out"
	[ -s "$dir/out" ]
}

helps() { run "$@" && [ -s "$dir/stats" ]; }
helps_not() { run "$@" && [ ! -s "$dir/stats" ]; }

# fresh TUNE2FS-OPTION...: a new $dir/fs, changed so.
fresh()
{
	cp --sparse=auto "$image" "$dir/fs"
	[ $# = 0 ] || tune2fs "$@" "$dir/fs" >/dev/null 2>&1 ||
		tap_bail "tune2fs $*"
}

test_side()
{
	local backup

	dir=$E2PF_TMP/side
	mkdir "$dir"
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	tune2fs -c 0 -i 0 "$image" >/dev/null 2>&1
	backup=$(dumpe2fs "$image" 2>/dev/null |
		sed -n 's/.*Backup superblock at \([0-9]*\),.*/\1/p' |
		head -n 1)

	fresh
	tap_check "not with a clean filesystem" helps_not -n "$dir/fs"
	tap_check "with -f" helps -fn "$dir/fs"
	tap_check "not with -D alone" helps_not -D -y "$dir/fs"
	tap_check "with -fD" helps -fD -y "$dir/fs"
	tap_check "with -b and -B" helps -fn -b "$backup" -B 1024 "$dir/fs"
	tap_check "not with -b of no superblock" \
		helps_not -fn -b 77 "$dir/fs"
	tap_check "not with -V" helps_not -V "$dir/fs"
	tap_check "not with -F, which drops what was read" \
		helps_not -fnF "$dir/fs"
	tap_check "not without a device" helps_not -fn
	tap_check "not with two" helps_not -fn "$dir/fs" "$dir/fs"
	tap_check "not with one that is not there" helps_not -fn "$dir/none"
	fresh -c 5 -C 4
	tap_check "not before the most mounts" helps_not -n "$dir/fs"
	fresh -c 5 -C 5
	tap_check "with the most mounts" helps -n "$dir/fs"
	fresh -i 1d -T 20170101
	tap_check "with the last check long ago" helps -n "$dir/fs"
	fresh -i 1d -T now
	E2FSPROGS_FAKE_TIME='' E2FSCK_TIME='' \
		tap_check "not with the last check today" helps_not -n "$dir/fs"
	fresh
	debugfs -w -R "ssv state 0" "$dir/fs" >/dev/null 2>&1
	tap_check "with one not cleanly unmounted" helps -n "$dir/fs"
	fresh -E force_fsck
	tap_check "with one known to have errors" helps -n "$dir/fs"
}

[ -n "$STATIC" ] || tap_skip_all "no e2fsck.static"
require_programs mke2fs debugfs dumpe2fs tune2fs flock awk
tmp_setup
helpers_setup
images_setup
tap_run test_side
