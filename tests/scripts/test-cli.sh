#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The wrapper: valid values of variables, what it says, the environment of its
# children, and the files that e2prefetch writes statistics to.  test-compare.sh tests
# e2fsck's options, test-failures.sh invalid values.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# launch ARG...: the command under test in $dir, output to $dir/{out,err}.
launch()
{
	LD_PRELOAD=$E2PF_RUNTIME "$IMGTOOL" run 600 e2fsck \
		"$E2FSCK_TEST" "$@" </dev/null >"$dir/out" 2>"$dir/err"
}

# measured ARG...: the same, with statistics in $dir/stats.
measured() { rm -f "$dir/stats"; PREFETCH=1 PREFETCH_STATS=$dir/stats launch "$@"; }

#
# Statistics; unit/test-stats-file has the files.
#
stats_on_stderr()
{
	local lines

	PREFETCH=1 PREFETCH_STATS=- launch -fn "$image" || return
	# After e2fsck's own output there: its version.
	lines=$("$E2FSCK_STOCK" -fn "$image" 2>&1 >/dev/null </dev/null | wc -l)
	tail -n +$((lines + 1)) "$dir/err" >"$dir/json"
	head -n "$lines" "$dir/err" | grep -q '^e2fsck 1' || return
	cat "$dir/json"
	[ "$(jq -s 'length' "$dir/json")" = 1 ] &&
	[ "$(jq -r 'type' "$dir/json")" = object ]
}

# One line, and stock's own result.
stats_on_a_full_disk()
{
	mkdir -p "$dir/full"
	PREFETCH=1 LD_PRELOAD=$E2PF_RUNTIME exits 0 unshare -m bash -c '
		mount -t tmpfs -o size=64k none "$1" || exit 99
		cat /dev/zero >"$1/fill"
		PREFETCH_STATS=$1/stats exec "$2" -fn "$3"' - \
		"$dir/full" "$E2FSCK_TEST" "$image" &&
	[ "$(grep -c "^e2fsck-prefetch: cannot write statistics to .*: No space" \
		"$dir/err")" = 1 ]
}

# stats_name LIST ACCELERATION...: with PREFETCH_ACCEL=LIST these are in use.
stats_name()
{
	PREFETCH_ACCEL=$1 measured -fn "$image" || return
	jq -r '.notes[]' "$dir/stats"
	[ "$(sed -n 's/.*"\([a-z0-9]*\): accelerated .*/\1/p' "$dir/stats" |
		xargs)" = "${*:2}" ]
}

# The accelerations expected with this libext2fs: if its functions do not call each
# other by name, its checksums are its own; and not all processors have the instruction
# (an emulator shows /proc/cpuinfo of the real one), which is used by 64-bit programs.
library_accelerations()
{
	local library crc=

	[[ $(getconf LONG_BIT)$(uname -m) = 64@(x86_64|aarch64) ]] &&
		grep -qwE 'sse4_2|crc32' /proc/cpuinfo && crc=crc32c
	library=$(ldd "$E2FSCK_STOCK" | awk '/libext2fs/ { print $3 }')
	if readelf -rW "$library" | grep -qw ext2fs_test_generic_bmap; then
		all=($crc bitmaps indirect) inside=($crc)
	else
		all=(bitmaps indirect) inside=()
	fi
}

# PREFETCH_VERBOSE=1 adds one sentence, 2 its details too; without it nothing is
# added.
verbose_adds()
{
	local sentence="e2fsck-prefetch: checked in [0-9.e-]* s"

	PREFETCH=1 PREFETCH_VERBOSE=0 launch -fn "$image" || return
	cp "$dir/err" "$dir/quiet"
	PREFETCH=1 PREFETCH_VERBOSE=1 launch -fn "$image" || return
	cat "$dir/err"
	[ "$(grep -c "^$sentence" "$dir/err")" = 1 ] &&
	grep -v "^$sentence" "$dir/err" | diff "$dir/quiet" - || return
	PREFETCH=1 PREFETCH_VERBOSE=2 launch -fn "$image" || return
	grep "^e2fsck-prefetch: " "$dir/err" | head -n 1 | grep "^$sentence" &&
	[ "$(grep -c "^e2fsck-prefetch: " "$dir/err")" -gt 3 ] &&
	grep -v "^$sentence" "$dir/err" |
		grep -v "^e2fsck-prefetch: [a-z0-9]*: .* (.*)$" |
		diff "$dir/quiet" -
}

