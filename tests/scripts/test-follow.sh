#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Commands that walk a mounted filesystem whose inode tables exceed the memory that may be
# used: their output and status are the same, much more is read ahead than that memory
# holds, and with what the kernel or the user's rights do not allow nothing is read.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# 3,000 directories in three levels, and 15,000 files: tables of 4.5 MiB.
make_tree()
{
	truncate -s 512M "$dir/image" &&
		mke2fs -q -F -t ext4 -b 4096 -N 20000 \
			-E nodiscard,lazy_itable_init=0 "$dir/image" &&
		loop=$(loop_attach "$dir/image") && mount "$loop" "$mnt" || return
	(cd "$mnt" && mkdir -p {1..10}/{1..10}/{1..29} &&
		for d in */*; do
			touch "$d"/{a..e} && touch "$d"/{1..29}/{a..e} || return
		done)
}

mount_anew() { umount "$mnt" && mount "$loop" "$mnt"; }

# The reader may end a moment after the command.
says() { grep -q "$1" "$dir/err"; }

# walk COMMAND...: it says the same as alone; sets $mib to what was read ahead.
walk()
{
	mount_anew && exits 0 "$@" && sort "$dir/out" >"$dir/alone" && mount_anew &&
		exits 0 env PREFETCH_MEM=4M "$PREFETCHER" -v "$mnt" -- "$@" &&
		sort "$dir/out" | diff "$dir/alone" - && wait_for says read || return
	mib=$(sed -n 's/.* \([0-9]*\)\.[0-9] MiB read in .*/\1/p' "$dir/err")
}

# A command that takes its time, a millisecond for each directory: at least six times as
# much is read as may be ahead; without its opens that is all.
is_followed() { walk find "$mnt" -type d -exec ls -ln {} \; && [ "$mib" -ge 1 ]; }

in_two_passes() { walk sh -c "find $mnt/1 $mnt/2; find $mnt -ls"; }

# The last one changes the filesystem, so it is the last test.
removes_all()
{
	mount_anew &&
		exits 0 env PREFETCH_MEM=4M "$PREFETCHER" -v "$mnt" -- \
			rm -rf "$mnt"/{1..10} &&
		[ "$(ls "$mnt")" = lost+found ] && umount "$mnt" &&
		e2fsck -fn "$loop"
}

# Reads of a directory below the root, which is not known to be too large at first.
below()
{
	walk find "$mnt/3" -ls && mount_anew &&
		exits 0 env PREFETCH_MEM=4M "$PREFETCHER" -v "$mnt/3" "$mnt/4" -- \
			find "$mnt/3" "$mnt/4" -ls && wait_for says 'MiB read'
}

# A process of somebody else is not followed: the command opens nothing.
not_of_others()
{
	mount_anew && exits 0 env PREFETCH_MEM=4M "$PREFETCHER" -v "$mnt" -- \
		sleep 0.5 && wait_for says 'MiB read' && cat "$dir/err" &&
		sed -n 's/.* \([0-9.]*\) MiB read in .*/\1/p' "$dir/err" >"$dir/idle" &&
		mount_anew && {
			(sleep 0.2; find "$mnt" -ls >/dev/null) &
			exits 0 env PREFETCH_MEM=4M "$PREFETCHER" -v "$mnt" -- sleep 0.5
		} && wait && wait_for says 'MiB read' &&
		sed -n 's/.* \([0-9.]*\) MiB read in .*/\1/p' "$dir/err" |
		diff "$dir/idle" -
}

# idle MIB: a command that does nothing in a group with this memory; sets $mib.
idle()
{
	memory_group "$1" && mount_anew &&
		exits 0 bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
			"$PREFETCHER" -v "$mnt" -- sleep 0.5 &&
		wait_for says 'MiB read' && cgroups_end || return
	mib=$(sed -n 's/.* \([0-9]*\)\.[0-9] MiB read in .*/\1/p' "$dir/err")
}

# The kernel's inodes take five times the memory of the tables, and evict these: all is
# read if there is room for both, otherwise only what may be ahead.
inodes_count()
{
	idle 60 && [ "$mib" -ge 4 ] && idle 20 && [ "$mib" -le 1 ]
}

# Sets $dir/random: the directories in random order.
shuffle()
{
	find "$mnt" -mindepth 3 -type d >"$dir/list" &&
		awk 'BEGIN { srand(1) } { print rand(), $0 }' "$dir/list" | sort |
		sed 's/^[^ ]* //' >"$dir/random"
}

# A command that unmounts it while its last opens are looked up.
unmounts()
{
	local try

	shuffle && head -n 400 "$dir/random" >"$dir/some" || return
	for try in {1..20}; do
		mount_anew && exits 0 env PREFETCH_MEM=1M "$PREFETCHER" "$mnt" -- \
			sh -c "xargs ls -Uf <$dir/some; umount $mnt" &&
			mount "$loop" "$mnt" || return
	done
}

# A command that opens them in this order: reading ends, and that is said.
no_order()
{
	shuffle && mount_anew && exits 0 env PREFETCH_MEM=4M "$PREFETCHER" -v "$mnt" -- \
			xargs -n 3000 -a "$dir/random" ls -Uf &&
		wait_for says 'incomplete: the command follows no known order'
}

busy='incomplete: the threads of the command keep the device busy'

# Walkers beside each other are left alone on flash; as many threads of one walk are not.
many_threads()
{
	echo 0 >"/sys/block/${loop#/dev/}/queue/rotational" &&
		walk python3 "$srcdir/tools/walkers.py" together 6 "$mnt" >/dev/null &&
		says "$busy"
}

one_at_a_time()
{
	walk python3 "$srcdir/tools/walkers.py" in-turn 6 "$mnt" >/dev/null &&
		! says "$busy"
}

# Without CAP_SYS_ADMIN nothing is read, and that is said.
not_allowed()
{
	mount_anew && exits 0 env PREFETCH_MEM=4M setpriv --bounding-set -sys_admin \
		"$PREFETCHER" -v "$mnt" -- true && wait_for one_line &&
		says 'nothing read ahead: inode tables exceed' "$dir/err"
}

test_all()
{
	dir=$E2PF_TMP/follow mnt=$E2PF_TMP/follow/mnt
	mkdir -p "$mnt"
	tap_check "a filesystem is made" make_tree || return
	tap_check "a slow command is followed" undisturbed is_followed
	tap_check "find" walk find "$mnt" -ls
	tap_check "ls, by names" walk ls -lR "$mnt"
	tap_check "du" walk du -a "$mnt"
	tap_check "two passes" in_two_passes
	tap_check "directories below the root" below
	tap_check "the opens of others" undisturbed not_of_others
	tap_check "a command that unmounts it" unmounts
	tap_check "no order" no_order
	tap_unless "$(lacks python3)" "many threads" undisturbed many_threads
	tap_unless "$(lacks python3)" "threads of one walk" undisturbed one_at_a_time
	tap_unless "$(no_groups memory)" "memory for inodes, too" undisturbed inodes_count
	tap_unless "$(lacks setpriv)" "no CAP_SYS_ADMIN" not_allowed
	tap_check "rm" removes_all
	mountpoint -q "$mnt" && umount "$mnt"
	loop_detach "$loop"
}

own_mounts "$@"
require_programs mke2fs e2fsck
missing=$(no_mounts)$(no_loops)
# A reader that is slowed down is overtaken, and then follows no more; the unit test and
# the fuzzer run the same code with sanitizers.
[ -z "${E2PF_RUNTIME-}" ] || missing="a sanitizer slows the reader down"
[ -z "$missing" ] || tap_skip_all "$missing"
tmp_setup
tap_run test_all "$@"
