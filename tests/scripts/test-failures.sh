#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Whatever of ours is broken or denied, the check is the stock one: same output,
# same exit status.  Each row breaks one thing.  With PREFETCH_VERBOSE the reason
# is told, and nothing without.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

WRAPPER=$top_builddir/e2fsck/e2fsck
# The program, what is stock, and how it checks.
program=e2fsck stock=$E2FSCK_STOCK how=-fn

# fresh: a wrapper and a preload library, to be broken.
fresh()
{
	rm -rf "$dir/x"
	mkdir "$dir/x"
	cp "$top_builddir/$program/$program" \
		"$top_builddir/$program/.libs/$program"-*.so "$dir/x"
	ln -s $program "$dir/x/$program-prefetch"
}

# stock: the outcome to compare with, of the same image.
stock()
{
	"$stock" $how "$image" >"$dir/so" 2>"$dir/se" </dev/null
	echo $? >>"$dir/so"
}

# launch [COMMAND...]: the wrapper in $dir/x, run by that command.
launch()
{
	PREFETCH=1 timeout 600 "$@" "$dir/x/$program" $how "$image" \
		>"$dir/out" 2>"$dir/err" </dev/null
	echo $? >>"$dir/out"
}

same()
{
	cmp "$dir/so" "$dir/out" && cmp "$dir/se" "$dir/err" && return
	cat "$dir/out" "$dir/err"
	return 1
}

# tells REASON: the line that REASON matches, and nothing else, was added.
tells()
{
	cmp "$dir/so" "$dir/out" || { cat "$dir/out" "$dir/err"; return 1; }
	grep -Ex -- "$program-prefetch: .*($1).*" "$dir/err" ||
		{ cat "$dir/err"; return 1; }
	grep -v "^$program-prefetch: " "$dir/err" | cmp - "$dir/se"
}

# is_stock REASON [COMMAND...]: silently, and with the reason.
is_stock()
{
	launch "${@:2}" && same && PREFETCH_VERBOSE=2 launch "${@:2}" && tells "$1"
}

# row NAME REASON BREAK [COMMAND...]: BREAK is evaluated in $dir/x.
row()
{
	local name=$1

	fresh
	(cd "$dir/x" && eval "$3") || tap_bail "$name: cannot be set up"
	[ $program = e2fsck ] || name="$program: $name"
	tap_check "$name" is_stock "$2" "${@:4}"
}

#
# The preload library's file.
#

# cut_at LENGTH...: the preload library's file has these lengths, one after the other.
cut_at()
{
	local length bad=0

	for length in "$@"; do
		head -c "$length" "$LIBRARY" >"$dir/x/e2fsck-prefetch.so"
		launch && same || { echo "cut at $length"; bad=1; }
	done
	return $bad
}

test_cut()
{
	local list

	fresh
	# Where sections begin, and a byte before that.
	list=$(readelf -SW "$LIBRARY" | sed -n 's/^ *\[ *[0-9]*\] *//p' |
		awk '$4 ~ /^[0-9a-f]+$/ { print "0x" $4 }')
	tap_check "library cut where its sections begin" cut_at \
		$(for at in $list; do echo $((at)) $((at > 0 ? at - 1 : 0)); done |
			sort -nu)
}

# byte AT VALUE: in the preload library's file, octal.
byte() { printf "\\$2" |
	dd of=e2fsck-prefetch.so bs=1 seek="$1" conv=notrunc status=none; }

# linked OUT FLAG...: from the last source.
linked() { $CC -shared -fPIC -x c -o "$@" -; }

# needs VERSION: a preload library with a library whose symbol has another version than
# that with which it was linked, or none: then the library is not there.
needs()
{
	local gone='int gone(void) { return 0; }'

	echo 'NEW { gone; };' >NEW
	echo 'OLD { gone; };' >OLD
	linked libgone.so -Wl,--version-script=NEW <<<"$gone" &&
	echo 'int gone(void); __attribute__((constructor)) static void f(void) { gone(); }' |
		$CC -shared -fPIC -o e2fsck-prefetch.so -x c - -L. -lgone \
		-Wl,-rpath,"$dir/x" &&
	if [ -n "$1" ]; then linked libgone.so -Wl,--version-script="$1" <<<"$gone"
	else rm libgone.so; fi
}

