#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# What people do: an image is made, filled, tuned, resized, copied, mounted, damaged, and
# checked after each step.  A seed decides the steps.  Two copies get the same, by the
# same programs; stock checks one, ours the other.  Nothing is dropped from memory
# meanwhile: what a program has just written is not cached as what was read is.  Output,
# status, writes and bytes must be the same, and ours must, by its statistics, have lost
# no more than a twentieth of stock's time, or 0.1 s.
#
#   test-habits.sh [FIRST[-LAST] [PLACE...]]
#
# runs each seed at each place: files on ext4, xfs, btrfs and tmpfs, a loop device (loop),
# one that stays open (open); without a place each at one of them in turn.  In one of
# eight the programs have the library preloaded for ours, in one e2prefetch runs beside
# them.

srcdir=${srcdir:-$(dirname "$0")/..}
# /tmp may be memory.
TMPDIR=${TMPDIR:-/var/tmp}
. "$srcdir/tools/lib.sh"
own_mounts "$@"
# Each may need three loop devices, and there may be eight.
[ "$E2PF_JOBS" -lt 2 ] || E2PF_JOBS=2
COMPARE_LIMIT=${COMPARE_LIMIT:-120}
COMPARE_IN_PLACE=1 COMPARE_STATS=1 COMPARE_ACCEL=''
. "$srcdir/tools/compare.sh"
shopt -s extglob

# In turn.  On ext4 a file's pages are the least simple.
places=(ext4 xfs ext4 btrfs ext4 loop ext4 tmpfs open)

# Steps run in the directory of a copy, whose image is `fs', a file, or a loop device over
# `back', which only grows: what is cached of a device outlives its end.
size()
{
	if [ ! -e back ]; then truncate -s "$1M" fs; return; fi
	truncate -s ">$1M" back && losetup -c "$(readlink fs)"
}

# The copy becomes the image.
replace() { if [ -e back ]; then cp copy fs; else mv copy fs; fi; }

# undone PROGRAM ARGUMENT...: with an undo file, which is then used.
undone() { rm -f undo; "$1" -z undo "${@:2}"; e2undo -f undo fs; }

# use NUMBER: by the kernel, whose clock and choices are not ours: stock's copy becomes
# as ours, which is read past the page cache.
use()
{
	local options='' direct=iflag=direct

	[ -e back ] || options="-o loop"
	mkdir -p ../mnt
	mount $options fs ../mnt || return
	mkdir "../mnt/used$1"
	cp "$IMAGE_SRC"/f* "../mnt/used$1" 2>/dev/null
	rm -rf ../mnt/d[0-3] ../mnt/used*/f600
	umount ../mnt
	printf 'ssv %s 1500000000\n' mtime wtime lastcheck | debugfs -w -f - fs
	# A tmpfs before Linux 6.6 has no other way.
	[ "$place" != tmpfs ] || direct=
	[ "${PWD##*/}" = stock ] ||
		dd if=fs of=../stock/fs bs=64k $direct conv=notrunc status=none
}

# fill COUNT NUMBER: prints commands of debugfs.  What they remove may be there.
fill()
{
	local i name old long

	printf -v long '%099d' 0
	printf 'mkdir d%d\n' {0..9}
	for ((i = 0; i < $1; i++)); do
		chance 10
		name=d$chance/$2-
		chance $((i + 1))
		old=$name$chance name+=$i
		one_of "mkdir $name" "symlink $name short" "symlink $name $long" \
			"rm $old" \
			"rm $old" "ln $old d0/link-$2-$i" \
			"ea_set $old user.$2 $long$long" \
			"write $IMAGE_SRC/f"{40,600,600,5000,5000,70000}" $name"
		echo "$one"
	done
}

# The steps: each sets $step, a command, and may change $mib, the size of the image.
pick() { one_of "$@"; step=$one; }
option() { one_of "$@"; options+=" $one"; }

habit_mke2fs()
{
	local block options='' features='' feature

	one_of 1024 1024 1024 2048 4096 4096 4096 8192 16384 65536
	block=$one
	one_of 8 16 40 64 100 200
	mib=$((one + (block > 4096) * 64))
	option "-t ext2" "-t ext2" "-t ext3" "-t ext4" "-t ext4" "-t ext4"
	for feature in ^resize_inode ^has_journal ^sparse_super ^dir_index \
		^metadata_csum \
		^64bit inline_data quota ^extent,^64bit bigalloc meta_bg,^resize_inode; do
		[[ $options != *ext4 && $feature != ^* ]] || ! often 12 ||
			features+=,$feature
	done
	option "" "" "-I 256" "-I 128" "-I 512"
	option "" "" "-N 400" "-N 3000" "-i 4096"
	option "" "" "-g 1024" "-g 2048" "-E lazy_itable_init=0" "-E nodiscard" \
		"-d $E2PF_TMP/tree"
	pick "size $mib" "size $mib" "fallocate -l ${mib}M fs" \
		"dd if=/dev/zero of=fs bs=1M count=$mib status=none"
	if [ -e "$dir/test/back" ]; then step="size $mib"; else step="rm -f fs; $step"; fi
	step+="; mke2fs -q -F -b $block$options${features:+ -O ${features#,}} fs || mke2fs -q -F fs"
}

