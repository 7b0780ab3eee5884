#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Failing disks and failing calls: with the same fault (see fault-inject.c), the
# command under test must have the output, exit status and image of stock e2fsck,
# with the mapping for checks that only read.
#
# Runs a sample of the faults, or all of them with E2PF_FAULTS=all, as
# `make check-faults` does.
#
#   test-faults.sh [GROUP...]	of: eio gone cut once write signal call

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/compare.sh"

COMPARE_LIMIT=300
CUT="device cut off during the check"
E2PF_PAGE=$(getconf PAGESIZE)

# Images small enough to try every block.
image_table()
{
	local e4=extent,flex_bg,dir_index,filetype,sparse_super,large_file
	local e3=dir_index,filetype,sparse_super,large_file,ext_attr
	local csum=$e4,huge_file,dir_nlink,extra_isize,metadata_csum,64bit

	cat <<-END
	ext4-4k|5M|-O $csum -N 512|tree frag_small
	ext2-1k|4M|-b 1024 -I 128 -g 1024 -N 512 -O $e3|tree sparse1k frag1k
	ext3-1k|4M|-b 1024 -N 512 -O $e3,has_journal -J size=1|tree recovery
	END
}

# More extents than a block holds.
image_do_frag_small()
{
	sparse "$1.src" 4096 {0..798..2}
	echo "write $1.src /frag" | image_debugfs "$1"
	rm -f "$1.src"
}

# Damage of many kinds, so that -fy writes many blocks.
image_damage()
{
	LD_PRELOAD=$FIXED_RANDOM debugfs -w -f - "$1" >/dev/null 2>&1 <<-END
	clri /d1
	clri /deep/0/1/2
	sif /d0/f1 block[0] 0x7fffffff
	sif /d0/f0 links_count 77
	sif /d0/f2 mode 0
	sif /frag block[2] 0x10000
	ssv free_blocks_count 17
	END
	return 0
}

images_make()
{
	local name

	for name in $(image_names); do
		image_make "$name" "$E2PF_TMP/$name" || tap_bail "cannot make $name"
		cp "$E2PF_TMP/$name" "$E2PF_TMP/$name.bad"
		image_damage "$E2PF_TMP/$name.bad"
	done
}

# fault_stock IMAGE OPTION...: run stock with the fault in E2PF_FAULT.  Status 1 if
# it did not reach the fault.
fault_stock()
{
	: >"$E2PF_FAULT_LOG"
	compare_stock "$dir" "$@"
	[ -s "$E2PF_FAULT_LOG" ]
}

# fault_case LINE: kind|fault|image|options.  What is read from the mapping is not
# counted: a fault at the n-th read or write is one without it.
fault_case()
{
	local kind fault image options mapping=1
	local COMPARE_PRELOAD=$FAULT:$FIXED_RANDOM
	local -x E2PF_FAULT E2PF_FAULT_FILE=fs E2PF_FAULT_LOG=$dir/hits

	IFS='|' read -r kind fault image options <<<"$1"
	E2PF_FAULT=$fault
	fault_stock "$E2PF_TMP/$image" $options || return
	[[ $fault = read:* ]] || mapping=-
	tally_case "$kind" "$fault $image $options" "$dir" $mapping \
		"$E2PF_TMP/$image" $options
}

# fault_trace IMAGE OPTION...: what stock reads and writes.
fault_trace()
{
	local COMPARE_PRELOAD=$FAULT:$FIXED_RANDOM dir=$E2PF_TMP/trace
	local -x E2PF_FAULT=trace E2PF_FAULT_FILE=fs E2PF_FAULT_LOG=$dir/hits

	mkdir -p "$dir"
	fault_stock "$E2PF_TMP/$1" "${@:2}"
	cat "$dir/hits"
}

# The pages that a check reads, sorted.
traced_pages()
{
	fault_trace "$@" | awk -v page="$((E2PF_PAGE / 1024))" '
		$1 == "KiB" { print int($2 / page) }' | sort -nu
}

test_eio()
{
	local image mode

	for image in $(image_names); do
		for mode in -fn -fy; do
			traced_pages "$image" $mode | sample 12 |
				awk -v m="$mode" -v i="$image" -v p="$E2PF_PAGE" '{
				printf "read errors|read:%d+%d|%s|%s\n",
					$1 * p, p, i, m }'
		done
	done | tally_all fault_case "read errors"
}

# max_of read|write IMAGE OPTION...: the largest N that can matter.
most_of() { fault_trace "${@:2}" | grep -cx "$1"; }