test_library_files()
{
	local name reason break

	while IFS='|' read -r name reason break; do
		row "$name" "${reason//,/|}" "$break"
	done <<-'END'
	library missing|unreadable or empty|rm e2fsck-prefetch.so
	library empty|unreadable or empty|: >e2fsck-prefetch.so
	library is a directory|unreadable or empty|rm e2fsck-prefetch.so; mkdir e2fsck-prefetch.so
	library is a pipe|unreadable or empty|rm e2fsck-prefetch.so; mkfifo e2fsck-prefetch.so
	library is text|unreadable or empty|seq 100000 >e2fsck-prefetch.so
	library of another processor|different architectures|byte 18 363
	library of another word size|different architectures,truncated|byte 4 1
	library needs a library that is missing|libgone.so: cannot open,library libgone|needs ''
	path with a blank|contains a blank|mkdir '../x y'; mv * '../x y'; ln -s '../x y/e2fsck' e2fsck
	END
	[ -n "$MUSL" ] ||
		row "library needs the missing version of a symbol" \
			"version .NEW. not found" "needs OLD"
	rm -rf "$dir/x y"
	tap_check "an e2fsck with threads of its own" threaded_program
	for break in rm "truncate -s 0" "truncate -s 50000"; do
		tap_check "library with accelerations: $break" without_accel $break
	done
}

# A program that refers to the function by which threads are created, and becomes the
# stock e2fsck: -m N of Lustre's scans with copies of the filesystem's structure.
threaded_program()
{
	fresh
	$CC -w -pthread -o "$dir/x/threaded" -x c - <<-'END' || return
	#include <pthread.h>
	#include <stdlib.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int (*volatile create)() = (int (*)())pthread_create;
		return !create || execv(getenv("STOCK"), argv);
	}
	END
	STOCK=$stock PREFETCH_E2FSCK=$dir/x/threaded \
		is_stock "preload library: not loaded \(this e2fsck is multithreaded\)"
}

# without_accel COMMAND...: the library with accelerations is broken so; the check reads
# ahead, and accelerates nothing.
without_accel()
{
	fresh
	"$@" "$dir/x/e2fsck-accel.so" || return
	rm -f "$dir/stats.json"
	PREFETCH_STATS=$dir/stats.json launch && same &&
	jq -e '(.stages | map(.reads) | add > 0) and ([.notes[] | select(endswith(
		"not accelerated (e2fsck-accel.so was not loaded)"))] |
		length == 3)' "$dir/stats.json"
}

#
# The self-test and the process.
#

# A library of the user that breaks what the preload library calls; e2fsck does not call
# it.
breaker()
{
	cat >"$dir/breaker.c" <<-'END'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((destructor)) static void no_child_is_left(void)
	{
		if (waitpid(-1, NULL, WNOHANG) >= 0)
			_exit(99);
	}
	static int is(const char *what)
	{
		const char *set = getenv("BREAK");
		return set && !strcmp(set, what);
	}
	void ext2fs_clear_block_bitmap(void *map)
	{
		void (*real)(void *) =
			dlsym(RTLD_NEXT, "ext2fs_clear_block_bitmap");
		if (is("crash"))
			*(volatile int *)8 = 1;
		if (is("abort"))
			abort();
		if (is("exit"))
			exit(3);
		while (is("hang"))
			sleep(100);
		real(map);
	}
	END
	$CC -shared -fPIC -o "$dir/breaker.so" "$dir/breaker.c" -ldl
}

# self_test ACCELERATIONS WHY [OPTION...]: how many accelerations are used, and why, with
# these options of env(1); the preload library reads ahead.
self_test()
{
	local stats=$dir/stats.json

	rm -f "$stats"
	PREFETCH_STATS=$stats launch env "${@:3}"
	same || return
	cat "$stats"
	grep -q "$2" "$stats" &&
	jq -e "[.notes[] | select(contains(\": accelerated \"))] | length $1" "$stats" &&
	jq -e '([.stages[].reads] | add) > 0 and .memory_budget_bytes > 0' "$stats"
}

