#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The unit tests and a check of a small filesystem on other machines: 32 bit
# (i386), another 64 bit one (arm64) and big-endian (s390x).  Debian's cross
# compilers build; the libraries are Debian's packages for the machine,
# unpacked in a folder; qemu-user runs what this processor does not.  Nothing
# of the host changes: apt works on a state of its own, and dpkg -x installs
# nothing.
#
#   check-portability.sh [ARCHITECTURE...]
#
# PORT_DIR	folder to work in, kept for the next time (default: one that
#		goes away)
# PORT_TESTS	unit tests to run (default: all)

srcdir=${srcdir:-$(dirname "$0")}
# shellcheck source=lib.sh
. "$srcdir/lib.sh"

top_srcdir=$(cd "$srcdir/.." && pwd)
packages="libext2fs-dev comerr-dev libjson-c-dev libcmocka-dev e2fsprogs"

# Architecture, GNU triplet, emulator.
machine()
{
	case $1 in
	i386) triplet=i686-linux-gnu emulator=qemu-i386 libdir=i386-linux-gnu ;;
	arm64) triplet=aarch64-linux-gnu emulator=qemu-aarch64 ;;
	s390x) triplet=s390x-linux-gnu emulator=qemu-s390x ;;
	armhf) triplet=arm-linux-gnueabihf emulator=qemu-arm ;;
	ppc64el) triplet=powerpc64le-linux-gnu emulator=qemu-ppc64le ;;
	*) return 1 ;;
	esac
	[ "$1" = i386 ] || libdir=$triplet
}

# fetch ARCHITECTURE DIR: the packages of the architecture, unpacked to
# DIR/root.
fetch()
{
	local dir=$2 deb
	local -a apt=(apt-get -qq -o APT::Architecture="$1"
		-o APT::Architectures::="$1" -o Dir::State::lists="$dir/lists"
		-o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache"
		-o Debug::NoLocking=1 -o APT::Install-Recommends=0
		-o APT::Sandbox::User=root)

	[ ! -e "$dir/root/complete" ] || return 0
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/root"
	: >"$dir/status"
	"${apt[@]}" update || return
	# shellcheck disable=SC2086
	"${apt[@]}" -y --download-only install $packages || return
	for deb in "$dir"/cache/archives/*.deb; do
		dpkg -x "$deb" "$dir/root" || return
	done
	# Links to the root of the machine lead out of the folder.
	find "$dir/root" -lname '/*' | while read -r link; do
		ln -sfn "$dir/root$(readlink "$link")" "$link"
	done
	touch "$dir/root/complete"
}

# build DIR: configure and make, with everything from DIR/root.
build()
{
	local dir=$1 root=$1/root

	mkdir -p "$dir/build" && cd "$dir/build" || return
	[ -e Makefile ] ||
		PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_LIBDIR=$root/usr/lib/$libdir/pkgconfig:$root/usr/share/pkgconfig \
		"$top_srcdir/configure" -q --host="$triplet" \
			--with-e2fsck="$root/sbin/e2fsck" \
			CC="$triplet-gcc --sysroot=$root" CFLAGS="-O2 -g" \
			LDFLAGS="-L$root/usr/lib/$libdir" || return
	make -s -C lib && make -s -C prefetch && make -s -C e2fsck &&
		make -s -C tests check TESTS= >/dev/null
}

unit_test()
{
	local log=$dir/$1.log status

	srcdir=$top_srcdir/tests CMOCKA_MESSAGE_OUTPUT=TAP timeout 900 \
		"$emulator" -L "$dir/root" \
		-E LD_LIBRARY_PATH="$dir/root/usr/lib/$libdir:$dir/root/lib/$libdir" \
		"$dir/build/tests/$1" >"$log" 2>&1
	status=$?
	grep '^not ok [0-9]* - ' "$log"  | grep -v '# SKIP'
	tail -n 3 "$log" | grep -v '^ok'
	return $status
}

# Stock e2fsck of the machine on a filesystem made here, with the module and
# without: the same words and bytes.
whole_check()
{
	local io=$1 out

	for out in stock ours; do
		cp "$dir/image" "$dir/fs"
		set -- "$dir/root/sbin/e2fsck" -fy "$dir/fs"
		[ $out = stock ] || set -- -E PREFETCH=1 -E TEST_MMAP_IO="$io" \
			-E PREFETCH_STATS="$dir/stats" \
			-E LD_PRELOAD="$dir/build/e2fsck/.libs/e2fsck-prefetch.so" \
			"$@"
		timeout 300 "$emulator" -L "$dir/root" \
			-E LD_LIBRARY_PATH="$dir/root/usr/lib/$libdir:$dir/root/lib/$libdir" \
			"$@" >"$dir/$out.out" 2>&1
		echo $? >>"$dir/$out.out"
		cp "$dir/fs" "$dir/$out.fs"
	done
	diff "$dir/stock.out" "$dir/ours.out" &&
		cmp "$dir/stock.fs" "$dir/ours.fs" &&
		grep -q '"groups": *[1-9]' "$dir/stats" &&
		grep -q '"errors": *0,' "$dir/stats"
	local status=$?

	rm -f "$dir"/{stock,ours}.{out,fs} "$dir/fs" "$dir/stats"
	return $status
}

make_damaged_image()
{
	local i

	mkdir -p "$dir/files/d"
	for ((i = 0; i < 300; i++)); do
		echo "$i" >"$dir/files/d/name-of-file-$i"
	done
	truncate -s 16M "$dir/image"
	mke2fs -q -F -t ext4 -b 1024 -d "$dir/files" "$dir/image" &&
		debugfs -w -R "clri <14>" "$dir/image" >/dev/null 2>&1
}

test_machine()
{
	local name=$1 dir=$work/$1 log=$work/$1.log test triplet emulator libdir

	if ! machine "$name"; then
		tap_skip "$name" "not one this script knows"
		return
	fi
	for test in "$triplet-gcc" "$emulator"; do
		have_program "$test" || {
			tap_skip "$name" "$test not found"
			return
		}
	done
	mkdir -p "$dir"
	if ! fetch "$name" "$dir" >"$log" 2>&1; then
		tap_skip "$name" "Debian's packages for it cannot be had: $(tail -n 1 "$log")"
		return
	fi
	if ! (build "$dir") >"$log" 2>&1; then
		tap_not_ok "$name: builds" "$log"
		return
	fi
	tap_ok "$name: builds$(grep -c 'warning:' "$log" | sed 's/^0$//; s/..*/ with & warnings/')"
	for test in ${PORT_TESTS:-$(cd "$dir/build/tests" && ls test-* | grep -v '[.]')}; do
		tap_check "$name: $test" unit_test "$test"
	done
	make_damaged_image || return
	tap_check "$name: e2fsck, unix manager" whole_check 0
	tap_check "$name: e2fsck, mmap manager" whole_check 1
}

test_machines()
{
	local name

	for name in ${*:-i386 arm64 s390x}; do
		test_machine "$name"
	done
}

for program in apt-get dpkg mke2fs debugfs; do
	have_program "$program" || tap_skip_all "$program not found"
done
[ -x "$top_srcdir/configure" ] || tap_bail "no configure: run autoreconf -fi"
tmp_setup
work=${PORT_DIR:-$E2PF_TMP}
mkdir -p "$work"
work=$(cd "$work" && pwd)
tap_run test_machines "$@"
