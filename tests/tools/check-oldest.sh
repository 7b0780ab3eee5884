#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The sources build with the oldest supported headers and libraries, those of Debian
# 11, as doc/testing.md describes.  The programs are not run.
#
#   check-oldest.sh [SOURCES]		a directory with the release sources (default:
#					made from this tree)

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/chroots.sh"

suite=bullseye

# Development packages, the libraries that their links point to, and the other
# libraries needed to link.
packages="linux-libc-dev libc6-dev libc6 libcrypt-dev libcrypt1
	libext2fs-dev libext2fs2 comerr-dev libcom-err2
	libcmocka-dev libcmocka0
	libfuse3-dev libfuse3-3"

#
# The packages.
#

# get_packages MIRROR: download to $work/got.  Suites that are no longer maintained
# are signed with keys that are no longer in use.
get_packages()
{
	local keys=$keyring status=Dir::State::status=$work/status
	local removed=${keyring%/*}/debian-archive-removed-keys.gpg

	[ ! -r "$removed" ] || keys+=,$removed
	apt_update "$work" "deb [signed-by=$keys] $1 $suite main" -o "$status" || return
	(cd "$work/got" && apt_get "$work" -o "$status" download $packages)
}

# Unpack the packages into $root.  Debian moves old suites to its archive.  Absolute links
# would lead out of the directory.
fetch()
{
	local deb link

	get_packages "$mirror" || get_packages http://archive.debian.org/debian || return
	for deb in "$work"/got/*.deb; do
		dpkg-deb -x "$deb" "$root" || return
	done
	find "$root" -lname '/*' | while read -r link; do
		ln -sfn "$root$(readlink "$link")" "$link" || return
	done
}

#
# The build.
#

# Preload libraries are linked without undefined symbols.  Since Debian 11 functions have
# moved into libc, so a missing library would go unnoticed until they are
# loaded.  pkg-config and the compiler search $root, as in cross-compilation.
# -B keeps a native compiler from this machine's libc.
build()
{
	local libdir compiler

	libdir=$root/usr/lib/$(gcc -print-multiarch)
	compiler="gcc --sysroot=$root -B$libdir"
	mkdir "$work/build" && cd "$work/build" || return
	PKG_CONFIG_SYSROOT_DIR=$root \
	PKG_CONFIG_LIBDIR=$libdir/pkgconfig:$root/usr/share/pkgconfig \
		"$1/configure" -q CC="$compiler" CFLAGS=-O0 \
		LDFLAGS=-Wl,-z,defs &&
	make -s -k -j "$E2PF_JOBS" &&
	make -s -k -j "$E2PF_JOBS" -C tests check TESTS=
}

# Tests that all included headers, as recorded by the compiler, are those of
# $root, with the kernel's and libc's among them, and that none is this
# machine's.
headers_are_old()
{
	local included=$work/included

	find "$work/build" -name '*.P*o' -exec cat {} + | tr ' :\\' '\n\n\n' |
		grep '^/.*\.h$' | sort -u >"$included"
	grep -qxF "$root/usr/include/linux/btrfs.h" "$included" &&
	grep -qxF "$root/usr/include/stdlib.h" "$included" &&
	! grep '^/usr/include/' "$included"
}

tests()
{
	local sources=${1-}

	fetch >"$E2PF_TMP/fetch.log" 2>&1 || {
		tap_skip "the oldest headers" "the packages of $suite cannot be had: $(
			why_not "$E2PF_TMP/fetch.log")"
		return
	}
	if [ -n "$sources" ]; then
		sources=$(cd "$sources" && pwd) || tap_bail "no directory: $1"
	else
		sources=$work/source
		release_sources "$sources" || tap_bail "no sources can be released"
	fi
	(build "$sources") >"$work/build.log" 2>&1 || {
		grep -E -A 4 'error:|warning:|undefined|\*\*\*' \
			"$work/build.log" >"$work/errors"
		tap_not_ok "builds with headers and libraries of $suite" \
			"$work/errors"
		return
	}
	tap_ok "builds with headers and libraries of $suite"
	no_warnings "$suite" "$work/build.log"
	tap_check "all headers are those of $suite" headers_are_old
}

why=$(lacks apt-get dpkg-deb gcc pkg-config)
[ -z "$why" ] || tap_skip_all "$why"
[ -r "$keyring" ] ||
	tap_skip_all "$keyring not found (package debian-archive-keyring)"
[ -e "$top_builddir/Makefile" ] || tap_skip_all "not configured"
tmp_setup
work=$E2PF_TMP/oldest root=$E2PF_TMP/root
tap_run tests "$@"
