#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# e2prefetch of mounted filesystems: which are read for a path, how much, and what is
# said of others.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/e2prefetch.sh"

# A mounted filesystem, the loop device below it, and others below and beside it.  Parts
# of its inode table are marked as unused.
mount_all()
{
	mnt=$dir/mnt
	mkdir -p "$mnt"
	# In blocks as large as pages: of smaller ones others may be in a page.
	truncate -s 64M "$dir/mounted" && mke2fs -q -F -b 4096 -N 8192 -O uninit_bg \
		-d "$srcdir/scripts" "$dir/mounted" && cp "$dir/mounted" "$dir/below" &&
		loop=$(loop_attach "$dir/mounted") && mount "$loop" "$mnt" &&
		mkdir -p "$mnt"/{sub,bound,none,directory/one,many/{1..200}} \
			"$dir/bind" &&
		sub=$(loop_attach "$dir/below") && mount "$sub" "$mnt/sub" &&
		mount --bind "$mnt/directory" "$dir/bind" &&
		mount -t tmpfs tmpfs "$mnt/none"
}

unmount_all()
{
	umount "$dir/bind" "$mnt/none" "$mnt/sub" "$mnt"
	loop_detach "$loop"
	loop_detach "$sub"
}

drop_all()
{
	sync -f "$mnt" "$mnt/sub"
	blockdev --flushbufs "$loop" && blockdev --flushbufs "$sub"
}

# reads NAMES ARG...: these devices are read, and no others.
reads()
{
	drop_all
	run 0 -v "${@:2}" && [ "$(sed -n 's|^e2prefetch: \(/[^:]*\): .* 0 errors$|\1|p' \
		"$dir/err")" = "$(printf '%s\n' $1)" ] && [ "$(wc -l <"$dir/err")" = "$(
			printf '%s\n' $1 | wc -l)" ]
}

# The bytes of these paths that are planned, when none is cached.
planned()
{
	drop_all
	with_stats "$dir/stats" run 0 "$@" && jq .planned_bytes "$dir/stats"
}

# What a walk needs, and with --only=all the rest.
plans_a_walk()
{
	local walk all

	walk=$(planned -x "$mnt") && all=$(planned --only=all "$loop") &&
		[ "$walk" = "$(planned --only=inodes,dirs,xattrs,symlinks "$loop")" ] &&
		[ "$all" -gt "$walk" ] && [ "$(planned -x --only=all "$mnt")" = "$all" ]
}

# elsewhere PATH: one line says that it is on another filesystem.
elsewhere()
{
	run 8 -x "$1" && one_line &&
		grep -q ": not ext2/3/4 or btrfs: not prefetched" "$dir/err" &&
		runs -x "$1" && one_line
}

mount_anew()
{
	umount "$dir/bind" "$mnt/none" "$mnt/sub" "$mnt" && mount "$loop" "$mnt" &&
		mount "$sub" "$mnt/sub" && mount -t tmpfs tmpfs "$mnt/none" &&
		mount --bind "$mnt/directory" "$dir/bind"
}

# What a walk without us has made the kernel read is in memory.  Up to Linux 6.4 that is
# not seen: its pages are not up to date.
no_cachestat()
{
	[ "$(printf '%s\n' 6.5 "$(uname -r)" | sort -V | head -n 1)" = 6.5 ] ||
		echo "no cachestat(2)"
}

found_in_memory()
{
	mount_anew && find "$mnt" -xdev -ls >/dev/null && run 0 -vv -x "$mnt" &&
		grep "prefetch: asleep" "$dir/err"
}

