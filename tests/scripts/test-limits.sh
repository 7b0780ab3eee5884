#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Restricted machines: resource limits, control groups, refused calls, full and
# read-only devices, a system without /proc and /sys, signals at any moment, and a
# disk that really fails.  The command under test must do what stock e2fsck does,
# with the mapping for checks that only read.
#
# Cases that need root, loop devices, FUSE or control groups are skipped without.
# Runs a sample; all with E2PF_FAULTS=all, as `make check-faults` does.
#
#   test-limits.sh [GROUP...]	of: as names cpu nofile nproc rights fsize seccomp
#				absent cgroup moments readonly device full mounted disk

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/compare.sh"

COMPARE_LIMIT=300
SEED=${E2PF_SEED:-1}

# limited FILE PROGRAM SETUP PREFIX INNER: writes a script that runs the commands
# SETUP, and then, under PREFIX, the commands INNER and PROGRAM.
limited()
{
	cat >"$1" <<-END
	#!/bin/bash
	$3
	exec $4 bash -c '$5
	exec -a e2fsck "\$0" "\$@"' '$2' "\$@"
	END
	chmod 0755 "$1"
}

# with_limits SETUP PREFIX INNER: apply these from here on in this shell.
with_limits()
{
	chmod 0755 "$dir"
	limited "$dir/run-stock" "$REAL_STOCK" "$@"
	limited "$dir/run-test" "$REAL_TEST" "$@"
	E2FSCK_STOCK=$dir/run-stock E2FSCK_TEST=$dir/run-test
}

# limit_case LINE: kind|name|setup|prefix|inner|image|options.
limit_case()
{
	local kind name setup prefix inner image options
	local E2FSCK_STOCK E2FSCK_TEST

	IFS='|' read -r kind name setup prefix inner image options <<<"$1"

	with_limits "$setup" "$prefix" "$inner"
	compare_stock "$dir" "$E2PF_TMP/$image" $options
	tally_case "$kind" "$name $image $options" "$dir" 1 \
		"$E2PF_TMP/$image" $options
}

# If stock itself fails, the command under test may fail, too, but it must not crash
# or hang unless stock does.
scarce_case()
{
	local kind name setup prefix inner image options status stock
	local E2FSCK_STOCK=$REAL_STOCK E2FSCK_TEST

	IFS='|' read -r kind name setup prefix inner image options <<<"$1"
	compare_stock "$dir" "$E2PF_TMP/$image" $options
	mv "$dir/stock.out" "$dir/free.out"
	mv "$dir/stock.status" "$dir/free.status"
	with_limits "$setup" "$prefix" "$inner"
	compare_stock "$dir" "$E2PF_TMP/$image" $options
	stock=$(<"$dir/stock.status")
	if cmp -s "$dir/free.out" "$dir/stock.out" &&
	   cmp -s "$dir/free.status" "$dir/stock.status"; then
		tally_case "$kind" "$name $image $options" "$dir" 1 \
			"$E2PF_TMP/$image" $options
		return
	fi
	compare_outcome "$dir" 1 "$E2PF_TMP/$image" $options
	status=agreed
	[[ $COMPARE_OUTCOME != @(hung|crashed) ]] ||
		[ "$stock" -ge 128 ] || status=$COMPARE_OUTCOME
	tally "$kind" $status "$name (stock: $stock) $options"
}

# KiB of address space, from the size at which the launcher and then the module can
# be loaded: they need 0.3 MB more than stock.
test_as()
{
	local mode least=2000

	if [ -n "$E2PF_RUNTIME" ]; then
		tap_skip "address space" "a sanitizer takes terabytes of it"
		return
	fi
	while ! (ulimit -v $least && PREFETCH=1 exec "$REAL_TEST" -V) \
	      >/dev/null 2>&1 && [ $least -lt 20000 ]; do
		least=$((least + 40))
	done
	least=$((least + 120))
	for mode in -fn -fy; do
		{ seq $least 40 6400; seq 8192 2048 40960; } | awk -v m=$mode '{
			print "address space|" $1 " KiB|||" \
				"ulimit -v " $1 "|image.bad|" m }'
		seq $least 500 12000 | awk -v m=$mode '{
			print "address space|" $1 " KiB|||" \
				"ulimit -v " $1 "|large|" m }'
	done | sample 12 | tally_all scarce_case
	tally_end "address space"
}

