# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# To be sourced by all test scripts (bash): TAP lines, a temporary directory, the helpers
# written in C, and tests of what this machine allows.  images.sh makes images,
# compare.sh compares checks with stock's.  A script ends with
#
#	setup mke2fs debugfs		# skips the script without these programs
#	tap_run test_all
#
# where test_all calls tap_check for what is tested: a function whose last command
# decides, and whose output is shown if it fails.  skipped and tap_unless say why
# something is not tested here, tap_bail ends a script that cannot go on.  Only lines for
# TAP go to standard output below tap_run.  Files go to $E2PF_TMP, which is removed at
# the end, loop devices of loop_attach included, also if the script is interrupted.
# wait_for waits for a condition: nothing else in a test depends on time.
#
# By hand, from the directory of the project after make:
#
#	srcdir=tests top_builddir=$PWD tests/scripts/test-NAME.sh
#
# Variables a caller may set:
#   srcdir, top_builddir	as automake sets them (default: ., srcdir/..)
#   E2FSCK_TEST		the command under test, an absolute path (default: the
#			wrapper of the build tree)
#   E2FSCK_STOCK	the stock checker, an absolute path, also for the command under
#			test (default: e2fsck of PATH or /sbin)
#   BTRFS_TEST, BTRFS_STOCK	the same of btrfs
#   SANITIZERS		those it was built with, by gcc (default: no)
#   E2PF_JOBS		workers at a time (default: online processors)
#   TMPDIR		where the images go (default: /tmp)

set -u

# Background processes of a shell ignore SIGINT, and a signal that is ignored at
# the start of a shell stays ignored.  The tests of signals, and Ctrl-C, need
# the default.
if [ -n "$(trap -p INT QUIT)" ]; then
	exec env --default-signal=INT,QUIT bash "$0" "$@"
fi

srcdir=$(cd "${srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-$srcdir/..}" && pwd)
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
E2FSCK_TEST=${E2FSCK_TEST:-$top_builddir/e2fsck/e2fsck}
PREFETCHER=$top_builddir/cmd/e2prefetch
LIBRARY=$top_builddir/e2fsck/.libs/e2fsck-prefetch.so
ACCEL=$top_builddir/e2fsck/.libs/e2fsck-accel.so
E2PF_JOBS=${E2PF_JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}

# The host's settings must not affect images or output.  E2PF_TEST_MARK identifies the
# processes of a run, to find those left behind.
unset LD_PRELOAD LANGUAGE E2FSCK_FORCE_INTERACTIVE E2FSCK_FIXES_ONLY
unset PREFETCH PREFETCH_THREADS PREFETCH_MEM PREFETCH_STATS PREFETCH_E2FSCK
unset "${!E2PREFETCH@}" PREFETCH_VERBOSE PREFETCH_ACCEL TEST_MMAP_IO E2FSPROGS_UNDO_DIR \
	E2FSCK_JBD_DEBUG
[ -z "${E2FSCK_STOCK-}" ] || export PREFETCH_E2FSCK=$E2FSCK_STOCK
E2FSCK_STOCK=${E2FSCK_STOCK:-$(command -v e2fsck)}
BTRFS_TEST=${BTRFS_TEST:-$top_builddir/btrfs/btrfs}
BTRFS_STOCK=${BTRFS_STOCK:-$(command -v btrfs)}
export PATH LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=GMT0 PAGER=cat DEBUGFS_PAGER=cat
export E2FSPROGS_FAKE_TIME=1500000000 E2FSCK_TIME=1500000000
export E2FSCK_CONFIG=/dev/null PREFETCH_CONFIG=/dev/null PREFETCH_LOG=0 \
	SOURCE_DATE_EPOCH=1500000000
export E2PF_TEST_MARK=e2pf-test-$$

# The preload library of a sanitized build is loaded into an e2fsck that is not
# sanitized.  The address sanitizer checks that it is the first library loaded, which it
# is not if the user preloads another; but it must precede libc, or it does not see the
# heap.  Leaks of e2fsck are ignored, memory that e2fsck reads uninitialized must have
# the same contents as without the sanitizer, and e2fsck's handlers of fatal signals are
# kept.  The thread sanitizer cannot be loaded after the program has started, so with it
# nothing can be preloaded.
E2PF_RUNTIME=
case ${SANITIZERS:-no} in
*address*)
	E2PF_RUNTIME=$(ldd "$LIBRARY" | awk '/libasan/ { print $3 }')
	ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:${ASAN_OPTIONS-}
	ASAN_OPTIONS=max_malloc_fill_size=0:$ASAN_OPTIONS
	export ASAN_OPTIONS
	;;
*thread*)
	E2PF_NO_PRELOAD="the thread sanitizer cannot be preloaded"
	;;
esac
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS-}

#
# TAP.  Lines have no numbers, because workers write them in parallel; the plan comes
# last.
#
tap_ok() { printf 'ok - %s\n' "$*"; }

