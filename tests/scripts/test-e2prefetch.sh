#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The command e2prefetch: valid and invalid options, what is read of a device or an
# image, messages, settings, and progress on a terminal.
#
#   test-e2prefetch.sh [GROUP...]	of: usage only reading fuse settings progress

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/e2prefetch.sh"

# refused ARG...: a usage error: one line reports it, and nothing is done.
refused()
{
	run 16 "$@" && [ ! -s "$dir/out" ] && one_line &&
		grep -q '^e2prefetch: .*(see --help)$' "$dir/err"
}

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

test_all()
{
	make_images e2prefetch
	[ $# -gt 0 ] || set -- usage only reading fuse settings progress
	# The tests in debian/tests also hold for this build.
	[ -n "$(no_disk)" ] || tap_check "the package's own test" undisturbed \
		env PATH="$(dirname "$PREFETCHER"):$PATH" TMPDIR="$E2PF_TMP" \
		sh "$srcdir/../debian/tests/read-ahead"
	test_groups "$@"
}

own_mounts "$@"
setup_e2prefetch dumpe2fs awk jq
tap_run test_all "$@"
