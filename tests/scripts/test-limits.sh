#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Restricted machines: resource limits, cgroups, refused calls, full
# filesystems, a system without /proc and /sys, signals at any moment, and a disk that
# really fails.  The command under test must do what stock e2fsck does, with the mapping
# for checks that only read.  test-habits.sh has loop devices.
#
# Cases that need root, loop devices, FUSE or cgroups are skipped without.
# Runs a sample; all with E2PF_FAULTS=all, as `make check-faults` does.
#
#   test-limits.sh [GROUP...]	of: as nofile nproc pids rights fsize seccomp
#				absent cgroup moments full disk

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

# limit_case LINE [scarce]: kind|name|setup|prefix|inner|image|options.  With "scarce",
# if stock itself fails, the command under test may fail, too, but it must not crash or
# hang unless stock does.
limit_case()
{
	local kind name setup prefix inner image options status stock
	local E2FSCK_STOCK=$REAL_STOCK E2FSCK_TEST

	IFS='|' read -r kind name setup prefix inner image options <<<"$1"
	if [ $# = 2 ]; then
		compare_stock "$dir" "$E2PF_TMP/$image" $options
		mv "$dir/stock.out" "$dir/free.out"
		mv "$dir/stock.status" "$dir/free.status"
	fi
	chmod 0755 "$dir"
	limited "$dir/run-stock" "$REAL_STOCK" "$setup" "$prefix" "$inner"
	limited "$dir/run-test" "$REAL_TEST" "$setup" "$prefix" "$inner"
	E2FSCK_STOCK=$dir/run-stock E2FSCK_TEST=$dir/run-test
	compare_stock "$dir" "$E2PF_TMP/$image" $options
	if [ $# = 1 ] || { cmp -s "$dir/free.out" "$dir/stock.out" &&
			cmp -s "$dir/free.status" "$dir/stock.status"; }; then
		tally_case "$kind" "$name $image $options" "$dir" 1 \
			"$E2PF_TMP/$image" $options
		return
	fi
	stock=$(<"$dir/stock.status")
	compare_outcome "$dir" 1 "$E2PF_TMP/$image" $options
	status=agreed
	[[ $COMPARE_OUTCOME != @(hung|crashed) ]] ||
		[ "$stock" -ge 128 ] || status=$COMPARE_OUTCOME
	tally "$kind" $status "$name (stock: $stock) $options"
}
scarce_case() { limit_case "$1" scarce; }

# KiB of address space, from the size at which the wrapper and then the preload library
# can be loaded: they need 0.3 MB more than stock.
test_as()
{
	local mode least=2000

	skipped "address space" "${E2PF_RUNTIME:+a sanitizer takes terabytes of it}" &&
		return
	while ! (ulimit -v $least && PREFETCH=1 exec "$REAL_TEST" -V) \
	      >/dev/null 2>&1 && [ $least -lt 20000 ]; do
		least=$((least + 40))
	done
	least=$((least + 120))
	for mode in -fn -fy; do
		{ seq $least 40 6400; seq 8192 2048 40960; } |
			sed "s/.*/address space|& KiB|||ulimit -v &|image.bad|$mode/"
		seq $least 500 12000 |
			sed "s/.*/address space|& KiB|||ulimit -v &|large|$mode/"
	done | sample 12 | tally_all scarce_case "address space"
}

test_nofile()
{
	local mode

	for mode in -fn -fy; do
		seq 3 24 | sed "s/.*/open files|&|||ulimit -n &|image.bad|$mode/"
	done | sample 14 | tally_all scarce_case "open files"
}

# Numbers of tasks with which stock e2fsck ends as without a limit.  With less, but more
# than one, it depends on whether a thread has ended when the next one begins.
enough()
{
	local processors

	processors=$(getconf _NPROCESSORS_CONF)
	seq $((processors + 1)) $((processors + 11))
}

# A user without any rights.
NOBODY="setpriv --reuid=65534 --regid=65534 --clear-groups"

test_nproc()
{
	skipped "processes" "$(no_nobody)" && return
	nproc_rows "" | tally_all limit_case "processes"
	(beside_stock
	nproc_rows ", e2prefetch" | tally_all limit_case "processes, e2prefetch")
}

# nproc_rows KIND: the kernel counts all tasks of a user, so each case has its own.
nproc_rows()
{
	local image mode n user=65534

	for mode in -fn -fy; do
		for image in image.bad large; do
			for n in 1 $(enough); do
				user=$((user - 1))
				echo "processes$1|$n|$DROPPED chown $user . fs|${NOBODY/65534/$user}|ulimit -u $n|$image|$mode"
			done
		done
	done
}

# Drops the image of a run from memory: nothing is read ahead of what is cached.
DROPPED='dd of=fs conv=notrunc,fdatasync oflag=nocache count=0 status=none;'

# Tasks of a cgroup: e2fsck needs some to read bitmaps, and ends without.
test_pids()
{
	skipped "threads" "$(no_groups pids)$(no_disk)" && return
	tap_check "threads: where there are enough, a check reads ahead" enough_tasks
	{ pids_rows "" image.bad; pids_rows "" large; } | tally_all limit_case "threads"
	# Nothing tells the preload library what is left, until e2fsck cannot start a
	# thread.
	skipped "threads, unseen limit" "$(no_mounts)" ||
		pids_rows ", unseen limit" large "unshare -m" \
			"mount -t tmpfs none /sys;" |
		tally_all limit_case "threads, unseen limit"
	(beside_stock
	pids_rows ", e2prefetch" large | tally_all limit_case "threads, e2prefetch")
	tap_check "groups of tasks are removed" cgroups_end
}

# Three of ours, as many as there are processors and two are left, and its own.
enough_tasks()
{
	local group

	mkdir -p "$E2PF_TMP/enough"
	cp "$E2PF_TMP/large" "$E2PF_TMP/enough/fs"
	drop "$E2PF_TMP/enough/fs"
	pids_group $((6 + $(getconf _NPROCESSORS_CONF)))
	PREFETCH=1 PREFETCH_VERBOSE=2 bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' \
		"$group" "$REAL_TEST" -fn "$E2PF_TMP/enough/fs" 2>&1 |
		grep 'threads: [12]'
}

# pids_rows KIND IMAGE [PREFIX INNER]
pids_rows()
{
	local mode group n

	# With one task, mount(8) cannot run.
	for n in $([ -n "${4-}" ] || echo 1; enough); do
		for mode in -fn -fy; do
			pids_group $n "${1//[ ,]}$2$mode"
			echo "threads$1|pids.max $n|$DROPPED echo \$\$ >$group/cgroup.procs|${3-}|${4-}|$2|$mode"
		done
	done
}

# Tests a script that runs the stock program under e2prefetch, which may say that it reads
# nothing ahead.
beside_stock()
{
	export COMPARE_MASK='/^e2prefetch: cannot read ahead: Resource/d'
	REAL_TEST=$E2PF_TMP/beside
	cat >"$REAL_TEST" <<-END
	#!/bin/bash
	exec '$PREFETCHER' fs -- bash -c 'exec -a e2fsck "\$0" "\$@"' '$REAL_STOCK' "\$@"
	END
	chmod 0755 "$REAL_TEST"
}

# Not in a build below a private directory, such as /root.
no_nobody()
{
	have_root && have_program setpriv && $NOBODY test -x "$REAL_TEST" 2>/dev/null ||
		echo "not root, no setpriv, or a private directory"
}

# The user may not read the image, or not write to it.
test_rights()
{
	skipped "rights" "$(no_nobody)" && return
	printf 'rights|%s|chmod %s fs|$NOBODY||image|%s\n' none 600 -fn read 444 -fn \
		read 444 -fy | sed "s/\$NOBODY/$NOBODY/" | tally_all limit_case "rights"
}

# In KiB, less than the size of the image: SIGXFSZ, or EFBIG if that is ignored.
test_fsize()
{
	local n trap

	for n in 1 2 9 40 200 1000 2000 3000 5000 8000; do
		for trap in "" "trap \"\" XFSZ;"; do
			echo "file size|$n $trap|||$trap ulimit -f $n|image.bad|-fy"
		done
	done | sample 8 | tally_all limit_case "file size"
}

# Errors 1 and 38: EPERM and ENOSYS.
test_seccomp()
{
	local call error

	skipped "refused calls" "$("$DENY_CALLS" 1 mincore true || echo "no seccomp")" &&
		return
	# A sanitizer warns if it cannot read the program's name.
	for error in 38 1; do
		for call in madvise,mincore,io_uring,fadvise64,readahead \
			madvise mincore cachestat io_uring fadvise64 sched_getaffinity \
			pidfd_open prctl getdents64 faccessat2 \
			$([ -n "$E2PF_RUNTIME" ] || echo readlink); do
			for mode in -fn -fy; do
				echo "refused calls|$call $error||$DENY_CALLS $error $call||image.bad|$mode"
			done
		done
		# glibc falls back to clone() only on ENOSYS.
		[ $error = 1 ] ||
			echo "refused calls|clone3||$DENY_CALLS 38 clone3||image.bad|-fy"
	done | sample 16 | tally_all limit_case "refused calls"
}

test_absent()
{
	local what mode

	skipped "absent directories" \
		"$(no_mounts)${E2PF_RUNTIME:+a sanitizer needs /proc}" && return
	for mode in -fn -fy; do
		for what in /sys /proc "/sys /proc"; do
			printf 'absent directories|%s||unshare -m|for d in %s; do mount -t tmpfs none $d; done; exec </dev/null|image.bad|%s\n' \
				"$what" "$what" "$mode"
		done
	done | tally_all limit_case "absent directories"
}

test_cgroup()
{
	local size mode group

	skipped "cgroup" "$(no_groups memory)" && return
	for size in 32 64 256; do
		memory_group $size
		for mode in -fn -fy; do
			echo "cgroup|$size MB|echo \$\$ >$group/cgroup.procs|||large|$mode"
		done
	done | tally_all limit_case "cgroup"
	tap_check "cgroups are removed" cgroups_end
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

# moment_case LINE: signal|mode|microseconds.  The signals CUT and WRITE are what another
# program does to the file: then the check may end in any way but by a signal.
moment_case()
{
	local signal mode moment pid status kind="signals at any moment"
	local fs=$dir/moment name="$1" bad=''

	IFS='|' read -r signal mode moment <<<"$1"
	cp --sparse=auto "$E2PF_TMP/large" "$fs"
	PREFETCH=1 TEST_MMAP_IO=1 LD_PRELOAD=$FIXED_RANDOM \
		"$IMGTOOL" run 300 e2fsck "$REAL_TEST" "$mode" "$fs" \
		</dev/null >"$dir/out" 2>"$dir/err" &
	pid=$!
	until has_computed $pid "$moment"; do :; done
	case $signal in
	STOP)	kill -s STOP $pid 2>/dev/null
		wait_for is_in $pid T
		kill -s CONT $pid 2>/dev/null ;;
	CUT)	truncate -s 64K "$fs" ;;
	WRITE)	dd if="$0" of="$fs" bs=4k count=9 seek="$moment" conv=notrunc \
		status=none ;;
	*)	kill -s "$signal" $pid 2>/dev/null ;;
	esac
	wait $pid
	status=$?
	# Either the signal arrived in time, or the check had ended.  INT and TERM
	# have the same handler in e2fsck.
	case $signal.$status in
	CUT.?|CUT.??|WRITE.?|WRITE.??)
		grep -aq '^Signal (' "$dir/err" ||
			{ tally "$kind" agreed "$name"; return; } ;;&
	*.0|*.1|*.4|KILL.137|INT.130|TERM.143|HUP.129) ;;
	INT.8|INT.12|INT.32|INT.33|INT.36) ;;
	TERM.8|TERM.12|TERM.32|TERM.33|TERM.36) ;;
	*)	tally "$kind" "$([ $status = 142 ] && echo hung ||
			echo disagreed)" "$name: status $status"
		return ;;
	esac
	if [ "$mode" = -fn ]; then
		"$IMGTOOL" cmp "$E2PF_TMP/large" "$fs" >/dev/null || bad=": image changed"
	else
		# Stock can repair what is left.
		"$REAL_STOCK" -fy "$fs" >/dev/null 2>&1 </dev/null
		"$REAL_STOCK" -fn "$fs" >/dev/null 2>&1 </dev/null ||
			bad=": cannot be mended"
	fi
	tally "$kind" "${bad:+dis}agreed" "$name$bad"
}