# Faults at the N-th read or write: group, kind, fault, what N counts, how many N of a
# repair of the damaged image and of a check of the sound one, and the fault's values.
# Error 4 is EINTR, 5 EIO, 28 ENOSPC; signal 2 is INT, 9 KILL, 15 TERM; sizes are in
# bytes.
numbered="gone|vanishing device|gone|read|10|5|-
cut|$CUT|cut|read|4|3|0 1000000 2097152
once|reads that fail once|once|read|5|2|0 4 5
write|write errors|wfail|write|8|0|5 28
signal|signals at a read|signal|read|2|2|2 9 15"

# numbered_cases IMAGE OPTION COUNT: of the row that the caller has read.
numbered_cases()
{
	local most value

	[ "$3" != 0 ] || return 0
	most=$(most_of "$what" "$1" "$2")
	for value in $values; do
		[ "$value" != - ] && value=:$value || value=
		seq 1 "$most" | sample "$3" |
			sed "s/.*/$kind|$fault:&$value|$1|$2/"
	done
}

# test_numbered GROUP
test_numbered()
{
	local group kind fault what damaged sound values image

	while IFS='|' read -r group kind fault what damaged sound values <&8; do
		[ "$group" = "$1" ] || continue
		for image in $(image_names); do
			numbered_cases "$image.bad" -fy "$damaged"
			numbered_cases "$image" -fn "$sound"
		done | tally_all fault_case "$kind"
	done 8<<<"$numbered"
}

test_gone() { test_numbered gone; }
test_cut() { test_numbered cut; }
test_once() { test_numbered once; }
test_write() { test_numbered write; }
test_signal() { test_numbered signal; }

# Calls made by our code.
calls="malloc calloc realloc strdup strndup mmap mincore open fstat stat
readlink opendir read pread posix_fadvise getrlimit sched_getaffinity sigaction
pthread_sigmask pthread_create pthread_attr_init pthread_attr_setstacksize
pthread_condattr_init pthread_mutex_init setenv fdopen access fork poll
pipe2 dlopen"

# call_cases KIND WHO NAME: tries every n until it is not reached, twice in a row because
# threads may make one call more or less.
call_cases()
{
	local kind=$1 who=$2 name=$3 n missed=0 image=$E2PF_TMP/ext3-1k.bad most=2

	[ "$E2PF_FAULTS" != all ] || most=2000
	# All calls fail, from the first on.
	E2PF_FAULT=calls:$who:$name:1
	: >"$E2PF_FAULT_LOG"
	tally_case "$kind" "$E2PF_FAULT" "$dir" - "$image" -fy
	[ -s "$E2PF_FAULT_LOG" ] || return 0
	for ((n = 1; n <= most && missed < 2; n++)); do
		E2PF_FAULT=call:$who:$name:$n
		: >"$E2PF_FAULT_LOG"
		tally_case "$kind" "$E2PF_FAULT" "$dir" - "$image" -fy
		[ -s "$E2PF_FAULT_LOG" ] || missed=$((missed + 1))
	done
}

# call_case LINE: kind|who|name
call_case()
{
	local kind who name
	local COMPARE_PRELOAD=$FAULT:$FIXED_RANDOM
	local -x E2PF_FAULT=none E2PF_FAULT_FILE=fs E2PF_FAULT_LOG=$dir/hits

	IFS='|' read -r kind who name <<<"$1"
	compare_stock "$dir" "$E2PF_TMP/ext3-1k.bad" -fy
	call_cases "$kind" "$who" "$name"
}

# Memory for the bitmaps of the check is what libext2fs itself allocates without us: if
# there is none, the check ends with its message, or with abort(), as libext2fs's trees
# do.  glibc aborts, too, where it finds its heap damaged, and says so.
compare_crashed()
{
	local signal='('

	[ "${who-}" != e2fsck-accel.so ] ||
		grep -aqE 'free\(\)|double free|corrupted|invalid (pointer|size)' \
			"$1.err" ||
		signal='([^6]'
	[ "$(<"$1.status")" -ge 128 ] || grep -aq "^Signal $signal" "$1.err"
}

test_call()
{
	export PREFETCH_STATS=
	{
		printf 'calls of the wrapper that fail|wrapper|%s\n' $calls
		printf 'calls of the preload library that fail|e2fsck-prefetch.so|%s\n' \
			$calls
		printf 'calls of the preload library that fail, maps|e2fsck-accel.so|%s\n' \
			malloc calloc realloc
	} | tally_all call_case "calls of the wrapper that fail" \
		"calls of the preload library that fail"
	tally_known "calls of the preload library that fail, maps"
}

test_faults()
{
	images_make
	[ $# -gt 0 ] || set -- eio gone cut once write signal call
	test_groups "$@"
}

setup mke2fs debugfs dumpe2fs flock diff awk
export E2FSCK_TEST
FAULT=$(library fault-inject) || tap_skip_all "fault-inject.c does not compile"
tap_run test_faults "$@"
