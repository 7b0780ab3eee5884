#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# btrfs send with the preload library against the stock program: with all options, the
# stream, messages and status must be the same byte for byte.  What is not prefetched must
# say why, and a killed send must leave no process and no busy mount.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

export PREFETCH_BTRFS=$BTRFS_STOCK

# odd_files DIRECTORY: an extent of many files, holes, a large file, fragments, one
# without checksums, several names of one, and files in the leaves themselves.
odd_files()
{
	local i

	mkdir "$1" && head -c 300000 /dev/urandom >"$1/extent" || return
	for i in {1..60}; do
		cp --reflink=always "$1/extent" "$1/shares-$i"
		head -c $((i * 30)) /dev/urandom >"$1/inline-$i"
	done
	ln "$1/extent" "$1/name"
	head -c 20M /dev/urandom >"$1/large"
	truncate -s 30M "$1/holes"
	for i in {0..29}; do
		head -c 5000 /dev/urandom | dd of="$1/holes" bs=1M seek="$i" \
			conv=notrunc status=none
	done
	touch "$1/nodatacow" && chattr +C "$1/nodatacow" 2>/dev/null
	head -c 300000 /dev/urandom >"$1/nodatacow"
	for i in {0..15}; do
		head -c 4096 /dev/urandom | dd of="$1/fragments" bs=4096 \
			seek=$((i * 7 % 16)) conv=notrunc,fsync status=none
	done
}

# Three snapshots, with changes of each kind between them.
fill()
{
	local i

	"$BTRFS_STOCK" -q subvolume create fs || return
	for i in {0..39}; do
		mkdir -p "fs/d$((i % 4))/e$i"
		dd if=/dev/urandom of="fs/d$((i % 4))/e$i/large" bs=64k \
			count=3 status=none
		for j in {0..29}; do
			head -c $((j * 700)) /dev/urandom >"fs/d$((i % 4))/e$i/file-$j"
		done
	done
	"$BTRFS_STOCK" -q subvolume snapshot -r fs one || return
	for i in {0..39..3}; do
		head -c 9000 /dev/urandom >"fs/d$((i % 4))/e$i/file-7"
		mv "fs/d$((i % 4))/e$i/file-3" "fs/d0/moved-$i"
		rm "fs/d$((i % 4))/e$i/file-4"
		truncate -s 100000 "fs/d$((i % 4))/e$i/large"
		fallocate -l 300000 "fs/d1/allocated-$i"
		cp --reflink=always "fs/d$((i % 4))/e$i/file-20" "fs/d2/cloned-$i"
		ln -s "target-$i" "fs/d3/link-$i"
		setfattr -n user.e2pf -v "$i" "fs/d$((i % 4))/e$i/file-8" 2>/dev/null
		sync -f .
	done
	for name in zlib lzo zstd; do
		mkdir "fs/$name"
		"$BTRFS_STOCK" property set "fs/$name" compression "$name"
		yes "$name" | head -c 500000 >"fs/$name/compressed"
	done 2>/dev/null
	mkfifo fs/d3/fifo
	odd_files fs/odd
	"$BTRFS_STOCK" -q subvolume snapshot -r fs two || return
	for i in {0..39..5}; do
		head -c 5000 /dev/urandom >"fs/d$((i % 4))/e$i/file-9"
		rm -f "fs/d1/allocated-$i"
	done
	"$BTRFS_STOCK" -q subvolume snapshot -r fs three
}

# Unless it is to stay warm.
cold() { [ -n "${WARM-}" ] || { umount "$mnt" && mount -t btrfs "$dev" "$mnt"; }; }

# stream OUT PROGRAM OPTION...: send from $mnt, with a cold cache.
stream()
{
	cold || return
	(
		cd "$mnt" && exec "$IMGTOOL" run 600 btrfs "$2" send "${@:3}"
	) >"$1" 2>"$1.err" </dev/null
	echo $? >"$1.status"
}

ours()
{
	LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 PREFETCH_STATS=$stats \
		stream "$1" "$BTRFS_TEST" "${@:2}"
}

# Both programs' streams, messages and statuses are the same.
equal()
{
	cmp "$dir/stock.status" "$dir/ours.status" &&
		cmp "$dir/stock.err" "$dir/ours.err" && cmp "$dir/stock" "$dir/ours"
}

# same OPTION...: so they are with these.
same()
{
	rm -f "$stats"
	stream "$dir/stock" "$BTRFS_STOCK" "$@" && ours "$dir/ours" "$@" && equal
}

