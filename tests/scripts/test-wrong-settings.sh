#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An invalid variable, setting or file never prevents a check: one line reports
# it, and exit status, output and image are those of stock e2fsck.  The same for
# btrfs check.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"
# shellcheck source=../tools/tally.sh
. "$srcdir/tools/tally.sh"

BTRFS_TEST=${BTRFS_TEST:-$top_builddir/btrfs/btrfs}

# PREFIX: words before both programs' names.  INNER: a command to run before
# them in the same shell.
PREFIX=
INNER=:

# run_one NAME PROGRAM [VARIABLE=VALUE...]: checks a fresh copy of $image.
run_one()
{
	local name=$1 program=$2

	shift 2
	cp --sparse=auto "$image" "$dir/fs"
	chmod 0666 "$dir/fs"
	(
		cd "$dir" || exit
		# shellcheck disable=SC2086
		exec env "$@" $PREFIX bash -c "$INNER"'; exec -a e2fsck "$@"' \
			- "$IMGTOOL" run 600 e2fsck "$program" $options fs \
			</dev/null >"$dir/$name.out" 2>"$dir/$name.err"
	)
	echo $? >"$dir/$name.status"
	mv "$dir/fs" "$dir/$name.fs"
}

# check_runs LINES TEXT [VARIABLE=VALUE...]: the check must be as stock's, with
# LINES lines of ours, in which TEXT appears.  LINES may be several numbers.
check_runs()
{
	local lines=$1 text=${2-} own

	shift 2
	[ -s "$dir/stock.status" ] || run_one stock "$E2FSCK_STOCK"
	run_one test "$E2FSCK_TEST" "LD_PRELOAD=$E2PF_RUNTIME" "$@"
	cat "$dir/test.err"
	own=$(grep -c '^e2fsck-prefetch: ' "$dir/test.err")
	grep -v '^e2fsck-prefetch: ' "$dir/test.err" >"$dir/rest.err"
	"$IMGTOOL" cmp "$dir/stock.status" "$dir/test.status" \
		"$dir/stock.out" "$dir/test.out" \
		"$dir/stock.err" "$dir/rest.err" \
		"$dir/stock.fs" "$dir/test.fs" || return
	case " $lines " in
	*" $own "*) ;;
	*) echo "$own lines"; return 1 ;;
	esac
	[ -z "$text" ] || grep -qF "$text" "$dir/test.err"
}

# reads_ahead yes|no LINES TEXT [VARIABLE=VALUE...]: the same, and tests whether
# the check prefetched.
reads_ahead()
{
	local expected=$1

	shift
	rm -f "$dir/stats"
	check_runs "$@" "PREFETCH_STATS=$dir/stats" || return
	case $expected in
	yes) [ -s "$dir/stats" ] || { echo "not read ahead"; return 1; } ;;
	no) [ ! -e "$dir/stats" ] || { echo "read ahead"; return 1; } ;;
	esac
}

#
# Variables.
#

# tell_values yes|no VARIABLE VALUE...
tell_values()
{
	local expected=$1 variable=$2 value

	shift 2
	for value; do
		tap_check "$variable=$value: a line, and the check" \
			reads_ahead "$expected" 1 \
			"e2fsck-prefetch: $variable: \"$value\" is not " \
			PREFETCH=1 "$variable=$value"
	done
}