# tap_not_ok NAME [FILE [LINES]]: FILE, or its last lines, are shown as a diagnostic.
tap_not_ok()
{
	printf 'not ok - %s\n' "$1"
	[ $# -lt 2 ] || tail -n "${3-+1}" "$2" | sed 's/^/# /'
}

tap_skip() { printf 'ok - %s # SKIP %s\n' "$1" "$2"; }
# skipped NAME REASON: is it, because there is a REASON?
skipped() { [ -n "$2" ] && tap_skip "$1" "$2"; }
# tap_unless REASON NAME COMMAND...: tap_check, or skipped.
tap_unless() { skipped "$2" "$1" || tap_check "${@:2}"; }
tap_diag() { printf '# %s\n' "$*"; }

tap_skip_all()
{
	printf '1..0 # SKIP %s\n' "$*"
	exit 0
}

tap_bail()
{
	printf 'Bail out! %s\n' "$*"
	exit 99
}

# tap_check NAME COMMAND...: ok if the command succeeds; otherwise its output is the
# diagnostic.
tap_check()
{
	local log=$E2PF_TMP/check.$BASHPID

	if "${@:2}" >"$log" 2>&1; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "$log"
	fi
	rm -f "$log"
}

# exits STATUS COMMAND...: it ends with STATUS; output to $dir/out and $dir/err.
exits()
{
	local status

	# A reader of before may still write to its file.
	rm -f "$dir/out" "$dir/err"
	timeout -s KILL 600 "${@:2}" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	cat "$dir/out" "$dir/err"
	[ $status = "$1" ] || { echo "status $status"; return 1; }
}

# one_line: is there one line in $dir/err?
one_line() { [ "$(wc -l <"$dir/err")" = 1 ]; }

# undisturbed COMMAND...: what the kernel or other processes may disturb (a page is
# dropped, a child gets no processor for seconds) succeeds once in a number of tries.
# What is broken never does.
undisturbed()
{
	local try

	for try in {1..20}; do
		"$@" && return
	done
	return 1
}

# Standard output of the script goes through tap_run, which counts the lines,
# writes the plan and gives the exit status of the script.  An unset variable ends
# a script in its middle: then tap_run bails out.
tap_run()
{
	{
		"$@"
		echo "tap_run: end"
	} | {
		# Some awks buffer their output.
		count=0 status=0
		while IFS= read -r line; do
			if [ "$line" = "tap_run: end" ]; then
				echo "1..$count"
				exit $status
			fi
			printf '%s\n' "$line"
			case $line in
			"ok "*) count=$((count + 1)) ;;
			"not ok "*) count=$((count + 1)) status=1 ;;
			"Bail out!"*) exit 99 ;;
			esac
		done
		tap_bail "the script ended before its end"
	}
}

#
# The temporary directory, and the end of a script.
#
tmp_cleanup()
{
	local status=$?

	trap - EXIT HUP INT TERM
	kill $(jobs -p) 2>/dev/null
	cgroups_end >/dev/null 2>&1
	# A loop device keeps its file in use, and the file keeps the mount in use.
	awk -v tmp="$E2PF_TMP/" 'index($2, tmp) == 1 { print $2 }' /proc/self/mounts |
		tac | xargs -r umount -l 2>/dev/null
	[ ! -s "$E2PF_TMP/loops" ] ||
		xargs -n 1 losetup -d <"$E2PF_TMP/loops" 2>/dev/null
	rm -rf "$E2PF_TMP"
	exit "$status"
}