# begun: the send was prefetched without an error.  How much of it was, before it
# ended, depends on the scheduler.
begun()
{
	grep -q '"filter: ' "$stats" && grep -q '"errors":0' "$stats" &&
		! grep -q 'prefetch: off' "$stats"
}

# has_threads PID LEAST MOST
has_threads()
{
	local n

	n=$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
	[ "$n" -ge "$2" ] && [ "$n" -le "$3" ]
}

# held OPTION...: start a send in the background, whose stream is longer than a
# pipe holds and is not read yet.  Its process is $pid.
held()
{
	cold
	rm -f "$stats" "$dir/pipe"
	mkfifo "$dir/pipe"
	exec 8<>"$dir/pipe"
	(
		cd "$mnt" && LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 \
			PREFETCH_STATS=$stats exec "$BTRFS_TEST" send -q "$@"
	) >"$dir/pipe" 2>"$dir/held.err" </dev/null 8<&- &
	pid=$!
}

# Something is in the pipe: reading ahead has begun before the kernel was asked
# for the stream.
has_stream() { read -r -t 0 -u 8; }

# of_stats KEY
of_stats() { sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p' "$stats"; }

# read_to_end OPTION...: the send is held until ours have read all there is: its
# own threads are two, and ours end by themselves.  Sets seconds: more than that
# took.
read_to_end()
{
	local began=$SECONDS

	held "$@"
	wait_for has_stream && wait_for has_threads "$pid" 2 2
	seconds=$((SECONDS - began + 2))
	released
	begun && return
	cat "$stats" "$dir/held.err"
	return 1
}

# The 67 changed leaves, but for those that the kernel has read until the pipe was
# full.
reads_all()
{
	read_to_end -p one two && [ "$(of_stats prefetched_requests)" -ge 40 ]
}

# After a send the kernel has all leaves in memory, and the data after a look at it: a
# send keeps only what was in memory before it came there.  Of 16 leaves, with what they
# refer to, nothing is read, and the others are left out.
few_if_cached()
{
	read_to_end -p one two &&
		find "$mnt/one" "$mnt/two" -type f -exec cat {} + >"$dir/data" &&
		WARM=1 read_to_end -p one two || return
	grep -q 'already cached' "$stats" &&
		[ "$(of_stats prefetched_requests)" -le 64 ] && return
	cat "$stats"
	return 1
}

same_and_begun() { same "$@" && begun; }

# The program knows these options.
same_sent() { same_and_begun "$@" && [ "$(cat "$dir/ours.status")" = 0 ]; }

same_file()
{
	same -f "$dir/file.stock" -p one two || return
	rm -f "$dir/file.stock" "$dir/file.ours"
	stream "$dir/stock" "$BTRFS_STOCK" -f "$dir/file.stock" -p one two &&
	ours "$dir/ours" -f "$dir/file.ours" -p one two && begun &&
	[ -s "$dir/file.ours" ] && cmp "$dir/file.stock" "$dir/file.ours"
}

# sent_by COMMAND...
sent_by()
(
	cd "$mnt" && LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 PREFETCH_STATS=$stats \
		"$@" "$BTRFS_TEST" send -p one two >"$dir/ours" 2>"$dir/ours.err" \
		</dev/null
)

# refused WHY COMMAND...: a kernel feature is missing; the stream is stock's.
refused()
{
	stream "$dir/stock" "$BTRFS_STOCK" -p one two && cold || return
	sent_by "${@:2}"
	grep -q "$1" "$stats" && cmp "$dir/stock" "$dir/ours" && return
	cat "$stats" "$dir/ours.err"
	return 1
}

# A filter that ends the process at one of our calls.
refused_calls()
{
	local call

	for call in open_by_handle_at getrusage; do
		refused "a required system call is blocked" \
			"$DENY_CALLS" kill "$call" || return
	done
}

# meanwhile COMMAND...: this is done to the filesystem while a full send waits for its
# receiver.
meanwhile()
{
	held one
	wait_for has_stream && "$@"
	released
	begun
}

# Other files are written and deleted, and a snapshot that shares extents.  The one that
# is being sent cannot be.
changed_meanwhile()
{
	stream "$dir/stock" "$BTRFS_STOCK" -q one &&
		meanwhile change && cmp "$dir/stock" "$dir/held"
}

change()
{
	cp -r "$mnt/fs/d0" "$mnt/fs/d9" && rm -r "$mnt/fs/d1" &&
		"$BTRFS_STOCK" -q subvolume delete -c "$mnt/three" &&
		! "$BTRFS_STOCK" -q subvolume delete "$mnt/one" 2>/dev/null &&
		sync -f "$mnt"
}

# A receiver that does not read, when there is more than the budget: no more is ahead
# of it, until it does.  The send itself reads up to 4 MiB.
waits_for_receiver()
{
	local bytes

	PREFETCH_MEM=1M held "$@"
	wait_for has_stream && sleep 0.5
	bytes=$(sed -n 's/^read_bytes: //p' "/proc/$pid/io")
	released
	echo "$bytes bytes, then $(of_stats prefetched_bytes)"
	begun && [ "$bytes" -le $((6 << 20)) ]
}

# ended_receiver PROGRAM OUT OPTION...: one that ends.
ended_receiver()
{
	cold
	(
		cd "$mnt" && LD_PRELOAD=$E2PF_RUNTIME PREFETCH=1 \
			"$1" send -q "${@:3}" | head -c 200000 >"$2"
		echo "${PIPESTATUS[0]}" >"$2.status"
	) 2>"$2.err"
}

same_ended_receiver()
{
	ended_receiver "$BTRFS_STOCK" "$dir/stock" "$@"
	ended_receiver "$BTRFS_TEST" "$dir/ours" "$@"
	equal
}

# The stream says nothing of devices, but where the kernel looks for references at the
# moment when they move, it sends data instead of a reference: what is received is
# the same.
moved_meanwhile()
{
	meanwhile "$BTRFS_STOCK" -q device remove "$1" "$mnt" &&
		mkdir "$mnt/to" &&
		"$BTRFS_STOCK" -q receive "$mnt/to" <"$dir/held" &&
		diff -r "$mnt/one" "$mnt/to/one" &&
		! grep -q "^$1 " <("$BTRFS_STOCK" filesystem show "$mnt" |
				   sed 's/.* path //; s/$/ /')
}

# Data on two devices, and a third one, which is removed meanwhile.
on_raid1()
{
	local i image dev mnt=$dir/raid1 devices=() result=1

	for i in 0 1 2; do
		image=$dir/disk-$i
		truncate -s 2G "$image"
		dev=$(loop_attach "$image") || break
		devices+=("$dev")
	done
	mkdir -p "$mnt"
	if [ ${#devices[@]} -lt 3 ]; then
		echo "no loop device"
	elif mkfs.btrfs -q -f -m raid1 -d raid1 "${devices[@]}" >"$dir/mkfs" 2>&1 &&
	     mount -t btrfs "${devices[0]}" "$mnt"; then
		dev=${devices[0]}
		(cd "$mnt" && "$BTRFS_STOCK" -q subvolume create fs &&
		 odd_files fs/odd &&
		 "$BTRFS_STOCK" -q subvolume snapshot -r fs one) && same_sent one &&
			moved_meanwhile "${devices[2]}" && result=0
		umount "$mnt"
	else
		cat "$dir/mkfs"
	fi
	for dev in "${devices[@]}"; do
		loop_detach "$dev"
	done
	rm -f "$dir"/disk-*
	return $result
}

# released: begin reading the stream of a held send, so that it ends.
released()
{
	cat <&8 >"$dir/held" &
	wait "$pid"
	exec 8<&-
	kill $! 2>/dev/null
}

# Not a subvolume, or missing: stock's message, and nothing is read.
same_error()
{
	same "$@" && [ "$(cat "$dir/ours.status")" != 0 ] &&
		! grep -q '"prefetched_requests":[1-9]' "$stats"
}

# ended_by SIGNAL OPTION...: sent during a send.  It ends, and the filesystem is not in
# use afterwards.
ended_by()
{
	local pid

	held "${@:2}"
	wait_for has_threads "$pid" 2 99
	kill -"$1" "$pid"
	wait "$pid" 2>/dev/null
	exec 8<&-
	no_process_left && cold
}

# What a sample of is run by `make check'.
test_more()
{
	tap_check "its own parent" same -p two one two three
	tap_check "200 threads" with THREADS=200 same_sent two
	tap_check "few descriptors" eval '(ulimit -n 40; same_sent two)'
	tap_check "data on RAID1" on_raid1
	"$BTRFS_STOCK" quota enable "$mnt" 2>/dev/null &&
		tap_check "with quota" same_sent two
	"$BTRFS_STOCK" quota disable "$mnt" 2>/dev/null
}

test_all()
{
	dir=$E2PF_TMP/send
	stats=$dir/stats.json
	mnt=$dir/mnt
	mkdir -p "$mnt"
	truncate -s 1G "$dir/image"
	mkfs.btrfs -q -n 4096 "$dir/image" >/dev/null 2>&1 || tap_bail "mkfs.btrfs"
	dev=$(loop_attach "$dir/image") || tap_bail "no loop device"
	mount -t btrfs "$dev" "$mnt" || tap_bail "no mount"
	(cd "$mnt" && fill) || tap_bail "no subvolumes"

	tap_check "incremental" same_sent -p one two
	tap_check "all that is to be read is read" reads_all
	[ ! -e /proc/self/io ] ||
		tap_check "what is cached is left alone" undisturbed few_if_cached
	tap_check "verbose" same_sent -v -p one two
	tap_check "--no-data" same_sent --no-data -p one two
	tap_check "-f" same_file
	tap_check "several snapshots" same_sent -p one two three
	tap_check "several snapshots with -e" same_sent -e -p one two three
	tap_check "clone sources" same_sent -p one -c three two
	tap_check "clone sources without a parent" same_sent -c one -c three two
	tap_check "a parent that is newer" same_sent -p three one
	tap_check "a budget of 1 MiB" with MEM=1M same_sent -p one two three
	for options in "--proto 2" "--proto 2 --compressed-data" "--proto 0"; do
		tap_check "$options" same_sent $options -p one two
	done
	tap_check "full" same_sent two
	tap_check "full, a budget of 1 MiB" with MEM=1M same_sent two
	tap_check "full, --proto 2 --compressed-data" \
		same_sent --proto 2 --compressed-data two
	[ ! -e /proc/self/io ] ||
		tap_check "full, a receiver that waits" waits_for_receiver two
	tap_check "a subvolume of a single leaf is left alone" single_leaf
	tap_check "full, a receiver that ends" same_ended_receiver two
	[ "${E2PF_FAULTS-}" != all ] || test_more
	tap_unless "$("$DENY_CALLS" kill mincore true || echo "no seccomp")" \
		"a filter of system calls" refused_calls
	tap_unless "$(lacks setpriv)" "without CAP_SYS_ADMIN it is left alone" no_right
	tap_check "a directory is no subvolume" same_error -p one two/d1
	tap_check "nor is what is not there" same_error -p one none
	tap_check "a parent that is not there" same_error -p none two
	tap_check "one that can be written to" same_error -p one fs
	tap_check "killed" ended_by KILL two
	tap_check "interrupted" ended_by INT -p one two
	tap_check "terminated" ended_by TERM -p one two
	tap_check "the filesystem is written to" changed_meanwhile
	umount "$mnt"
	loop_detach "$dev"
	tap_check "the filesystem is sound" "$BTRFS_STOCK" check "$dir/image"
}

single_leaf()
{
	"$BTRFS_STOCK" -q subvolume create "$mnt/few" && echo text >"$mnt/few/file" &&
		"$BTRFS_STOCK" -q subvolume snapshot -r "$mnt/few" "$mnt/leaf" &&
		same leaf && grep -q "is a single leaf" "$stats"
}

# with NAME=VALUE COMMAND...: with this variable of ours.
with() { local -x "PREFETCH_$1"; "${@:2}"; }

# The stock send also fails, with the same message and status.  It calls exit() in
# two threads at once, so the process may end before the statistics are written: then it
# is tried again.
no_right()
{
	local try

	for try in {1..50}; do
		rm -f "$stats"
		! sent_by setpriv --bounding-set -sys_admin --inh-caps -sys_admin ||
			return
		[ -s "$dir/ours.err" ] || return
		! grep -q "cannot search the trees" "$stats" || return 0
		[ ! -s "$stats" ] || break
	done
	cat "$stats" "$dir/ours.err"
	return 1
}

require_programs mkfs.btrfs losetup mount
why=$(no_mounts)
[ -z "$why" ] || tap_skip_all "$why"
[ -n "$BTRFS_STOCK" ] || tap_skip_all "btrfs not found"
[ -x "$BTRFS_TEST" ] || tap_skip_all "not built: $BTRFS_TEST"
grep -qw btrfs /proc/filesystems || tap_skip_all "the kernel has no btrfs"
own_mounts "$@"
setup
DENY_CALLS=$(tool deny-calls) || tap_bail "deny-calls.c does not compile"
tap_run test_all