test_variables()
{
	local wrong="TEST_MMAP_IO=x PREFETCH_THREADS=x PREFETCH_NICE=x
		PREFETCH_VERBOSE=x PREFETCH_STATS=/nosuch/x
		PREFETCH_TRACE=/nosuch/x"

	tell_values no PREFETCH 2 yes -1 01 on
	tell_values yes TEST_MMAP_IO 7 true -1
	tell_values yes PREFETCH_THREADS 0 abc -1 257 18446744073709551617
	tell_values yes PREFETCH_MEM abc 0 1Q -5M 1023K 99999999999T
	tell_values yes PREFETCH_ACCEL x , crc32c, "crc32c bitmaps" CRC32C
	tell_values yes PREFETCH_VERBOSE 3 yes 11
	tell_values yes PREFETCH_HISTORY x 2 history
	tell_values yes PREFETCH_OBSERVE yes
	tell_values no PREFETCH_BANDWIDTH 50m 1000
	tell_values no PREFETCH_IOPS 0 many
	tell_values no PREFETCH_IOPRIO none
	tell_values no PREFETCH_NICE -5 20
	# shellcheck disable=SC2086
	{
	tap_check "each that is wrong is told" \
		check_runs 6 "" PREFETCH=1 $wrong PREFETCH_NICE= PREFETCH_MEM=x
	tap_check "a misspelled name is told" \
		reads_ahead yes 1 "e2fsck-prefetch: PREFETCH_BANDWITH: no such" \
		PREFETCH=1 PREFETCH_BANDWITH=10M
	tap_check "PREFETCH=0 makes the others mean nothing" \
		check_runs 0 "" PREFETCH=0 $wrong PREFETCH_CONFIG=x
	tap_check "without PREFETCH, too" check_runs 0 "" $wrong
	}
	tap_check "PREFETCH=auto prefetches" \
		reads_ahead yes 0 "" PREFETCH=auto
	echo "prefetch = off" >"$dir/conf"
	tap_check "PREFETCH=auto leaves it to the file" \
		reads_ahead no 0 "" PREFETCH=auto PREFETCH_CONFIG="$dir/conf"
	tap_check "a terminal's control characters are not printed" \
		check_runs 1 'PREFETCH: "?[2J"' PREFETCH=$'\033[2J'
}

#
# The files for statistics and traces.
#

# cannot_write VARIABLE FILE [TEXT]: the file must stay unchanged.
cannot_write()
{
	check_runs 1 "e2fsck-prefetch: $1: cannot write \"$2\": ${3-}" \
		PREFETCH=1 "$1=$2" &&
	[ "$(cat "$dir/precious")" = precious ] &&
	[ "$(stat -c %a "$dir/precious")" = 644 ]
}

test_output()
{
	local v=$1 long

	(umask 022; echo precious >"$dir/precious")
	ln -sf precious "$dir/link"
	tap_check "$v in a folder that is not there" cannot_write "$v" /nosuch/x
	tap_check "$v does not follow a link" \
		cannot_write "$v" "$dir/link" "a symbolic link"
	tap_check "$v is not something else" cannot_write "$v" \
		"$dir/precious" "the file does not contain statistics"
	ln -f "$dir/precious" "$dir/hard"
	tap_check "$v is not a second name of a file" \
		cannot_write "$v" "$dir/hard"
	rm "$dir/hard"
	tap_check "$v is not a folder" cannot_write "$v" "$dir"
	mkfifo "$dir/fifo"
	tap_check "$v is not a pipe" cannot_write "$v" "$dir/fifo"
	rm "$dir/fifo"
	tap_check "$v is not a device" cannot_write "$v" /dev/full
	tap_check "$v is not the image" \
		check_runs 1 "does not contain statistics" PREFETCH=1 "$v=fs"
	long=/$(printf '%0300d' 0)
	tap_check "$v with too long a name" \
		check_runs 1 "File name too long" PREFETCH=1 "$v=$long"
	if have_root && chown 65534 "$dir/precious"; then
		tap_check "$v is not another user's file" \
			cannot_write "$v" "$dir/precious"
	else
		tap_skip "$v is not another user's file" "not root"
	fi
	rm -f "$dir/precious" "$dir/link"
}

