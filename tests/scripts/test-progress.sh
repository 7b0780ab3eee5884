#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Checks that are held in pass 1 by a pipe that nobody reads, at the same place each
# time, or in a read.  Ended by a signal, they end as stock's and leave no process.
# How far one is: its file, `e2prefetch progress'; this runs with a /run of its own.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# Only root's checks write a status.
own_mounts "$@"

directory=/run/e2prefetch

same() { "$IMGTOOL" cmp "$@"; }
said() { grep -q "$1" "$dir/err"; }
status_of() { [ -s "$directory/$1.progress" ]; }

no_files() { ! compgen -G "$directory/*.progress"; }
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
	perl -e 'fcntl(STDIN, 1031, 4096) or die' <&7	# F_SETPIPE_SZ
	cp --sparse=auto "$big" "$dir/fs"
}

# start_and_block PROGRAM [OPTION...]: sets pid.
start_and_block()
{
	local line

	make_pipe
	(
		cd "$dir" && exec -a e2fsck "$@" -fy -C 8 "${checked:-fs}" </dev/null \
			8>"$dir/progress" 7>&- >"$dir/out" 2>"$dir/err"
	) &
	pid=$!
	# The first line says that pass 1 has begun.
	read -r -t 500 line <&7 && wait_for is_blocked
}

# The same with prefetching; waits for the status.
blocked()
{
	local -x PREFETCH=1

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

# agrees NAME [STOCK]: its results are those of stock e2fsck.
agrees()
{
	local part

	for part in status err out fs; do
		same "$dir/${2-stock}.$part" "$dir/$1.$part" || return
	done
}

# signalled SIGNAL...: these end the check as they end stock's.
signalled()
{
	local name signal

	for name in ended test; do
		if [ $name = ended ]; then
			start_and_block "$E2FSCK_STOCK"
		else
			PREFETCH=1 TEST_MMAP_IO=1 start_and_block "$E2FSCK_TEST"
		fi || return
		for signal; do
			kill -s "$signal" "$pid" || return
		done
		keep $name
	done
	agrees test ended && no_process_left
}

test_signals()
{
	local signal

	for signal in INT TERM KILL HUP "STOP CONT" "STOP KILL"; do
		tap_check "SIG$signal in pass 1" signalled $signal
	done
}

file_appears()
{
	blocked || return
	[ "$(stat -c %a:%u "$directory" "$directory/$pid.progress" | xargs)" = \
		"755:0 600:0" ]
}

shown() { "$PREFETCHER" progress | grep "^$pid "; }

is_shown()
{
	local line="$pid e2fsck-prefetch: fs: pass1, [0-9]+ of [0-9]+ inodes, [0-9.]+ s, ETA"

	matches "^$line (unknown|[0-9.]+ (s|min)), (idle|CPU-bound|waiting )" \
		"$("$PREFETCHER" progress)" &&
	matches "^$line" "$(shown)" &&
	diff <(shown) <(sed "s/^/$pid /" "$directory/$pid.progress")
}

is_idle() { shown | grep -q ', idle$'; }

# ends STATUS ARG...: what `e2prefetch progress' prints goes elsewhere than a check's.
ends() (dir=$E2PF_TMP; exits "$1" "$PREFETCHER" progress "${@:2}")

takes_no_argument() { ends 16 1 && ends 16 --follow; }

# A device may be named so that a terminal obeys.
is_printable()
{
	local checked=$'a\e[2Jb' line

	ln -s fs "$dir/$checked"
	blocked || return
	line=$(shown)
	let_go
	rm "$dir/$checked"
	matches ': a\?\[2Jb: pass1' "$line"
}

only_for_root()
{
	have_program setpriv || return 0
	setpriv --reuid 65534 --clear-groups "$PREFETCHER" progress 2>"$dir/none"
	[ $? = 8 ]
}

ends_without_file() { keep test; agrees test && [ ! -e "$directory/$pid.progress" ]; }

nothing_pending() { ! grep -Eq '^(SigPnd|ShdPnd):.*[1-9a-f]' "/proc/$pid/status"; }

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
	blocked && send_both && keep test && goes_on && agrees test
}

