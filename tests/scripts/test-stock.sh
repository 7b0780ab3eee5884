#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The stock e2fsck is found wherever it is, and the wrapper never starts itself for
# ever.  Programs are moved about in a mount name space.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# ends STATUS SETUP [VARIABLE=VALUE...]: the wrapper, where the directory that e2fsck is
# in has nothing but what SETUP puts there: $stock is e2fsck, $PWD the directory.
ends()
{
	local -x setup=$2

	exits "$1" unshare -m bash -c '
		mount -t tmpfs none "$directory" && cd "$directory" || exit 99
		eval "$setup" || exit 98
		exec env "$@"' - "${@:3}" "$E2FSCK_TEST" -fn "$image"
}

# finds SETUP [VARIABLE=VALUE...]: the wrapper checks the image as stock does.
finds()
{
	ends 0 "$@" || return
	# Stock's own, where there is no /proc.
	diff "$dir/stock.out" "$dir/out" &&
	diff "$dir/stock.err" <(grep -v "^ext2fs_check_if_mount: " "$dir/err")
}

# The same with a line of ours.
finds_with_line()
{
	finds "${@:2}" >"$dir/log"
	[ "$(grep -c "^e2fsck-prefetch: " "$dir/err")" = 1 ] &&
	grep "^e2fsck-prefetch: .*$1" "$dir/err" &&
	diff "$dir/stock.out" "$dir/out"
}

# misses SETUP [VARIABLE=VALUE...]: there is no e2fsck, and so says one line.
misses()
{
	ends 8 "$@" && [ ! -s "$dir/out" ] && one_line &&
	grep "^e2fsck-prefetch: no stock e2fsck found (/.*): install e2fsprogs\$" \
		"$dir/err" >/dev/null
}

# The directory of the configured path.  /bin has a link to the stock program.
test_offsets()
{
	local on="PREFETCH=1" elsewhere='mount --bind /bin /mnt
		mount -t overlay -o lowerdir=$layer:/mnt none /bin'

	mkdir -p "$dir/layer"
	cp "$E2FSCK_STOCK" "$dir/layer/e2fsck"
	export layer=$dir/layer
	tap_check "under its own name" finds 'cp $stock e2fsck' $on
	tap_check "in another directory" finds "$elsewhere" $on
	tap_check "in another directory, the wrapper in its place" \
		finds "$elsewhere; ln -s \$wrapper e2fsck" $on
	tap_check "in another directory, without prefetching" \
		finds "$elsewhere; ln -s \$wrapper e2fsck" PREFETCH=0
	tap_check "what is in its place cannot be run" \
		finds_with_line "cannot run .*/e2fsck: Exec format error" \
		"$elsewhere; echo garbage >e2fsck; chmod +x e2fsck" $on
	tap_check "PATH is of no interest" finds 'cp $stock e2fsck' $on PATH=/nosuch
	tap_check "there is none" misses : $on
	tap_check "there is none, without prefetching" misses :
	tap_check "all that is there is the wrapper, by links" \
		misses 'ln -s $wrapper e2fsck' $on
}

# Started by another copy of itself, or by what starts it again.
test_chains()
{
	local on="PREFETCH=1" how

	tap_check "a copy of the wrapper, and PREFETCH_E2FSCK" \
		finds 'cp $wrapper e2fsck; cp $stock other' \
		PREFETCH_E2FSCK="$directory/other"
	tap_check "a copy of the wrapper, and nothing else" \
		misses 'cp $wrapper e2fsck' $on
	tap_check "copies that start each other" \
		misses 'cp $wrapper e2fsck; cp $wrapper other' $on \
		PREFETCH_E2FSCK="$directory/other"
	for how in exec ""; do
		printf '#!/bin/sh\n%s %s "$@"\n' "$how" "$wrapper" >"$dir/script"
		chmod 0755 "$dir/script"
		tap_check \
			"a script that starts the wrapper again, ${how:-as a child}" \
			misses 'cp $script e2fsck' $on
	done
}

# If /proc is missing the wrapper knows itself by the name it was started by.
test_without_proc()
{
	local hide="mount -t tmpfs none /proc;"

	skipped "without /proc" "${E2PF_RUNTIME:+a sanitizer needs /proc}" && return
	tap_check "without /proc" finds "$hide cp \$stock e2fsck" PREFETCH=1
	tap_check "without /proc, and without e2fsck" \
		misses "$hide ln -s \$wrapper e2fsck" PREFETCH=1
	tap_check "without /proc, a copy of the wrapper" \
		misses "$hide cp \$wrapper e2fsck" PREFETCH=1
}

# without_trace VARIABLE...: that is not in stock's environment.
without_trace()
{
	strace -f -qq -v -s 4096 -e trace=execve -o "$dir/trace" \
		"$E2FSCK_TEST" -fn "$image" >/dev/null 2>&1 </dev/null
	tail -n 1 "$dir/trace" | grep execve >"$dir/last" &&
	! grep -e LD_PRELOAD "$dir/last"
}

# The preload library is not left where it cannot be loaded.
no_trace()
{
	without_trace && PREFETCH=0 without_trace &&
	(ulimit -v 4000000 && PREFETCH=1 without_trace)
}

test_stock()
{
	small_image stock
	cp "$E2FSCK_STOCK" "$dir/e2fsck"
	export script=$dir/script stock=$dir/e2fsck wrapper=$E2FSCK_TEST directory
	directory=$(dirname "$(sed -n 's/^E2FSCK = //p' "$top_builddir/e2fsck/Makefile")")
	"$E2FSCK_STOCK" -fn "$image" >"$dir/stock.out" 2>"$dir/stock.err" </dev/null
	if ! skipped "places of the stock program" "$(no_mounts)"; then
		test_offsets
		test_chains
		test_without_proc
	fi
	tap_unless "$(no_strace)" \
		"without the preload library nothing is left of the wrapper" no_trace
	tap_check "no process is left behind" no_process_left
}

setup mke2fs flock diff timeout
tap_run test_stock