# Our output at the end must not change the exit status, even if nobody reads
# it.
no_reader()
{
	local status

	# A check that itself prints nothing on standard error.
	cp --sparse=auto "$E2PF_TMP/image" "$dir/fs"
	"$E2FSCK_STOCK" -fp "$dir/fs" >"$dir/so" 2>"$dir/se" &&
	[ ! -s "$dir/se" ] || return
	exec 8> >(:)
	wait $!
	env PREFETCH=1 "LD_PRELOAD=$E2PF_RUNTIME" "$@" "$E2FSCK_TEST" -fp \
		"$dir/fs" >"$dir/out" 2>&8 </dev/null
	status=$?
	exec 8>&-
	[ $status = 0 ] || { echo "status $status"; return 1; }
	"$IMGTOOL" cmp "$dir/so" "$dir/out"
}

limited_file()
{
	local status

	(ulimit -f 0; exec env PREFETCH=1 "LD_PRELOAD=$E2PF_RUNTIME" "$@" \
		"$E2FSCK_TEST" -fn "$E2PF_TMP/image") 2>&1 </dev/null | cat
	status=${PIPESTATUS[0]}
	[ "$status" = 0 ] || { echo "status $status"; return 1; }
}

# There is no room for the files that are written at the end.
full_disk()
{
	local INNER="mount -t tmpfs -o size=4k none $dir/full &&
		! head -c 9000 /dev/zero >$dir/full/all 2>/dev/null"
	local PREFIX="unshare -m" status

	mkdir -p "$dir/full"
	rm -f "$dir/stock.status"
	check_runs "0 1" "" PREFETCH=1 "$1=$dir/full/stats"
	status=$?
	rm -f "$dir/stock.status"
	return $status
}

# closed_streams REDIRECTION: output of e2fsck to a closed stream must not
# appear in our files.
closed_streams()
{
	rm -f "$dir/record"
	(
		eval "exec $1"
		PREFETCH=1 PREFETCH_TRACE=$dir/record PREFETCH_STATS=$dir/stats \
			LD_PRELOAD=$E2PF_RUNTIME \
			exec "$E2FSCK_TEST" -fn "$E2PF_TMP/image"
	) || return
	head -c 300 "$dir/record"
	[ -s "$dir/record" ] && [ -s "$dir/stats" ] &&
	! grep -q -e "^e2fsck" -e "^Pass" "$dir/record"
}

test_outputs()
{
	local streams

	test_output PREFETCH_STATS
	test_output PREFETCH_TRACE
	tap_check "PREFETCH_TRACE=- is refused" \
		check_runs 1 "PREFETCH_TRACE: cannot write \"-\": not a file" \
		PREFETCH=1 PREFETCH_TRACE=-
	tap_check "nobody reads a message of ours" no_reader PREFETCH=yes
	tap_check "nobody reads what PREFETCH_VERBOSE=1 says" \
		no_reader PREFETCH_VERBOSE=1
	tap_check "nobody reads PREFETCH_STATS=-" no_reader PREFETCH_STATS=-
	tap_check "statistics, and a limit on the size of files" \
		limited_file PREFETCH_STATS="$dir/stats"
	tap_check "a record, and a limit on the size of files" \
		limited_file PREFETCH_TRACE="$dir/stats"
	if have_root && unshare -m true 2>/dev/null; then
		tap_check "statistics on a full disk" full_disk PREFETCH_STATS
		tap_check "a record on a full disk" full_disk PREFETCH_TRACE
	else
		tap_skip "a full disk" "cannot unshare mounts"
	fi
	for streams in "2>&-" ">&-" ">&- 2>&-" "<&- >&- 2>&-"; do
		tap_check "standard streams that are closed, $streams" \
			closed_streams "$streams"
	done
	rm -f "$dir/stats"
}

#
# The configuration file.
#

# configured yes|no LINES TEXT FILE
configured()
{
	reads_ahead "$1" "$2" "$3" PREFETCH=1 PREFETCH_CONFIG="$4"
}

# wrong_line LINE TEXT CONTENTS: the message names this line of the file.
wrong_line()
{
	printf "$3" >"$dir/conf"
	configured no 1 "e2fsck-prefetch: $dir/conf:$1: $2" "$dir/conf"
}