test_moments()
{
	awk -v seed="$SEED" 'BEGIN {
		srand(seed)
		n = split("INT TERM KILL STOP HUP CUT WRITE", signal, " ")
		for (i = 0; i < 240; i++)
			printf "%s|%s|%d\n", signal[1 + i % n],
				rand() < 0.5 ? "-fy" : "-fn", int(rand() * 15000)
	}' | sample 16 | tally_all moment_case "signals at any moment"
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
	local device=$3 reset=$4 COMPARE_IN_PLACE=1

	undisturbed device_agrees "${@:5}"
	tally_outcome "$1" "$2 ${*:5}" "$dir" 1
}

# A sparse file on a full filesystem.  It stays the same; its holes are restored.
full_reset()
{
	rm -f "$FULL/fill"
	truncate -s 0 "$FULL/fs"
	truncate -s "$(stat -c %s "$E2PF_TMP/image.bad")" "$FULL/fs"
	dd if="$E2PF_TMP/image.bad" of="$FULL/fs" bs=4k conv=notrunc,sparse status=none
	dd if=/dev/zero of="$FULL/fill" bs=4k 2>/dev/null
	[ "$FULL_LEAVE" -eq 0 ] || truncate -s "-$((FULL_LEAVE * 4096))" "$FULL/fill"
}

