#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# A container's own `fsck -a' and `e2fsck -p' prefetch if its PATH begins with the
# directory of links, as doc/containers.md says, and say and write what they do
# without.  The container is a directory with e2fsck, fsck, the installed files and
# what they need, and nothing else.  Each row runs it in another way; test-limits.sh
# has filters of calls and little memory.

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
	make_apart install DESTDIR="$root" >"$dir/install" 2>&1 ||
		{ tail "$dir/install"; return 1; }
}

# The directory of links that the first recipe names, and the files of the second.
find_files()
{
	links=$(cd "$root" && find . -type d -name enabled | head -n 1)
	links=${links#.}
	[ -n "$links" ] && mkdir -p "$root/copied" &&
	cp "$root${links%/*}"/e2fsck{,-accel.so,-prefetch.so} "$root/copied" &&
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

# inside PATH COMMAND...: what a container prints, its status, and the image.
inside()
{
	local status=0

	cp "$dir/image" "$image" && drop "$image"
	timeout -s KILL 600 unshare -m $unshare bash -c '
		set -e
		mount --bind "$root" "$root"
		mount --bind "$image" "$root/image"
		eval "$setup"
		exec chroot "$root" "$@"' - \
		/usr/bin/env -i PATH="$1" PREFETCH_VERBOSE=1 $variable \
		E2FSPROGS_FAKE_TIME=1500000000 E2FSCK_TIME=1500000000 \
		$before "${@:2}" >"$dir/out" 2>&1 </dev/null || status=$?
	{ echo "status $status"; sha256sum "$image"; } >>"$dir/out"
}

# as_stock COMMAND...: the same with and without our directory in PATH, but for the
# sentence of PREFETCH_VERBOSE.
as_stock()
{
	inside /usr/sbin:/sbin:/usr/bin:/bin "$@"
	grep -v 'e2fsck-prefetch:' "$dir/out" >"$dir/stock"
	inside "$directory:/usr/sbin:/sbin:/usr/bin:/bin" "$@"
	cat "$dir/out"
	grep -q '^e2fsck-prefetch: checked in' "$dir/out" &&
	grep -v '^e2fsck-prefetch: ' "$dir/out" | diff "$dir/stock" -
}

# row NAME [VARIABLE=VALUE...]: the command in a container that differs in this.
row()
{
	local name=$1 command=$e2fsck setup='' unshare=''
	local before='' variable='' directory=$links

	[ $# = 1 ] || local "${@:2}"
	export setup
	tap_check "$name" as_stock $command
}

rows()
{
	local proc='mount -t proc proc "$root/proc";'
	local sys='mount --rbind /sys "$root/sys"'

	tap_check "the container can be made" make_container
	row "fsck finds it along PATH" command="$fsck"
	row "the check by name"
	row "two copied files, PREFETCH=1" directory=/copied variable=PREFETCH=1
	row "no /proc, no /sys, read-only root" setup='mount -o remount,bind,ro "$root"'
	row "/proc, no /sys" setup="$proc"
	row "/proc and /sys" setup="$proc$sys"
	row "no capabilities" before="setpriv --bounding-set=-all --inh-caps=-all"
	row "the check is PID 1" unshare=-pf
}

require_programs mke2fs tune2fs make ldd fsck setpriv
have_root || tap_skip_all "needs root"
unshare -m true 2>/dev/null || tap_skip_all "no mount name spaces"
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "a sanitizer's library would be needed"
tmp_setup
dir=$E2PF_TMP
root=$dir/root image=$dir/volume.img links=''
fsck="fsck -a -t ext4 /image" e2fsck="e2fsck -p /image"
export root image
tap_run rows