habit_debugfs()
{
	chance 300
	fill $((100 + chance)) $number >"$dir/fill.$number"
	step="debugfs -w -f ../fill.$number fs"
}

habit_tune2fs()
{
	one_of has_journal ^has_journal metadata_csum ^metadata_csum quota ^quota \
		dir_index project
	one_of "-O $one" "-O $one" "-O $one" "-I 256" "-I 512" "-j -J size=4" \
		"-L new -m 1"
	pick "tune2fs $one fs" "tune2fs $one fs" "undone tune2fs $one fs"
}

# The largest take stock a second.
habit_resize2fs()
{
	local larger

	chance 4
	larger=$((mib * (chance + 2) < 640 ? mib * (chance + 2) : 640))
	pick "size $larger; resize2fs -f fs" "size $larger; resize2fs -f fs" \
		"resize2fs -f fs $((mib * 2 / 3))M" "resize2fs -f -M fs" \
		"resize2fs -f -b fs" \
		"resize2fs -f -s fs" "undone resize2fs -f fs $((mib * 2 / 3))M"
	[[ $step != size* ]] || mib=$larger
}

habit_copy()
{
	pick "cp --sparse="{always,never,auto}" fs copy; replace" \
		"e2image -ra fs copy; replace" \
		"e2image -ra fs copy; e2image -ra copy fs" \
		"e2image -Q fs q; e2image -r q copy; rm q; replace"
}

habit_damage()
{
	chance $((mib * 64))
	one_of $((chance << 14)) $((chance << 14)) $((chance << 8))
	pick "size $((mib / 2 + 1)); size $mib" \
		"fallocate -p -o $one -l "{512,4096,65536}" fs" \
		"dd if=$IMAGE_SRC/f600 of=fs bs=446 count=1 conv=notrunc status=none"
}

shown() { sed "s,/dev/loop[0-9]*,fs,g; s,$dir/[a-z]*/,,g" "$@"; }

# take HABIT: the step on both copies, which must say the same.
take()
{
	local step copy

	number=$((number + 1))
	case $1 in
	use) step="use $number" ;;
	undo) step="e2undo -f undo fs" ;;
	*) "habit_$1" ;;
	esac
	echo "$step" >>"$dir/steps"
	for copy in stock test; do
		(
			cd "$dir/$copy" || exit
			export LD_PRELOAD=$FIXED_RANDOM
			[ $copy = stock ] || [ -z "$library" ] ||
				export PREFETCH=1 TEST_MMAP_IO=1 \
					LD_PRELOAD+=:$library:$ACCEL
			[ $copy = stock ] || [ -z "$beside" ] ||
				"$PREFETCHER" fs >"$out/beside" 2>&1 &
			eval "$step"
			echo "status $?"
			wait
		) </dev/null 2>&1 | shown >"$out/$copy.step"
	done
	diff -a "$out/stock.step" "$out/test.step"
}

# Of compare.sh: without the names of devices.
compare_writes()
{
	shown -i "$1/stock.writes" "$1/$2.writes"
	diff "$1/stock.writes" "$1/$2.writes"
}

