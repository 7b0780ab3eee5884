#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The command e2prefetch: valid and invalid options, the statistics, the exit
# status and signals of a user's command, and probe.
#
#   test-e2prefetch.sh [GROUP...]	of: usage only reading paths fuse command beside
#					command_first settings progress probe
#
#   E2PF_RUNS=100	how often each signal is sent (default: 5)

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/compare.sh"

# run STATUS ARG...: e2prefetch exits with STATUS.
run() { exits "$1" "$PREFETCHER" "${@:2}"; }

# refused ARG...: a usage error: one line reports it, and nothing is done.
refused()
{
	run 16 "$@" && [ ! -s "$dir/out" ] && one_line &&
		grep -q '^e2prefetch: .*(see --help)$' "$dir/err"
}

# failed ARG...: the device cannot be read, and one line says why.
failed() { run 8 "$@" && [ ! -s "$dir/out" ] && one_line; }

# with_stats FILE COMMAND...
with_stats() { PREFETCH_STATS=$1 "${@:2}"; }

# Nothing waits for a writer of the FIFO.
odd_ones()
{
	local odd how

	mkfifo "$dir/fifo"
	for odd in "$dir/fifo" /dev/null /dev/tty; do
		for how in -v probe; do
			failed $how "$odd" || return
		done
	done
	runs "$dir/fifo"
}