test_lines()
{
	tap_check "an unknown setting" \
		wrong_line 2 'unknown setting "thread"' '# x\nthread = 4\n'
	tap_check "a wrong value" wrong_line 3 'threads: "x" is not a number' \
		'nice = 1\n\nthreads = x\n'
	tap_check "a line that is not a setting" \
		wrong_line 2 'this is not "name = value"' 'nice = 1\noff\n'
	tap_check "a section" wrong_line 1 "there are no sections here" \
		'[all]\nthreads = 4\n'
	tap_check "a setting that is there twice" \
		wrong_line 2 "nice is set twice" 'nice = 1\nnice = 2\n'
	tap_check "a line that is too long" \
		wrong_line 1 "the line is too long" "threads = %0300d\n"
	tap_check "a file that is not text" \
		wrong_line 1 "this is not text" '\177ELF\1\1\0\0\0'
}

test_settings()
{
	local conf=$dir/conf

	tap_check "PREFETCH_CONFIG is not there" configured yes 1 \
		"PREFETCH_CONFIG: \"$dir/none\": No such file or directory" \
		"$dir/none"
	tap_check "PREFETCH_CONFIG is below a file" configured yes 1 \
		"PREFETCH_CONFIG: \"/dev/null/x\": " /dev/null/x
	tap_check "PREFETCH_CONFIG is relative" configured yes 1 \
		"PREFETCH_CONFIG: \"conf\" is not an absolute path" conf
	tap_check "PREFETCH_CONFIG is a folder" configured no 1 \
		"$dir: not a regular file; prefetching is off" "$dir"
	mkfifo "$dir/fifo"
	tap_check "PREFETCH_CONFIG is a FIFO" configured no 1 \
		"$dir/fifo: not a regular file" "$dir/fifo"
	rm "$dir/fifo"
	tap_check "PREFETCH_CONFIG is a device" configured no 1 \
		"/dev/zero: not a regular file" /dev/zero
	ln -s loop "$dir/loop"
	tap_check "PREFETCH_CONFIG is a link to itself" configured no 1 \
		"$dir/loop: Too many levels" "$dir/loop"
	rm "$dir/loop"
	head -c 70000 /dev/zero | tr '\0' '#' >"$conf"
	tap_check "PREFETCH_CONFIG is too long" configured no 1 \
		"$conf: the file is too long" "$conf"
	: >"$conf"
	tap_check "PREFETCH_CONFIG is empty" configured yes 0 "" "$conf"
	tap_check "PREFETCH_CONFIG is /dev/null" configured yes 0 "" /dev/null
	test_lines
	echo "verbose = on" >"$conf"
	tap_check "a wrong variable is not the file's setting either" \
		reads_ahead yes 1 "is not 0, 1 or 2; the default is used" \
		PREFETCH=1 PREFETCH_CONFIG="$conf" PREFETCH_VERBOSE=x
	echo "threads = 4" >"$conf"
	chmod 0600 "$conf"
	if nobody_runs "$E2FSCK_TEST"; then
		chmod 0777 "$dir"
		rm -f "$dir/stock.status"
		PREFIX=$NOBODY tap_check "PREFETCH_CONFIG cannot be read" \
			configured no 1 "$conf: Permission denied" "$conf"
	else
		tap_skip "PREFETCH_CONFIG cannot be read" \
			"not root, no setpriv, or a private folder"
	fi
	rm -f "$dir/stock.status"
}

# without_inih yes|no LINES TEXT
without_inih()
{
	reads_ahead "$@" PREFETCH=1 PREFETCH_CONFIG="$dir/conf" \
		LD_LIBRARY_PATH="$dir/broken"
}