# One directory of 50,000 names, written anew, in no more address space than stock
# needs for it several times over.
test_names()
{
	local threads dir=$E2PF_TMP/names COMPARE_MANAGERS=1
	local E2FSCK_STOCK=$REAL_STOCK E2FSCK_TEST=$REAL_TEST

	if [ -n "$E2PF_RUNTIME" ]; then
		tap_skip "many names" "a sanitizer takes terabytes of it"
		return
	fi
	mkdir "$dir"
	image_make ext4-htree-3 "$E2PF_TMP/names.image" >"$dir/log" || {
		tap_skip "many names" "this mke2fs does not make them"
		return
	}
	with_limits "" "" "ulimit -v 200000"
	for threads in 4 16; do
		PREFETCH_THREADS=$threads compare_image \
			"many names in 200,000 KiB, $threads threads" \
			"$dir/compare" "$E2PF_TMP/names.image" -fyD || :
	done
	rm -rf "$dir" "$E2PF_TMP/names.image"
}

# Far more than the check needs.
test_cpu()
{
	printf 'processor time|20 s|||ulimit -t 20|image.bad|%s\n' -fn -fy |
		tally_all limit_case
	tally_end "processor time"
}

test_nofile()
{
	local mode

	for mode in -fn -fy; do
		seq 3 24 | sed "s/.*/open files|&|||ulimit -n &|image.bad|$mode/"
	done | sample 14 | tally_all scarce_case
	tally_end "open files"
}

test_nproc()
{
	local mode n

	if ! nobody_runs "$REAL_TEST"; then
		tap_skip "processes" "not root, no setpriv, or a private folder"
		return
	fi
	for mode in -fn -fy; do
		for n in 1 2 3; do
			echo "processes|$n|chown 65534 . fs|$NOBODY|ulimit -u $n|image.bad|$mode"
		done
	done | tally_all limit_case
	tally_end "processes"
}

# The user may not read the image, or not write to it.
test_rights()
{
	if ! nobody_runs "$REAL_TEST"; then
		tap_skip "rights" "not root, no setpriv, or a private folder"
		return
	fi
	printf 'rights|%s|chmod %s fs|$NOBODY||image|%s\n' none 600 -fn read 444 -fn \
		read 444 -fy | sed "s/\$NOBODY/$NOBODY/" | tally_all limit_case
	tally_end "rights"
}

# In KiB, less than the size of the image: SIGXFSZ, or EFBIG if that is ignored.
test_fsize()
{
	local n trap

	for n in 1 2 9 40 200 1000 2000 3000 5000 8000; do
		for trap in "" "trap \"\" XFSZ;"; do
			echo "file size|$n $trap|||$trap ulimit -f $n|image.bad|-fy"
		done
	done | sample 8 | tally_all limit_case
	tally_end "file size"
}

# Errors 1 and 38: EPERM and ENOSYS.
test_seccomp()
{
	local call error

	"$DENY_CALLS" 1 mincore true
	if [ $? = 125 ]; then
		tap_skip "refused calls" "no seccomp"
		return
	fi
	for error in 38 1; do
		for call in madvise,mincore,io_uring,fadvise64,readahead \
			madvise mincore io_uring fadvise64 sched_getaffinity \
			pidfd_open prctl readlink getdents64 faccessat2; do
			for mode in -fn -fy; do
				echo "refused calls|$call $error||$DENY_CALLS $error $call||image.bad|$mode"
			done
		done
		# glibc falls back to clone() only on ENOSYS.
		[ $error = 1 ] || echo "refused calls|clone3||$DENY_CALLS 38 clone3||image.bad|-fy"
	done | sample 16 | tally_all limit_case
	tally_end "refused calls"
}

