#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Walks of a mounted btrfs after e2prefetch: the command's output and status are the
# same, and the device is hardly read by it any more; what is not read says why; the
# filesystem can be written to meanwhile, and unmounted afterwards.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# Subvolumes in directories and in each other, snapshots, names that are not in the order
# of inodes, links, attributes, data that is compressed.  Leaves of one directory lie
# between those of others.  $files: how many.
fill()
{
	local i j

	for i in fs fs/d0 fs/d0/inner fs/d0/inner/most; do
		case $i in
		*d0) mkdir $i ;;
		*) "$BTRFS_STOCK" -q subvolume create $i ;;
		esac || return
	done
	for ((j = 0; j < files; j++)); do
		for i in d0 d1 d2/e/f d3 d0/inner/d d0/inner/most/d; do
			mkdir -p "fs/$i/g$((j % 7))"
			printf "fs/$i/g$((j % 7))/$j-%s\n" {1..25} | xargs touch
		done
		sync -f .
	done
	find fs -name '*-1*' -type f -exec sh -c 'head -c 3000 /dev/urandom >"$1"' - {} \;
	find fs -name '*-2' | while read -r i; do
		ln -s "a target of $i" "$i-link" && ln "$i" "fs/d0/${i//\//-}" 2>/dev/null
		setfattr -n user.e2pf -v "$i" "$i" 2>/dev/null
	done
	mkdir fs/d3/z && "$BTRFS_STOCK" property set fs/d3/z compression zstd
	yes | head -c 500000 >fs/d3/z/compressed
	"$BTRFS_STOCK" -q subvolume snapshot -r fs fs/d0/snapshot &&
		"$BTRFS_STOCK" -q subvolume snapshot fs/d0/inner written &&
		touch written/more && sync -f .
}

# Where a snapshot has no subvolume a directory stands in, with the times of the look.
list='find {} -printf %P\t%i\t%n\t%s\t%y\t%m\t%l\n'
commands=("$list" "du -a {}" "tar --mtime=@0 -cC {} .")

# The kernel forgets all tree blocks of a filesystem that is unmounted.
cold() { umount "$mnt" && mount -t btrfs ${how:+-o "$how"} "$dev" "$mnt"; }

# Reads of all devices.
reads()
{
	local d sum=0 n

	for d in $devices; do
		read -r n _ <"/sys/block/${d#/dev/}/stat"
		sum=$((sum + n))
	done
	echo $sum
}

# same DIRECTORY [OPTION]...: with each command; the last one's reads alone are $alone.
same()
{
	local command words d=$mnt${1:+/$1}

	for command in "${commands[@]}"; do
		IFS=' ' read -ra words <<<"${command//"{}"/$d}"
		cold || return
		alone=$(reads)
		"${words[@]}" >"$dir/alone" 2>&1
		echo $? >>"$dir/alone"
		alone=$(($(reads) - alone))
		cold || return
		"$PREFETCHER" -v "${@:2}" "$d" -- "${words[@]}" >"$dir/ours" 2>"$dir/err"
		echo $? >>"$dir/ours"
		cat "$dir/err"
		grep -qE "MiB read in [1-9].*, 0 errors(; .* the command ended first)?$" \
			"$dir/err" &&
			cmp "$dir/alone" "$dir/ours" || return
	done
}

