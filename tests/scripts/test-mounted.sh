#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# A filesystem that is mounted for writing and changed while e2prefetch reads it again
# and again, and its cache is dropped in between: the kernel finds no error, a list of
# all files is the same after it was mounted anew, and e2fsck finds nothing.  The image
# consists of random bytes: inode tables that were not initialized look like inodes.
#
#   test-mounted.sh [ROW...]
#
# Rows: lazy-ext4 lazy-1k ext4 nocsum 1k bigalloc inline ext3 resized dropped
#
# The last one is what doc/faq.md says: mount and umount drop what was read before.
#
# MOUNTED_SEED	of the changes (default: 1)

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# name: options of mke2fs.  Small groups, with many inodes, so that most tables are
# unused at first.
lazy="-O uninit_bg,^resize_inode -E nodiscard,lazy_itable_init=1,lazy_journal_init=1"
declare -A rows=(
	[ext4]="-t ext4 -b 4096 -g 2048 -N 40000 $lazy"
	[nocsum]="-t ext4 -b 4096 -g 2048 -N 40000 $lazy -O ^metadata_csum,uninit_bg"
	[1k]="-t ext4 -b 1024 -g 2048 -N 30000 $lazy"
	[bigalloc]="-t ext4 -b 4096 -O bigalloc -C 16384 -N 30000 -E nodiscard,lazy_itable_init=1"
	[inline]="-t ext4 -b 4096 -g 2048 -N 40000 -O inline_data $lazy"
	[ext3]="-t ext3 -b 4096 -g 2048 -N 20000 -E nodiscard"
	[resized]="-t ext4 -b 4096 -g 2048 -N 20000 -E nodiscard,lazy_itable_init=1,resize=64000"
)

# Sets name: they differ in each place, and are of a length that makes directories
# grow.
name_of() { name=file-$1-with-a-name-that-fills-blocks-$RANDOM; }

# change SEED: files and directories are made, renamed, grown, removed; extents are
# split, and files removed that are open.
change()
{
	local i j k name d=$mnt/seed-$1

	RANDOM=$1
	mkdir "$d" || return
	for ((i = 0; i < 40; i++)); do
		k=$((RANDOM % (i + 1)))
		mkdir -p "$d/$k/$i"
		for ((j = 0; j < 100; j++)); do
			name_of $j
			: >"$d/$k/$i/$name"
		done
		for j in "$d/$k/$i"/*-[1-5]*; do
			echo "$1 $i" >"$j"
		done
		[ $((i % 4)) != 0 ] || rm -rf "${d:?}/$((RANDOM % (i + 1)))"
		[ ! -d "$d/$k/$i" ] || mv "$d/$k/$i" "$d/moved-$i"
	done
	exec 9>"$d/orphan"
	rm "$d/orphan"
	for ((i = 0; i < 200; i++)); do
		name_of $i
		: >"$d/moved-1/$name"
		printf '%1000s' "$i" >>"$d/grows"
	done
	for ((i = 0; i < 20; i++)); do
		fallocate -p -o $((i * 8192)) -l 4096 "$d/grows" 2>/dev/null
	done
	rm -rf "$d"/moved-*[02468]
	exec 9>&-
	sync -f "$mnt"
}

# Everything that e2prefetch reads, in turns, of a device whose cache is empty.
read_again()
{
	while [ -e "$dir/changing" ]; do
		dd if="$loop" iflag=nocache count=0 status=none
		echo 2 >/proc/sys/vm/drop_caches
		"$PREFETCHER" "$mnt" && "$PREFETCHER" --only=all "$mnt" &&
			"$PREFETCHER" "$loop" && "$PREFETCHER" probe "$mnt" ||
				echo "status $?" >>"$dir/failed"
		# Larger than memory, so that the command is followed; find says 1 if
		# something was removed meanwhile.
		PREFETCH_MEM=1M "$PREFETCHER" "$mnt" -- find "$mnt" -ls >/dev/null ||
			[ $? = 1 ] || echo "a followed walk failed" >>"$dir/failed"
		set -- "$mnt"/seed-*/*/
		# 8: one of them has been removed.
		[ ! -d "$1" ] || "$PREFETCHER" "$@" || [ $? = 8 ] ||
			echo "directories failed" >>"$dir/failed"
	done >"$dir/said" 2>&1
}

list() { find "$mnt" -printf '%P %i %n %s %y %m\n' | sort; }