test_self_test()
{
	local what preload=LD_PRELOAD=${E2PF_RUNTIME:+$E2PF_RUNTIME:}
	local failed="the self-test crashed or hung"

	# One that gets no processor for 5 s does not.
	tap_check "self-test passes" \
		undisturbed self_test "> 0" "" "$preload$dir/breaker.so"
	for what in crash abort exit; do
		tap_check "self-test: $what" \
			self_test "== 0" "$failed" BREAK=$what "$preload$dir/breaker.so"
	done
	for what in fork mmap; do
		E2PF_FAULT=calls:e2fsck-prefetch.so:$what:1 E2PF_FAULT_LOG=$dir/hits \
			tap_check "self-test: $what" \
				self_test "== 0" "the self-test did not run" \
				"$preload$FAULT"
	done
	tap_check "a hanging self-test is left" \
		self_test "== 0" "$failed" BREAK=hang "$preload$dir/breaker.so"
	# Then waitpid() has no child.
	tap_check "SIGCHLD ignored" undisturbed self_test "> 0" "" --ignore-signal=CHLD
	tap_check "no process is left" no_process_left
}

# killed CALL[, WORDS]: by a filter, at this system call.
killed()
{
	row "killed at $1" "a required system call is blocked" : \
		"$DENY_CALLS" kill "${1%%,*}"
}

# A filter of system calls that ends the process, as systemd's without an error
# number does; checks without and with accelerations, and of a small filesystem.
test_filter()
{
	local call

	skipped "filters of system calls" "$("$DENY_CALLS" kill mincore true ||
		echo "no seccomp")" && return
	for call in socket sched_getaffinity; do
		killed "$call"
		PREFETCH_ACCEL=none killed "$call, without accelerations"
	done
	unlisted_calls
	(image=$small
	stock
	killed "socket, small filesystem"
	TEST_MMAP_IO=1 killed "socket, mmap manager"
	PREFETCH=1 PREFETCH_VERBOSE=0 \
	row "a filter of something else" "checked in" : "$DENY_CALLS" kill pidfd_open
	! have_root || ! have_program setpriv ||
	PREFETCH_ACCEL=none row "a filter, and 700 groups" "checked in" : \
		setpriv --groups "$(seq -s, 20001 20700)" "$DENY_CALLS" kill "$unlisted")
}

# What systemd's list @system-service lacks.  A check reads ahead without.
unlisted=mincore,cachestat,open_by_handle_at

unlisted_calls()
{
	local error accel

	for error in 1 38 kill; do
		for accel in all none; do
			fresh
			tap_unless "$(no_disk)" \
				"calls that services may not make: $error, $accel" \
				undisturbed reads_without $error $accel
		done
		tap_unless "$(no_disk)" \
			"e2prefetch, calls that services may not make: $error" \
			undisturbed loads_without $error
	done
}

reads_without()
{
	local stats=$dir/stats.json

	rm -f "$stats"
	drop "$image"
	PREFETCH_STATS=$stats PREFETCH_ACCEL=$2 launch "$DENY_CALLS" "$1" "$unlisted"
	same && cat "$stats" && jq -e '.prefetched_requests > 4' "$stats"
}

loads_without()
{
	drop "$image"
	exits 0 "$DENY_CALLS" "$1" "$unlisted" "$PREFETCHER" -v "$image" &&
		grep 'MiB read in' "$dir/err" &&
		exits 0 "$DENY_CALLS" "$1" "$unlisted" "$PREFETCHER" -v "$image" &&
		grep ' 0.0 MiB read in 0 requests' "$dir/err"
}

