#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The Debian packages, from the release to a machine from which they were purged.
#
#   check-packages.sh [SUITE...]	default: bookworm trixie sid
#
# doc/packaging.md describes the steps, for each suite in two fresh chroots.
#
# DIST_DIR	directory to work in, an absolute path; keeps SUITE-fresh (the chroot
#		as made by debootstrap), SUITE-packages, and SUITE-transcript (the
#		output of every step) (default: a temporary directory)
# PACKAGE_TESTS	with 1, the build also runs `make check'

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/chroots.sh"

# Build profiles of debian/control with which no test is built or run.
options=nocheck
[ "${PACKAGE_TESTS-}" != 1 ] || options=

packages="btrfs-prefetch e2prefetch libe2mmap-dev libe2mmap0"
rpms="btrfs-prefetch e2prefetch libe2mmap libe2mmap-devel"

# step KEY NAME COMMAND...: a test whose result is a cell of the table.
step()
{
	local log=$work/$suite.log status=0

	"${@:3}" >"$log" 2>&1 || status=$?
	{ echo "== $2"; cat "$log"; } >>"$work/$suite-transcript"
	if [ $status = 0 ]; then
		tap_ok "$suite: $2"
		note "$suite" "$1" yes
	else
		tap_not_ok "$suite: $2" "$log" 60
		note "$suite" "$1" NO
	fi
	return $status
}

# fresh NAME: sets $root to an unused chroot.
fresh()
{
	root=$E2PF_TMP/$suite-$1
	cp -a "$work/$suite-fresh" "$root" && rm "$root/complete"
}

#
# Build.
#

make_release()
{
	local directory=$E2PF_TMP/release

	mkdir "$directory" && make -s -C "$top_builddir" dist >/dev/null &&
	mv "$top_builddir"/e2prefetch-*.tar.xz "$directory" || return
	release=$(find "$directory" -name '*.tar.xz')
	version=${release##*/e2prefetch-}
	version=${version%.tar.xz}
}

# Install the build dependencies in debian/control.
build_needs()
{
	mkdir "$root/build" &&
	cp "$release" "$root/build/e2prefetch_$version.orig.tar.xz" &&
	tar -C "$root/build" --no-same-owner -xf "$release" &&
	apt update &&
	inside env DEB_BUILD_PROFILES="$options" apt-get -qq -y \
		--no-install-recommends build-dep "/build/e2prefetch-$version"
}

# dpkg-buildpackage makes sources and packages; packages for debuggers are not
# installed.
build_packages()
{
	inside env DEB_BUILD_OPTIONS="$options parallel=$E2PF_JOBS" \
		DEB_BUILD_PROFILES="$options" sh -c '
		cd "$1" && dpkg-buildpackage -us -uc' sh \
		"/build/e2prefetch-$version" &&
	rm -rf "$work/$suite-packages" &&
	mkdir "$work/$suite-packages" &&
	find "$root/build" -maxdepth 1 -type f ! -name '*dbgsym*' \
		-exec cp {} "$work/$suite-packages" \;
}

# debian/README.source explains why some tags are ignored.
look_at_packages()
{
	local left_out=bad-distribution-in-changes-file tag without_home=

	apt install lintian || return
	inside lintian-explain-tags --list-tags >"$E2PF_TMP/tags" || return
	grep -q '^Homepage:' "$root/build/e2prefetch-$version/debian/control" ||
		without_home="debian-watch-file-is-missing no-homepage-field
			upstream-metadata-file-is-missing"
	for tag in $without_home missing-debian-watch-file-standard \
		newer-standards-version \
		package-uses-old-debhelper-compat-version \
		redundant-priority-optional-field \
		redundant-rules-requires-root-no-field; do
		# lintian fails on a tag that it does not know.
		! grep -qx $tag "$E2PF_TMP/tags" || left_out+=,$tag
	done
	inside lintian --allow-root --pedantic --display-info \
		--fail-on error,warning,info,pedantic \
		--suppress-tags "$left_out" \
		"/build/e2prefetch_$(package_version)_$(architecture).changes"
}

build_rpm()
{
	apt install rpm &&
	cp "$release" "$root/build" &&
	inside rpmbuild -ta --nodeps --nocheck --define '_topdir /build/rpm' \
		"/build/${release##*/}" &&
	[ "$(find "$root/build/rpm/RPMS" -name "*-$version-*.rpm" \
		! -name '*debug*' -printf '%f\n' | sed "s/-$version-.*//" | sort |
		xargs)" = "$rpms" ]
}

#
# Install, use, remove.
#

package_version() { inside dpkg-parsechangelog -S Version \
	-l "/build/e2prefetch-$version/debian/changelog"; }
architecture() { inside dpkg --print-architecture; }

# Dependencies of the tests that are not in every chroot; they stay installed.
machine_ready()
{
	mkdir "$root/packages" &&
	cp "$work/$suite-packages"/*.deb "$root/packages" &&
	[ "$(cd "$root/packages" && printf '%s\n' *.deb | sed 's/_.*//' | xargs)" = \
		"$packages" ] &&
	cp -r "$srcdir/../debian/tests" "$root/packages" && apt update &&
	apt install btrfs-progs e2fsprogs gcc libc6-dev pkgconf &&
	# systemd is not installed here, but enable looks for its units.
	mkdir -p "$root/lib/systemd/system" &&
	touch "$root/lib/systemd/system"/systemd-fsck{@,-root}.service
}

# Every file and directory: type, mode, owner, name, target; and the contents of each
# file.  The records of apt and dpkg and the cache of ld.so are left out.
list_files()
{
	local left_out=(-path ./proc -o -path ./dev -o -path ./sys
		-o -path ./var/log -o -path ./var/cache -o -path ./var/lib/apt
		-o -path ./var/lib/systemd
		-o -path './var/lib/dpkg/status*' -o -path ./var/lib/dpkg/triggers
		-o -path './var/lib/dpkg/diversions-old'
		-o -path './var/lib/dpkg/lock*' -o -path './var/lib/dpkg/available*'
		-o -path './var/lib/dpkg/info/format'
		-o -path ./etc/ld.so.cache)

	(
		cd "$root" &&
		find . \( "${left_out[@]}" \) -prune -o \
			-printf '%y %m %U:%G %p %l\n' &&
		find . \( "${left_out[@]}" \) -prune -o -type f \
			-exec sha256sum {} +
	) | sort
}

# All files that the packages list exist; sets $listed.
has_its_files()
{
	local path missing=0

	inside dpkg -L $packages | sed '/^\/\.$/d;/^$/d' | sort -u >"$listed"
	inside dpkg -L e2prefetch | grep -qx /usr/libexec/e2prefetch/e2fsck &&
	inside dpkg -L btrfs-prefetch | grep -qx /usr/libexec/e2prefetch/btrfs &&
	! inside dpkg -L e2prefetch | grep -i btrfs- | grep -v /doc/ || return
	while read -r path; do
		[ -e "$root$path" ] || [ -L "$root$path" ] ||
			{ echo "not there: $path"; missing=1; }
	done <"$listed"
	note "$suite" files "$(while read -r path; do
		[ -d "$root$path" ] || echo "$path"
	done <"$listed" | wc -l)"
	return $missing
}

