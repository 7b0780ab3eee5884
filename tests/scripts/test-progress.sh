#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The status of a running check: its file, `e2prefetch progress', SIGUSR1.  The
# check is held in pass 1 by a pipe that nobody reads, as in test-signals.sh, so
# that all of this happens while it runs; or in a read.  Runs with a /run of its own.  Last the
# history, which is written when the check is over, on a filesystem that does not
# answer.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"
# shellcheck source=../tools/tally.sh
. "$srcdir/tools/tally.sh"

[ "$(id -u)" = 0 ] || tap_skip_all "needs root: only root's checks write a status"
if [ -z "${E2PF_OWN_RUN-}" ]; then
	unshare -m true 2>/dev/null || tap_skip_all "no mount namespaces"
	E2PF_OWN_RUN=1 exec unshare -m "$0" "$@"
fi
mount -t tmpfs -o mode=755 none /run || tap_skip_all "no tmpfs"

E2PREFETCH=$top_builddir/prefetch/e2prefetch
folder=/run/e2prefetch-checks

same() { "$IMGTOOL" cmp "$@"; }
said() { grep -q "$1" "$dir/err"; }
status_of() { [ -s "$folder/$1.progress" ]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
matches() { grep -Eq "$1" <<<"$2" || { echo "no $1 in: $2"; return 1; }; }

# Whether the check waits for its write to descriptor 8.
is_blocked() { grep -q '^[0-9]* 0x8 ' "/proc/$pid/syscall"; }

# A pipe with room for a page, and a filesystem.
make_pipe()
{
	rm -f "$dir/progress"
	mkfifo "$dir/progress"
	exec 7<>"$dir/progress"
	"$IMGTOOL" pipesize 4096 <&7
	cp --sparse=auto "$big" "$dir/fs"
}

# start_and_block PROGRAM [OPTION...]: sets pid.
start_and_block()
{
	local line program=$1

	shift
	make_pipe
	(
		cd "$dir" &&
		exec -a "${called:-e2fsck}" "$program" "$@" -fy -C 8 fs </dev/null \
			8>"$dir/progress" 7>&- >"$dir/out" 2>"$dir/err"
	) &
	pid=$!
	# The first line says that pass 1 has begun.
	read -r -t 500 line <&7 && wait_for is_blocked
}

# blocked ARG...: the same with prefetching, and these variables; waits for the
# status.
blocked()
{
	local -x PREFETCH=1 "$@"

	start_and_block "$E2FSCK_TEST" && wait_for status_of "$pid"
}

let_go()
{
	cat <&7 >"$dir/stream" &
	local reader=$! status

	exec 7>&-
	wait "$pid" 2>/dev/null
	status=$?
	kill -s KILL "$reader" 2>/dev/null
	wait "$reader" 2>/dev/null
	return $status
}

# keep NAME: the results of a check, to compare.
keep()
{
	let_go
	echo $? >"$dir/$1.status"
	mv "$dir/out" "$dir/$1.out"
	mv "$dir/err" "$dir/$1.err"
	mv "$dir/fs" "$dir/$1.fs"
}

# agrees NAME: its results are those of stock e2fsck.
agrees()
{
	same "$dir/stock.status" "$dir/$1.status" "$dir/stock.err" \
		"$dir/$1.err" "$dir/stock.out" "$dir/$1.out" \
		"$dir/stock.fs" "$dir/$1.fs"
}

file_appears()
{
	blocked || return
	[ "$(stat -c %a:%u "$folder" "$folder/$pid.progress" | xargs)" = \
		"755:0 600:0" ]
}

is_shown()
{
	local all one

	all=$("$E2PREFETCH" progress) &&
	matches '^fs +\(e2fsck-prefetch, process '"$pid"'\)' "$all" &&
	matches 'place +pass1, [0-9]+ of 512 groups' "$all" &&
	matches 'left +[0-9]' "$all" || return
	one=$("$E2PREFETCH" progress --json "$pid") &&
	matches '"stage":"pass1"' "$one" && matches "\"pid\":$pid" "$one" &&
	(cd "$dir" && "$E2PREFETCH" progress --json fs >/dev/null)
}

# It waits for the pipe, not for the disk or the processor.
waits_for_nothing()
{
	"$E2PREFETCH" progress --json "$pid" | grep -q '"waits_for":"nothing"'
}

others_are_none()
{
	"$E2PREFETCH" progress 1 2>"$dir/none"
	[ $? = 1 ] && grep -q 'no check that prefetches' "$dir/none" || return
	[ "$("$E2PREFETCH" progress --json /dev/null 2>/dev/null |
		tr -d ' \n')" = "[]" ] || return
	"$E2PREFETCH" progress 1 2 2>/dev/null
	[ $? = 16 ]
}

# A device may have been named so that a terminal obeys.
is_printable()
{
	local start shown

	start=$(sed 's/.*) //' "/proc/$$/stat" | cut -d ' ' -f 20)
	printf '{"pid":%d,"started":%s,"device":"a\\u001b[2Jb"}' $$ "$start" \
		>"$folder/$$.progress"
	shown=$("$E2PREFETCH" progress $$)
	rm "$folder/$$.progress"
	matches '^a\?\[2Jb  ' "$shown"
}

only_for_root()
{
	have_program setpriv || return 0
	setpriv --reuid 65534 --clear-groups "$E2PREFETCH" progress \
		2>"$dir/none"
	[ $? = 8 ]
}

ends_without_file()
{
	keep test
	agrees test && [ ! -e "$folder/$pid.progress" ]
}

nothing_pending()
{
	! grep -Eq '^(SigPnd|ShdPnd):.*[1-9a-f]' "/proc/$pid/status"
}

# SIGUSR2 ends e2fsck's own progress, and SIGUSR1 begins it again: then there are
# lines of pass 5.
send_both()
{
	kill -s USR2 "$pid" && wait_for nothing_pending &&
	kill -s USR1 "$pid" && wait_for nothing_pending
}

goes_on() { grep -q '^5 ' "$dir/stream"; }

signal_is_stocks()
{
	start_and_block "$E2FSCK_STOCK" && kill -s USR2 "$pid" &&
	keep off && ! goes_on || return
	start_and_block "$E2FSCK_STOCK" && send_both && keep on && goes_on &&
	blocked && send_both && keep test && goes_on &&
	agrees test
}

signal_prints_a_line()
{
	blocked PREFETCH_PROGRESS=1 && send_both &&
	wait_for said '^e2fsck-prefetch: fs: pass1, .* of 512 groups' &&
	keep line && goes_on &&
	[ "$(grep -c e2fsck-prefetch "$dir/line.err")" = 1 ] &&
	sed -i /^e2fsck-prefetch:/d "$dir/line.err" && agrees line
}

# It is an option of e2fsck-prefetch only; all others are e2fsck's.
option_is_taken()
{
	local called=e2fsck-prefetch

	start_and_block "$E2FSCK_TEST" --progress && wait_for status_of "$pid" &&
	send_both && wait_for said '^e2fsck-prefetch: fs: pass1, ' &&
	keep option && goes_on &&
	sed -i /^e2fsck-prefetch:/d "$dir/option.err" && agrees option || return
	bash -c 'exec -a e2fsck "$0" --progress' "$E2FSCK_STOCK" \
		>"$dir/usage" 2>&1
	bash -c 'exec -a e2fsck "$0" --progress' "$E2FSCK_TEST" 2>&1 |
		cmp "$dir/usage" - || return
	# What follows -- is a file.
	bash -c 'exec -a e2fsck-prefetch "$0" -n -- --progress' \
		"$E2FSCK_TEST" 2>&1 | grep -q 'open.* --progress'
}

# The lines on the terminal: each is drawn below the cursor, which comes back.
lines_on_terminal() { grep -ao $'\e7\e\[2B\r[^\e]*\e8' "$dir/terminal" |
	sed 's/.*\r//; s/\x1b8//'; }
has_line_on_terminal() { lines_on_terminal | grep -q 'pass1, .* left'; }

# A line that is too long for the terminal is cut off, and it is cleared before e2fsck
# prints on.
narrow_terminal()
{
	local PREFETCH=1 PREFETCH_PROGRESS=1

	make_pipe
	(
		export PREFETCH PREFETCH_PROGRESS
		cd "$dir" && exec script -qefc \
			"stty cols 50; exec '$E2FSCK_TEST' -fy -C 8 fs" terminal \
			8>"$dir/progress" 7>&- </dev/null >/dev/null
	) &
	pid=$!
	wait_for has_line_on_terminal || return
	let_go
	grep -q $'\e\\[JPass 2' "$dir/terminal" &&
	lines_on_terminal | awk '
		length > 49 { print "too long: " $0; bad = 1 }
		length == 49 { cut = 1 }
		END { exit bad || !cut }'
}

# e2fsck's stderr is a terminal that is stopped as soon as it shows a line; goes on
# when it is told to.
stopped_terminal()
{
	python3 - "$dir" "$E2FSCK_TEST" <<'END'
import os, pty, subprocess, sys, termios
folder, e2fsck = sys.argv[1:]
os.chdir(folder)
master, terminal = pty.openpty()
with open("progress", "wb", buffering=0) as progress, open("out", "wb") as out:
    os.dup2(progress.fileno(), 8)
    check = subprocess.Popen([e2fsck, "-fy", "-C", "8", "fs"], stdout=out,
                             stdin=subprocess.DEVNULL, stderr=terminal,
                             pass_fds=[8])
os.close(8)
shown = b""
while b" left" not in shown:
    shown += os.read(master, 4096)
termios.tcflow(terminal, termios.TCOOFF)
open("stopped", "w").close()
try:
    check.wait(120)
except subprocess.TimeoutExpired:
    check.kill()
    sys.exit("it waits for the terminal")
sys.exit(check.returncode)
END
}

# A check does not wait for a terminal that is stopped.
no_wait_for_terminal()
{
	rm -f "$dir/stopped"
	make_pipe
	PREFETCH=1 PREFETCH_PROGRESS=1 stopped_terminal 7>&- &
	pid=$!
	wait_for test -e "$dir/stopped" || return
	let_go
	[ $? = "$(<"$dir/stock.status")" ] && same "$dir/stock.fs" "$dir/fs"
}

off_has_none()
{
	start_and_block "$E2FSCK_TEST" && keep off && agrees off &&
	[ -z "$(ls "$folder")" ]
}

killed_is_stale()
{
	local killed status

	blocked || return
	killed=$pid
	kill -s KILL "$pid"
	wait_for is_gone "$pid"
	let_go
	[ -e "$folder/$killed.progress" ] && cp "$folder/$killed.progress" \
		"$dir/stale" || return
	"$E2PREFETCH" progress >"$dir/none" 2>&1
	status=$?
	[ $status = 1 ] && [ ! -e "$folder/$killed.progress" ]
}

# A file whose number is now another process's, and one of nobody's: the next
# check removes them.
next_removes_stale()
{
	cp "$dir/stale" "$folder/$$.progress" &&
	cp "$dir/stale" "$folder/99999999.progress" &&
	blocked && keep next && agrees next && [ -z "$(ls "$folder")" ]
}

# Whoever can write to the folder could lie to root.
foreign_folder_is_left()
{
	local -x PREFETCH=1

	chmod 777 "$folder"
	start_and_block "$E2FSCK_TEST" && sleep 2 &&
	[ -z "$(ls "$folder")" ] && ! "$E2PREFETCH" progress 2>/dev/null &&
	keep foreign && agrees foreign
}

no_run()
{
	local -x PREFETCH=1

	rm -rf "$folder" && mount -o remount,ro /run || return
	start_and_block "$E2FSCK_TEST" && sleep 2 && keep ro
	mount -o remount,rw /run
	agrees ro && [ ! -e "$folder" ]
}

# held N COMMAND...: a check that waits in its N-th read; sets pid.
held()
{
	local n=$1

	shift
	rm -f "$dir/hold"
	mkfifo "$dir/hold"
	: >"$dir/hits"
	(
		cd "$dir" &&
		E2PF_FAULT=hold:$n E2PF_FAULT_FILE=${!#} \
		E2PF_FAULT_LOG=$dir/hits E2PF_FAULT_FIFO=$dir/hold \
		LD_PRELOAD=$FAULT exec "$@" </dev/null >"$dir/out" 2>"$dir/err"
	) &
	pid=$!
	wait_for [ -s "$dir/hits" ]
}

# Ends as the check of the stock program did.
ends_as_stock()
{
	timeout 600 tee "$dir/hold" </dev/null
	wait "$pid"
	echo $? >"$dir/status"
	sed -i /-prefetch:/d "$dir/err"
	same "$dir/status" "$dir/held.status" "$dir/out" "$dir/held.out" \
		"$dir/err" "$dir/held.err" && [ ! -e "$folder/$pid.progress" ]
}

# A check that waits would outlive the test.
give_up()
{
	kill -s KILL "$pid" 2>/dev/null
	false
}

slow_is_shown()
{
	"$E2PREFETCH" progress --json "$pid" |
		grep -q '"waits_for":"slow read"' &&
	"$E2PREFETCH" progress "$pid" |
		grep -Eq 'waits +for a read of .* at byte [0-9]+, for [0-9]+ s'
}

# slow_read STOCK TEST ARG...: while a read takes long, the status says so; sets
# pid.  The last argument is the file that is checked.
slow_read()
{
	local stock=$1 test=$2

	shift 2
	(cd "$dir" && exec "$stock" "$@") >"$dir/held.out" 2>"$dir/held.err" \
		</dev/null
	echo $? >"$dir/held.status"
	held 40 "$test" "$@" && wait_for slow_is_shown
}

slow_e2fsck()
{
	local -x PREFETCH=1

	slow_read "$E2FSCK_STOCK" "$E2FSCK_TEST" -fn fs && ends_as_stock ||
		give_up
}

# Small as it is, only a number of threads keeps it from being left to the check.
slow_btrfs()
{
	local -x PREFETCH=1 PREFETCH_PROGRESS=1 PREFETCH_THREADS=2

	slow_read "${BTRFS_STOCK:-btrfs}" "$BTRFS_TEST" check fs.btrfs &&
	kill -s USR1 "$pid" &&
	wait_for said "^btrfs-prefetch: .*fs.btrfs: check, .* waits for a slow read" &&
	ends_as_stock || give_up
}

# The stock program has no handler.
signal_ends_btrfs()
{
	local -x PREFETCH=1 PREFETCH_THREADS=2

	held 40 "$BTRFS_TEST" check fs.btrfs && wait_for status_of "$pid" &&
	kill -s USR1 "$pid" || give_up || return
	wait "$pid"
	[ $? = 138 ] && ! said btrfs-prefetch
}

test_slow_reads()
{
	local BTRFS_TEST=${BTRFS_TEST:-$top_builddir/btrfs/btrfs}
	local name="a slow read" FAULT

	if [ -n "$E2PF_RUNTIME" ] || ! FAULT=$(library fault-inject); then
		tap_skip "$name" "a sanitizer, or fault-inject.c does not compile"
		return
	fi
	cp --sparse=auto "$big" "$dir/fs"
	tap_check "$name of e2fsck is shown" slow_e2fsck
	small_files "$dir/files"
	truncate -s 256M "$dir/fs.btrfs"
	if ! mkfs.btrfs -q -n 4096 --rootdir "$dir/files" "$dir/fs.btrfs" \
		>/dev/null 2>&1; then
		tap_skip "$name of btrfs" "mkfs.btrfs cannot make the image"
		return
	fi
	tap_check "$name of btrfs is shown, on SIGUSR1, too" slow_btrfs
	tap_check "without PREFETCH_PROGRESS SIGUSR1 ends btrfs" \
		signal_ends_btrfs
}

thaw() { fsfreeze -u "$dir/var" 2>/dev/null; }

# recorded COUNT: so many lines.
recorded() { [ "$(wc -l <"$dir/var/history")" = "$1" ]; }

# ends_while_frozen COMMAND...: nothing can have been recorded when the check
# ends.  If it waited for that, it would go on after a minute.
ends_while_frozen()
{
	local watchdog status

	fsfreeze -f "$dir/var" || return
	(sleep 60; thaw) &
	watchdog=$!
	"$@" -fn "$small" >"$dir/frozen.out" 2>&1 </dev/null
	status=$?
	recorded 0 || status=99
	kill "$watchdog"
	thaw
	[ $status = 0 ] && same "$dir/small.out" "$dir/frozen.out" &&
		wait_for recorded 1 && : >"$dir/var/history"
}

limited() { (ulimit -v 1000000 && exec "$@"); }

test_frozen_history()
{
	local dev
	local -x PREFETCH=1 PREFETCH_HISTORY=$dir/var/history

	truncate -s 8M "$dir/disk"
	mke2fs -q -F -t ext4 "$dir/disk"
	mkdir "$dir/var"
	if ! have_program fsfreeze || ! dev=$(loop_attach "$dir/disk") ||
	   ! mount -t ext4 "$dev" "$dir/var"; then
		tap_skip "a frozen /var" "no loop device or no fsfreeze"
		return
	fi
	: >"$dir/var/history"
	small=$E2PF_TMP/small
	cp "$dir/disk" "$small"
	"$E2FSCK_STOCK" -fn "$small" >"$dir/small.out" 2>&1
	tap_check "a check does not wait for a frozen history" \
		ends_while_frozen "$E2FSCK_TEST"
	if [ -z "$E2PF_RUNTIME" ]; then
		tap_check "nor does the launcher, which records why not" \
			ends_while_frozen limited "$E2FSCK_TEST"
	else
		tap_skip "nor does the launcher" "the sanitizer"
	fi
	umount "$dir/var"
}

test_progress()
{
	dir=$E2PF_TMP/progress
	mkdir "$dir"
	# 512 groups: more progress lines than a page holds.
	big=$E2PF_TMP/big
	truncate -s 512M "$big"
	LD_PRELOAD=$FIXED_RANDOM mke2fs -q -F -t ext4 -b 1024 -g 1024 \
		-U $IMAGE_UUID -N 4096 "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
	start_and_block "$E2FSCK_STOCK"
	keep stock

	tap_check "a running check has a file, root's" file_appears
	tap_check "progress shows it: pass, place, time left" is_shown
	tap_check "it waits for neither disk nor processor" \
		wait_for waits_for_nothing
	tap_check "no such check: status 1; usage: 16" others_are_none
	tap_check "a device's name is printable" is_printable
	tap_check "only root sees it" only_for_root
	tap_check "at the end the file is gone, results are stock's" \
		ends_without_file
	tap_check "SIGUSR1 does what it does in stock e2fsck" signal_is_stocks
	tap_check "SIGUSR1 with PREFETCH_PROGRESS also prints a line" \
		signal_prints_a_line
	if have_program script; then
		tap_check "a line fits the terminal" narrow_terminal
	else
		tap_skip "a line fits the terminal" "script not found"
	fi
	tap_check "--progress is an option of e2fsck-prefetch" option_is_taken
	tap_check "a check does not wait for a stopped terminal" \
		no_wait_for_terminal
	tap_check "a check without prefetching has no file" off_has_none
	tap_check "the file of a killed check is stale" killed_is_stale
	tap_check "the next check removes stale files" next_removes_stale
	tap_check "a folder that others may write to is not used" \
		foreign_folder_is_left
	tap_check "a /run that cannot be written to" no_run
	test_slow_reads
	test_frozen_history
}

require_programs mke2fs mkfifo python3 unshare
tmp_setup
helpers_setup
images_setup
tap_run test_progress