test_usage()
{
	local value

	tap_check "--help" run 0 --help
	tap_check "--help names the exit statuses" grep -q "^Exit status" "$dir/out"
	tap_check "-V" run 0 -V
	tap_check "-V prints the version" grep -qx 'e2prefetch [0-9.]*' "$dir/out"
	while read -r value; do
		tap_check "e2prefetch $value" refused ${value//IMAGE/$image}
	done < <(
		printf '%s\n' '' '-- true' '--wait' 'IMAGE --' probe \
			'probe IMAGE IMAGE' 'probe IMAGE -- true'
		printf -- '%s IMAGE\n' --nonsense '--longer-than 1m' \
			'-w '{-1,x,01,1s,4294967296} \
			--only={,bitmaps\,,bitmap,Bitmaps} \
			'probe --longer-than='{0,m,1d,1.5,99999999999} )
	tap_check "options behind the path" run 0 "$image" --only=bitmaps -v
	tap_check "as far as --" run 0 "$image" -x -- test -e "$image"
	tap_check "with POSIXLY_CORRECT, too" env POSIXLY_CORRECT=1 "$PREFETCHER" \
		"$image" --only=bitmaps
	for value in "ls $image" "ls -lR $image" "ls -v" "ls --reverse"; do
		tap_check "e2prefetch $image $value" refused "$image" $value
		tap_check "is -- missing?" grep -q ": is -- missing? (see" "$dir/err"
	done
	tap_check "e2prefetch --wait x" refused --wait x "$image"
	tap_check "the option is named" grep -q '"x" for --wait' "$dir/err"
	tap_check "no such device" failed "$dir/none"
	tap_check "a command without --" failed nothing
	tap_check "it is named" grep -q '^e2prefetch: nothing: No such' "$dir/err"
	for value in "$PREFETCHER" /etc/passwd "probe /etc/passwd"; do
		tap_check "$value: no filesystem" failed $value
		tap_check "a line says that" grep -q "not an ext2/3/4 filesystem" \
			"$dir/err"
	done
	tap_check "devices of other kinds are an error, without a wait" odd_ones
}

# Of a class, what probe has counted, and gaps.
only_some()
{
	local bytes planned

	drop "$image"
	with_stats "$dir/stats" run 0 --only="$1" "$image" &&
		planned=$(jq .planned_bytes "$dir/stats") && run 0 probe "$image" &&
		bytes=$(awk -v class="$1" '$1 == class { print $4 * 1024 }' "$dir/out") &&
		[ "$planned" -ge "$bytes" ] && [ "$planned" -lt $((bytes * 3 / 2)) ]
}

# As while tune2fs writes a superblock, word by word.
reads_with_old_checksum()
{
	cp "$image" "$dir/written" && dd if=/dev/urandom of="$dir/written" bs=1 count=4 \
		seek=$((1024 + 1020)) conv=notrunc 2>/dev/null &&
		! dumpe2fs -h "$dir/written" >/dev/null 2>&1 && run 0 "$dir/written"
}

test_only()
{
	tap_check "a superblock with an old checksum" reads_with_old_checksum
	tap_check "--only=bitmaps" only_some bitmaps
	tap_check "--only=all" only_some all
}

# The package's own test has what the line says.
verbose()
{
	run 0 -v "$image" && one_line && run 0 -v -v "$image" &&
	grep -q "^e2prefetch: memory: at most .* (.*)$" "$dir/err" &&
	[ "$(grep -vc "^e2prefetch: [a-z]*: .* (.*)$" "$dir/err")" = 1 ]
}

# 1 MiB does not hold the tables of the large image.
too_little_memory()
{
	drop "$big"
	PREFETCH_MEM=1M PREFETCH_THREADS=2 run 4 "$big" &&
		grep -q '; incomplete: memory limit reached$' "$dir/err"
}

# Whoever is at a terminal need not ask why a walk did not become faster.
says_why()
{
	local why=': .* requests, 0 errors; incomplete: memory limit reached'

	drop "$big"
	PREFETCH_MEM=1M script -qec "'$PREFETCHER' '$big' -- echo said" /dev/null \
		>"$dir/screen" </dev/null && cat "$dir/screen" &&
		grep "$why" "$dir/screen" &&
		drop "$big" && PREFETCH_MEM=1M run 0 "$big" -- true && [ ! -s "$dir/err" ]
}

# It ends while nothing has been read yet.
says_ended()
{
	drop "$big"
	LD_PRELOAD=$dir/odd.so E2PF_GO=$dir/never run 0 -v -w 0 "$big" -- true &&
		wait_for grep ': the command ended first$' "$dir/err"
}

warns_of_device()
{
	run 0 "$1" && grep -q "the kernel drops cached blocks" "$dir/err"
}

# A device that is held open keeps what was read, and without that nothing.
held_is_kept()
{
	local pid status kept

	run 0 -v "$1" && ! grep -q " 0.0 MiB read in 0 requests" "$dir/err" || return
	rm -f "$dir/held"
	"$PREFETCHER" "$1" -- sh -c "echo >'$dir/held'; exec sleep 600" &
	pid=$!
	wait_for test -s "$dir/held" && run 0 -v "$1" &&
		grep -q " 0.0 MiB read in 0 requests" "$dir/err"
	kept=$?
	kill "$pid"
	wait "$pid"
	status=$?
	[ $status = 143 ] && [ $kept = 0 ]
}

# on_fuse LIBRARY COMMAND: with $disk, the large image, from a server with this
# library.
on_fuse()
{
	local disk=$dir/fuse/disk result

	mkdir -p "$dir/fuse"
	LD_PRELOAD=$1 model_begins "$big" "$dir/fuse" --read-only || return
	$2
	result=$?
	model_ends
	return $result
}

# requests_of COMMAND...: how many reads the server got.
requests_of()
{
	echo reset >"$dir/fuse/control"
	"$@" >"$dir/out" 2>&1 || return
	jq .reads "$dir/fuse/control"
}

# Everything would be read twice.  To see that takes at most one read.
no_page_cache()
{
	local stays="reads bypass the page cache" stock ours

	stock=$(requests_of "$E2FSCK_STOCK" -fn "$disk")
	ours=$(PREFETCH=1 requests_of with_stats "$dir/stats" "$E2FSCK_TEST" -fn "$disk")
	echo "$ours requests, stock's $stock"
	[ "$stock" -gt 1000 ] && [ "$ours" -le $((stock + 1)) ] &&
	jq -e --arg why "$stays" '.prefetched_bytes == 0 and (.notes[] |
		select(startswith("prefetch:")) | . == "prefetch: off (\($why))")' \
		"$dir/stats" &&
	run 4 "$disk" && one_line && grep -q ": nothing read ahead: $stays$" "$dir/err" &&
	run 0 probe "$disk" && grep -q "^estimate: unknown ($stays)$" "$dir/out" &&
	grep -q "^measured  nothing: $stays$" "$dir/out"
}

test_fuse()
{
	skipped "files from user space" "$(no_model)" && return
	tap_check "no page cache" on_fuse "" no_page_cache
	tap_check "no page cache, but a mapping" on_fuse "$(library map-direct)" \
		no_page_cache
}