# said ABOUT...: there is a line for each, in this order, after e2fsck's output.
said()
{
	sed -n 's/^e2fsck-prefetch: \([a-z0-9]*\): .* (.*)$/\1/p' "$dir/err" |
		diff <(printf '%s\n' "$@") - || { cat "$dir/err"; return 1; }
}

# With a cold cache: what was decided.
verbose_cold()
{
	cp --sparse=auto "$image" "$dir/cold"
	drop "$dir/cold"
	PREFETCH=1 PREFETCH_VERBOSE=2 PREFETCH_ACCEL=none \
		launch -fn "$dir/cold" || return
	if grep -q "prefetch: asleep" "$dir/err"; then
		echo "in memory: its pages cannot be dropped here"
		return
	fi
	said crc32c bitmaps indirect reads memory threads order
}

# With everything cached no thread starts: with one, a crash could wait for ever for the
# memory allocator's lock.  Nor is loaded what unwinds such a crash.  strace's filter
# makes the preload library try its calls, in a child, and without the filter each read
# would seem to wait.
asleep_alone()
{
	launch -fn "$image"
	PREFETCH=1 PREFETCH_VERBOSE=2 strace --seccomp-bpf -qq -f \
		-o "$dir/calls" -e trace=clone,clone3,execve,open,openat env \
		PREFETCH_ACCEL=none \
		"$E2FSCK_TEST" -fn "$image" >"$dir/out" 2>"$dir/err"
	grep -q "prefetch: asleep" "$dir/err" &&
		awk 'NR == 1 { pid = $1 }
		     $1 == pid && /CLONE_THREAD|libgcc_s/ { print; found = 1 }
		     END { exit !pid || found }' "$dir/calls"
}

# A clean filesystem is not checked, and a line says so.
verbose_clean()
{
	cp --sparse=auto "$image" "$dir/clean"
	tune2fs -c 0 -i 0 "$dir/clean" >/dev/null &&
	PREFETCH=1 PREFETCH_VERBOSE=1 launch -p "$dir/clean"
	said prefetch
}

# keys_are WHAT KEYS: the statistics have these keys, including those of a
# stage.
keys_are()
{
	jq -r 'keys_unsorted[], (.stages[0] | keys_unsorted[])' "$dir/stats" |
		sort -u >"$dir/keys"
	sort -u <<<"$2" | diff "$dir/keys" - >"$dir/diff" && return
	echo "$1:"
	cat "$dir/diff"
	return 1
}

# statistics.md has the keys that are written.
documented_keys()
{
	measured -fn "$image" || return
	keys_are "the tables" "$(sed -nE \
		's/^\| `([a-z_]*)` \| (string|integer|float|boolean|array) .*/\1/p' \
		"$srcdir/../doc/statistics.md")"
}

# preload libraries [VARIABLE=VALUE...]: those that the wrapper puts into a program, this
# cat.
libraries()
{
	LD_PRELOAD=$E2PF_RUNTIME env -u PREFETCH_ACCEL PREFETCH=1 \
		PREFETCH_E2FSCK="$(command -v cat)" "$@" \
		"$E2FSCK_TEST" /proc/self/maps | grep -o 'e2fsck-[a-z]*\.so' | sort -u |
		xargs
}

# exported LIBRARY
exported() { nm -D --defined-only "$1" | sed 's/.* //' | sort; }

