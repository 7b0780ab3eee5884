#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The user's command that e2prefetch runs: its status, signals and descriptors, and that
# it runs whatever fails.
#
#   test-command.sh [GROUP...]	of: command beside command_first wait
#
#   E2PF_RUNS=100	how often each signal is sent (default: 5)

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/e2prefetch.sh"

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

test_wait()
{
	skipped "a disk that is slow" "$(no_disk)" && return
	preloaded
	tap_check "-w bounds how long a command waits" begins_in_time
	tap_check "SIGINT before the command begins" interrupted_before
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
# it reads as long as the command waits.  If memory runs out, the reader ends first.
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
		[ "$(<"/proc/${reader% *}/oom_score_adj")" = 1000 ] &&
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
	tap_unless "$(no_disk)" "the reader holds no file and no memory of it" holds_nothing
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

test_all()
{
	make_images command
	[ $# -gt 0 ] || set -- command beside command_first wait
	test_groups "$@"
}

setup_e2prefetch flock awk
tap_run test_all "$@"