test_absent()
{
	local what mode

	if ! have_root || ! unshare -m true 2>/dev/null; then
		tap_skip "absent folders" "cannot unshare mounts"
		return
	fi
	if [ -n "$E2PF_RUNTIME" ]; then
		tap_skip "absent folders" "a sanitizer needs /proc"
		return
	fi
	for mode in -fn -fy; do
		for what in /sys /proc "/sys /proc" /dev; do
			printf 'absent folders|%s||unshare -m|for d in %s; do mount -t tmpfs none $d; done; exec </dev/null|image.bad|%s\n' \
				"$what" "$what" "$mode"
		done
	done | grep -v '|/dev|' | tally_all limit_case
	tally_end "absent folders"
}

#
# Control groups, version 1 or 2.
#
cgroup_setup()
{
	local size=$1 root=/sys/fs/cgroup

	CGROUP=$root/memory/e2pf-test-$$-$size
	if [ -d $root/memory ] && mkdir "$CGROUP" 2>/dev/null; then
		echo "$CGROUP" >>"$E2PF_TMP/cgroups"
		echo "${size}M" >"$CGROUP/memory.limit_in_bytes"
		return
	fi
	CGROUP=$root/e2pf-test-$$-$size
	[ -f $root/cgroup.controllers ] && mkdir "$CGROUP" 2>/dev/null ||
		return
	echo "$CGROUP" >>"$E2PF_TMP/cgroups"
	{ echo "${size}M" >"$CGROUP/memory.max"; } 2>/dev/null
}

group_removed() { [ ! -d "$1" ] || rmdir "$1"; }

cgroups_remove()
{
	local group

	[ -s "$E2PF_TMP/cgroups" ] || return 0
	while read -r group; do
		wait_for group_removed "$group" 2>/dev/null
	done <"$E2PF_TMP/cgroups"
	: >"$E2PF_TMP/cgroups"
}

test_cgroup()
{
	local size mode skipped=

	for size in 32 64 256; do
		if ! have_root || ! cgroup_setup $size 2>/dev/null; then
			tap_skip "memory group of $size MB" \
				"no control group of memory can be made"
			skipped=1
			continue
		fi
		for mode in -fn -fy; do
			echo "memory group|$size MB|echo \$\$ >$CGROUP/cgroup.procs|||large|$mode"
		done
	done >"$E2PF_TMP/cgroup.list"
	grep '^ok' "$E2PF_TMP/cgroup.list"
	grep '^memory' "$E2PF_TMP/cgroup.list" | tally_all limit_case
	[ -n "$skipped" ] || tally_end "memory group"
	tap_check "control groups are removed" cgroups_remove
}

#
# Signals at moments of a seeded sequence: times that a processor has spent on
# the check, by which it is as far on a busy machine as on an idle one.
#
# is_in PID STATES: or has it ended?  The letters are those of proc(5).
is_in()
{
	local stat

	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ $stat == *") "[Z$2]" "* ]]
}

# has_computed PID MICROSECONDS: or has it ended?
has_computed()
{
	local ns

	{ read -r ns _ <"/proc/$1/schedstat"; } 2>/dev/null || return 0
	[ "$ns" -ge "${2}000" ] || is_in "$1" Z
}

# moment_case LINE: signal|mode|microseconds.
moment_case()
{
	local signal mode moment pid status kind="signals at any moment"
	local fs=$dir/moment name="$1"

	IFS='|' read -r signal mode moment <<<"$1"
	cp --sparse=auto "$E2PF_TMP/large" "$fs"
	PREFETCH=1 TEST_MMAP_IO=1 LD_PRELOAD=$FIXED_RANDOM \
		"$IMGTOOL" run 300 e2fsck "$REAL_TEST" "$mode" "$fs" \
		</dev/null >"$dir/out" 2>"$dir/err" &
	pid=$!
	until has_computed $pid "$moment"; do :; done
	if [ "$signal" = STOP ]; then
		kill -s STOP $pid 2>/dev/null
		wait_for is_in $pid T
		kill -s CONT $pid 2>/dev/null
	else
		kill -s "$signal" $pid 2>/dev/null
	fi
	wait $pid
	status=$?
	# Either the signal arrived in time, or the check had ended.  INT and TERM
	# have the same handler in e2fsck.
	case $signal.$status in
	*.0|*.1|*.4|KILL.137|INT.130|TERM.143) ;;
	INT.8|INT.12|INT.32|INT.33|INT.36) ;;
	TERM.8|TERM.12|TERM.32|TERM.33|TERM.36) ;;
	*)	tally "$kind" "$([ $status = 142 ] && echo hung ||
			echo disagreed)" "$name: status $status"
		return ;;
	esac
	if [ "$mode" = -fn ]; then
		if "$IMGTOOL" cmp "$E2PF_TMP/large" "$fs" >/dev/null; then
			tally "$kind" agreed "$name"
		else
			tally "$kind" disagreed "$name: image changed"
		fi
		return
	fi
	# Stock can repair what is left.
	"$REAL_STOCK" -fy "$fs" >/dev/null 2>&1 </dev/null
	"$REAL_STOCK" -fn "$fs" >/dev/null 2>&1 </dev/null
	if [ $? = 0 ]; then
		tally "$kind" agreed "$name"
	else
		tally "$kind" disagreed "$name: cannot be mended"
	fi
}