test_library()
{
	local name

	name=$(sed -n 's/^#define INIH_SONAME "\(.*\)"/\1/p' \
		"$top_builddir/config.h")
	if [ -z "$name" ]; then
		tap_skip "libinih is missing" "it is linked"
		return
	fi
	mkdir "$dir/broken"
	echo garbage >"$dir/broken/$name"
	echo "threads = 4" >"$dir/conf"
	tap_check "settings, and libinih cannot be loaded" without_inih no 1 \
		"$dir/conf: cannot load $name; prefetching is off"
	printf '# prefetch = on\n\n' >"$dir/conf"
	tap_check "a file of comments does without libinih" \
		without_inih yes 0 ""
}

#
# PREFETCH_E2FSCK.
#

# other_e2fsck VALUE TEXT: the stock program must run.
other_e2fsck()
{
	reads_ahead yes 1 "e2fsck-prefetch: PREFETCH_E2FSCK: $2" \
		PREFETCH=1 "PREFETCH_E2FSCK=$1"
}

# launch_setuid VARIABLE=VALUE: a check by another user.
launch_setuid()
{
	local copy=$dir/setuid status
	local image=$E2PF_TMP/image

	chmod 0644 "$image"
	cp "$E2FSCK_TEST" "$copy"
	chmod 4755 "$copy"
	env PREFETCH=1 PREFETCH_CONFIG= "$1" $NOBODY "$copy" -fn "$image" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	rm -f "$copy"
	cat "$dir/err"
	[ $status = 0 ] && [ "$(grep -c "^e2fsck-prefetch: " "$dir/err")" = 1 ]
}

# The user could not make this file.
file_with_raised_privileges()
{
	rm -f "$dir/written"
	launch_setuid "$1=$dir/written" && [ ! -e "$dir/written" ] &&
	grep "^e2fsck-prefetch: $1: cannot write .*: refused with raised privileges;" \
		"$dir/err"
}

# If the program in the variable were run with raised privileges, it would leave
# a file behind.
with_raised_privileges()
{
	printf '#!/bin/sh\n: >"%s"\n' "$dir/ran" >"$dir/fake"
	chmod 0755 "$dir/fake"
	launch_setuid "$1=$dir/fake" && [ ! -e "$dir/ran" ] &&
	grep "^e2fsck-prefetch: $1: \"$dir/fake\" is refused with raised privileges;" \
		"$dir/err"
}

test_program()
{
	tap_check "PREFETCH_E2FSCK is relative" other_e2fsck sbin/e2fsck \
		'"sbin/e2fsck" is not an absolute path; the stock program is run'
	tap_check "PREFETCH_E2FSCK is the launcher" \
		other_e2fsck "$E2FSCK_TEST" \
		"cannot run \"$E2FSCK_TEST\": this is the launcher itself"
	ln -s "$E2FSCK_TEST" "$dir/other"
	tap_check "PREFETCH_E2FSCK is a link to the launcher" \
		other_e2fsck "$dir/other" \
		"cannot run \"$dir/other\": this is the launcher itself"
	tap_check "PREFETCH_E2FSCK is not there" \
		other_e2fsck /nosuch/e2fsck "cannot run \"/nosuch/e2fsck\": No"
	tap_check "PREFETCH_E2FSCK is a folder" \
		other_e2fsck "$dir" "cannot run \"$dir\": not a program"
	echo garbage >"$dir/garbage"
	tap_check "PREFETCH_E2FSCK is not executable" \
		other_e2fsck "$dir/garbage" \
		"cannot run \"$dir/garbage\": Permission denied"
	chmod +x "$dir/garbage"
	tap_check "PREFETCH_E2FSCK is not a program" check_runs 1 \
		"PREFETCH_E2FSCK: cannot run \"$dir/garbage\": Exec format error" \
		PREFETCH=1 PREFETCH_E2FSCK="$dir/garbage"
	if [ -n "$E2PF_RUNTIME" ] || ! have_root ||
	   ! $NOBODY true 2>/dev/null; then
		tap_skip "raised privileges" "a sanitizer, or no other user"
		return
	fi
	tap_check "PREFETCH_E2FSCK with raised privileges" \
		with_raised_privileges PREFETCH_E2FSCK
	tap_check "PREFETCH_CONFIG with raised privileges" \
		with_raised_privileges PREFETCH_CONFIG
	tap_check "PREFETCH_STATS with raised privileges" \
		file_with_raised_privileges PREFETCH_STATS
	tap_check "PREFETCH_TRACE with raised privileges" \
		file_with_raised_privileges PREFETCH_TRACE
}