# One line a second on standard error, if wanted; nothing else is different.
says_it_each_second()
{
	local -x PREFETCH_PROGRESS=1
	local line='^e2fsck-prefetch: fs: pass1, [0-9]* of [0-9]* inodes, .*, ETA '

	blocked && wait_for said "$line" && keep lines &&
	sed -i "/$line/d" "$dir/lines.err" && agrees lines
}

off_has_none()
{
	start_and_block "$E2FSCK_TEST" && keep off && agrees off &&
	no_files
}

killed_is_stale()
{
	blocked || return
	kill -s KILL "$pid"
	wait_for is_gone "$pid"
	let_go
	cp "$directory/$pid.progress" "$dir/stale" && ends 1 &&
	grep 'no prefetched check' "$E2PF_TMP/err" &&
	[ ! -e "$directory/$pid.progress" ]
}

# A file whose number is now another process's was not written for long.
old_is_stale()
{
	cp "$dir/stale" "$directory/$$.progress" && ends 0 &&
	touch -d '-2 minutes' "$directory/$$.progress" && ends 1 &&
	no_files
}

# Whoever can write to the directory could lie to root.
foreign_directory_is_left()
{
	local -x PREFETCH=1

	chmod 777 "$directory"
	start_and_block "$E2FSCK_TEST" && sleep 2 &&
	no_files && ! "$PREFETCHER" progress 2>/dev/null &&
	keep foreign && agrees foreign
}

no_run()
{
	local -x PREFETCH=1

	rm -rf "$directory" && mount -o remount,ro /run || return
	start_and_block "$E2FSCK_TEST" && sleep 2 && keep ro
	mount -o remount,rw /run
	agrees ro && ! "$PREFETCHER" progress 2>/dev/null && [ ! -e "$directory" ]
}