# The address sanitizer ends a program in which another library comes before it: one that
# the user preloads, by the names of gcc and clang, and one that the program needs.
test_sanitizers()
{
	local asan name wrapper=$WRAPPER
	local -x ASAN_OPTIONS=detect_leaks=0

	asan=$($CC -print-file-name=libasan.so) && asan=$(readlink -e "$asan")
	skipped "sanitizers" \
		"${E2PF_RUNTIME:+in a sanitized build}$(LD_PRELOAD=$asan true 2>&1 ||
		echo "no libasan")" && return
	ln -s "$asan" "$dir/libclang_rt.asan.so"
	for name in "$asan" "$dir/libclang_rt.asan.so"; do
		row "${name##*/} preloaded" "address sanitizer" : env LD_PRELOAD="$name"
	done
	for name in tsan ubsan; do
		asan=$($CC -print-file-name=lib$name.so)
		[ ! -e "$asan" ] || row "lib$name preloaded" "checked in" : \
			env LD_PRELOAD="$asan"
	done
	for name in address undefined; do
		if skipped "a program that needs a sanitizer, $name" \
			"$(needs_sanitizer $name 2>&1)"; then
			continue
		fi
		tap_check "e2fsck needs a sanitizer: $name" \
			exits 4 env PREFETCH=1 PREFETCH_E2FSCK="$dir/needs" "$wrapper"
		[ ! -e "$top_builddir/btrfs/btrfs" ] ||
			tap_check "btrfs needs a sanitizer: $name" exits 4 env \
				PREFETCH=1 \
				PREFETCH_BTRFS="$dir/needs" "$top_builddir/btrfs/btrfs" \
				check
	done
}

# needs_sanitizer NAME: a program that does; prints why there is none.
needs_sanitizer()
{
	echo 'int main(void) { return 4; }' |
		$CC -fsanitize="$1" -o "$dir/needs" -x c - 2>/dev/null && "$dir/needs"
	[ $? = 4 ] || echo "it cannot be built"
}

# closed_streams REDIRECTION: output of e2fsck to a closed stream must not
# appear in our files.
closed_streams()
{
	rm -f "$dir/stats"
	(
		eval "exec $1"
		PREFETCH=1 PREFETCH_STATS=$dir/stats LD_PRELOAD=$E2PF_RUNTIME \
			exec "$dir/x/e2fsck" -fn "$image"
	) || return
	head -c 300 "$dir/stats"
	jq -e .stages "$dir/stats" >/dev/null
}

# A line about a wrong setting must not end the check by SIGPIPE: with -p stock writes
# nothing that would.
broken_stderr()
{
	local status

	rm -f "$dir/broken"
	mkfifo "$dir/broken"
	exec 3<>"$dir/broken" 4>"$dir/broken" 3>&-
	env --default-signal=PIPE PREFETCH=1 PREFETCH_THREADS=x \
		LD_PRELOAD="$E2PF_RUNTIME" \
		"$dir/x/e2fsck" -fp "$image" >"$dir/out" 2>&4
	status=$?
	exec 4>&-
	[ $status = 0 ] && [ -s "$dir/out" ]
}

test_limits()
{
	local streams

	fresh
	for streams in "2>&-" ">&-" ">&- 2>&-" "<&- >&- 2>&-"; do
		tap_check "standard streams that are closed, $streams" \
			closed_streams "$streams"
	done
	tap_check "standard error is a broken pipe, and a setting wrong" broken_stderr
	rm -f "$dir/stats"
	if ! skipped "limits" "${E2PF_RUNTIME:+a sanitizer takes terabytes}"; then
		row "address space limited" "memory is limited" : \
			bash -c 'ulimit -v 2000000; exec "$@"' -
		row "data limited" "memory is limited" : \
			bash -c 'ulimit -d 2000000; exec "$@"' -
		row "a stack of 72 KiB" "checked in" : bash -c 'ulimit -s 72; exec "$@"' -
	fi
}

#
# Settings.
#

# wrong LINE VARIABLE=VALUE...: nothing is read ahead, there is this line, and the check
# runs.
wrong()
{
	launch env "${@:2}"
	cmp "$dir/so" "$dir/out" || { cat "$dir/out"; return 1; }
	grep -v "^e2fsck-prefetch: " "$dir/err" | cmp - "$dir/se" &&
	[ "$(grep "^e2fsck-prefetch: " "$dir/err")" = \
		"e2fsck-prefetch: $1; prefetching is off" ] && return
	cat "$dir/err"
	return 1
}

# wrong_place WHY: of the file of settings, whatever it is.
wrong_place() { wrong "$dir/conf$1" PREFETCH_CONFIG="$dir/conf"; }

# wrong_file TEXT WHY
wrong_file()
{
	printf "$1" >"$dir/conf"
	wrong_place "$2"
}