#
# Missing resources of the process or the machine.
#

# If the stock check succeeds with so few descriptors, ours must, too.
few_descriptors()
{
	local n

	echo "threads = 4" >"$dir/conf"
	for ((n = 3; n <= 20; n++)); do
		rm -f "$dir/stock.status" "$dir/stats" "$dir/record"
		INNER="ulimit -n $n"
		run_one stock "$E2FSCK_STOCK"
		[ "$(<"$dir/stock.status")" = 1 ] || continue
		check_runs "0 1 2" "" PREFETCH=1 PREFETCH_CONFIG="$dir/conf" \
			PREFETCH_STATS="$dir/stats" \
			PREFETCH_TRACE="$dir/record" ||
			{ echo "$n descriptors"; return 1; }
	done
}

# The module is found even without /proc.
no_folder()
{
	local INNER="mount -t tmpfs none $1"
	local PREFIX="unshare -m"

	[ "$1" != "/proc /sys" ] ||
		INNER="mount -t tmpfs none /proc; mount -t tmpfs none /sys"
	rm -f "$dir/stock.status"
	echo "threads = 4" >"$dir/conf"
	reads_ahead yes 0 "" PREFETCH=1 PREFETCH_CONFIG="$dir/conf"
}

test_machine()
{
	local folder

	(tap_check "few descriptors" few_descriptors)
	rm -f "$dir/stock.status"
	for folder in /proc /sys "/proc /sys"; do
		if [ -n "$E2PF_RUNTIME" ]; then
			tap_skip "no $folder" "a sanitizer needs /proc"
		elif have_root && unshare -m true 2>/dev/null; then
			tap_check "no $folder" no_folder "$folder"
		else
			tap_skip "no $folder" "cannot unshare mounts"
		fi
	done
	rm -f "$dir/stock.status"
}

# Each call of the launcher fails in turn, with all of its files in use.
calls="malloc calloc realloc strdup strndup mmap open fstat stat readlink
realpath read getrlimit sigaction setenv fdopen access fork poll pipe2
posix_spawn posix_spawn_file_actions_init posix_spawn_file_actions_addopen
posix_spawn_file_actions_adddup2 dlopen execv"

# one_fails FAULT: returns 2 if the fault did not happen.  A setting is invalid,
# so that a line has to be printed.
one_fails()
{
	: >"$dir/hits"
	rm -f "$dir/stats" "$dir/record"
	# Statistics and trace may each be refused.
	check_runs "0 1 2 3" "" PREFETCH=1 PREFETCH_CONFIG="$dir/conf" \
		PREFETCH_STATS="$dir/stats" PREFETCH_TRACE="$dir/record" \
		PREFETCH_MEM=x \
		LD_PRELOAD="$FAULT${E2PF_RUNTIME:+:$E2PF_RUNTIME}" \
		E2PF_FAULT="$1" E2PF_FAULT_LOG="$dir/hits" || {
		echo "$1"
		return 1
	}
	[ -s "$dir/hits" ] || return 2
}

each_call_fails()
{
	local n

	echo "threads = 4" >"$dir/conf"
	case $1 in
	exec*) ;;
	*) one_fails "calls:launcher:$1:1"; [ $? != 1 ] || return ;;
	esac
	for ((n = 1; n < 40; n++)); do
		one_fails "call:launcher:$1:$n"
		case $? in
		1) return 1 ;;
		2) break ;;
		esac
	done
	[ $n -gt 1 ] || unused+=("$1")
	[ $n -lt 40 ]
}

