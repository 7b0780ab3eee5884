#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# A container's own `fsck -a' and `e2fsck -p' prefetch if its PATH begins with the
# folder of links, as doc/containers.md says, and say and write what they do without.
# The container is a folder with e2fsck, fsck, the installed files and what they need,
# and nothing else.  Each row runs it in another way.  Prints TAP.
#
#   test-container.sh --table [SUITE]	on demand: the container is a Debian by
#		debootstrap (default: bookworm) with the package, and checks a cold
#		modelled network volume; prints a table of times and memory
#
# DIST_DIR	for --table: folder of check-packages.sh with SUITE-packages, and
#		SUITE-fresh if it is there (default: installed without a package)
# BENCH_IMAGES	for --table: folder for the image (default: a temporary one)
# TABLE		for --table: file that gets the table between its marks

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# put PROGRAM...: into the container, with the libraries that it needs.
put()
{
	local file

	for file; do
		[ "$file" -ef "$root$file" ] || install -D "$file" "$root$file" ||
			return
		ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | while read -r file; do
			[ -e "$root$file" ] || install -D "$file" "$root$file"
		done
	done
}

# A filesystem that -a checks in full.
make_image()
{
	truncate -s 64M "$dir/image" && mke2fs -q -F -t ext4 "$dir/image" &&
	tune2fs -E force_fsck "$dir/image" >/dev/null && cp "$dir/image" "$image"
}

install_files()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
		make -s -C "$top_builddir" install DESTDIR="$root" \
		>"$dir/install" 2>&1 || { tail "$dir/install"; return 1; }
}