size="a size of 1M or more (K, M, G, T)"
variables=(
	"PREFETCH_THREADS|0|\"0\" is not a number from 1 to 256"
	"PREFETCH_MEM|1000|\"1000\" is not $size"
	"PREFETCH_PROGRESS|86401|\"86401\" is not a number from 1 to 86400"
	"PREFETCH_ACCEL|crc|\"crc\" is not none, all or a list of crc32c, bitmaps, indirect"
	"PREFETCH_CONFIG|relative|\"relative\" is not an absolute path"
	$'PREFETCH_THREADS|\e[31m|"?[31m" is not a number from 1 to 256'
)

test_settings()
{
	local entry name value line

	fresh
	for entry in "${variables[@]}"; do
		IFS='|' read -r name value line <<<"$entry"
		tap_check "$name=$(printf %q "$value")" \
			wrong "$name: $line" "$name=$value"
	done
	while IFS='|' read -r name value line; do
		tap_check "$name" wrong_file "$value" "$line"
	done <<-END
	unknown setting|treads = 4\n|:1: unknown setting "treads"
	invalid value|# a\n\nmem = 1\n|:3: mem: "1" is not $size
	no value|threads\n|:1: not "name = value"
	not text|threads = 4\000\n|: not a text file
	the last line has no newline|mem = 5M\r\nthreads=0|:2: threads: "0" is not a number from 1 to 256
	END
	tap_check "a file that is too long" \
		wrong_file "$(yes '#' | head -c 70000)" ": larger than 64 KiB"
	rm -f "$dir/conf"
	mkfifo "$dir/conf"
	tap_check "settings in a pipe" wrong_place ": not a regular file"
	rm -f "$dir/conf"
	tap_check "settings that are missing" wrong_place ": No such file or directory"
	tap_check "prefetch = 0" turned_off
}

# Called by the name of a link in another directory, the file decides; the variable
# and the command e2fsck-prefetch come before it.
turned_off()
{
	local e2fsck

	echo 'prefetch = 0' >"$dir/conf"
	mkdir "$dir/links"
	ln -s "$dir/x/e2fsck" "$dir/links/e2fsck"
	for e2fsck in "$dir/links/e2fsck" "$dir/x/e2fsck-prefetch" "$dir/x/e2fsck"; do
		PREFETCH_CONFIG=$dir/conf PREFETCH_VERBOSE=1 "$e2fsck" \
			-fn "$image" 2>&1 >/dev/null | grep -c "checked in"
	done >"$dir/counts"
	PREFETCH_CONFIG=/dev/null PREFETCH_VERBOSE=1 "$dir/links/e2fsck" \
		-fn "$image" 2>&1 >/dev/null | grep -c "checked in" >>"$dir/counts"
	cat "$dir/counts"
	[ "$(tr '\n' ' ' <"$dir/counts")" = "0 1 0 1 " ]
}

#
# btrfs: what is not the same code.
#

# test-stock.sh has how the stock e2fsck is looked for.
stock_missing()
{
	exits 1 env PREFETCH_LAUNCHED=3 "$dir/x/btrfs" check "$image" && one_line &&
		grep "no stock btrfs found (/.*): install btrfs-progs" \
			"$dir/err"
}

test_btrfs()
{
	local program=btrfs how=check image=$dir/fs.btrfs stock=$BTRFS_STOCK
	local -x PREFETCH_BTRFS=$stock PREFETCH_THREADS=2 LD_PRELOAD=$E2PF_RUNTIME

	mkdir -p "$dir/files/a/b"
	truncate -s 256M "$dir/fs.btrfs"
	[ -n "$stock" ] && mkfs.btrfs -q --rootdir "$dir/files" \
		"$dir/fs.btrfs" >/dev/null 2>&1 ||
		{ tap_skip "btrfs" "no btrfs-progs"; return; }
	stock
	row "nothing broken" "checked in" :
	tap_check "btrfs: the stock program missing" stock_missing
	tap_unless "$(no_groups pids)" "btrfs: check -p with few tasks" \
		undisturbed progress_with_few
	"$DENY_CALLS" kill mincore true || return
	killed socket
	row "calls that services may not make" "checked in" : "$DENY_CALLS" kill \
		"$unlisted"
}

