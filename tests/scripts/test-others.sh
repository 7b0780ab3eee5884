#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Other programs of e2fsprogs, with e2prefetch beside them, and with the module
# preloaded by mistake: output, images and exit status must be the same as without.  And
# a program of ours with the mmap I/O manager.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# use HOW COMMAND...: runs it plainly, with the module, or with e2prefetch
# beside it.
use()
{
	case $1 in
	plain) "${@:2}" ;;
	module) env PREFETCH=1 TEST_MMAP_IO=1 LD_PRELOAD="$MODULE:$ACCEL" "${@:2}" ;;
	beside) "$PREFETCHER" fs -- "${@:2}" ;;
	esac
}

# run HOW COMMAND...: runs it on a fresh, cold copy of the image.  Each copy is
# in a separate folder, so that all paths are the same; the output goes there,
# too.
run()
{
	rm -rf "${dir:?}/$1"
	mkdir "$dir/$1" && cp --sparse=auto "$image" "$dir/$1/fs" || return
	drop "$dir/$1/fs"
	(cd "$dir/$1" && use "$@" >out 2>err </dev/null)
	echo $? >"$dir/$1/status"
}

same()
{
	local how

	run plain "$@"
	# A usage error would be the same each time.
	[ "$(cat "$dir/plain/status")" = 0 ] || { cat "$dir/plain/err"; return 1; }
	for how in module beside; do
		run "$how" "$@"
		diff -r "$dir/plain" "$dir/$how" || return
	done
}

# e2prefetch has nothing to read there.
of_journal()
{
	local image=$E2PF_TMP/journal

	truncate -s 8M "$image" &&
	mke2fs -q -F -O journal_dev -b 4096 "$image" &&
	run plain dumpe2fs fs && run module dumpe2fs fs &&
	[ "$(cat "$dir/plain/status")" = 0 ] && diff -r "$dir/plain" "$dir/module"
}

# test_tune2fs IMAGE ARGUMENT...: with these, tune2fs reads all inodes, and
# writes.
test_tune2fs() { tap_check "$1: tune2fs ${*:2}" same tune2fs "${@:2}" fs; }

test_checksums()
{
	local name=$1 image=$E2PF_TMP/$1

	image_make "$name" "$image" || tap_bail "no image"
	# Some images have checksums, others do not.
	tune2fs -O metadata_csum "$image" >"$E2PF_TMP/log" 2>&1 ||
		tap_bail "no checksums"
	test_tune2fs "$name" -O ^metadata_csum
	test_tune2fs "$name" -z undo -O ^metadata_csum
	test_tune2fs "$name" -U 00112233-4455-6677-8899-aabbccddeeff
	tune2fs -O ^metadata_csum "$image" >"$E2PF_TMP/log" 2>&1 ||
		tap_bail "checksums stay"
	test_tune2fs "$name" -O metadata_csum
}

# managed PROGRAM: what it reads and writes is the same with both I/O managers.
managed()
{
	local manager

	for manager in unix mmap; do
		cp --sparse=auto "$image" "$dir/$manager.fs"
		E2FSPROGS_FAKE_TIME=1700000000 "$1" $manager "$dir/$manager.fs" \
			>"$dir/$manager.out" 2>"$dir/$manager.err" || return
	done
	cat "$dir"/*.out "$dir"/*.err
	cmp "$dir/unix.out" "$dir/mmap.out" && cmp "$dir/unix.fs" "$dir/mmap.fs" &&
	[ "$(dumpe2fs -h "$dir/mmap.fs" 2>&1 | grep -c "volume name: *mapped")" = 1 ] &&
	[ "$(uniq "$dir/mmap.out" | wc -l)" = 2 ] && case $mapped in
	1) [ "$(<"$dir/mmap.err")" = mmap ] ;;
	*) cmp "$dir/unix.err" "$dir/mmap.err" ;;
	esac
}

# It reads twice 32768 blocks.
reads_little()
{
	strace -qq -c -e trace=pread64 -o "$dir/calls" "$1" mmap "$dir/mmap.fs"
	cat "$dir/calls"
	[ "$(awk '$NF == "pread64" { print $4 }' "$dir/calls")" -lt 100 ]
}

test_manager()
{
	local mapped=0 program=$E2PF_TMP/program

	case $(uname -m),$($CC -dumpmachine) in
	x86_64,*gnu|aarch64,*gnu) mapped=1 ;;
	esac
	tap_check "a program with the mmap manager" managed "$PROGRAM"
	tap_unless "$(no_strace)$([ $mapped = 1 ] || echo "nothing is mapped")" \
		"it reads from the mapping" reads_little "$PROGRAM"
	if $CC -static -I"$srcdir/../lib" -o "$program" "$srcdir/tools/mmap-program.c" \
			"$top_builddir/lib/.libs/libcore.a" -lext2fs -lcom_err -lpthread \
			-ldl 2>"$dir/static"; then
		tap_check "a static program" managed "$program"
		tap_unless "$(no_strace)$([ $mapped = 1 ] || echo "nothing is mapped")" \
			"it reads from the mapping, too" reads_little "$program"
	else
		tap_skip "a static program" "$(tail -n 1 "$dir/static")"
	fi
}

test_all()
{
	local name

	small_image others
	test_manager
	tap_check "dumpe2fs" same dumpe2fs fs
	tap_check "debugfs: where a block belongs" same \
		debugfs -R "icheck 1000 2000 3000" fs
	tap_check "debugfs: names of inodes" same debugfs -R "ncheck 12 13 14 15" fs
	tap_check "debugfs: writing" same debugfs -w -R "set_super_value mnt_count 7" fs
	tap_check "e2image -r" same e2image -r fs raw
	tap_check "e2image -Q" same e2image -Q fs qcow
	tap_check "resize2fs -P" same resize2fs -P fs
	tap_check "resize2fs -M" same resize2fs -f -M fs
	tap_check "e2freefrag" same e2freefrag fs
	tap_check "dumpe2fs of a journal's device" of_journal
	for name in ext4-1k ext4-uninit-bg ext4-meta-bg ext4-flex-64; do
		test_checksums "$name"
	done
	image_make ext4-no-flex "$image" || tap_bail "no image"
	test_tune2fs ext4-no-flex -I 512
}

[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
CC=${CC:-cc}
setup mke2fs debugfs dumpe2fs e2image resize2fs e2freefrag tune2fs dd diff "${CC%% *}"
PROGRAM=$top_builddir/tests/tools/mmap-program
tap_run test_all