# The folder of links that the first recipe names, and the two files of the second.
find_files()
{
	links=$(cd "$root" && find . -type d -name enabled | head -n 1)
	links=${links#.}
	[ -n "$links" ] && mkdir -p "$root/copied" &&
	cp "$root${links%/*}"/{e2fsck,e2fsck-prefetch.so} "$root/copied" &&
	ln -sf e2fsck "$root/copied/fsck.ext4" && : >"$root/image"
}

make_container()
{
	mkdir "$root" && install_files || return
	put "$E2FSCK_STOCK" "$(command -v fsck)" "$(command -v env)" \
		"$(command -v setpriv)" || return
	mkdir -p "$root"/{tmp,proc,sys,dev,usr/sbin} &&
	ln -sf "$E2FSCK_STOCK" "$root/usr/sbin/fsck.ext4" &&
	mknod -m 666 "$root/dev/null" c 1 3 && find_files && make_image
}

# Check what was not read since the last check, and is as before that.
make_cold()
{
	if [ -b "$image" ]; then
		blockdev --flushbufs "$image"
	else
		cp "$dir/image" "$image" && sync "$image" &&
			dd if="$image" iflag=nocache count=0 status=none
	fi
}

# inside PATH COMMAND...: what a container prints, its status, and the image.
inside()
{
	local path=$1 status=0 begun

	shift
	make_cold
	begun=${EPOCHREALTIME/./}
	$measure timeout -s KILL 600 unshare -m $unshare bash -c '
		set -e
		mount --bind "$root" "$root"
		mount --bind "$image" "$root/image"
		eval "$setup"
		[ -z "$group" ] || echo 0 >"$group/cgroup.procs"
		exec $deny chroot "$root" "$@"' - \
		/usr/bin/env -i PATH="$path" PREFETCH_VERBOSE=1 $variable \
		E2FSPROGS_FAKE_TIME=1500000000 E2FSCK_TIME=1500000000 \
		$before "$@" >"$dir/out" 2>&1 </dev/null || status=$?
	taken=$((${EPOCHREALTIME/./} - begun))
	{
		echo "status $status"
		[ -b "$image" ] || sha256sum "$image"
	} >>"$dir/out"
}

# as_stock COMMAND...: the same with and without our folder in PATH, but for the
# sentence of PREFETCH_VERBOSE.
as_stock()
{
	inside /usr/sbin:/sbin:/usr/bin:/bin "$@"
	stock_taken=$taken
	[ -z "$measure" ] || stock_peak=$(tail -n 1 "$dir/peak")
	grep -v 'e2fsck-prefetch:' "$dir/out" >"$dir/stock"
	inside "$folder:/usr/sbin:/sbin:/usr/bin:/bin" "$@"
	cat "$dir/out"
	grep -q '^e2fsck-prefetch: checked in' "$dir/out" &&
	grep -v '^e2fsck-prefetch: ' "$dir/out" | diff "$dir/stock" -
}

# in_a_group MIB COMMAND...: in a memory control group of that size.
in_a_group()
{
	local limit status

	group=/sys/fs/cgroup/memory/e2prefetch-test-$$
	limit=$group/memory.limit_in_bytes
	[ -d /sys/fs/cgroup/memory ] || {
		group=/sys/fs/cgroup/e2prefetch-test-$$
		limit=$group/memory.max
	}
	mkdir "$group" || return
	echo "$1M" >"$limit" && shift && "$@"
	status=$?
	wait_for rmdir "$group" 2>/dev/null
	return $status
}

# run_row NAME COMMAND...
run_row()
{
	tap_check "$@"
}

# row NAME [VARIABLE=VALUE...]: the command in a container that differs in this.
row()
{
	local name=$1 command=$e2fsck memory='' group='' setup='' unshare=''
	local deny='' before='' variable='' folder=$links

	shift
	[ $# = 0 ] || local "$@"
	export setup group deny
	run_row "$name" ${memory:+in_a_group "$memory"} as_stock $command
}

# What Docker's and containerd's filters refuse.
refused=io_uring,cachestat,fanotify_init,perf_event_open,process_madvise,userfaultfd

rows()
{
	local calls=$top_builddir/tests/tools/deny-calls
	local proc='mount -t proc proc "$root/proc";'
	local sys='mount --rbind /sys "$root/sys"'

	row "fsck finds it along PATH" command="$fsck"
	row "the check by name"
	row "two copied files, PREFETCH=1" folder=/copied variable=PREFETCH=1
	row "no /proc, no /sys, read-only root" \
		setup='mount -o remount,bind,ro "$root"'
	row "/proc, no /sys" setup="$proc"
	row "/proc and /sys" setup="$proc$sys"
	row "no capabilities" \
		before="setpriv --bounding-set=-all --inh-caps=-all"
	row "the check is PID 1" unshare=-pf
	row "a filter refuses calls, EPERM; clone3 ENOSYS" \
		deny="$calls 1 $refused $calls 38 clone3"
	row "a filter refuses calls, ENOSYS" deny="$calls 38 $refused,clone3"
	if [ -w /sys/fs/cgroup/memory ] ||
	   grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
		for memory in $sizes; do
			row "$memory MiB of memory" memory=$memory \
				setup="$proc$sys"
		done
		row "64 MiB of memory, no /sys" memory=64
	else
		tap_skip "in little memory" "no memory control groups"
	fi
}

in_a_container()
{
	tap_check "the container can be made" make_container
	rows
}

#
# The table.
#

# A Debian with the package.
make_debian()
{
	local fresh=${DIST_DIR:-$E2PF_TMP}/$suite-fresh packages

	make_chroot "$fresh" "$suite" && cp -a "$fresh/." "$root" || return
	packages=("${DIST_DIR-}/$suite-packages"/e2prefetch_*.deb)
	if [ -e "${packages[0]}" ]; then
		cp "${packages[0]}" "$root/package.deb" &&
		in_chroot "$root" apt-get -q -y install /package.deb \
			>"$dir/install" || return
	else
		install_files || return
	fi
	in_chroot "$root" apt-get -q -y install e2fsprogs >/dev/null && find_files
}

# A network volume: the model's file as a loop device.
make_volume()
{
	local bench=$srcdir/../bench file queue

	file=$("$bench/images" ${BENCH_IMAGES:+--dir "$BENCH_IMAGES"} \
		extents@1/4) && mkdir "$dir/volume" || return
	"$top_builddir/bench/diskmodel" --follow-parent \
		--set=kind=network --set=iops=3000 --set=bandwidth=125M \
		--set=latency=700us --set=max_request=256K "$file" "$dir/volume" \
		>"$dir/model" 2>&1 &
	model=$!
	wait_for test -e "$dir/volume/disk" &&
	image=$(loop_attach "$dir/volume/disk") || return
	# Otherwise it serves one request after the other.
	losetup --direct-io=on "$image" || return
	queue=/sys/block/${image##*/}/queue
	echo 0 >"$queue/rotational"
	echo 128 >"$queue/read_ahead_kb"
	export image
}

# The times of three runs, the one in the middle.
run_timed()
{
	local name=$1 i same=yes
	local -a stock=() ours=()

	shift
	for i in 1 2 3; do
		"$@" >"$dir/why" 2>&1 || { same=NO; cat "$dir/why" >&2; }
		stock+=("$stock_taken") ours+=("$taken")
	done
	printf '| %s | %s | %s | %s | %s | %s |\n' "$name" \
		"$(middle "${stock[@]}")" "$(middle "${ours[@]}")" $same \
		$((stock_peak / 1024)) $(($(tail -n 1 "$dir/peak") / 1024)) |
		tee -a "$dir/table"
	[ $same = yes ]
}

middle() { printf '%s\n' "$@" | sort -n | awk 'NR == 2 { printf "%.2f", $1 / 1e6 }'; }

print_table()
{
	local suite=${1:-bookworm}

	. "$srcdir/tools/chroots.sh"
	. "$srcdir/tools/report.sh"
	sizes="64 128 256 600"
	measure="time -f %M -o $dir/peak"
	fsck="fsck -t ext4 /image -- -fn" e2fsck="e2fsck -fn /image"
	run_row() { run_timed "$@" || failed=1; }
	make_debian && make_volume || { echo "cannot be set up" >&2; return 1; }
	heading container "stock, s" "ours, s" "same output and status" "stock, MiB" \
		"ours, MiB" | tee "$dir/table"
	failed=0
	rows
	loop_detach "$image"
	kill "$model"
	show_table containers <"$dir/table" >/dev/null
	return $failed
}

require_programs mke2fs tune2fs make ldd fsck setpriv
have_root || tap_skip_all "needs root"
unshare -m true 2>/dev/null || tap_skip_all "no mount name spaces"
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "a sanitizer's library would be needed"
tmp_setup
dir=$E2PF_TMP
root=$dir/root image=$dir/volume.img links='' measure='' sizes="16 64 600"
fsck="fsck -a -t ext4 /image" e2fsck="e2fsck -p /image"
export root image
case ${1-} in
--table) require_programs time debootstrap; print_table "${2-}" ;;
*) tap_run in_a_container ;;
esac