# progress_lines TASKS PROGRAM: how many lines its thread has written to.
progress_lines()
{
	drop "$image"
	pids_group "$1"
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		env PREFETCH=1 "$2" check -p "$image" 2>&1 |
		grep -c $'elapsed.*\r.*elapsed'
}

# Without a task for that thread stock has none.
progress_with_few()
{
	local n

	for n in {1..8}; do
		echo "$n $(progress_lines $n "$stock")" \
			"$(progress_lines $n "$dir/x/btrfs")"
	done >"$dir/lines"
	cat "$dir/lines"
	cgroups_end
	awk '$2 != $3 { bad = 1 } $2 { some = 1 } END { exit bad || !some }' "$dir/lines"
}

#
# Other programs.
#
inert()
{
	local library program

	for library in "$LIBRARY" "$ACCEL" \
		"$top_builddir/btrfs/.libs/btrfs-prefetch.so"; do
		for program in true bash "dumpe2fs -h $image" "mke2fs -V"; do
			PREFETCH=1 PREFETCH_VERBOSE=2 LD_PRELOAD=$library \
				$program </dev/null >"$dir/out" 2>"$dir/err"
			$program </dev/null >"$dir/so" 2>"$dir/se"
			cmp "$dir/so" "$dir/out" || return
			! grep -E "prefetch: [^p]" "$dir/err" || return
		done
	done
}

# Only stock's, and so says the linker: what it has to load could be missing.
needs_libc()
{
	readelf -dW "$LIBRARY" "$ACCEL" "$WRAPPER" "$top_builddir/btrfs/btrfs" |
		grep NEEDED >"$dir/needed" && grep libc "$dir/needed" &&
		! grep -v 'libc\|musl\|ld-\|libdl\|libpthread\|asan\|ubsan\|tsan' \
			"$dir/needed"
}

# The user's library translates paths, as fakechroot does: this process finds the
# preload library, but the linker of the program that it executes does not.
translated()
{
	cat >"$dir/translate.c" <<-'END'
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <stdlib.h>
	#include <string.h>
	#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
	static const char *translate(const char *path)
	{
		return path && strstr(path, "-prefetch.so") ? getenv("TRUE_PATH") : path;
	}
	int open(const char *path, int flags, ...)
	{
		return REAL(open)(translate(path), flags);
	}
	int open64(const char *path, int flags, ...)
	{
		return REAL(open64)(translate(path), flags);
	}
	void *dlopen(const char *path, int mode)
	{
		return REAL(dlopen)(translate(path), mode);
	}
	END
	$CC -D_GNU_SOURCE -w -shared -fPIC -o "$dir/translate.so" "$dir/translate.c" \
		-ldl &&
	fresh && rm "$dir/x/e2fsck-prefetch.so" &&
	LD_PRELOAD=$dir/translate.so TRUE_PATH=$LIBRARY \
		is_stock "the preload library is missing, unreadable or empty"
}

#
# The self-test makes each system call that only we make, or a filter would end the
# check.
#

# strace installs a filter if it need not see each call, which makes the self-test run.
traced() { strace --seccomp-bpf -f -qq -e 'trace=!getppid' -o "$dir/trace" "$@"; }