test_moments()
{
	awk -v seed="$SEED" 'BEGIN {
		srand(seed)
		n = split("INT TERM KILL STOP", signal, " ")
		for (i = 0; i < 240; i++)
			printf "%s|%s|%d\n", signal[1 + i % n],
				i % 3 ? "-fy" : "-fn", int(rand() * 15000)
	}' | sample 16 | tally_all moment_case
	tally_end "signals at any moment"
	tap_check "no process is left after signals" no_process_left
}

#
# Devices.  All runs use the same device, whose contents are restored each time.
#
# device_agrees OPTION...: with stock.
device_agrees()
{
	$reset
	compare_stock "$dir" "$device" "$@"
	$reset
	compare_outcome "$dir" 1 "$device" "$@"
	[[ $COMPARE_OUTCOME = @(agreed|endless) ]]
}

# device_case KIND NAME DEVICE RESET OPTION...: RESET restores the contents.  What
# looks for filesystems on all devices (blkid, mkfs) reads from this one, too, and
# leaves pages in memory.
device_case()
{
	local kind=$1 name=$2 device=$3 reset=$4 COMPARE_IN_PLACE=1

	shift 4
	undisturbed device_agrees "$@"
	tally_outcome "$kind" "$name $*" "$dir" 1
}

test_readonly()
{
	local dev mode dir=$E2PF_TMP/readonly

	mkdir "$dir"
	cp "$E2PF_TMP/image.bad" "$dir/disk"
	if ! have_root || ! dev=$(losetup -r -f --show "$dir/disk" 2>/dev/null)
	then
		tap_skip "read-only device" "no loop device"
		return
	fi
	echo "$dev" >>"$E2PF_TMP/loops"
	for mode in -fn -fy -fp -p; do
		device_case "read-only device" "$mode" "$dev" true $mode
	done
	loop_detach "$dev"
	tally_end "read-only device"
}

# A sparse file on a full filesystem: as it is, and behind a loop device, where only
# flushing gets the error.
full_reset()
{
	rm -f "$FULL/fill"
	cp --sparse=always "$E2PF_TMP/$FULL_IMAGE" "$FULL/fs"
	dd if=/dev/zero of="$FULL/fill" bs=4k 2>/dev/null
	if [ "$FULL_LEAVE" -gt 0 ]; then
		truncate -s "-$((FULL_LEAVE * 4096))" "$FULL/fill"
	fi
}

test_full()
{
	local dir=$E2PF_TMP/full FULL COMPARE_SAVE FULL_LEAVE dev FULL_IMAGE=image.bad

	FULL=$dir/small
	mkdir -p "$FULL"
	if ! have_root || ! mount -t tmpfs -o size=12m,mode=0700 e2pf-test \
	   "$FULL" 2>/dev/null; then
		tap_skip "full backing store" "cannot mount a tmpfs"
		return
	fi
	echo "$FULL" >>"$E2PF_TMP/mounts"
	COMPARE_SAVE=$FULL/fs
	for FULL_LEAVE in 0 1 2 3 5 9; do
		device_case "full backing store" "file, $FULL_LEAVE pages" \
			"$FULL/fs" full_reset -fy
		device_case "full backing store" "file, $FULL_LEAVE pages" \
			"$FULL/fs" full_reset -fyD
	done
	FULL_LEAVE=0
	full_reset
	COMPARE_SAVE=
	if dev=$(loop_attach "$FULL/fs"); then
		for FULL_LEAVE in 0 2; do
			device_case "full backing store" \
				"loop, $FULL_LEAVE pages" "$dev" full_loop_reset -fy
		done
		loop_detach "$dev"
	fi
	tally_end "full backing store"
	mounts_remove
}