# Is the filesystem as it was when it was mounted, to the kernel and to e2fsck?
is_sound()
{
	local errors=/sys/fs/ext4/${loop#/dev/}/errors_count

	list >"$dir/before"
	[ ! -e "$errors" ] || [ "$(<"$errors")" = 0 ] || { echo "errors"; return 1; }
	umount "$mnt" && "$E2FSCK_STOCK" -fn "$loop" && mount "$loop" "$mnt" &&
		list | diff "$dir/before" - && [ -s "$dir/before" ] &&
		{ [ ! -e "$errors" ] || [ "$(<"$errors")" = 0 ]; }
}

# With a second mount the kernel goes on initializing what it has not yet.
change_beside()
{
	local seed=$1 reader status=0

	: >"$dir/changing"
	read_again &
	reader=$!
	change "$seed" || status=1
	fstrim "$mnt" 2>/dev/null
	[ "$row" != resized ] || resize2fs "$loop" $((40000 + seed % 10 * 1000)) ||
		status=1
	mount -o remount,ro "$mnt" && mount -o remount,rw "$mnt" || status=1
	change "$seed$seed" || status=1
	rm "$dir/changing"
	wait "$reader"
	[ ! -e "$dir/failed" ] || { cat "$dir/failed"; tail -n 20 "$dir/said"; status=1; }
	return $status
}

all_zeroed()
{
	! dumpe2fs "$loop" 2>/dev/null | grep '^Group [0-9]' | grep -qv ITABLE_ZEROED
}

# Everything is read before the kernel has zeroed the tables.  Then an inode in the
# middle of each is used: those before it in its block must be zeros.
lazy_row()
{
	local mnt=$dir/mnt loop goal i inodes

	mkdir -p "$mnt"
	head -c 192M /dev/urandom >"$dir/image"
	mke2fs -q -F ${rows[$1]} "$dir/image" 128M && inodes=$(dumpe2fs -h "$dir/image" \
		2>/dev/null | sed -n 's/^Inodes per group: *//p') &&
		loop=$(loop_attach "$dir/image") &&
		mount -o noinit_itable "$loop" "$mnt" || return
	goal=/sys/fs/ext4/${loop#/dev/}/inode_goal
	for i in "$mnt" "--only=all $mnt" "probe $mnt" "$mnt/lost+found"; do
		"$PREFETCHER" $i >/dev/null || return
	done
	! all_zeroed || { echo "zeroed too early"; return 1; }
	mount -o remount,init_itable=0 "$mnt" && wait_for all_zeroed || return
	# With blocks of 1 KiB inode 16 is behind those in use, in the same page.
	echo 16 >"$goal" && : >"$mnt/first" || return
	for ((i = 0; i < 16; i++)); do
		echo $((i * inodes + inodes * 3 / 4 + i)) >"$goal" && : >"$mnt/$i" ||
			return
	done
	echo 0 >"$goal"
	is_sound && umount "$mnt" && loop_detach "$loop"
}

mounted_row()
{
	local mnt=$dir/mnt loop status=0

	mkdir -p "$mnt"
	head -c 192M /dev/urandom >"$dir/image"
	mke2fs -q -F ${rows[$row]} "$dir/image" 128M || return
	loop=$(loop_attach "$dir/image") && mount "$loop" "$mnt" || return
	change_beside "${MOUNTED_SEED:-1}" && is_sound || status=1
	umount "$mnt"
	loop_detach "$loop"
	rm -f "$dir/image"
	return $status
}

# Read all of the device.  Prints how many of its sectors were read from it so far.
read_all() { cat "$loop" >"$dir/null" &&
	awk '{ print $3 }' "/sys/block/${loop#/dev/}/stat"; }

# dropped SECTOR: with sectors of 4096 bytes mount drops nothing, because the size of the
# kernel's buffers does not change.
dropped()
{
	local mnt=$dir/mnt half=$((64 << 20 >> 10)) loop first again mounted after \
		status=0

	mkdir -p "$mnt"
	ln -sf /dev/null "$dir/null"
	truncate -s 64M "$dir/image" &&
		mke2fs -q -F -t ext4 -b 4096 -E nodiscard "$dir/image" &&
	loop=$(loop_attach "$dir/image" -b "$1") || return
	exec 9<"$loop"
	first=$(read_all) again=$(read_all)
	mount -o ro "$loop" "$mnt" && mounted=$(read_all) || status=1
	umount "$mnt"
	after=$(read_all)
	exec 9<&-
	loop_detach "$loop"
	rm -f "$dir/image"
	echo "sectors of $1 bytes: $first, $again; mounted $mounted; then $after"
	[ $status = 0 ] && [ $((again - first)) -lt $half ] &&
	[ $((mounted - again > half)) = $(($1 == 512)) ] &&
		[ $((after - mounted)) -gt $half ]
}

# Growing while mounted takes CAP_SYS_RESOURCE, bit 24.
no_resize()
{
	local effective

	effective=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	[ $((0x$effective >> 24 & 1)) = 1 ] || echo "no CAP_SYS_RESOURCE"
}

test_all()
{
	local row

	dir=$E2PF_TMP/mounted
	mkdir "$dir"
	[ $# -gt 0 ] ||
		set -- lazy-ext4 lazy-1k ext4 nocsum 1k bigalloc inline ext3 resized \
		dropped
	for row; do
		case $row in
		lazy-*)	tap_check "$row: tables are zeroed after all was read" \
				undisturbed lazy_row "${row#lazy-}" ;;
		resized) tap_unless "$(no_resize)" "$row, seed ${MOUNTED_SEED:-1}" \
				mounted_row ;;
		dropped) tap_check "mount and umount drop what was read" \
				undisturbed dropped 512
			tap_check "mount drops nothing with sectors of 4096 bytes" \
				undisturbed dropped 4096 ;;
		*)	tap_check "$row, seed ${MOUNTED_SEED:-1}" mounted_row ;;
		esac
	done
}

own_mounts "$@"
require_programs mke2fs dumpe2fs resize2fs fstrim fallocate
missing=$(no_mounts)$(no_loops)
[ -z "$missing" ] || tap_skip_all "$missing"
tmp_setup
tap_run test_all "$@"