test_full()
{
	local dir=$E2PF_TMP/full kind="full backing store"
	local FULL=$dir/small COMPARE_SAVE=$dir/small/fs FULL_LEAVE

	mkdir -p "$FULL"
	skipped "$kind" "$(mount -t tmpfs -o size=12m,mode=0700 none "$FULL" 2>&1)" &&
		return
	for FULL_LEAVE in 0 1 2 3 5 9; do
		device_case "$kind" "file, $FULL_LEAVE pages" "$FULL/fs" full_reset -fy
		device_case "$kind" "file, $FULL_LEAVE pages" "$FULL/fs" full_reset -fyD
	done
	tally_end "$kind"
	umount "$FULL"
}

#
# A disk that fails below the page cache: a FUSE file that answers EIO.
#
# disk_case KIB: it is permanently unreadable, and so are the others of its page.
disk_case()
{
	local kib=$1 dev='' mode model

	mkdir -p "$dir/on"
	cp "$E2PF_TMP/image.bad" "$dir/disk"
	model_begins "$dir/disk" "$dir/on" --follow-parent \
		--fault=eio:$((kib * 1024))+1024
	# Without a page cache, as on another machine.
	for mode in -fn -fy; do
		device_case "failing file system in user space" "KiB $kib" \
			"$dir/on/disk" disk_reset $mode
	done
	if dev=$(loop_attach "$dir/on/disk" --direct-io=on); then
		# If a page cannot be read, neither can the others of its folio,
		# whose size depends on earlier reads.
		blockdev --setra 0 "$dev"
		for mode in -fn -fy; do
			device_case "failing disk" "KiB $kib" "$dev" disk_reset $mode
		done
		loop_detach "$dev"
	fi
	umount "$dir/on" 2>/dev/null || umount -l "$dir/on"
	model_ends
}