# The loop device stays, so the file must, too; its holes are restored.
full_loop_reset()
{
	rm -f "$FULL/fill"
	cp --sparse=always "$E2PF_TMP/$FULL_IMAGE" "$dir/whole"
	truncate -s 0 "$FULL/fs"
	truncate -s "$(stat -c %s "$dir/whole")" "$FULL/fs"
	cp --sparse=always --no-preserve=all "$dir/whole" "$dir/copy"
	dd if="$dir/whole" of="$FULL/fs" bs=4k conv=notrunc,sparse status=none
	dd if=/dev/zero of="$FULL/fill" bs=4k 2>/dev/null
	[ "$FULL_LEAVE" -eq 0 ] ||
		truncate -s "-$((FULL_LEAVE * 4096))" "$FULL/fill"
	blockdev --flushbufs "$dev"
}

# Its page cache differs from that of a file.
test_device()
{
	local dev mode dir=$E2PF_TMP/device COMPARE_SAVE

	mkdir "$dir"
	cp "$E2PF_TMP/image.bad" "$dir/backing"
	COMPARE_SAVE=$dir/backing
	if ! dev=$(loop_attach "$dir/backing"); then
		tap_skip "block device" "no loop device"
		return
	fi
	for mode in -fn -fy "-fn -E fragcheck"; do
		device_case "block device" "$mode" "$dev" disk_reset $mode
	done
	loop_detach "$dev"
	tally_end "block device"
}

test_mounted()
{
	local dir=$E2PF_TMP/mounted dev mode

	mkdir -p "$dir/on"
	cp "$E2PF_TMP/image" "$dir/disk"
	if ! have_root || ! dev=$(loop_attach "$dir/disk") ||
	   ! mount -o ro "$dev" "$dir/on" 2>/dev/null; then
		tap_skip "mounted filesystem" "cannot mount a loop device"
		return
	fi
	echo "$dir/on" >>"$E2PF_TMP/mounts"
	for mode in -n -fn -fy -p; do
		device_case "mounted filesystem" "$mode" "$dev" true $mode
	done
	mounts_remove
	loop_detach "$dev"
	tally_end "mounted filesystem"
}

mounts_remove()
{
	local point

	[ -s "$E2PF_TMP/mounts" ] || return 0
	tac "$E2PF_TMP/mounts" | while read -r point; do
		umount "$point" 2>/dev/null || umount -l "$point" 2>/dev/null
	done
	: >"$E2PF_TMP/mounts"
}

limits_cleanup()
{
	local status=$?

	cgroups_remove >/dev/null 2>&1
	disk_remove
	# A loop device keeps its file in use, and the file keeps the mount in use.
	if [ -s "$E2PF_TMP/mounts" ] && [ -s "$E2PF_TMP/loops" ]; then
		while read -r dev; do
			umount "$dev" 2>/dev/null
			losetup -d "$dev" 2>/dev/null
		done <"$E2PF_TMP/loops"
	fi
	mounts_remove
	(exit "$status")
	tmp_cleanup
}

#
# A disk that fails below the page cache: a FUSE file that answers EIO.
#
disk_start()
{
	local point=$dir/disk

	mkdir -p "$point"
	cp "$E2PF_TMP/image.bad" "$dir/backing"
	"$DISKMODEL" "$@" "$dir/backing" "$point" </dev/null >"$dir/log" 2>&1 &
	DISK_PID=$!
	echo "$DISK_PID" >"$E2PF_TMP/disk.pid"
	echo "$point" >"$E2PF_TMP/disk.point"
}