# few_left DIRECTORY OPTION...: what e2prefetch has read the walk does not read again.
few_left()
{
	local d=$mnt${1:+/$1} left ours x=

	local commands=("$list${2:+ -xdev}")

	same "$@" && cold || return
	[ $# = 1 ] || x=-xdev
	ours=$(reads)
	"$PREFETCHER" "${@:2}" "$d" || return
	ours=$(($(reads) - ours))
	left=$(reads)
	find "$d" $x -printf '%s %l\n' >"$dir/out"
	left=$(($(reads) - left))
	echo "alone $alone, e2prefetch $ours, then $left"
	[ "$alone" -gt 50 ] && [ "$left" -le $((alone / 25)) ] &&
		[ "$ours" -le $((alone + alone / 4 + 30)) ]
}

# Nothing is read of what is in memory.
cached()
{
	local before

	find "$mnt" -printf '%s %l\n' >"$dir/out"
	before=$(reads)
	"$PREFETCHER" -v "$mnt" 2>"$dir/err" || return
	cat "$dir/err"
	grep -q "already cached$" "$dir/err" && [ "$(reads)" = "$before" ]
}

# The budget.
incomplete()
{
	cold
	PREFETCH_MEM=1M exits 4 "$PREFETCHER" -v "$mnt" && one_line &&
		grep -q " 1.0 MiB read .*; incomplete: memory limit reached" \
			"$dir/err"
}

no_right()
{
	cold
	exits 3 setpriv --bounding-set -sys_admin --inh-caps -sys_admin \
		"$PREFETCHER" "$mnt" -- sh -c 'echo runs; exit 3' && one_line &&
		grep -q "cannot search the trees (needs CAP_SYS_ADMIN" "$dir/err" &&
		[ "$(<"$dir/out")" = runs ]
}

# A command that ends at once; nothing keeps the filesystem in use afterwards.
ends_early()
{
	cold
	exits 3 "$PREFETCHER" --wait=0 "$mnt" -- sh -c 'exit 3' &&
		no_process_left && cold
}

# With --wait, everything is read before the command begins, also on flash.
waits()
{
	local status rotational=/sys/block/${dev#/dev/}/queue/rotational

	echo 0 >"$rotational"
	cold && exits 0 "$PREFETCHER" -v --wait=600 "$mnt" -- true &&
		grep "MiB read in [1-9].*, 0 errors$" "$dir/err"
	status=$?
	echo 1 >"$rotational"
	return $status
}

# One that unmounts it, before or after the reading.
unmounts()
{
	local try

	for try in {1..8}; do
		cold
		exits 0 "$PREFETCHER" "$mnt" -- umount "$mnt" && no_process_left &&
			mount -t btrfs "$dev" "$mnt" && cold &&
			exits 0 "$PREFETCHER" --wait=0 "$mnt" -- umount "$mnt" &&
			no_process_left && mount -t btrfs "$dev" "$mnt" || return
	done
}

# write ROUNDS: files and directories are made, renamed, removed; subvolumes, too.
write()
{
	local i

	for ((i = 0; i < $1; i++)); do
		mkdir "$mnt/fs/d1/w$i" && touch "$mnt/fs/d1/w$i/"{1..200} &&
			mv "$mnt/fs/d1/w$i" "$mnt/fs/d0/moved-$i" || return
		rm -r "$mnt/fs/d0/moved-$((i - 3))" "$mnt/fs/d2/e/f/g$i" 2>/dev/null
		"$BTRFS_STOCK" -q subvolume snapshot "$mnt/fs" "$mnt/s$i" || return
		[ $i -lt 2 ] || "$BTRFS_STOCK" -q subvolume delete "$mnt/s$((i - 2))" ||
			return
		sync -f "$mnt"
	done
	rm "$dir/writing"
}

# written_meanwhile ROUNDS: it is read again and again, with nothing in memory.
written_meanwhile()
{
	local writer status commands=("$list")

	: >"$dir/writing"
	write "$1" >"$dir/wrote" 2>&1 &
	writer=$!
	while [ -e "$dir/writing" ] && kill -0 $writer; do
		echo 1 >/proc/sys/vm/drop_caches
		"$PREFETCHER" -v "$mnt" "$mnt/fs/d0" 2>"$dir/err"
		status=$?
		cat "$dir/err"
		[ $status = 0 ] || [ $status = 4 ] || return
		"$PREFETCHER" "$mnt" -- true || return
	done
	wait $writer && [ ! -e "$dir/writing" ] || { cat "$dir/wrote"; return 1; }
	# After that, all can be read ahead.
	undisturbed same ""
}

is_sound()
{
	umount "$mnt" && "$BTRFS_STOCK" check --readonly "${devices%% *}"
}

# rows: those with all commands.
rows()
{
	tap_check "$1: all" undisturbed same ""
	tap_check "$1: one filesystem" undisturbed same fs -x
	tap_check "$1: a directory" undisturbed same fs/d2
	tap_check "$1: its subvolumes, too" undisturbed same fs/d0
}

# Options of mkfs.btrfs.
declare -A layouts=(
	[dup]="-n 4096 -m dup"
	[single]="-n 16384 -m single"
	[raid1]="-n 4096 -m raid1 -d raid1"
	[raid0]="-n 16384 -m raid0 -d raid0"
	[mixed]="--mixed -n 4096"
	[holes]="-n 8192 -O ^no-holes"
	[xxhash]="-n 4096 --csum xxhash"
	[sha256]="-n 4096 --csum sha256"
	[quota]="-n 4096 -R quota"
)

# Both disks are read where the kernel will read.
mirrored()
{
	undisturbed same "" && undisturbed same fs/d2 && undisturbed few_left ""
}

# layout NAME: there is a writer beside the reading of such a filesystem.
layout()
{
	local dev devices mnt=$dir/$1 image=$dir/disk files=8 first=: options second=

	read -ra options <<<"${layouts[$1]}"
	[ "$1" != raid1 ] || first=mirrored files=40
	mkdir "$mnt" && truncate -s 512M "$image-0" "$image-1" &&
		dev=$(loop_attach "$image-0") || return
	[[ $1 != raid* ]] || second=$(loop_attach "$image-1") || return
	devices="$dev $second"
	mkfs.btrfs -q -f "${options[@]}" $devices && mount -t btrfs "$dev" "$mnt" &&
		(cd "$mnt" && fill) && $first && written_meanwhile 4 && is_sound ||
		return
	[[ $1 != raid* ]] || loop_detach "$second" || return
	loop_detach "$dev" && rm "$image-"*
}

test_all()
{
	local how= layout files=40

	dir=$E2PF_TMP/walk
	mnt=$dir/mnt
	mkdir -p "$mnt"
	truncate -s 1G "$dir/image"
	mkfs.btrfs -q -n 4096 "$dir/image" >/dev/null 2>&1 || tap_bail "mkfs.btrfs"
	dev=$(loop_attach "$dir/image") || tap_bail "no loop device"
	devices=$dev
	mount -t btrfs "$dev" "$mnt" || tap_bail "no mount"
	(cd "$mnt" && fill) || tap_bail "no subvolumes"
	rows "mounted"
	how=ro rows "read-only"
	tap_check "little is left to read" undisturbed few_left ""
	tap_check "of one filesystem" undisturbed few_left fs -x
	tap_check "of a directory" undisturbed few_left fs/d2
	tap_unless "$([ -e /proc/self/io ] || echo "no accounting of reads")" \
		"nothing is read of what is in memory" undisturbed cached
	tap_check "no more than the memory" incomplete
	tap_unless "$(lacks setpriv)" "without CAP_SYS_ADMIN the command runs" no_right
	tap_check "a command that ends early" ends_early
	tap_check "a command that waits" waits
	tap_check "a command that unmounts it" unmounts
	tap_check "it is written to meanwhile" written_meanwhile 12
	tap_check "the filesystem is sound" is_sound
	loop_detach "$dev"
	rm "$dir/image"
	for layout in dup single raid1 raid0 mixed holes xxhash sha256 quota; do
		tap_check "$layout" layout $layout
	done
}

require_programs mkfs.btrfs losetup mount tar du
why=$(no_mounts)$(no_loops)
[ -z "$why" ] || tap_skip_all "$why"
[ -n "$BTRFS_STOCK" ] || tap_skip_all "btrfs not found"
grep -qw btrfs /proc/filesystems || tap_skip_all "the kernel has no btrfs"
own_mounts "$@"
tmp_setup
tap_run test_all