test_reading()
{
	local dev

	tap_check "-v is a line, -v -v has notes, too" verbose
	tap_unless "$(no_disk)" "little memory: status 4" undisturbed too_little_memory
	tap_unless "$(no_disk)$(lacks script)" "a terminal gets a reason" undisturbed \
		says_why
	preloaded
	tap_unless "$(no_disk)" "a command that ends first" undisturbed says_ended
	if dev=$(loop_attach "$image"); then
		tap_check "a device nobody uses: a warning" warns_of_device "$dev"
		tap_check "with a command it is kept in memory" undisturbed held_is_kept \
			"$dev"
		loop_detach "$dev"
	else
		tap_skip "a device nobody uses" "no loop device"
	fi
}

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

# A command begins after a time even if much is left: the tables alone are 64 reads or
# more.
begins_in_time()
{
	local began=$SECONDS

	drop "$big"
	LD_PRELOAD=$dir/odd.so SLOW=1 run 3 -v -w 1 "$big" -- \
		env -u LD_PRELOAD sh -c 'exit 3' &&
		[ $((SECONDS - began)) -lt 6 ] &&
		wait_for grep -q '[1-9][0-9]* requests' "$dir/err"
}

# Ctrl-C while it reads: the command never begins.
has_workers()
{
	local pid name

	marked_processes | while read -r pid name; do
		compgen -G "/proc/$pid/task/*"
	done | awk 'END { exit NR < 3 }'
}
interrupted_before()
{
	local pid status

	drop "$big"
	LD_PRELOAD=$dir/odd.so SLOW=1 env --default-signal=INT "$PREFETCHER" "$big" -- \
		touch "$dir/begun" &
	pid=$!
	wait_for has_workers && kill -s INT $pid
	wait $pid
	status=$?
	[ $status = 130 ] && [ ! -e "$dir/begun" ] && no_process_left
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

	preloaded
	tap_unless "$(no_disk)" "-w bounds how long a command waits" begins_in_time
	tap_unless "$(no_disk)" "SIGINT before the command begins" interrupted_before
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

# If the command dies of a signal, so does e2prefetch.
dies_of() { run $((128 + $2)) "$image" -- sh -c "kill -s $1 \$\$"; }

# passed_on SIGNAL: e2prefetch passes it on to the command, whose status it returns.
passed_on()
{
	local pid status

	rm -f "$dir/ready"
	# Under nohup(1) a shell cannot trap SIGHUP.
	env --default-signal="$1" "$PREFETCHER" "$image" -- sh \
		-c "trap 'exit 42' $1; : >'$dir/ready'
		while [ -e '$dir/ready' ]; do
			sleep 0.1
		done" &
	pid=$!
	wait_for test -e "$dir/ready"
	kill -s "$1" "$pid"
	wait "$pid"
	status=$?
	rm -f "$dir/ready"
	[ $status = 42 ]
}

# Every program that is started so gets the error EPIPE, and with it SIGPIPE.
with_broken_stderr()
{
	local pipe=$dir/broken status

	rm -f "$pipe"
	mkfifo "$pipe"
	exec 3<>"$pipe" 4>"$pipe" 3>&-
	env --default-signal=PIPE "$@" 2>&4
	status=$?
	exec 4>&-
	[ $status = 3 ]
}

test_command()
{
	local sig

	tap_check "the command's status and output" runs "$image"
	tap_check "and nothing besides" [ ! -s "$dir/err" ]
	tap_check "no such command: 127" run 127 "$image" -- "$dir/none"
	tap_check "no program: 126" run 126 "$image" -- "$image"
	tap_check "a command that dies of SIGTERM" dies_of TERM 15
	tap_check "a command that dies of SIGKILL" dies_of KILL 9
	for sig in TERM HUP INT QUIT USR1 USR2 ALRM; do
		tap_check "SIG$sig is passed on" passed_on $sig
	done
	tap_check "an alarm that exec keeps ends the command" exits 142 perl -e \
		'$SIG{ALRM} = "DEFAULT"; alarm 1; exec @ARGV' "$PREFETCHER" --wait=0 \
		"$image" -- sleep 30
	tap_check "a command that fails, SIGCHLD ignored" exits 8 \
		env --ignore-signal=CHLD "$PREFETCHER" "$image" -- sh -c 'exit 8'
	tap_check "standard error is a broken pipe" with_broken_stderr \
		"$PREFETCHER" -v "$image" -- sh -c 'exit 3'
	tap_check "and a setting is wrong" with_broken_stderr \
		PREFETCH_THREADS=x "$PREFETCHER" "$image" -- sh -c 'exit 3'
	tap_check "a command that dies of SIGPIPE" exits 141 env --default-signal=PIPE \
		"$PREFETCHER" "$image" -- sh -c 'kill -s PIPE $$'
}

beside() { python3 "$srcdir/tools/beside.py" "$1" "${E2PF_RUNS:-5}" "$PREFETCHER" \
	"$image"; }

# A pipe would have another writer, and a lock another holder, until the reader has ended:
# it reads as long as the command waits.
holds_nothing()
{
	local reader result

	rm -f "$dir/go" "$dir/began"
	drop "$big"
	LD_PRELOAD=$dir/odd.so E2PF_GO=$dir/go "$PREFETCHER" -w 0 "$big" -- env \
		-u LD_PRELOAD \
		sh -c "echo >'$dir/began'; until [ -e '$dir/go' ]; do sleep 0.05; done" \
		9>"$dir/lock" &
	wait_for test -e "$dir/began" && reader=$(marked_processes) && echo "$reader" &&
		ls -l "/proc/${reader% *}/fd" && ls -l "/proc/${reader% *}/fd" |
		awk '$9 < 2 { null += $NF == "/dev/null" } $NF ~ /lock$|\/out$/ { bad = 1 }
			END { exit null != 2 || bad }'
	result=$?
	: >"$dir/go"
	wait $! && return $result
}

test_beside()
{
	skipped "the command's process" "$(lacks python3)" && return
	preloaded
	tap_check "a command is given what it would be given without e2prefetch" beside \
		state
	tap_check "SIGTERM to the process" beside pid
	tap_check "SIGTERM to its group" beside group
	tap_check "timeout(1)" beside timeout
	tap_check "Ctrl-C on a terminal" beside terminal
	tap_check "SIGTERM to all processes, as of a unit" beside all
	tap_check "SIGTERM at any time from the start" beside start
	tap_check "no process is left" no_process_left
	tap_unless "$(no_disk)" "the reader holds no file of the command" holds_nothing
}

# runs ARG...: with these arguments the command runs, with its status and output.
runs()
{
	run 3 "$@" -- sh -c 'echo said; exit 3' && [ "$(cat "$dir/out")" = said ]
}

# A library to be preloaded: after STALL_AFTER reads no read ends; no read of a thread
# ends before the file E2PF_GO exists, or, with SLOW, within a tenth of a second; the time
# of day is set back by an hour each time after it was read; and a lock that is forgotten
# ends the program.
preloaded()
{
	cat >"$dir/odd.c" <<-'END'
	#include "locks.h"
	#include <sys/syscall.h>
	#include <sys/uio.h>
	#include <time.h>
	static int reads;
	int clock_gettime(clockid_t clock, struct timespec *ts)
	{
		int result = syscall(SYS_clock_gettime, clock, ts);
		ts->tv_sec += clock == CLOCK_REALTIME ? 3600 : 0;
		return result;
	}
	ssize_t slow(int fd, void *buf, size_t n, off64_t at)
	{
		ssize_t (*real)(int, void *, size_t, off64_t) =
			dlsym(RTLD_NEXT, "pread64");
		const char *after = getenv("STALL_AFTER"), *go = getenv("E2PF_GO");
		while (after && reads >= atoi(after))
			pause();
		reads++;
		/* The filesystem is opened, by whichever thread. */
		if (getenv("SLOW") && at >= 1 << 20 && gettid() != getpid())
			usleep(100000);
		while (go && at >= 1 << 20 && gettid() != getpid() &&
		       access(go, F_OK))
			usleep(10000);
		return real(fd, buf, n, at);
	}
	ssize_t pread(int, void *, size_t, off_t)
		__attribute__((alias("slow")));
	ssize_t pread64(int, void *, size_t, off64_t)
		__attribute__((alias("slow")));
	ssize_t slow_now(int fd, const struct iovec *v, int n, off64_t at, int f)
	{
		return slow(fd, v->iov_base, v->iov_len, at);
	}
	ssize_t preadv2(int, const struct iovec *, int, off_t, int)
		__attribute__((alias("slow_now")));
	ssize_t preadv64v2(int, const struct iovec *, int, off64_t, int)
		__attribute__((alias("slow_now")));
	END
	"${CC:-cc}" -D_GNU_SOURCE -I"$srcdir/rigs" -shared -fPIC -o "$dir/odd.so" \
		"$dir/odd.c" -ldl
}

# Do not pass on descriptors of this shell, because they would count.
runs_with_few()
{
	local n

	for ((n = 12; n >= 4; n--)); do
		exits 3 sh -c "ulimit -n $n;"' exec "$@"' - \
			"$PREFETCHER" "$image" -- sh -c 'exit 3' || return
	done 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
}

# The command is the shell itself, and says why nothing was read.
runs_without_reader()
{
	cp "$PREFETCHER" "$E2PF_TMP/program" && exits 3 setpriv --reuid=65534 \
		--regid=65534 --clear-groups prlimit --nproc=1 "$E2PF_TMP/program" \
		/dev/null -- sh -c 'exit 3' && one_line &&
		grep -q "^e2prefetch: cannot read ahead: Resource" "$dir/err"
}

# A device that stops responding, at the first read or later, delays neither the
# start nor the end of the command.
runs_beside_stalled()
{
	local -x STALL_AFTER LD_PRELOAD=$dir/odd.so
	local began

	for STALL_AFTER in 0 1 8; do
		drop "$big"
		began=$SECONDS
		run 3 "$big" "$dir/none" -- env -u LD_PRELOAD sh -c 'echo said; exit 3' &&
			[ "$(<"$dir/out")" = said ] && [ $((SECONDS - began)) -lt 25 ] ||
			{ echo "after $STALL_AFTER reads"; return 1; }
	done
}

# If nothing can be read ahead, the command still runs.
test_command_first()
{
	head -c 1M /dev/zero >"$dir/zero"
	tap_check "no filesystem: the command runs" runs "$dir/zero"
	tap_check "one line says so" one_line
	tap_check "no such device: the command runs" runs "$dir/none"
	truncate -s 8M "$dir/journal"
	mke2fs -q -F -b 4096 -O journal_dev "$dir/journal"
	tap_check "a journal device: the command runs" runs "$dir/journal"
	skipped "a device that stalls" "${E2PF_RUNTIME:+a sanitizer}" && return
	preloaded
	tap_check "few descriptors: the command runs" runs_with_few
	tap_unless "$(have_root || echo "not root")$(lacks setpriv prlimit)" \
		"no process can be made: the command runs" runs_without_reader
	tap_check "a device that stalls keeps nobody waiting" runs_beside_stalled
}

# configured LINE...: from here on, use a settings file with these lines.
configured()
{
	printf '%s\n' "$@" >"$dir/conf"
	export PREFETCH_CONFIG=$dir/conf
}

# stats_say JQ-EXPRESSION ARG...: true for the statistics of this run.
stats_say()
{
	rm -f "$dir/stats"
	with_stats "$dir/stats" run 0 "${@:2}" || return
	jq -e "$1" "$dir/stats" || { cat "$dir/stats"; return 1; }
}

who_wins()
{
	configured "mem = 256M"
	stats_say '.memory_budget_bytes == 268435456' "$image" &&
	PREFETCH_MEM=64M stats_say '.memory_budget_bytes == 67108864' "$image"
}

command_knows_nothing()
{
	configured "prefetch = 1" "threads = 2"
	with_stats "$dir/stats" run 0 "$image" -- env &&
		[ "$(grep -c "^PREFETCH" "$dir/out")" = 2 ]
}

# An invalid settings file: one line; a command still runs.
wrong_settings()
{
	configured "threads = 2" "treads = 4"
	run 16 "$image" && one_line &&
		grep -q 'conf:2: .*; prefetching is off' "$dir/err" &&
	run 16 probe "$image" && one_line &&
	with_stats "$dir/none" run 3 "$image" -- sh -c 'echo said; exit 3' &&
		[ "$(cat "$dir/out")" = said ] && [ ! -s "$dir/none" ] && one_line
}

test_settings()
{
	local PREFETCH_CONFIG=$PREFETCH_CONFIG

	tap_check "options before the environment before the file" who_wins
	tap_check "the command's environment is what it was" command_knows_nothing
	tap_check "a file that is wrong" wrong_settings
}

# seen COMMAND: stores what a terminal shows until COMMAND succeeds.  Until then, the disk
# does not respond.
seen()
{
	local go=$dir/go result

	rm -f "$go"
	drop "$big"
	script -qec "E2PF_GO='$go' LD_PRELOAD='$dir/odd.so' '$PREFETCHER' '$big' \
		${command-}" /dev/null >"$dir/screen" 2>&1 </dev/null &
	$1
	result=$?
	: >"$go"
	wait $! && return $result
}

is_shown() { grep -qE 'e2prefetch: [0-9]+ MiB read, .* MiB/s' "$dir/screen"; }

# One second is four times as long as it takes until progress is shown.
no_terminal()
{
	LD_PRELOAD=$dir/odd.so E2PF_GO=$dir/go "$PREFETCHER" "$big" \
		2>"$dir/screen" >/dev/null &
	sleep 1
	: >"$dir/go"
	wait $! && ! grep 'MiB/s' "$dir/screen"
}

# A job in the background of a terminal that stops those which write to it.
in_background()
{
	rm -f "$dir/go"
	drop "$big"
	cat >"$dir/background.py" <<-'END'
	import os, pty, signal, sys, termios, time
	library, go, prefetcher, image = sys.argv[1:]
	pid, terminal = pty.fork()
	if not pid:
	    mode = termios.tcgetattr(2)
	    mode[3] |= termios.TOSTOP
	    termios.tcsetattr(2, termios.TCSANOW, mode)
	    job = os.fork()
	    if not job:
	        os.setpgid(0, 0)
	        os.environ.update(LD_PRELOAD=library, E2PF_GO=go)
	        os.execv(prefetcher, [prefetcher, image])
	    time.sleep(1)
	    open(go, "w")
	    status = os.waitpid(job, os.WUNTRACED)[1]
	    stopped = os.WIFSTOPPED(status)
	    if stopped:
	        os.kill(job, signal.SIGKILL)
	    os._exit(9 if stopped else os.WEXITSTATUS(status))
	shown = b""
	try:
	    while part := os.read(terminal, 4096):
	        shown += part
	except OSError:
	    pass
	print(shown)
	sys.exit(os.WEXITSTATUS(os.waitpid(pid, 0)[1]) or b"MiB/s" in shown)
	END
	exits 0 python3 "$dir/background.py" "$dir/odd.so" "$dir/go" "$PREFETCHER" "$big"
}

test_progress()
{
	skipped "progress" "${E2PF_RUNTIME:+a sanitizer}$(no_disk)$(lacks script)" &&
		return
	preloaded
	tap_check "on a terminal there is progress" seen "wait_for is_shown"
	command="-- sh -c 'until [ -e $dir/go ]; do sleep 0.05; done'"
	tap_check "before a command, too" seen "wait_for is_shown"
	unset command
	rm -f "$dir/go"
	tap_check "not where there is no terminal" no_terminal
	tap_unless "$(lacks python3)" "not in the background of a terminal" in_background
}

#
# probe: what it prints, and where nothing can be measured.  unit/test-speed has the
# reasons.
#

# Columns: class, blocks, runs, KiB; the last line has the sums.
adds_up()
{
	run 0 probe "$image" && sed '1,/^class/d' "$dir/out" | awk '
		$1 != "all" { blocks += $2; runs += $3; kib += $4 }
		$1 == "all" { ok = $2 == blocks && $3 == runs && $4 == kib }
		END { exit !(ok && NR > 2 && blocks) }'
}

# All groups of a small filesystem are looked at.
all_groups()
{
	drop "$big"
	run 0 probe "$big" >"$dir/null" &&
		grep -q '^inodes    131072 to check$' "$dir/out" &&
		! grep 'estimated from' "$dir/out"
}

# Of 128 MiB of inode tables six groups are, and each third one stands for three.
some_groups()
{
	truncate -s 2G "$dir/sparse" &&
	mke2fs -q -F -b 4096 -O ^uninit_bg,^metadata_csum -N 524288 \
		-E lazy_itable_init=1 "$dir/sparse" && run 0 probe "$dir/sparse" &&
	[ "$(grep -cE 'as below, from 6 of 16 groups$|^(bitmaps +36|inodes +36864) ' \
		"$dir/out")" = 3 ]
}

leaves_it()
{
	cp --sparse=auto "$image" "$dir/probed" && chmod 0400 "$dir/probed" &&
	run 0 probe "$dir/probed" && cmp "$image" "$dir/probed" &&
	grep -q "^inodes " "$dir/out"
}

# first_line PATTERN: the first line is this sentence.
first_line() { head -n 1 "$dir/out" | grep -xE -- "$1" || { cat "$dir/out"; false; }; }

# A device is measured, and the first line has the time; or, on a busy machine, that the
# reads took too different times.
measures()
{
	local dev status busy="unknown .read times vary" \
		few="(about|at most) [0-9.]+ (s|min)"

	drop "$big"
	dev=$(loop_attach "$big") || return
	"$PREFETCHER" probe --longer-than 1h "$dev" >"$dir/out"
	status=$?
	[ "$(wc -l <"$dir/out")" = 1 ] || status=lines
	[ $status = 1 ] || { [ $status = 4 ] && grep -qE "$busy" "$dir/out"; } ||
		status=wrong
	"$PREFETCHER" probe "$dev" >"$dir/out"
	loop_detach "$dev"
	[ $status = 1 ] || [ $status = 4 ] || return
	! grep -qE "$busy" "$dir/out" || return 0
	first_line "estimate: $few for a prefetched check" &&
	grep -q '^measured  [0-9.]* ms for a small read' "$dir/out" &&
	grep -qE '^          (.* MB/s sequential; )?(seek-bound, single spindle|not seek-bound)$' "$dir/out"
}

# no_figure IMAGE REASON: it says why, and no time.
no_figure()
{
	run 0 probe "$1" >/dev/null &&
	first_line "estimate: unknown \(.*$2.*\)" &&
	grep -qE "^measured  nothing: .*$2" "$dir/out" &&
	! grep -qE "^(estimate: (about|at most)|range)|less than|MB/s" "$dir/out"
}

all_cached()
{
	cat "$big" >"$dir/null" && no_figure "$big" "too little uncached metadata" &&
		run 4 probe --longer-than 1m "$big" &&
		run 4 probe --longer-than 999999999 "$big"
}

# Who may not see what is cached measures nothing.
not_visible()
{
	cp --sparse=auto "$image" "$E2PF_TMP/public" && chmod 0444 "$E2PF_TMP/public" &&
	chmod 0777 "$dir" && PREFETCHER="$dir/as-nobody" \
		no_figure "$E2PF_TMP/public" "this user may not query"
}

test_probe()
{
	local big=$dir/full

	# Inode tables of 32 MiB; stored as a whole, so that there are no holes.
	head -c 120M /dev/zero >"$big" &&
	mke2fs -q -F -t ext4 -O flex_bg,^uninit_bg,^metadata_csum -N 131072 \
		-E lazy_itable_init=0,nodiscard "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
	tap_check "probe: what there is adds up" adds_up
	tap_check "nothing is written" leaves_it
	tap_unless "${E2PF_RUNTIME:+a sanitizer}" "with a stack of 72 KiB" \
		exits 0 bash -c 'ulimit -s 72; exec "$@"' - "$PREFETCHER" probe "$big"
	tap_check "of all groups" all_groups
	tap_check "of some groups" some_groups
	tap_unless "$(no_loops)" "how long a check takes" measures
	tap_check "not measured: little metadata" no_figure "$image" "too little uncached"
	tap_check "not measured: all is cached" undisturbed all_cached
	printf '#!/bin/sh\nexec setpriv --reuid=65534 "%s" "$@"\n' \
		"$PREFETCHER" >"$dir/as-nobody"
	chmod 0755 "$dir/as-nobody"
	tap_unless "$(lacks setpriv)$(have_root || echo "not root")" \
		"not measured: not visible" not_visible
}

test_all()
{
	small_image e2prefetch
	# Inode tables of 32 MiB, and a journal with indirect blocks.
	big=$E2PF_TMP/big
	truncate -s 512M "$big"
	mke2fs -q -F -t ext3 -j -N 131072 "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
	[ $# -gt 0 ] ||
		set -- usage only reading paths fuse command beside command_first \
			settings \
			progress probe
	# The tests in debian/tests also hold for this build.
	[ -n "$(no_disk)" ] || tap_check "the package's own test" undisturbed \
		env PATH="$(dirname "$PREFETCHER"):$PATH" TMPDIR="$E2PF_TMP" \
		sh "$srcdir/../debian/tests/read-ahead"
	test_groups "$@"
}

own_mounts "$@"
[ -x "$PREFETCHER" ] || tap_skip_all "not built: $PREFETCHER"
setup mke2fs debugfs dumpe2fs flock awk jq timeout
tap_run test_all "$@"