# Enabled until then.  Directories with files of others stay, and settings stay until a
# purge.
removed_files_are_gone()
{
	local path left=0

	inside e2prefetch enable && inside apt-get -q -y remove $packages || return
	while read -r path; do
		[ -e "$root$path" ] || [ -L "$root$path" ] || continue
		[ "$path" != /etc/e2prefetch.conf ] || continue
		if [ ! -d "$root$path" ] || [[ $path = *e2prefetch* ]]; then
			echo "left: $path"
			left=$((left + 1))
		fi
	done <"$listed"
	note "$suite" left_by_remove $left
	[ $left = 0 ]
}

# With their dependencies.
purged_leaves_nothing()
{
	local left

	# apt does not know packages that are in no repository and have left no
	# configuration; dpkg does.
	inside dpkg --purge $packages || return
	! inside dpkg-query -W $packages || return
	inside apt-get -q -y --purge autoremove || return
	list_files >"$before.after"
	diff "$before" "$before.after"
	left=$(diff "$before" "$before.after" | grep -c '^[<>]')
	note "$suite" left_by_purge "$left"
	[ "$left" = 0 ]
}

#
# A suite.
#

test_build()
{
	fresh build || return
	step needs "what the build needs can be installed" build_needs || return
	step builds "dpkg-buildpackage builds the packages" build_packages || return
	cp "$work/$suite.log" "$work/$suite-build.log"
	step warnings "without warnings of the compiler" \
		no_warnings "$suite" "$work/$suite-build.log"
	step lintian "lintian has neither errors nor warnings" look_at_packages
	step rpm "rpmbuild builds packages by the spec file" build_rpm
	rm -rf "$root"
}

test_install()
{
	before=$E2PF_TMP/before listed=$E2PF_TMP/listed
	fresh install || return
	step ready "a machine with e2fsprogs" machine_ready || return
	list_files >"$before"
	step installs "the packages can be installed" inside sh -c \
		'apt-get -q -y --no-install-recommends install /packages/*.deb' || return
	note "$suite" e2fsprogs "$(inside dpkg-query -W -f '${Version}' e2fsprogs)"
	step present "their files are there" has_its_files
	step check "a check is the same with and without PREFETCH=1" \
		inside /packages/tests/check
	! grep 'the same three times' "$work/$suite.log" |
		sed "s/^/# $suite: /" | grep .
	step btrfs "a check of btrfs is the same, too" inside /packages/tests/btrfs
	step library "a program is built with libe2mmap" inside /packages/tests/library
	step command "e2prefetch reads ahead" inside /packages/tests/read-ahead
	step habit "enabled and disabled, e2fsck is as before" inside \
		/packages/tests/habit
	step remove "removed, their files are gone" removed_files_are_gone
	step purge "purged, all is as before" purged_leaves_nothing
	rm -rf "$root"
}

test_suite()
{
	local suite=$1 log=$work/$1.log

	: >"$work/$suite-transcript"
	if ! make_chroot "$work/$suite-fresh" "$suite" >"$log" 2>&1; then
		tap_skip "$suite" "no chroot can be made: $(no_chroot_made "$log")"
		return
	fi
	test_build && test_install
}

main()
{
	local suite

	make_release || tap_bail "make dist does not make a release"
	for suite; do
		test_suite "$suite"
	done
	notes_table distribution= e2fsprogs=e2fsprogs builds=builds \
		"without warnings=warnings" lintian=lintian "RPM builds=rpm" \
		files=files "checks agree=check" "btrfs checks agree=btrfs" \
		libe2mmap=library e2prefetch=command "enable, disable=habit" \
		"left when removed=left_by_remove" \
		"left when purged=left_by_purge"
}

[ $# -gt 0 ] || set -- bookworm trixie sid
why=$(no_chroots)
[ -z "$why" ] || tap_skip_all "$why"
[ -e "$top_builddir/Makefile" ] || tap_skip_all "not configured"
tmp_setup
work=${DIST_DIR:-$E2PF_TMP}
notes=$E2PF_TMP/notes
mkdir -p "$work"
: >"$notes"
tap_run main "$@"