# With no acceleration wanted the preload library that has them is not mapped, and what is
# mapped computes nothing in libext2fs's place: it follows walks over blocks, no more.
only_asked()
{
	local none

	echo "accel = none" >"$dir/none" &&
	[ "$(libraries A=)" = "e2fsck-accel.so e2fsck-prefetch.so" ] &&
	[ "$(libraries PREFETCH_ACCEL=crc32c)" = "e2fsck-accel.so e2fsck-prefetch.so" ] ||
		return
	for none in PREFETCH_ACCEL=none PREFETCH_CONFIG="$dir/none"; do
		echo "$none: $(libraries "$none")"
		[ "$(libraries "$none")" = e2fsck-prefetch.so ] || return
	done
	exported "$ACCEL" >"$dir/accel" &&
	grep -qx ext2fs_crc32c_le "$dir/accel" &&
	[ "$(exported "$LIBRARY" | comm -12 - "$dir/accel")" = ext2fs_block_iterate3 ] &&
	! exported "$LIBRARY" | grep -E 'crc|bmap|bitcount|bitmap(_|$)'
}

# Our bitmaps cannot be resized.
resizes_none()
{
	nm -D --undefined-only "$E2FSCK_STOCK" |
		grep -o 'ext2fs_[a-z_0-9]*' >"$dir/imports"
	grep -qx ext2fs_mark_generic_bmap "$dir/imports" &&
		! grep ext2fs_resize_ "$dir/imports"
}

test_accelerations()
{
	local -a all inside

	skipped "accelerations" "$(lacks nm readelf)" && return
	library_accelerations
	tap_check "PREFETCH_VERBOSE adds a sentence, then details" verbose_adds
	tap_check "of a cold check, what was decided" verbose_cold
	tap_unless "$(no_strace)" "without reading, no thread" undisturbed asleep_alone
	tap_check "of a clean filesystem, that nothing was done" verbose_clean
	tap_check "doc/statistics.md has all keys" documented_keys
	[ "$(ulimit -v) $(ulimit -d)" = "unlimited unlimited" ] ||
		{ tap_skip "accelerations" "address space is limited"; return; }
	tap_check "accel = none: nothing of ours answers for libext2fs" only_asked
	tap_check "e2fsck resizes no map" resizes_none
	tap_check "a small filesystem is not accelerated" stats_name ""
	# A self-test that gets no processor for 5 s leaves them out.
	tap_check "PREFETCH_ACCEL=all: all are" undisturbed stats_name all "${all[@]}"
	tap_check "PREFETCH_ACCEL=bitmaps: this one is" \
		undisturbed stats_name bitmaps bitmaps
	tap_check "PREFETCH_ACCEL=indirect,crc32c: these two are" \
		undisturbed stats_name indirect,crc32c "${inside[@]}" indirect
}

# A journal of 15 MiB without extents: its double indirect block and the indirect
# blocks that this names, of which three are in use.
journal_map_is_read_ahead()
{
	rm -f "$1"
	mke2fs -q -F -t ext3 -b 4096 -J size=15 "$1" 64M 2>&1 && drop "$1" &&
		measured -n "$1" &&
		jq -e '.journal_bytes >= 4096 and .journal_bytes <= 20480' "$dir/stats"
}

# Runs in the build tree, because the temporary directory may be in memory.
test_journal()
{
	local name="$top_builddir/tests/journal-$$" kind

	kind=$(stat -f -c %T "$top_builddir/tests")
	[[ $kind = @(tmpfs|ramfs) ]] &&
		skipped "a journal's block map is read ahead" \
			"$kind keeps all in memory" && return
	tap_check "the block map of a journal without extents is read ahead" \
		undisturbed journal_map_is_read_ahead "$name"
	rm -f "$name"
}

# An unsuitable file for statistics (unit/test-stats-file has them) is left as it is, one
# line says so, and the command runs.
prefetch_stats_refused()
{
	rm -f "$dir/ran"
	PREFETCH_STATS=$dir/precious exits 0 "$PREFETCHER" "$image" -- touch "$dir/ran" &&
	[ ! -s "$dir/out" ] && one_line && [ -e "$dir/ran" ] &&
	[ "$(cat "$dir/precious")" = precious ] &&
	grep -qF "e2prefetch: cannot write statistics to \"$dir/precious\": " "$dir/err"
}