# calls_of EXECS: "check NAME" or "selftest NAME" for the calls in the trace after that
# many programs were started; the self-test is the process that is forked.
calls_of()
{
	awk -v execs="$1" '
	function made(by, child) { if (!thread[by] || by in forked) forked[child] }
	{ pid = $1; sub(/^[0-9]+ +/, "") }
	/^execve\(.* = 0$/ { started++; next }
	started < execs { next }
	/^<\.\.\. (clone3?|v?fork) resumed>/ { made(pid, $NF); next }
	!/^[a-z_0-9]+\(/ || /^(execve|exit|exit_group)\(/ { next }
	{
		name = $0
		sub(/\(.*/, "", name)
		print pid in forked ? "selftest" : "check", name
	}
	/^(clone3?|v?fork)\(/ {
		thread[pid] = /CLONE_THREAD/
		if (!/<unfinished/)
			made(pid, $NF)
	}' "$dir/trace" >>"$dir/calls"
}

calls_by() { sed -n "s/^$1 //p" "$dir/calls" | sort -u; }

# By these the self-test itself is begun and awaited, after one look at which process
# this is.
begins_selftest() { printf '%s\n' clone fork getpid kill pipe2 poll wait4; }

# makes_all STOCK WRAPPER ARGUMENT... IMAGE: what a check by the wrapper calls, with all
# that makes other calls, STOCK or the self-test calls, too.
makes_all()
{
	local stock=$1 wrapper=$2 missing

	shift 2
	rm -f "$dir/calls"
	drop "${!#}"
	traced "$stock" "$@" >/dev/null 2>&1
	calls_of 1
	calls_by check >"$dir/calls.stock"
	rm "$dir/calls"
	drop "${!#}"
	# Status and log.  A read takes longer than the reporter waits.
	traced -e inject=pread64:delay_enter=1500000:when=40 \
		env PREFETCH=1 PREFETCH_LOG=1 PREFETCH_VERBOSE=2 \
		PREFETCH_THREADS=3 "$wrapper" "$@" 2>&1 | grep "threads: 3"
	calls_of 3
	drop "${!#}"
	traced env PREFETCH=1 PREFETCH_THREADS=2 TEST_MMAP_IO=1 \
		"$wrapper" "$@" >/dev/null 2>&1
	calls_of 3
	calls_by check >"$dir/calls.ours"
	calls_by selftest >"$dir/calls.tried"
	# The self-test makes this one only for a send.
	echo open_by_handle_at >>"$dir/calls.tried"
	missing=$(sort -u "$dir/calls.stock" "$dir/calls.tried" \
		<(begins_selftest) | comm -13 - "$dir/calls.ours")
	echo "not made by the self-test: $missing"
	# Other users make these slow.
	grep -E '"/proc/locks"|F_(OFD_)?[GS]ETLK' "$dir/trace" && return 1
	grep -qx mincore "$dir/calls.tried" &&
	{ [ -n "$(no_disk)" ] || grep -qx mincore "$dir/calls.ours"; } &&
	[ -z "$missing" ]
}

# More directories than the first memory for references holds, and a file between two.
make_directories()
{
	mkdir -p "$dir/tree/"{1..2500} && echo |
		tee "$dir/tree/"{1..2500}/file >"$dir/out" &&
		truncate -s 8G "$1" &&
		mke2fs -q -F -t ext4 -O ^has_journal -d "$dir/tree" "$1"
}

test_calls()
{
	local image=$dir/directories

	skipped "calls of the self-test" "$(no_strace)" && return
	make_directories "$image" || tap_bail "no image with directories"
	tap_check "the self-test makes the calls of e2fsck's library" makes_all \
		"$E2FSCK_STOCK" "$WRAPPER" -fn "$image"
	[ ! -e "$dir/fs.btrfs" ] ||
		tap_check "the self-test makes the calls of btrfs's" makes_all \
			"$BTRFS_STOCK" "$top_builddir/btrfs/btrfs" check "$dir/fs.btrfs"
}

test_all()
{
	fresh
	stock
	tap_check "nothing broken" is_stock "checked in"
	test_library_files
	[ -n "$E2PF_RUNTIME" ] || test_cut
	breaker && fresh && test_self_test
	test_filter
	stock
	test_sanitizers
	test_limits
	test_settings
	tap_check "other programs" inert
	tap_check "libc alone is needed" needs_libc
	stock
	tap_check "the user's library translates paths" translated
	test_btrfs
	test_calls
}

CC=${CC:-cc}
MUSL=$(readelf -l "$E2FSCK_STOCK" 2>/dev/null | grep ld-musl)
setup mke2fs readelf jq "$CC" timeout
dir=$E2PF_TMP
DENY_CALLS=$(tool deny-calls) || tap_bail "deny-calls.c does not compile"
FAULT=$(library fault-inject) || tap_bail "fault-inject.c does not compile"
# Large enough for the self-test; sparse.
image=$dir/image small=$dir/small
truncate -s 8G "$image"
truncate -s 8M "$small"
mke2fs -q -F -t ext4 -O ^has_journal "$image" && mke2fs -q -F -t ext4 "$small" ||
	tap_bail "no image"
tap_run test_all