# check OPTIONS: by both.  Sets $status.
check()
{
	local usec lost

	one_of - 1
	echo "e2fsck $1 fs" >>"$dir/steps"
	rm -f "$dir"/*/undo
	usec=${EPOCHREALTIME/[.,]/}
	compare_stock "$out" "$dir/stock/fs" $1
	usec=$((${EPOCHREALTIME/[.,]/} - usec))
	status=$(<"$out/stock.status")
	if [ -n "$alone" ]; then
		MALLOC_PERTURB_=165 compare_test_is=$compare_stock_is \
			compare_test "$out" - "$dir/test/fs" $1
		return
	fi
	compare_test "$out" "$one" "$dir/test/fs" $1 || return
	# What e2fsck does not open has none.
	[ "$status" -lt 8 ] || [ -e "$out/stats.json" ] || return 0
	lost=$(jq -e .lost_seconds "$out/stats.json" 2>&1) ||
		{ echo "no statistics of what was lost: $lost"; return 1; }
	echo "$lost" >>"$dir/lost"
	jq -ne "$lost <= ([0.1, $usec / 20e6] | max)" >/dev/null ||
		echo "# lost $lost s where stock takes $((usec / 1000)) ms" >>"$dir/steps"
}

# live: the steps of a seed, until one differs.
live()
{
	local number=0 mib status habits left library='' beside=''

	if often 25; then
		beside=1
		# A sanitized one needs a runtime.
		[ "$chance" -lt 12 ] || [ -n "$E2PF_RUNTIME" ] ||
			beside='' library=$LIBRARY:$ACCEL
	fi
	[ -z "$alone" ] || beside='' library=''
	# Not always sound: 1.47.0 counts quota otherwise with -d and inodes of 128 bytes.
	take mke2fs && check -fn || return
	[ "$status" -lt 4 ] || check -fy || return
	chance 5
	for ((left = 5 + chance; left > 0; left--)); do
		habits="debugfs debugfs tune2fs tune2fs resize2fs resize2fs resize2fs copy damage"
		! have_root || habits+=" use"
		[ ! -e "$dir/stock/undo" ] || habits+=" undo undo undo"
		[ "$status" -lt 4 ] || habits=mke2fs
		one_of $habits
		take "$one" || return
		one_of -fn -fn -fn -fy -fy -fp -fyD -p "-fy -z undo"
		check "$one" || return
		[ "$status" -lt 4 ] || check -fy || return
	done
	"$IMGTOOL" cmp "$dir/stock/fs" "$dir/test/fs"
}

# run_seed "SEED PLACE"
run_seed()
{
	local seed=${1% *} place=${1#* } dir out result most=0 alone='' steps

	dir=${directory[$place]}/$seed-$place out=$E2PF_TMP/out.$seed-$place
	steps=$out.steps
	try_seed
	# Another program may have had the processor: what ours loses is lost each time.
	[ $result != long ] || try_seed
	[ $result != long ] || try_seed
	# What stock prints of memory that it never wrote is another number each time.
	[ $result != different ] || ! stock_differs || result=stock
	case $result in
	same) tap_ok "seed $seed on $place: lost $most s" ;;
	stock) tap_ok "seed $seed on $place: stock differs from itself" ;;
	*) tap_not_ok "seed $seed on $place: $result, lost $most s" "$steps" ;;
	esac
	rm -f "$out".*
}

# Does stock differ from itself in this seed?
stock_differs()
{
	local alone=1 steps=$out.alone result most

	try_seed
	[ $result != same ]
}

# Sets $result and $most of run_seed.  With $alone both checks are stock's.
try_seed()
{
	local copy
	local -a held=()

	result=same
	mkdir -p "$dir/stock" "$dir/test" "$out"
	echo "tests/scripts/test-habits.sh $seed $place" >"$dir/steps"
	echo 0 >"$dir/lost"
	chance_seed "$seed"
	for copy in $([[ $place != @(loop|open) ]] || echo stock test); do
		truncate -s 8M "$dir/$copy/back"
		ln -s "$(loop_attach "$dir/$copy/back")" "$dir/$copy/fs"
		[ "$place" = loop ] || { exec {copy}<"$dir/$copy/fs" && held+=("$copy"); }
	done
	(live) >>"$dir/steps" 2>&1 || result=different
	! grep -q "^# lost" "$dir/steps" || result=${result/same/long}
	most=$(sort -g "$dir/lost" | tail -n 1)
	for copy in "$dir"/*/fs; do
		[ ! -L "$copy" ] || loop_detach "$(readlink "$copy")"
	done
	for copy in "${held[@]}"; do
		exec {copy}<&-
	done
	mv "$dir/steps" "$steps"
	rm -rf "$dir" "$out"
}

# place_begins TYPE DIRECTORY: the directory is on such a filesystem.
place_begins()
{
	mkdir "$2" || return
	[ $1 != ext4 ] || [ "$(stat -f -c %T "$2")" != ext2/ext3 ] || return 0
	if [ $1 = tmpfs ]; then mount -t tmpfs none "$2"; return; fi
	truncate -s 8G "$2.img" && mkfs.$1 -q "$2.img" &&
		mount -o loop,discard "$2.img" "$2"
}

# find_place PLACE: sets its directory, or why it is absent.
find_place()
{
	local type=${1/@(loop|open)/ext4}

	[ -z "${directory[$1]-}" ] || return
	directory[$1]=$E2PF_TMP/$type absent[$1]=''
	[ $type = $1 ] || absent[$1]=$(no_loops)
	[ -d "${directory[$1]}" ] ||
		place_begins $type "${directory[$1]}" >"$E2PF_TMP/log" 2>&1 ||
		absent[$1]=$(grep -v dmesg "$E2PF_TMP/log" |
			tail -n 1; rmdir "${directory[$1]}")
	[ -z "${absent[$1]}" ] || tap_skip "on $1" "${absent[$1]}"
}

test_all()
{
	local seed place
	local -a pairs=()
	local -A directory absent

	for ((seed = first; seed <= last; seed++)); do
		[ $turn = 0 ] || set -- "${places[seed % ${#places[@]}]}"
		for place; do
			find_place "$place"
			[ -n "${absent[$place]}" ] || pairs+=("$seed $place")
		done
	done
	workers run_seed "${pairs[@]}"
	tap_check "no process is left behind" no_process_left
}

# In seed 2 a file on ext4 grows: a check took 9 s for 0.35, as pages were written in
# part.
[ $# -gt 0 ] || set -- "2-$((1 + 12 / ${E2PF_FEW:-1}))"
first=${1%-*} last=${1#*-} turn=$(($# == 1))
shift
setup mke2fs debugfs tune2fs resize2fs e2image e2undo fallocate jq awk diff flock
unset MKE2FS_CONFIG
compare_record
small_files "$E2PF_TMP/tree"
# Reading them does not change their times.
find "$E2PF_TMP/tree" -exec touch -a -d tomorrow {} +
tap_run test_all "$@"