prefetch_stats_full()
{
	PREFETCH_STATS=- "$PREFETCHER" "$image" >"$dir/out" 2>/dev/full
	[ $? = 8 ]
}

# lost_output OPTION...: if there is no space for the output, one line and status 8.
lost_output()
{
	exits 8 sh -c 'exec "$@" >/dev/full' - "$PREFETCHER" "$@" && one_line &&
	grep -q "cannot write to standard output: No space" "$dir/err"
}

test_stats()
{
	tap_check "PREFETCH_STATS=- writes one object, last" stats_on_stderr
	tap_unless "$(no_mounts)" "PREFETCH_STATS: a full disk" stats_on_a_full_disk
	echo precious >"$dir/precious"
	tap_check "e2prefetch writes no statistics to another file" prefetch_stats_refused
	tap_check "e2prefetch: statistics to a full disk" prefetch_stats_full
	tap_check "e2prefetch --version to a full disk" lost_output --version
}

#
# Less common ways of running e2fsck.
#
# reads_by MANAGER [VARIABLE=VALUE] OPTION...: who makes the check's reads.
reads_by()
{
	local setting=TEST_MMAP_IO=1

	cp --sparse=auto "$image" "$dir/fs"
	[[ $2 != *=* ]] || { setting=$2; set -- "$1" "${@:3}"; }
	(export "$setting"; measured "${@:2}" "$dir/fs")
	jq -e ".io_manager == \"$1\"" "$dir/stats"
}

# preads_by MANAGER OPTION...: how often the check's own thread calls pread64().
preads_by()
{
	cp --sparse=auto "$image" "$dir/fs"
	rm -f "$dir/calls".*
	PREFETCH=1 PREFETCH_IO_MANAGER=$1 \
		strace -f -ff -qq -e trace=pread64,execve -o "$dir/calls" \
		"$E2FSCK_TEST" "${@:2}" "$dir/fs" >"$dir/out" 2>&1
	cat "$(grep -l execve "$dir/calls".*)" | grep -c pread64
}

copies()
{
	local plain mapped

	plain=$(preads_by unix "$@") && mapped=$(preads_by mmap "$@")
	echo "unix $plain, mmap $mapped"
	[ "$mapped" -lt "$plain" ]
}

test_mapping()
{
	local option

	for option in -fn -fy -fp -fyD; do
		tap_unless "${E2PF_RUNTIME:+a sanitizer has a pread64() of its own}" \
			"$option reads from a mapping" reads_by mmap $option
	done
	for option in -fn -fy; do
		tap_unless "$(no_strace)" "$option copies large reads" \
			undisturbed copies $option
	done
	tap_unless "${E2PF_RUNTIME:+a sanitizer has a pread64() of its own}" \
		"io_manager = mmap" reads_by mmap PREFETCH_IO_MANAGER=mmap -fy
	tap_check "io_manager = unix" reads_by unix PREFETCH_IO_MANAGER=unix -fy
	tap_check "by default" reads_by unix TEST_MMAP_IO= -fn
	tap_check "a check with an undo file" reads_by other -fy -z "$dir/undo"
}

# A program of libext2fs that chooses the mmap I/O manager.
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

# It reads twice 32768 blocks, 8 at a time.
reads_little()
{
	strace -qq -c -e trace=pread64 -o "$dir/calls" "$1" mmap "$dir/mmap.fs"
	cat "$dir/calls"
	[ "$(awk '$NF == "pread64" { print $4 }' "$dir/calls")" -lt 100 ]
}