test_calls()
{
	local name
	local -a unused=()

	FAULT=$(library fault-inject) || {
		tap_skip "calls that fail" "fault-inject.c does not compile"
		return
	}
	for name in $calls; do
		tap_check "$name() of the launcher fails" each_call_fails "$name"
	done
	tap_diag "not called: ${unused[*]}"
}

#
# btrfs check.
#

# btrfs_runs LINES TEXT [VARIABLE=VALUE...]
btrfs_runs()
{
	local lines=$1 text=$2 status

	shift 2
	env "LD_PRELOAD=$E2PF_RUNTIME" "$@" "$BTRFS_TEST" check "$dir/btrfs" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	cat "$dir/err"
	[ $status = "$stock" ] || { echo "status $status"; return 1; }
	grep -v '^btrfs-prefetch: ' "$dir/err" >"$dir/rest"
	[ "$(grep -c '^btrfs-prefetch: ' "$dir/err")" = "$lines" ] &&
	"$IMGTOOL" cmp "$dir/bo" "$dir/out" "$dir/be" "$dir/rest" &&
	{ [ -z "$text" ] || grep -qF "$text" "$dir/err"; }
}

test_btrfs()
{
	local program stock

	program=$(command -v btrfs)
	if [ -z "$program" ] || ! have_program mkfs.btrfs ||
	   ! truncate -s 128M "$dir/btrfs" ||
	   ! mkfs.btrfs -q "$dir/btrfs" >/dev/null 2>&1; then
		tap_skip "btrfs check" "no btrfs"
		return
	fi
	"$program" check "$dir/btrfs" >"$dir/bo" 2>"$dir/be" </dev/null
	stock=$?
	tap_check "btrfs, PREFETCH=yes" btrfs_runs 1 "prefetching is off" \
		PREFETCH=yes
	tap_check "btrfs, PREFETCH_THREADS=abc" btrfs_runs 1 "the default" \
		PREFETCH=1 PREFETCH_THREADS=abc
	tap_check "btrfs, PREFETCH_STATS that cannot be written" \
		btrfs_runs 1 "PREFETCH_STATS: cannot write \"/nosuch/x\"" \
		PREFETCH=1 PREFETCH_STATS=/nosuch/x
	tap_check "btrfs, PREFETCH_CONFIG that is not there" \
		btrfs_runs 1 "PREFETCH_CONFIG: " \
		PREFETCH=1 PREFETCH_CONFIG=/nosuch/x
	tap_check "btrfs, PREFETCH_BTRFS that is not there" \
		btrfs_runs 1 "PREFETCH_BTRFS: cannot run \"/nosuch/x\"" \
		PREFETCH=1 PREFETCH_BTRFS=/nosuch/x
	tap_check "btrfs, PREFETCH_BTRFS that is the launcher" \
		btrfs_runs 1 "this is the launcher itself" \
		PREFETCH=1 PREFETCH_BTRFS="$BTRFS_TEST"
	rm -f "$dir/btrfs"
}

test_wrong_settings()
{
	local options=-fy group

	dir=$E2PF_TMP/wrong
	mkdir "$dir"
	chmod 0777 "$dir"
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	cp --sparse=auto "$image" "$image.bad"
	echo "clri /d1" | image_debugfs "$image.bad"
	image=$image.bad
	[ $# -gt 0 ] || set -- variables outputs settings library program \
		machine calls btrfs
	for group in "$@"; do
		"test_$group"
	done
	tap_check "no process is left behind" no_process_left
}

require_programs mke2fs debugfs flock diff mkfifo
tmp_setup
helpers_setup
images_setup
export E2FSCK_TEST
tap_run test_wrong_settings "$@"