tmp_setup()
{
	E2PF_TMP=$(mktemp -d "${TMPDIR:-/tmp}/e2pf-test.XXXXXXXXXX") ||
		tap_bail "no temporary directory"
	# Tests that drop their privileges must be able to read it.
	chmod 0711 "$E2PF_TMP"
	trap tmp_cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# compiled NAME OUT FLAG...: prints the name of OUT.
compiled()
{
	${CC:-cc} -O2 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -o "$2" \
		"$srcdir/tools/$1"*.c "${@:3}" >&2 && echo "$2"
}

# tool NAME [FLAG...]: a helper in C, that of the build tree or compiled here.
tool()
{
	local built=$top_builddir/tests/tools/$1

	if [ -x "$built" ]; then echo "$built"; else compiled "$1" "$E2PF_TMP/$1" \
		"${@:2}"; fi
}

# library NAME: one to be preloaded, without sanitizers.
library() { compiled "$1" "$E2PF_TMP/$1.so" -w -shared -fPIC -ldl -lpthread; }

# setup PROGRAM...: what most scripts need; without one of the programs, all of which
# are part of Debian, they are skipped.
setup()
{
	require_programs "$@"
	tmp_setup
	IMGTOOL=$(tool imgtool) && FIXED_RANDOM=$(library fixed-random) &&
		FILL_STACK=$(library fill-stack) ||
		tap_bail "a tool does not compile"
	images_setup
}

require_programs()
{
	local missing

	missing=$(lacks "$@")
	[ -z "$missing" ] || tap_skip_all "$missing"
	[ -x "$E2FSCK_TEST" ] ||
		tap_skip_all "command under test not built: $E2FSCK_TEST"
	[ -z "${E2PF_NO_PRELOAD-}" ] || tap_skip_all "$E2PF_NO_PRELOAD"
}

#
# The page cache.
#

# drop FILE: no page of it stays cached, as far as its filesystem allows.
drop() { dd of="$1" conv=notrunc,fdatasync oflag=nocache count=0 status=none; }

# resident FILE: how many of its pages are cached.
resident() { fincore -rnbo PAGES "$1"; }

is_dropped() { drop "$1" && [ "$(resident "$1")" = 0 ]; }

#
# What this machine allows.
#
have_root() { [ "$(id -u)" = 0 ]; }
have_program() { command -v "$1" >/dev/null; }

# lacks PROGRAM...: prints which it does not have.  These print why it has none of that:
# mount name spaces, loop devices, traces of calls, what is not in memory, a nice value 7
# above the tests' own.
lacks()
{
	local program

	for program; do
		have_program "$program" || { echo "$program not found"; return; }
	done
}
no_mounts() { have_root && unshare -m true 2>/dev/null || echo "no mount name space"; }
no_loops() { have_root && [ -w /dev/loop-control ] || echo "no loop device"; }
no_strace()
{
	[ -z "$E2PF_RUNTIME" ] && strace -qq true 2>/dev/null ||
		echo "no strace, or a sanitizer"
}
no_disk()
{
	have_program fincore && head -c 65536 /dev/zero >"$E2PF_TMP/dropped" &&
		undisturbed is_dropped "$E2PF_TMP/dropped" || echo "files stay in memory"
}

# own_mounts ARG...: begins the script again, with mounts of its own, if it can.  A
# namespace that another process makes meanwhile would copy ours and keep devices in use.
own_mounts()
{
	[ -n "${E2PF_OWN_MOUNTS-}$(no_mounts)" ] ||
		E2PF_OWN_MOUNTS=1 exec unshare -m bash "$0" "$@"
}

# make_apart TARGET...: a make of its own, not a part of the one that runs the tests.
make_apart()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
		make -s -C "$top_builddir" "$@"
}

# loop_attach FILE [OPTION...]: prints the device; it is detached at the end.
loop_attach()
{
	local dev

	have_root && have_program losetup || return 1
	dev=$(losetup -f --show "${@:2}" "$1" 2>/dev/null) || return 1
	printf '%s\n' "$dev" >>"$E2PF_TMP/loops"
	printf '%s\n' "$dev"
}

loop_detach() { losetup -d "$1" && sed -i "\\|^$1\$|d" "$E2PF_TMP/loops"; }

# make_cgroup CONTROLLER V1 V2 LIMIT [NAME]: a cgroup whose file V1 or V2, by the version
# of the controller, has this limit; sets $group.
make_cgroup()
{
	local root=/sys/fs/cgroup file=$3

	[ ! -d $root/$1 ] || root=$root/$1 file=$2
	group=$root/e2pf-test-$$-$1-$4${5+-$5}
	mkdir -p "$group" && echo "$group" >>"$E2PF_TMP/groups" &&
		echo "$4" >"$group/$file"
}
memory_group() { make_cgroup memory memory.limit_in_bytes memory.max "$1M"; }	# MIB
pids_group() { make_cgroup pids pids.max pids.max "$@"; }	# TASKS [NAME]

# The kernel may take a moment until a process has left its group.
cgroups_end()
{
	local group

	[ ! -e "$E2PF_TMP/groups" ] || while read -r group; do
		[ ! -d "$group" ] || wait_for rmdir "$group"
	done <"$E2PF_TMP/groups"
}

# no_groups memory|pids
no_groups()
{
	{ have_root && $1_group 1 && cgroups_end; } >/dev/null 2>&1 ||
		echo "no cgroup with the controller $1"
}

# PID and name of processes with our mark in the environment that run a checker.
# Children of this shell have the mark, too.
marked_processes()
{
	local file name

	for file in $(grep -lsxz "E2PF_TEST_MARK=$E2PF_TEST_MARK" /proc/[0-9]*/environ); \
		do
		{ read -r name <"${file%environ}comm"; } 2>/dev/null || continue
		case $name in
		btrfs*|e2fsck*|*prefetch*|fsck.ext*|badblocks) echo \
			"${file//[!0-9]/} $name" ;;
		esac
	done
}

# wait_for COMMAND...: waits until it succeeds.  The limit of ten minutes is
# only for hangs: on any machine, however slow, the command succeeds earlier.
wait_for()
{
	local try

	for ((try = 0; try < 12000; try++)); do
		"$@" && return
		sleep 0.05
	done
	echo "still not: $*"
	return 1
}

# A process that is about to exit may need a moment, or longer on a busy machine.
nothing_marked() { [ -z "$(marked_processes)" ]; }
no_process_left() { wait_for nothing_marked || { marked_processes; false; }; }

. "$srcdir/tools/images.sh"
. "$srcdir/tools/tally.sh"