# It is static; e2fsck and unit/test-mmap-io are not.
test_program()
{
	local mapped=0 program=$E2PF_TMP/program

	skipped "a program with the mmap manager" "${E2PF_RUNTIME:+a sanitizer}" && return
	[[ $($CC -dumpmachine) != *gnu* ]] || mapped=1
	if ! $CC -I"$srcdir/.." -c -o "$program.o" "$srcdir/tools/mmap-program.c" \
		>"$dir/static" 2>&1; then
		tap_not_ok "a program with the mmap manager" "$dir/static"
		return
	fi
	skipped "a program with the mmap manager" "$(
		$CC -static -o "$program" "$program.o" "$top_builddir/lib/libe2mmap.a" \
			-lext2fs -lcom_err -lpthread -ldl 2>"$dir/static" ||
			tail -n 1 "$dir/static")" && return
	tap_check "a program with the mmap manager" managed "$program"
	tap_unless "$(no_strace)$([ $mapped = 1 ] || echo "nothing is mapped")" \
		"it reads from the mapping" reads_little "$program"
}

#
# Children, and the user's own LD_PRELOAD.
#
# children [LIBRARY]: those of e2fsck have the user's LD_PRELOAD, or none.  Only e2fsck
# has the preload library.
children()
{
	local log=$dir/environ

	cp --sparse=auto "$image" "$dir/fs"
	PREFETCH=1 strace -f -qq -v -s 4096 -e trace=execve -o "$log" \
		${1:+-E LD_PRELOAD="$1"} \
		"$E2FSCK_TEST" -fy -c "$dir/fs" >"$dir/out" 2>&1 </dev/null
	grep 'execve("[^"]*badblocks"' "$log" >"$log.child" &&
	! grep PREFETCH_LAUNCHED "$log.child" &&
	[ "$(grep -o 'LD_PRELOAD=[^"]*' "$log.child")" = "${1:+LD_PRELOAD=$1}" ] &&
	! grep -v 'execve("[^"]*e2fsck"' "$log" | grep e2fsck-prefetch.so &&
	grep -q 'execve("[^"]*e2fsck".*LD_PRELOAD=[^"]*e2fsck-prefetch.so' "$log"
}

# After the check, no process holds a lock or a pipe that the check has inherited.
nothing_outlives()
{
	mkfifo "$dir/inherited"
	exec 8<>"$dir/inherited" 9>"$dir/lock"
	flock 9
	(
		exec 7>"$dir/inherited" 8<&-
		PREFETCH=1 launch -fn "$image"
	)
	exec 9>&- 9<"$dir/inherited" 8<&-
	rm -f "$dir/inherited"
	cat <&9
	exec 9<&-
	flock -n "$dir/lock" true
}

test_children()
{
	tap_check "an inherited lock and pipe end with the check" nothing_outlives
	tap_unless "$(no_strace)" "badblocks has no LD_PRELOAD of ours" children
	tap_unless "$(no_strace)" "badblocks has the user's" children "$FIXED_RANDOM"
}

#
# The command e2fsck-prefetch.
#

# by_name OPTION...: as stock e2fsck, called by its name and by a path.
by_name()
{
	local name status

	for name in e2fsck "$dir/bin/e2fsck"; do
		(exec -a "$name" "$E2FSCK_STOCK" "$@") >"$dir/so" 2>"$dir/se" \
			</dev/null
		status=$?
		(PATH=$dir/bin:$PATH; "$name-prefetch" "$@") \
			>"$dir/out" 2>"$dir/err" </dev/null
		[ $? = $status ] || { echo "not status $status"; return 1; }
		"$IMGTOOL" cmp "$dir/so" "$dir/out" "$dir/se" "$dir/err" || return
	done
}

# named_reads_ahead yes|no [VARIABLE=VALUE...]
named_reads_ahead()
{
	rm -f "$dir/stats"
	env "PREFETCH_STATS=$dir/stats" "${@:2}" "$dir/bin/e2fsck-prefetch" -fn \
		"$image" >"$dir/out" 2>&1 || { cat "$dir/out"; return 1; }
	if [ "$1" = yes ]; then [ -s "$dir/stats" ]; else [ ! -e "$dir/stats" ]; fi
}

