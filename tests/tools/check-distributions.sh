#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The tests on other distributions and processors, with libext2fs linked in other ways,
# and with another libc.
#
#   check-distributions.sh [SUITE[:ARCHITECTURE]...]	default: all_places
#   check-distributions.sh here		on this machine as it is
#
# In a chroot this script continues as it does with "here".  doc/testing.md describes
# both.
#
# All images run with the newest e2fsprogs, that of unstable; the other places get a few,
# since "make check" has run all on the machine at hand.  Faults run on Debian 13: after
# many of them e2fsck of 1.47.4 waits for a lock of its own, until it is ended.  i386 runs
# on an x86-64 processor.  arm64 and s390x need an emulator that the kernel knows (package
# qemu-user-static), and are ten times slower.  There gcc alone builds, from the release's
# configure and with -O1, for which an emulated gcc needs 1.1 s where -g -O2 takes 4.6;
# the unit tests are those of emulated_units, and there are fewer images and corruptions.
#
# DIST_DIR	directory to work in, an absolute path, which keeps the chroots:
#		PLACE-fresh as made by debootstrap, and PLACE, in which the tests
#		run (default: a temporary directory)
# DIST_TESTS	some of: unit cli corpus features corruptions faults e2fsprogs (the
#		suite of e2fsprogs itself) (default: the first five, with trixie
#		faults, with sid e2fsprogs, on other processors without corpus); if
#		set, all images, and the corpus with each link
# DIST_LINKS	some of: packaged symbolic no-interposition musl (default: the first;
#		with bullseye and sid, the oldest and newest, the first three; with
#		bookworm also the last)
# DIST_SEEDS	corruptions (default: 39; with other links or emulated, 13)
#
# Mounts and processes are in namespaces, so none is left however the script ends.

srcdir=${srcdir:-$(dirname "$0")/..}
self=$(realpath "$0")
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/chroots.sh"

export srcdir top_builddir
all_places="bullseye bookworm trixie sid bookworm:i386 bookworm:arm64 bookworm:s390x"
few_images="ext2-1k-i128 ext3-1k ext4-4k ext4-1k ext4-inline ext4-bigalloc
	ext4-htree-2 ext4-recovery"
# The last has more bytes than 32 bits can count.
emulated_images="ext3-1k ext4-4k ext4-64g"
# What reads or writes disk structures, counts bits, stands in for functions, or bitmaps.
# Arithmetic over simulated devices, settings and reports are the same on all processors.
emulated_units="bitmaps bitset btrfs-preload btrfs-plan btrfs-search btrfs-send
	btrfs-source clones crc32c device directories indirect journal mmap-io
	linkage plan plan-image requests session threads"

# Sets the tests that are run in this place.
settle()
{
	local tests="unit cli corpus features corruptions"
	local links="packaged"

	emulated='' images=$few_images
	case $1 in
	bullseye) links+=" symbolic no-interposition" ;;
	bookworm) links+=" musl" ;;
	trixie) tests+=" faults" ;;
	sid) tests+=" e2fsprogs" links+=" symbolic no-interposition" images=features ;;
	*:*) tests=${tests/corpus /} ;;
	esac
	case $1 in
	*:arm64) emulated=aarch64 ;;
	# Its emulator passes on a wrong address with SIGBUS.
	*:s390x) emulated=s390x emulated_units=${emulated_units/mmap-io/} ;;
	esac
	# In a chroot uname names the emulated machine.
	[ "${emulated:-none}" != "${DIST_MACHINE:=$(uname -m)}" ] || emulated=
	[ -z "${DIST_TESTS-}" ] || images=features
	[ -z "$emulated" ] || images=$emulated_images
	wanted_tests=${DIST_TESTS:-$tests}
	wanted_links=${DIST_LINKS:-$links}
}

is_wanted() { [[ " ${wanted_tests//[$'\n\t']/ } " = *" $1 "* ]]; }

#
# libext2fs, linked in other ways from the source package.
#

# make_libext2fs DIR: configure it and build what lib/ext2fs depends on.  Programs
# and static libraries are not needed, and may not build.
make_libext2fs()
{
	[ ! -e "$1/ready" ] || return 0
	rm -rf "$1"
	mkdir -p "$1" && cd "$1" && configure_e2fsprogs CFLAGS=-O0 &&
	make -s -j "$E2PF_JOBS" -C util subst &&
	make -s -j "$E2PF_JOBS" -C lib/et &&
	touch ready
}

