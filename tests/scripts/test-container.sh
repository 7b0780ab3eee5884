#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A container's own `fsck -a' and `e2fsck -p' prefetch if its PATH begins with the
# folder of links, as doc/containers.md says, and say what they say without.  The
# container is a folder with e2fsck, fsck, the installed files and what they need,
# and nothing else; there it runs with little memory, without /sys and /proc, on a
# read-only root, as PID 1, and without capabilities.  Prints TAP.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
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
	truncate -s 256M "$root/image" && mke2fs -q -F -t ext4 "$root/image" &&
	tune2fs -E force_fsck "$root/image" >/dev/null &&
	cp "$root/image" "$dir/image"
}

make_container()
{
	mkdir "$root" || return
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
		make -s -C "$top_builddir" install DESTDIR="$root" \
		>"$dir/install" 2>&1 || { tail "$dir/install"; return 1; }
	links=$(cd "$root" && find . -type d -name enabled | head -n 1)
	links=${links#.}
	[ -n "$links" ] || return
	put "$E2FSCK_STOCK" "$(command -v fsck)" "$(command -v env)" \
		"$(command -v setpriv)" || return
	mkdir -p "$root"/{tmp,proc,sys,dev,usr/sbin} &&
	ln -sf "$E2FSCK_STOCK" "$root/usr/sbin/fsck.ext4" &&
	mknod -m 666 "$root/dev/null" c 1 3 && make_image
}

# inside PATH COMMAND...: what a container prints, and its status.
inside()
{
	local path=$1 status=0

	shift
	cp "$dir/image" "$root/image"
	sync "$root/image"
	dd if="$root/image" iflag=nocache count=0 status=none
	timeout -s KILL 60 unshare -m "${unshare[@]}" bash -c '
		set -e
		mount --bind "$root" "$root"
		mount --bind "$root/image" "$root/image"
		eval "$setup"
		[ -z "$group" ] || echo 0 >"$group/cgroup.procs"
		exec chroot "$root" "$@"' - \
		"$(command -v env)" -i PATH="$path" PREFETCH_VERBOSE=1 "$@" \
		>"$dir/out" 2>&1 </dev/null || status=$?
	echo "status $status" >>"$dir/out"
}

# as_stock COMMAND...: the same with and without our folder in PATH, but for the
# sentence of PREFETCH_VERBOSE.
as_stock()
{
	inside /usr/sbin:/sbin:/usr/bin:/bin "$@"
	grep -v 'e2fsck-prefetch:' "$dir/out" >"$dir/stock"
	inside "$links:/usr/sbin:/sbin:/usr/bin:/bin" "$@"
	cat "$dir/out"
	grep -q '^e2fsck-prefetch: checked in' "$dir/out" &&
	grep -v '^e2fsck-prefetch: ' "$dir/out" | diff "$dir/stock" -
}

# with SETUP COMMAND...
with()
{
	setup=$1
	shift
	as_stock "$@"
}

# with_memory MIB COMMAND...: in a memory control group of that size.
with_memory()
{
	local limit status

	group=/sys/fs/cgroup/memory/e2prefetch-test-$$
	limit=$group/memory.limit_in_bytes
	[ -d /sys/fs/cgroup/memory ] || {
		group=/sys/fs/cgroup/e2prefetch-test-$$
		limit=$group/memory.max
	}
	mkdir "$group" || return
	echo "$1M" >"$limit" && shift && as_stock "$@"
	status=$?
	rmdir "$group"
	group=
	return $status
}

in_a_container()
{
	tap_check "the container can be made" make_container
	tap_check "fsck -a" as_stock fsck -a -t ext4 /image
	tap_check "e2fsck -p" as_stock e2fsck -p /image
	tap_check "without /proc and /sys, a root that is read-only" with \
		'mount -o remount,bind,ro "$root"' fsck -a -t ext4 /image
	tap_check "with /proc and /sys" with \
		'mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"' \
		fsck -a -t ext4 /image
	setup=
	tap_check "without capabilities" as_stock setpriv --bounding-set=-all \
		--inh-caps=-all e2fsck -p /image
	unshare=(-pf)
	tap_check "as PID 1" as_stock e2fsck -p /image
	unshare=()
	if [ -w /sys/fs/cgroup/memory ] ||
	   grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
		tap_check "in 64 MiB" with_memory 64 fsck -a -t ext4 /image
		tap_check "in 16 MiB" with_memory 16 e2fsck -p /image
	else
		tap_skip "in little memory" "no memory control groups"
	fi
}

require_programs mke2fs tune2fs make ldd fsck setpriv
have_root || tap_skip_all "needs root"
unshare -m true 2>/dev/null || tap_skip_all "no mount name spaces"
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "a sanitizer's library would be needed"
tmp_setup
dir=$E2PF_TMP
root=$dir/root setup='' group='' links=''
unshare=()
export root setup group
tap_run in_a_container