# The file stays the same; none of its pages stay cached.
disk_reset()
{
	dd if="$E2PF_TMP/image.bad" of="$dir/disk" bs=64k conv=notrunc status=none
	[ -z "$dev" ] || blockdev --flushbufs "$dev"
}

# One KiB, any, of each page that contains metadata according to e2image.
metadata_kibs()
{
	e2image -r "$1" "$E2PF_TMP/meta" >/dev/null 2>&1
	cmp -l -n "$(stat -c %s "$1")" "$E2PF_TMP/meta" /dev/zero 2>/dev/null |
		awk '{ p = int(($1 - 1) / 4096) }
			p != last { print p * 4 + n++ % 4; last = p }'
	rm -f "$E2PF_TMP/meta"
}

test_disk()
{
	local dir=$E2PF_TMP/disk kib most=4

	mkdir -p "$dir"
	skipped "failing disk" "$(no_loops)$(no_model)" && return
	# Only some dozens, because each has a device of its own.
	[ "$E2PF_FAULTS" != all ] || most=48
	for kib in $(metadata_kibs "$E2PF_TMP/image.bad" | sed 1d |
		      E2PF_FAULTS= sample $most); do
		disk_case "$kib"
	done
	tally_end "failing disk"
	tally_end "failing file system in user space"
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
	images_make
	[ $# -gt 0 ] || set -- as nofile nproc pids rights fsize seccomp absent \
		cgroup moments full disk
	test_groups "$@"
}

setup mke2fs debugfs dumpe2fs e2image flock diff awk
DENY_CALLS=$(tool deny-calls) || tap_bail "deny-calls.c does not compile"
REAL_STOCK=$E2FSCK_STOCK REAL_TEST=$E2FSCK_TEST
tap_run test_limits "$@"