# make_link DIR LINK OUT: link libext2fs in this way, unless it is there.
make_link()
{
	local compile="-g -O2 -fPIC" link=

	[ ! -e "$3" ] || return 0
	case $2 in
	symbolic) link="-Wl,-Bsymbolic-functions" ;;
	no-interposition) compile+=" -fno-semantic-interposition" ;;
	*) return 1 ;;
	esac
	rm -f "$1"/lib/ext2fs/{,elfshared/}*.o "$1"/lib/ext2fs/libext2fs.so.*
	make -s -j "$E2PF_JOBS" -C "$1/lib/ext2fs" image \
		CFLAGS_SHLIB="$compile" LDFLAGS_SHLIB="$link" &&
	mv "$1"/lib/ext2fs/libext2fs.so.*.* "$3"
}

# The number of LIBRARY's calls to its own functions that can be interposed.
interposable()
{
	readelf -rW "$1" | awk '
		$3 ~ /JU?MP_SLO/ && $4 !~ /^0+$/ { n++ }
		END { print n + 0 }'
}

# is_linked LINK LIBRARY: is it linked in this way?
is_linked()
{
	local n

	n=$(interposable "$2")
	echo "$n calls inside can be interposed"
	case $1 in
	symbolic) [ "$n" = 0 ] ;;
	no-interposition)
		[ "$n" -gt 0 ] && [ "$n" -lt "$(interposable "$packaged")" ]
		;;
	esac
}

# with_link COMMAND...: with $library over the package's, if there is one.
with_link()
{
	local flags=-m

	have_root || flags=-rm
	[ -n "$library" ] || { "$@"; return; }
	unshare $flags bash "$self" --mount "$library" "$packaged" "$@"
}

#
# musl: e2fsprogs and this project with another C library.
#

# build_musl DIR: DIR/project, always from scratch, and DIR/e2fsprogs.  That is not
# installed: programs use libext2fs in its build directory.  musl-gcc does not find the
# kernel's headers in libc's directory.
build_musl()
{
	local dir=$1 stock=$1/e2fsprogs run=-Wl,-rpath,$1/e2fsprogs/lib

	if [ ! -e "$dir/ready" ]; then
		rm -rf "$dir"
		mkdir -p "$stock" "$dir/include" &&
		ln -s /usr/include/{linux,asm-generic,mtd} \
			"/usr/include/$(gcc -print-multiarch)/asm" \
			"$dir/include" &&
		ln -s "${dir%/*}/source" "$dir/source" && cd "$stock" &&
		configure_e2fsprogs LDFLAGS="$run" &&
		make -s -j "$E2PF_JOBS" &&
		touch ../ready || return
	fi
	release_sources "$dir/project" && cd "$dir/project" &&
	./configure -q --with-e2fsck="$stock/e2fsck/e2fsck" \
		PKG_CONFIG_LIBDIR=/nowhere LDFLAGS="$run" \
		EXT2FS_CFLAGS="-I$stock/lib -I$dir/source/lib" \
		EXT2FS_LIBS="-L$stock/lib -lext2fs -lcom_err" &&
	make -s -j "$E2PF_JOBS" &&
	make -s -C tests tools/corrupt tools/imgtool
}

# Everything that is linked, including the tests' libraries, uses musl.
test_musl()
{
	local dir=$work/e2fsprogs/musl log=$E2PF_TMP/build.log

	have_program musl-gcc || { tap_skip "$place" "musl-gcc not found"; return; }
	export CC="musl-gcc -idirafter $dir/include"
	(build_musl "$dir") >"$log" 2>&1 || {
		tap_not_ok "$place: builds" "$log"
		return
	}
	no_warnings "$place" "$log"
	top_builddir=$dir/project
	E2FSCK_STOCK=$dir/e2fsprogs/e2fsck/e2fsck
	E2FSCK_TEST=$dir/project/e2fsck/e2fsck
	export E2FSCK_STOCK
	PATH=$dir/e2fsprogs/misc:$dir/e2fsprogs/debugfs:$PATH
	test_link
}

#
# The tests.
#

# Those of an emulated place; of others none, which stands for all.
unit_programs() { [ -z "$emulated" ] || printf 'unit/test-%s\n' $emulated_units; }

unit_tests()
{
	local program

	is_wanted unit && cd "$top_builddir/tests" || return
	for program in $(unit_programs | grep . ||
		find unit -name 'test-*' ! -name '*.*' | sort); do
		CMOCKA_MESSAGE_OUTPUT=TAP bash "$srcdir/tools/cmocka-tap.sh" \
			"$program" </dev/null 2>&1 |
			pass_on "$place" unit "${program#unit/}"
	done
}

# script GROUP NAME ARGUMENT...: a test script of the suite.
script()
{
	local group=$1 test=$2

	shift 2
	is_wanted "$group" || return 0
	(
		with_link bash "$srcdir/$test" "$@" </dev/null
	) 2>&1 | pass_on "$place" "$group" "${test##*/}"
}