# held N COMMAND...: a check that waits in its N-th read; sets pid.
held()
{
	rm -f "$dir/hold"
	mkfifo "$dir/hold"
	: >"$dir/hits"
	(
		cd "$dir" && E2PF_FAULT=hold:$1 E2PF_FAULT_FILE=${!#} \
		E2PF_FAULT_LOG=$dir/hits E2PF_FAULT_FIFO=$dir/hold \
		LD_PRELOAD=$FAULT exec "${@:2}" </dev/null >"$dir/out" 2>"$dir/err"
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
		"$dir/err" "$dir/held.err" && [ ! -e "$directory/$pid.progress" ]
}

slow_is_shown()
{
	shown | grep -Eq 'waiting [0-9]+ s for .* at byte [0-9]+$'
}

# slow_read STOCK TEST ARG...: while a read takes long, the status says so.  The last
# argument is the file that is checked.
slow_read()
{
	local -x PREFETCH=1
	local pid

	(cd "$dir" && exec "$1" "${@:3}") >"$dir/held.out" 2>"$dir/held.err" </dev/null
	echo $? >"$dir/held.status"
	# Where all is cached there is nothing to show.
	drop "$dir/${!#}"
	held 40 "${@:2}" && wait_for slow_is_shown && ends_as_stock && return
	# A check that waits would outlive the test.
	kill -s KILL "$pid" 2>/dev/null
	return 1
}

# held_on_terminal NAME [VARIABLE=VALUE]: as held, and a screen in NAME.screen.
held_on_terminal()
{
	mkfifo "$dir/$1.hold"
	: >"$dir/$1.hits"
	drop "$dir/fs"
	script -qec "cd '$dir'; env ${2-} E2PF_FAULT=hold:40 E2PF_FAULT_FILE=fs \
		E2PF_FAULT_LOG=$dir/$1.hits E2PF_FAULT_FIFO=$dir/$1.hold \
		LD_PRELOAD=$FAULT '$E2FSCK_TEST' -fn fs ${3-}" /dev/null \
		</dev/null >"$dir/$1.screen" 2>&1 &
	wait_for [ -s "$dir/$1.hits" ]
}

# Who waited for 5 s at a terminal is told whether it was prefetched, in one line.
told_on_terminal()
{
	local -x PREFETCH=1
	local name lines

	held_on_terminal told && held_on_terminal untold PREFETCH_VERBOSE=0 &&
	held_on_terminal piped "" "2>&1 | cat" && sleep 5 || return
	for name in told untold piped; do
		: >"$dir/$name.hold"
	done
	wait
	grep -a prefetch "$dir"/*.screen
	lines=$(grep -ac "^e2fsck-prefetch: checked in [0-9.]* s, waited [0-9.]* s for the disk; .* MiB read" \
		"$dir/told.screen")
	[ "$lines" = 1 ] && grep -aq ^Pass.5 "$dir"/{untold,piped}.screen &&
		! grep -aq prefetch "$dir"/{untold,piped}.screen
}

test_slow_reads()
{
	local name="a slow read" FAULT

	skipped "$name" "${E2PF_RUNTIME:+a sanitizer}" && return
	FAULT=$(library fault-inject)
	cp --sparse=auto "$big" "$dir/fs"
	tap_check "$name of e2fsck is shown" slow_read "$E2FSCK_STOCK" "$E2FSCK_TEST" \
		-fn fs
	! have_program script ||
		tap_check "on a terminal a long check says what it was" told_on_terminal
	small_files "$dir/files"
	truncate -s 256M "$dir/fs.btrfs"
	mkfs.btrfs -q -n 4096 --rootdir "$dir/files" "$dir/fs.btrfs" >/dev/null 2>&1 ||
		{ tap_skip "$name of btrfs" "mkfs.btrfs cannot make the image"; return; }
	# Small as it is, only a number of threads keeps it from being left to the check.
	PREFETCH_THREADS=2 tap_check "$name of btrfs is shown" \
		slow_read "$BTRFS_STOCK" "$BTRFS_TEST" check fs.btrfs
}

test_all()
{
	dir=$E2PF_TMP/progress
	mkdir "$dir"
	# 512 groups: more progress lines than a page holds.
	big=$E2PF_TMP/big
	truncate -s 512M "$big"
	LD_PRELOAD=$FIXED_RANDOM mke2fs -q -F -t ext4 -b 1024 -g 1024 \
		-U $IMAGE_UUID -N 4096 "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
	test_signals
	start_and_block "$E2FSCK_STOCK"
	keep stock
	skipped "progress" "$(no_mounts)" && return
	mount -t tmpfs -o mode=755 none /run && test_progress
}

test_progress()
{
	tap_check "a running check has a file, root's" file_appears
	tap_check "progress shows it: pass, position, time" wait_for is_shown
	tap_check "its maps name the preload library" grep -q "/e2fsck-prefetch\.so$" \
		"/proc/$pid/maps"
	# It waits for the pipe.
	tap_check "it waits for neither disk nor processor" wait_for is_idle
	tap_check "usage: status 16" takes_no_argument
	tap_check "only root sees it" only_for_root
	tap_check "at the end the file is gone, results are stock's" ends_without_file
	tap_check "a device's name is printable" is_printable
	tap_check "SIGUSR1 does what it does in stock e2fsck" signal_is_stocks
	tap_check "PREFETCH_PROGRESS=1 says it each second" says_it_each_second
	tap_check "a check without prefetching has no file" off_has_none
	tap_check "the file of a killed check is stale" killed_is_stale
	tap_check "so is one that is not written any more" old_is_stale
	tap_check "a directory that others may write to is not used" \
		foreign_directory_is_left
	tap_check "a /run that cannot be written to" no_run
	test_slow_reads
}

setup mke2fs mkfifo
tap_run test_all