# reads_of ARG...: how often find(1) reads the device, after e2prefetch has; without the
# kernel's own readahead, which goes beyond directories.
reads_of()
{
	local stat=/sys/block/${loop#/dev/}/stat
	local setting=${stat%stat}queue/read_ahead_kb before status

	before=$(<"$setting")
	mount_anew && echo 0 >"$setting" && exits 0 "$@" sh \
		-c "cut -c 1-9 $stat; find $mnt -xdev -ls >/dev/null; cut -c 1-9 $stat" &&
		awk '{ n = $1 - n } END { print n }' "$dir/out" >"$dir/reads"
	status=$?
	echo "$before" >"$setting"
	return $status
}

# What the command finds is all that it needs.
read_before()
{
	reads_of env && cat "$dir/reads" && [ "$(<"$dir/reads")" -ge 3 ] &&
	reads_of "$PREFETCHER" -x "$mnt" -- && cat "$dir/reads" &&
		[ "$(<"$dir/reads")" = 0 ]
}

# Of a small part much less is read than of everything: directories that lie within 64 KiB
# of those wanted, or 256 KiB where the device is seek-bound, come with them.
sectors_of()
{
	local stat=/sys/block/${loop#/dev/}/stat

	mount_anew && { awk '{ print $3 }' "$stat" &&
		"$@" find "$mnt/directory" >/dev/null &&
		awk '{ print $3 }' "$stat"; } | awk '{ n = $1 - n } END { print n }'
}

small_part()
{
	local alone ours all

	alone=$(sectors_of env)
	ours=$(sectors_of "$PREFETCHER" -x "$mnt/directory" --)
	all=$(sectors_of "$PREFETCHER" -x "$mnt" --)
	echo "sectors: $alone alone, $ours, everything $all"
	[ "$alone" -gt 0 ] && [ "$ours" -ge "$alone" ] && [ "$ours" -lt $((all / 2)) ]
}

# What does not fit would be evicted before a walk comes to it.
larger_than_memory()
{
	seq 5000 | (cd "$mnt/many/1" && xargs touch) && mount_anew &&
		PREFETCH_MEM=1M run 4 -x "$mnt" && one_line &&
		grep "nothing read ahead: inode tables exceed" "$dir/err" &&
		PREFETCH_MEM=1M run 0 -x --only=bitmaps "$mnt" &&
		PREFETCH_MEM=1M run 0 probe "$mnt" &&
		! grep "are larger than" "$dir/out" && PREFETCH_MEM=4M run 0 -x "$mnt"
}

# Others than root: how they gain.  Without a node, that is said.
says_root()
{
	chmod 0660 "$loop" && chmod 0755 "$mnt"
	exits 8 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$dir/program" -x "$mnt" && one_line &&
		grep -q ": Permission denied: run e2prefetch PATH as root" "$dir/err"
}

says_deleted()
{
	mkdir "$mnt/gone" &&
	(cd "$mnt/gone" && rmdir "$mnt/gone" && failed .) &&
		grep -q '^e2prefetch: .: No such file' "$dir/err"
}

says_no_node()
{
	local -x PREFETCH_CONFIG=$dir/conf

	: >"$dir/conf"
	exits 8 unshare -m sh -c 'mount -t tmpfs tmpfs /dev && exec "$@"' sh \
		"$dir/program" -x "$mnt" && one_line &&
		grep -q "no device node for 7:[0-9]* in /dev" "$dir/err"
}

test_paths()
{
	local mnt loop sub

	skipped "mounted filesystems" \
		"$(no_mounts)$(no_loops)$(lacks blockdev setpriv)" &&
		return
	tap_check "filesystems are mounted" mount_all || return
	cp "$PREFETCHER" "$dir/program"
	tap_check "a mounted filesystem and the one below it" undisturbed \
		reads "$loop $sub" "$mnt"
	tap_check "-x: that alone" undisturbed reads "$loop" -x "$mnt"
	tap_check "paths on one filesystem: once" undisturbed \
		reads "$loop $sub" "$mnt" "$mnt/directory" "$loop"
	tap_check "a bind mount, and a directory" undisturbed \
		reads "$loop" "$dir/bind" "$mnt/directory/one"
	tap_check "what a walk needs" plans_a_walk
	tap_check "tmpfs" elsewhere "$mnt/none"
	tap_check "proc" elsewhere /proc
	tap_check "all is read before the command begins" undisturbed read_before
	tap_unless "$(no_cachestat)" "nothing after a walk without it" undisturbed \
		found_in_memory
	tap_check "of a small part, less than half of everything" undisturbed small_part
	tap_check "nothing of what does not fit" undisturbed larger_than_memory
	tap_check "another user: a line says what it takes" says_root
	tap_check "a deleted directory" says_deleted
	tap_check "no node of the device: a line says so" says_no_node
	tap_check "its probe" run 0 probe "$mnt"
	unmount_all
}

test_all()
{
	make_images paths
	set -- paths
	test_groups "$@"
}

own_mounts "$@"
setup_e2prefetch awk jq
tap_run test_all "$@"