# The accelerations that a check uses, by the statistics.
in_use()
{
	local image=$E2PF_TMP/use.image stats=$E2PF_TMP/use use

	[ -e "$image" ] || { truncate -s 64M "$image" && mke2fs -q -t ext4 "$image"; } ||
		return
	rm -f "$stats"
	with_link env PREFETCH=1 PREFETCH_ACCEL=all PREFETCH_STATS="$stats" \
		"$E2FSCK_TEST" -fn "$image" >/dev/null 2>&1
	use=$(sed -n 's/.*"\([a-z0-9]*\): accelerated .*/\1/p' "$stats" | paste -sd,)
	note "$place" use "${use:-none}"
	tap_check "$place: in use: ${use:-none}" test -s "$stats"
}

# The mapping does not depend on how libext2fs is linked, but on libc.  Unit
# tests interpose libext2fs's functions themselves, and faults do not depend on it.
test_link()
{
	local managers=${COMPARE_ROW_MANAGERS-} seeds=39 images=$images corpus=1

	if [ "$link" != packaged ]; then
		images=$few_images seeds=13 corpus=${DIST_TESTS-}
		[ "$link" = musl ] || managers=${managers:-0}
	fi
	if [ -n "$emulated" ]; then
		seeds=13
		export COMPARE_LIMIT=300
	fi
	[ -z "$corpus" ] || COMPARE_ROW_MANAGERS=$managers \
		script corpus scripts/test-compare.sh corpus
	script features scripts/test-compare.sh $images
	COUNT=${DIST_SEEDS:-$seeds} script corruptions scripts/test-corruptions.sh
	if [ "$link" = packaged ]; then
		unit_tests
		script cli scripts/test-cli.sh
		# qemu-user makes up the start of a process in /proc/self/stat.
		[ -n "$emulated" ] || script cli scripts/test-progress.sh
		script faults scripts/test-faults.sh
		script faults scripts/test-limits.sh
		E2FSPROGS_DIR=$work/e2fsprogs \
			script e2fsprogs tools/check-e2fsprogs.sh
	fi
	in_use
}

# test_linked LINK: with libext2fs linked anew.
test_linked()
{
	local link=$1 source=$work/e2fsprogs log=$E2PF_TMP/build.log
	local library=$work/e2fsprogs/$link.so

	source_package "$source" e2fsprogs >"$log" 2>&1 || {
		tap_skip "$place" "no source package: $(why_not "$log")"
		return
	}
	[ "$link" != musl ] || { library='' && (test_musl); return; }
	(make_libext2fs "$source/build" &&
	 make_link "$source/build" "$link" "$library") >"$log" 2>&1 || {
		tap_not_ok "$place: libext2fs can be linked" "$log"
		return
	}
	tap_check "$place: it is linked so" is_linked "$link" "$library"
	tap_check "$place: it is what e2fsck loads" \
		with_link cmp "$library" "$packaged"
	test_link
}

# On this machine, or in this chroot: the tests with each link.  $packaged is the file
# that e2fsck loads as libext2fs.
test_here()
{
	local packaged link library='' place

	settle "$1"
	packaged=$(realpath "$(ldd "$E2FSCK_STOCK" |
		awk '$1 ~ /^libext2fs\.so/ { print $3 }')")
	[ -e "$packaged" ] ||
		{ tap_skip "$1" "$E2FSCK_STOCK loads no libext2fs"; return; }
	for link in $wanted_links; do
		place=$1/$link
		note "$place" version "$(mke2fs -V 2>&1 |
			sed -n 's/^mke2fs \([0-9.a-z~-]*\).*/\1/p')"
		if [ "$link" = packaged ]; then
			test_link
		else
			test_linked "$link"
		fi
	done
}

#
# Chroots.
#

# The chroot to work in: a copy, with packages needed in addition to those that
# quickstart installs, and the sources.  The distribution's own autoconf regenerates
# its files, unless it is emulated.
make_place()
{
	local more=(dpkg-dev)

	[ -n "$emulated" ] || more+=(clang)
	[[ " ${wanted_links//[$'\n\t']/ } " != *" musl "* ]] ||
		more+=(musl-tools cmake)
	if [ ! -e "$root/complete" ]; then
		rm -rf "$root" "$root.copy"
		cp -a "$root-fresh" "$root.copy" && mv "$root.copy" "$root" || return
	fi
	inside dpkg -s "${more[@]}" >/dev/null 2>&1 ||
		{ apt update && apt install "${more[@]}"; } || return
	# Left by a run that was killed with its namespace.
	rm -rf "$root"/tmp/e2pf-test.*
	release_sources "$root/source" || return
	[ -z "$emulated" ] || return 0
	find "$root/source" -name Makefile.in -delete
	rm -rf "$root/source"/{configure,aclocal.m4,config.h.in,build-aux}
}