disk_is_there() { [ -e "$dir/disk/disk" ] || is_in "$DISK_PID" Z; }

disk_remove()
{
	local point

	[ -s "$E2PF_TMP/disk.point" ] || return 0
	point=$(<"$E2PF_TMP/disk.point")
	umount "$point" 2>/dev/null || umount -l "$point" 2>/dev/null
	kill "$(<"$E2PF_TMP/disk.pid")" 2>/dev/null
	rm -f "$E2PF_TMP/disk.point" "$E2PF_TMP/disk.pid"
}

# disk_case PAGE: the page is permanently unreadable.
disk_case()
{
	local page=$1 dev mode

	disk_start --follow-parent \
		--fault=eio:$((page * 4096))+4096
	wait_for disk_is_there
	if dev=$(losetup --direct-io=on -f --show "$dir/disk/disk" 2>/dev/null)
	then
		echo "$dev" >>"$E2PF_TMP/loops"
		# If a page cannot be read, neither can the others of its folio,
		# whose size depends on earlier reads.
		blockdev --setra 0 "$dev"
		for mode in -fn -fy; do
			device_case "failing disk" "page $page $mode" "$dev" \
				disk_reset $mode
		done
		losetup -d "$dev"
	else
		DISK_FAILED=$(tail -n 1 "$dir/log")
	fi
	disk_remove
	wait "$DISK_PID" 2>/dev/null
}

# The file stays the same; none of its pages stay cached.
disk_reset()
{
	dd if="$E2PF_TMP/image.bad" of="$dir/backing" bs=64k conv=notrunc \
		status=none
	blockdev --flushbufs "$dev"
}

# Pages that contain metadata according to e2image.
metadata_pages()
{
	e2image -r "$1" "$E2PF_TMP/meta" >/dev/null 2>&1
	cmp -l -n "$(stat -c %s "$1")" "$E2PF_TMP/meta" /dev/zero 2>/dev/null |
		awk '{ p = int(($1 - 1) / 4096) } p != last { print p; last = p }'
	rm -f "$E2PF_TMP/meta"
}

test_disk()
{
	local dir=$E2PF_TMP/disk page DISK_FAILED= most=4

	DISKMODEL=$top_builddir/bench/diskmodel
	mkdir -p "$dir"
	if ! have_root || ! have_fuse || [ ! -x "$DISKMODEL" ] ||
	   [ ! -w /dev/loop-control ]; then
		tap_skip "failing disk" "not root, no FUSE, loop or diskmodel"
		return
	fi
	# Only some dozens, because each has a device of its own.
	[ "$E2PF_FAULTS" != all ] || most=48
	for page in $(metadata_pages "$E2PF_TMP/image.bad" | sed 1d |
		      E2PF_FAULTS= sample $most); do
		disk_case "$page"
		[ -z "$DISK_FAILED" ] || break
	done
	if [ -n "$DISK_FAILED" ]; then
		tap_skip "failing disk" "no loop device on FUSE: $DISK_FAILED"
	else
		tally_end "failing disk"
	fi
}

images_make()
{
	image_make ext4-1k "$E2PF_TMP/image" || tap_bail "no image"
	cp --sparse=auto "$E2PF_TMP/image" "$E2PF_TMP/image.bad"
	echo "clri /d1" | image_debugfs "$E2PF_TMP/image.bad"
	image_make ext4-64g "$E2PF_TMP/large" || tap_bail "no large image"
	echo "clri /d1" | image_debugfs "$E2PF_TMP/large"
}

test_limits()
{
	local group

	images_make
	[ $# -gt 0 ] || set -- as names cpu nofile nproc rights fsize seccomp absent \
		cgroup moments readonly device full mounted disk
	for group in "$@"; do
		"test_$group"
	done
	tap_check "no process is left behind" no_process_left
}

setup mke2fs debugfs dumpe2fs e2image flock diff awk
trap limits_cleanup EXIT
DENY_CALLS=$(tool deny-calls) || tap_bail "deny-calls.c does not compile"
REAL_STOCK=$E2FSCK_STOCK REAL_TEST=$E2FSCK_TEST
tap_run test_limits "$@"