# Without a variable; against the file, but not against a variable.
named_prefetches()
{
	echo "prefetch = 0" >"$dir/conf"
	named_reads_ahead yes && named_reads_ahead yes PREFETCH= &&
	named_reads_ahead yes PREFETCH_CONFIG="$dir/conf" &&
	named_reads_ahead no PREFETCH=0
}

# with_log HOW COMMAND...: where /dev/log is a socket of ours.  What a check has sent
# there by its end is printed; with HOW "full" there is no room in it.
with_log()
{
	unshare -m bash -c '
		mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 &&
		exec python3 -c "
import socket, subprocess, sys
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(\"/dev/log\")
log.setblocking(False)
filler = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
filler.setblocking(False)
try:
    while sys.argv[1] == \"full\":
        filler.sendto(b\"x\" * 1000, \"/dev/log\")
except BlockingIOError:
    pass
status = subprocess.call(sys.argv[2:], stdout=2, timeout=600)
try:
    while sys.argv[1] != \"full\":
        print(log.recv(4096).decode())
except BlockingIOError:
    pass
sys.exit(status)" "$@"' - "$@"
}

# logs LINES [VARIABLE=VALUE...]: so many lines go to the system log.
logs()
{
	cat "$image" >/dev/null
	with_log empty env -u PREFETCH_LOG PREFETCH=1 LD_PRELOAD="$E2PF_RUNTIME" \
		"${@:2}" "$E2FSCK_TEST" -fn "$image" >"$dir/log" 2>"$dir/err" || return
	cat "$dir/log"
	[ "$(wc -l <"$dir/log")" = "$1" ] || return
	[ "$1" = 0 ] || grep -Ex \
		"<30>e2prefetch\[[0-9]+\]: e2fsck: $image: checked in [0-9.]+ m?s, \
nothing read ahead: sampled metadata is already cached" "$dir/log"
}

# What e2prefetch has read is logged, and nothing once all is cached.
reading_is_logged()
{
	drop "$image"
	with_log empty env -u PREFETCH_LOG "$PREFETCHER" "$image" >"$dir/log" &&
	cat "$dir/log" && grep -Ex "<30>e2prefetch\[[0-9]+\]: e2prefetch: $image: \
read [0-9.]+ MiB ahead in [0-9]+ requests; [0-9.]+ s" "$dir/log" &&
	with_log empty env -u PREFETCH_LOG "$PREFETCHER" "$image" >"$dir/log" &&
	[ ! -s "$dir/log" ]
}

# And why nothing, or not all, was read.
reason_is_logged()
{
	local page at

	with_log empty env -u PREFETCH_LOG "$PREFETCHER" /proc -- true >"$dir/log" &&
	cat "$dir/log" && grep "e2prefetch: /proc: not ext2/3/4 or btrfs" "$dir/log" ||
		return
	page=$(getconf PAGESIZE)
	cp "$image" "$dir/fs" && drop "$dir/fs"
	at=$(dumpe2fs "$dir/fs" 2>/dev/null | awk -v p="$page" '/Inode table at/ {
		print int($4 * 1024 / p) * p; exit }')
	with_log empty env -u PREFETCH_LOG E2PF_FAULT="read:$at+$page" \
		E2PF_FAULT_FILE="$dir/fs" E2PF_FAULT_LOG="$dir/hits" LD_PRELOAD="$1" \
		"$PREFETCHER" "$dir/fs" -- true >"$dir/log" && cat "$dir/log" &&
		grep " requests; .*; incomplete: reads failed\$" "$dir/log"
}

# Where a read fails, and so that it did, is said to who asked, kept in the statistics,
# and logged.
says_failing()
{
	local at page fs=$dir/fs words

	page=$(getconf PAGESIZE)
	cp "$image" "$fs"
	at=$(dumpe2fs "$fs" 2>/dev/null |
		awk -v p="$page" \
		'/Inode table at/ && ++n == 2 { at = int($4 * 1024 / p) * p }
			END { print at }')
	with_log empty env -u PREFETCH_LOG PREFETCH=1 PREFETCH_VERBOSE=1 \
		PREFETCH_STATS="$dir/stats.json" E2PF_FAULT="read:$at+$page" \
		E2PF_FAULT_FILE="$fs" E2PF_FAULT_LOG="$dir/hits" LD_PRELOAD="$1" \
		"$E2FSCK_TEST" -fn "$fs" >"$dir/log" 2>"$dir/err"
	cat "$dir/log" "$dir/err" "$dir/stats.json"
	at=$(sed -n 's/.*"suspect_at_bytes":\([0-9]*\).*/\1/p' "$dir/stats.json")
	words="device slow or failing at byte $at\$"
	[ "$at" -gt 0 ] && grep "$words" "$dir/log" && grep "$words" "$dir/err"
}

test_log()
{
	local fault

	skipped "the system log" "$(no_mounts)$(lacks python3)" && return
	tap_check "a check is logged" undisturbed logs 1
	tap_unless "$(no_disk)" "what e2prefetch reads is logged" \
		undisturbed reading_is_logged
	fault=$(library fault-inject)
	tap_unless "$(no_disk)${E2PF_RUNTIME:+a sanitizer}" "and why it was not read" \
		undisturbed reason_is_logged "$fault"
	tap_unless "${E2PF_RUNTIME:+a sanitizer}" "a bad sector is said" says_failing \
		"$fault"
	rm -f "$dir/log"
	tap_check "log = 0" logs 0 PREFETCH_LOG=0
	tap_check "a log that nobody reads" with_log full env -u PREFETCH_LOG \
		PREFETCH=1 LD_PRELOAD="$E2PF_RUNTIME" "$E2FSCK_TEST" -fn "$image"
	tap_check "no log" env -u PREFETCH_LOG PREFETCH=1 unshare -m sh -c \
		'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 &&
		exec "$@"' - "$E2FSCK_TEST" -fn "$image"
}

# The commands that are a shell script get their own name and what follows it.  Root
# may run them: the installed script is executed, and nothing that lies near by chance.
script_gets()
{
	local script

	script=$(grep -aoE -m 1 '/[a-zA-Z0-9/._-]+/enable' "$PREFETCHER")
	mkdir "$dir/near"
	cp "$PREFETCHER" "$dir/near"
	unshare -m bash -ec '
		directory=$2
		until [ -d "$directory/" ]; do directory=${directory%/*}; done
		mount -t tmpfs none "$directory" && mkdir -p "${2%/*}"
		printf "#!/bin/sh\nprintf \"%%s\\n\" \"\$@\"\n" >"$1/enable"
		chmod 0755 "$1/enable"
		! "$1/e2prefetch" status 2>&1
		mv "$1/enable" "$2"
		exec "$1/e2prefetch" status one "two words"' sh "$dir/near" "$script" \
		>"$dir/out"
	cat "$dir/out"
	diff "$dir/out" - <<-END
	e2prefetch: cannot run $script: No such file or directory
	status
	one
	two words
	END
}

test_by_name()
{
	skipped "e2fsck-prefetch" \
		"${E2PF_RUNTIME:+a sanitizer goes before the preload library}" &&
		return
	mkdir "$dir/bin"
	ln -s "$E2FSCK_TEST" "$dir/bin/e2fsck-prefetch"
	tap_check "e2fsck-prefetch -fn is e2fsck -fn" by_name -fn "$image"
	tap_check "e2fsck-prefetch without arguments: the usage" by_name
	tap_check "e2fsck-prefetch prefetches" named_prefetches
}

test_cli()
{
	small_image cli
	# The image is small.
	export PREFETCH_ACCEL=all
	test_by_name
	tap_unless "$(no_mounts)" "a command that is a script" script_gets
	test_log
	test_stats
	test_accelerations
	test_journal
	test_mapping
	test_program
	test_children
	tap_check "no process is left behind" no_process_left
}

CC=${CC:-cc}
setup mke2fs debugfs dumpe2fs flock diff mkfifo awk jq "${CC%% *}"
tap_run test_cli