# build_with COMPILER: tests whether it builds, and whether it warns; notes its
# version.  clang builds a copy, because the tests run in gcc's build.
build_with()
{
	local log=$root-$1.log cell build='cd /source && ./quickstart build'
	local programs='check TESTS='

	[ -z "$emulated" ] || build="export CFLAGS=-O1; $build" \
		programs="tools/corrupt tools/imgtool $(unit_programs | paste -sd' ')"
	[ "$1" = gcc ] || build='rm -rf /clang && cp -a /source /clang &&
		cd /clang && make -s distclean && ./configure -q CC=clang &&
		make -s -j"$(nproc)"'
	inside bash -c "$build && make -s -j\"\$(nproc)\" -C tests $programs" \
		>"$log" 2>&1 || {
		tap_not_ok "$place: builds with $1" "$log" 40
		note "$place" "$1" fails
		return 1
	}
	cell=$(inside "$1" --version | head -n 1 |
		grep -oE '[0-9]+\.[0-9.]+' | tail -n 1)
	no_warnings "$place, $1" "$log" || cell=$cell,warns
	note "$place" "$1" "$cell"
}

test_place()
{
	local place=$1 root=$work/${1/:/-} log=$work/${1/:/-}.log name

	settle "$place"
	if [ -n "$emulated" ] && [ ! -e "/proc/sys/fs/binfmt_misc/qemu-$emulated" ]; then
		tap_skip "$place" "the kernel knows no emulator (qemu-user-static)"
		return
	fi
	make_chroot "$root-fresh" "$place" >"$log" 2>&1 || {
		tap_skip "$place" "no chroot can be made: $(no_chroot_made "$log")"
		return
	}
	make_place >"$log" 2>&1 || {
		tap_not_ok "$place: packages and sources" "$log" 40
		return
	}
	build_with gcc || return
	[ -n "$emulated" ] || build_with clang
	rm -rf "$root/clang"
	set -- DIST_DIR=/dist E2FSPROGS_TESTS=${corpus:+/e2fsprogs-tests}
	for name in DIST_TESTS DIST_LINKS DIST_SEEDS DIST_MACHINE E2PF_JOBS; do
		set -- "$@" "$name=${!name-}"
	done
	inside env "$@" bash /source/tests/tools/check-distributions.sh \
		--inside "$place" /notes ||
		tap_not_ok "$place: ended before its last test"
	cat "$root/notes" >>"$notes"
}

test_offsets()
{
	local place corpus

	corpus=${E2FSPROGS_TESTS:-$srcdir/../../shared/e2fsprogs-tests}
	[ ! -r "$corpus/manifest.tsv" ] || corpus=$(cd "$corpus" && pwd)
	[ -r "$corpus/manifest.tsv" ] || corpus=
	chroot_mounts=(${corpus:+"$corpus:/e2fsprogs-tests"})
	for place; do
		test_place "$place"
	done
}

main()
{
	if [ "$*" = here ]; then
		test_here "$(. /etc/os-release; echo "${VERSION_CODENAME:-here}")"
	else
		test_offsets "$@"
	fi
	notes_table place= gcc=gcc clang=clang e2fsprogs=version \
		"unit tests=unit" "command line=cli" corpus=corpus \
		features=features corruptions=corruptions faults=faults \
		"suite of e2fsprogs=e2fsprogs" "in use=use"
}

work=${DIST_DIR:-}
case ${1-} in
--mount)
	mount --bind "$2" "$3" || exit 125
	shift 3
	exec "$@"
	;;
--inside)
	tmp_setup
	notes=$3
	: >"$notes"
	test_here "$2"
	exit
	;;
esac

[ $# -gt 0 ] || set -- $all_places
have_program unshare || tap_skip_all "unshare not found"
[ -x "$E2FSCK_TEST" ] || tap_skip_all "not built: $E2FSCK_TEST"
if [ "$*" = here ]; then
	flags=-m
	have_root || flags=-rm
	unshare $flags true 2>/dev/null ||
		tap_skip_all "no name space to mount in can be had"
else
	why=$(no_chroots)
	[ -z "$why" ] || tap_skip_all "$why"
fi
tmp_setup
work=${work:-$E2PF_TMP}
notes=$E2PF_TMP/notes
mkdir -p "$work"
: >"$notes"
tap_run main "$@"
