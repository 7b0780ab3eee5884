#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests on other distributions, and with libext2fs linked in other ways.
#
#   check-distributions.sh [SUITE...]	default: bullseye bookworm trixie sid
#   check-distributions.sh here		on this machine as it is
#
# Each suite of Debian gets a chroot, made by debootstrap.  There ./quickstart
# installs the build dependencies and builds a copy of the release sources with gcc;
# clang builds another copy, and neither may warn.  Then this script continues in
# the chroot as it does with "here": it runs the tests with the packaged libext2fs,
# and with the same source linked in other ways, each mounted over the packaged one
# that the stock e2fsck uses.
#
# DIST_DIR	folder to work in, an absolute path, which keeps the chroots:
#		SUITE-fresh as made by debootstrap, and SUITE, in which the tests
#		run (default: a temporary folder)
# DIST_TESTS	some of: unit corpus features corruptions faults e2fsprogs (the
#		suite of e2fsprogs itself) (default: all of these)
# DIST_LINKS	some of: packaged plain symbolic lto no-interposition relro all
#		musl (default: all of these)
# DIST_IMAGES	images for test-compare.sh (default: all with the packaged
#		libext2fs, a few with others)
# DIST_SEEDS	corruptions (default: 39)
# DIST_MIRROR	default: http://deb.debian.org/debian
# TABLE		file that gets the closing tables between their marks
#
# Mounts and processes are in namespaces, so none is left however the script ends.

srcdir=${srcdir:-$(dirname "$0")/..}
self=$(realpath "$0")
# shellcheck source=lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=report.sh
. "$srcdir/tools/report.sh"
# shellcheck source=source-package.sh
. "$srcdir/tools/source-package.sh"
# shellcheck source=chroots.sh
. "$srcdir/tools/chroots.sh"

top_srcdir=$(cd "$srcdir/.." && pwd)
export srcdir top_builddir
wanted_tests=${DIST_TESTS:-unit corpus features corruptions faults e2fsprogs}
wanted_links=${DIST_LINKS:-packaged plain symbolic lto no-interposition relro
	all musl}
few_images="ext2-1k-i128 ext3-1k ext4-4k ext4-1k ext4-inline ext4-bigalloc
	ext4-htree-2 ext4-recovery"

is_wanted()
{
	[[ " ${wanted_tests//[$'\n\t']/ } " = *" $1 "* ]]
}

#
# libext2fs, linked in other ways from the source package.
#

# The flags of the compiler and the linker for a kind of link.
link_flags()
{
	compile="-g -O2 -fPIC" link=
	case $1 in
	plain) ;;
	symbolic) link="-Wl,-Bsymbolic-functions" ;;
	lto) compile+=" -flto" ;;
	no-interposition) compile+=" -fno-semantic-interposition" ;;
	relro) link="-Wl,-z,relro,-z,now" ;;
	all)
		compile+=" -flto -fno-semantic-interposition"
		link="-Wl,-Bsymbolic-functions,-z,relro,-z,now"
		;;
	*) return 1 ;;
	esac
	# Code is generated when it is linked.
	link="$compile $link"
}

# make_libext2fs DIR: configure it and build what lib/ext2fs depends on.  Programs
# and static libraries are not needed, and may not build.
make_libext2fs()
{
	[ ! -e "$1/ready" ] || return 0
	rm -rf "$1"
	mkdir -p "$1" && cd "$1" || return
	../source/configure -q --enable-elf-shlibs --disable-nls \
		--disable-uuidd --disable-fsck --disable-fuse2fs CFLAGS=-O0 &&
	make -s -j "$E2PF_JOBS" -C util subst &&
	make -s -j "$E2PF_JOBS" -C lib/et &&
	touch ready
}

# make_link DIR LINK OUT: link libext2fs in this way.  Reuses objects that are
# compiled alike, and an existing library.
make_link()
{
	local dir=$1 out=$3 compile link

	[ ! -e "$out" ] || return 0
	link_flags "$2" || return
	if [ "$(cat "$dir/compiled" 2>/dev/null)" != "$compile" ]; then
		rm -f "$dir"/lib/ext2fs/*.o "$dir"/lib/ext2fs/elfshared/*.o
		printf '%s\n' "$compile" >"$dir/compiled"
	fi
	rm -f "$dir"/lib/ext2fs/libext2fs.so.*
	make -s -j "$E2PF_JOBS" -C "$dir/lib/ext2fs" image \
		CFLAGS_SHLIB="$compile" LDFLAGS_SHLIB="$link" &&
	mv "$dir"/lib/ext2fs/libext2fs.so.*.* "$out"
}

# The number of LIBRARY's calls to its own functions that can be interposed.
interposable()
{
	readelf -rW "$1" | awk '
		$3 ~ /JU?MP_SLO/ && $4 !~ /^0+$/ { n++ }
		END { print n + 0 }'
}

# is_linked LINK LIBRARY PLAIN: is it linked in this way?  PLAIN is the number of
# calls that can be interposed if it is linked plainly, or large if not known.
is_linked()
{
	local n

	n=$(interposable "$2")
	echo "$n calls inside can be stood in for"
	case $1 in
	plain) [ "$n" -gt 0 ] ;;
	lto) [ "$n" -gt 0 ] ;;
	symbolic) [ "$n" = 0 ] ;;
	no-interposition) [ "$n" -gt 0 ] && [ "$n" -lt "$3" ] ;;
	relro) readelf -dW "$2" | grep -q 'Flags:.*NOW' && [ "$n" -gt 0 ] ;;
	all) readelf -dW "$2" | grep -q 'Flags:.*NOW' && [ "$n" = 0 ] ;;
	esac
}

# The file that e2fsck loads as libext2fs.
packaged_library()
{
	realpath "$(ldd "$E2FSCK_STOCK" |
		awk '$1 ~ /^libext2fs\.so/ { print $3 }')"
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

# The reason why musl cannot be used, if there is one.
no_musl()
{
	have_program musl-gcc || echo "musl-gcc not found"
}

# The kernel's headers, which musl-gcc does not search in libc's folder.
kernel_headers()
{
	local asm

	asm=/usr/include/$(gcc -print-multiarch)/asm
	mkdir -p "$1"
	ln -sfn /usr/include/{linux,asm-generic,mtd} "$1" &&
		ln -sfn "$asm" "$1/asm"
}

# make_musl DIR SOURCE: build DIR/e2fsprogs.  It is not installed: programs use
# libext2fs in its build folder.
make_musl()
{
	local dir=$1 run=-Wl,-rpath,$1/e2fsprogs/lib

	[ ! -e "$dir/ready" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir/e2fsprogs" &&
	kernel_headers "$dir/include" &&
	cd "$dir/e2fsprogs" &&
	"$2/configure" -q --enable-elf-shlibs --disable-nls \
		--disable-uuidd --disable-fsck --disable-fuse2fs LDFLAGS="$run" &&
	make -s -j "$E2PF_JOBS" &&
	touch ../ready
}

# make_musl_project DIR SOURCE: build DIR/project, always from scratch.
make_musl_project()
{
	local dir=$1 run=-Wl,-rpath,$1/e2fsprogs/lib

	release_sources "$dir/project" && cd "$dir/project" &&
	./configure -q --with-e2fsck="$dir/e2fsprogs/e2fsck/e2fsck" \
		PKG_CONFIG_LIBDIR=/nowhere LDFLAGS="$run" \
		EXT2FS_CFLAGS="-I$dir/e2fsprogs/lib -I$2/lib" \
		EXT2FS_LIBS="-L$dir/e2fsprogs/lib -lext2fs -lcom_err" &&
	make -s -j "$E2PF_JOBS" &&
	make -s -C tests tools/corrupt tools/imgtool
}

# test_musl SOURCE
test_musl()
{
	local dir=${1%/*}/musl log=$E2PF_TMP/build.log why library=''

	why=$(no_musl)
	[ -z "$why" ] || { tap_skip "$place" "$why"; return; }
	# Everything that is linked, including the tests' libraries, uses musl.
	export CC="musl-gcc -idirafter $dir/include"
	if ! (make_musl "$dir" "$1") >"$log" 2>&1; then
		tap_not_ok "$place: e2fsprogs builds" "$log"
		return
	fi
	if ! (make_musl_project "$dir" "$1") >"$log" 2>&1; then
		tap_not_ok "$place: builds" "$log"
		return
	fi
	no_warnings "$place" "$log"
	top_builddir=$dir/project
	E2FSCK_STOCK=$dir/e2fsprogs/e2fsck/e2fsck
	E2FSCK_TEST=$dir/project/e2fsck/e2fsck
	export E2FSCK_STOCK
	PATH=$dir/e2fsprogs/misc:$dir/e2fsprogs/debugfs:$PATH
	test_link "$place" "$1"
}

#
# The tests.
#

# unit PROGRAM: a cmocka program.
unit()
{
	CMOCKA_MESSAGE_OUTPUT=TAP bash "$srcdir/tools/cmocka-tap.sh" \
		"$top_builddir/tests/unit/$1" </dev/null 2>&1 |
		pass_on "$place" unit "$1" "$counts"
}

unit_tests()
{
	local program count=0

	cd "$top_builddir/tests" || return
	for program in unit/test-*; do
		case $program in
		*.*) continue ;;
		esac
		unit "${program#unit/}"
		count=$((count + 1))
	done
	[ $count -gt 0 ] || tap_not_ok "$place: no unit tests are built"
}

# script GROUP NAME ARGUMENT...: a test script of the suite.
script()
{
	local group=$1 test=$2

	shift 2
	is_wanted "$group" || return 0
	(
		unset TABLE
		with_link bash "$srcdir/$test" "$@" </dev/null
	) 2>&1 | pass_on "$place" "$group" "${test##*/}" "$counts"
}

# The accelerations in use according to the statistics.
accelerations()
{
	tr -d ' \t\n' <"$1" | sed -n \
		's/.*"accelerations":\[\([^]]*\)].*/\1/p' | tr -d '"'
}

# The accelerations that a check uses.
in_use()
{
	local image=$E2PF_TMP/use.image use

	[ -e "$image" ] || { truncate -s 64M "$image" && mke2fs -q -t ext4 "$image"; } ||
		return
	rm -f "$E2PF_TMP/use"
	with_link env PREFETCH=1 PREFETCH_ACCEL=all PREFETCH_STATS="$E2PF_TMP/use" \
		"$E2FSCK_TEST" -fn "$image" >/dev/null 2>&1
	use=$(accelerations "$E2PF_TMP/use")
	printf '%s use %s\n' "$place" "${use:-none}" >>"$counts"
	tap_check "$place: in use: ${use:-none}" test -s "$E2PF_TMP/use"
}

# test_link PLACE SOURCE
test_link()
{
	local place=$1 images=${DIST_IMAGES-} managers=${COMPARE_ROW_MANAGERS-}

	[ "$link" = packaged ] || images=${images:-$few_images}
	# The mmap I/O manager does not depend on how libext2fs is linked, but on
	# libc.
	case $link in
	packaged|musl) ;;
	*) managers=${managers:-0} ;;
	esac
	COMPARE_ROW_MANAGERS=$managers script corpus scripts/test-compare.sh corpus
	# shellcheck disable=SC2086
	script features scripts/test-compare.sh ${images:-features}
	COUNT=${DIST_SEEDS:-39} script corruptions scripts/test-corruptions.sh
	# Unit tests interpose libext2fs's functions themselves, and faults do
	# not depend on libext2fs.
	if [ "$link" = packaged ]; then
		! is_wanted unit || unit_tests
		script faults scripts/test-faults.sh
		script faults scripts/test-limits.sh
		E2FSPROGS_DIR=$2 E2PF_TABLE=$counts.rows \
			script e2fsprogs tools/check-e2fsprogs.sh
	fi
	in_use
}

# test_links NAME SOURCE: the tests with each link.  $packaged is the package's
# libext2fs.
test_links()
{
	local name=$1 source=$2 link library='' plain=1000000 ready place

	for link in $wanted_links; do
		place=$name/$link
		if [ "$link" = packaged ]; then
			library=
			test_link "$place" "$source"
			continue
		fi
		if [ -z "${ready-}" ]; then
			source_package "$source" e2fsprogs >"$E2PF_TMP/source.log" 2>&1 || {
				tap_skip "$name: libext2fs linked anew" \
					"no source package: $(why_not "$E2PF_TMP/source.log")"
				return
			}
			ready=yes
		fi
		if [ "$link" = musl ]; then
			(test_musl "$source/source")
			continue
		fi
		(make_libext2fs "$source/build") >"$E2PF_TMP/build.log" 2>&1 || {
			tap_not_ok "$name: libext2fs can be built" \
				"$E2PF_TMP/build.log"
			continue
		}
		library=$source/$link.so
		make_link "$source/build" "$link" "$library" \
			>"$E2PF_TMP/build.log" 2>&1 || {
			tap_not_ok "$name: libext2fs can be linked: $link" \
				"$E2PF_TMP/build.log"
			continue
		}
		[ "$link" != plain ] || plain=$(interposable "$library")
		tap_check "$place: it is linked so" \
			is_linked "$link" "$library" "$plain"
		tap_check "$place: it is what e2fsck loads" \
			with_link cmp "$library" "$packaged"
		test_link "$place" "$source"
	done
}

# On this machine, or in this chroot.  Results go to $counts.
test_here()
{
	local name=$1 packaged

	packaged=$(packaged_library)
	[ -e "$packaged" ] || {
		tap_skip "$name" "$E2FSCK_STOCK loads no libext2fs"
		return
	}
	printf '%s version %s\n' "$name" "$(mke2fs -V 2>&1 |
		sed -n 's/^mke2fs \([0-9.a-z~-]*\).*/\1/p')" >>"$counts"
	test_links "$name" "${DIST_DIR:-$E2PF_TMP}/e2fsprogs"
}

# no_warnings PLACE LOG: the compiler did not warn.
no_warnings()
{
	if grep -A 4 'warning:' "$2" >"$2.warnings"; then
		tap_not_ok "$1: builds without warnings" "$2.warnings"
		return 1
	fi
	tap_ok "$1: builds without warnings"
}

#
# Chroots.
#

# The distribution's own autoconf regenerates its files.
make_sources()
{
	# Left by a run that was killed with its namespace.
	rm -rf "$root"/tmp/e2pf-test.*
	release_sources "$root/source" || return
	find "$root/source" -name Makefile.in -delete
	rm -rf "$root/source"/{configure,aclocal.m4,config.h.in,build-aux}
}

# Packages needed in addition to those that quickstart installs.
install_more()
{
	local more=(dpkg-dev clang)

	[[ " ${wanted_links//[$'\n\t']/ } " != *" musl "* ]] ||
		more+=(musl-tools cmake)
	# shellcheck disable=SC2016
	in_chroot "$root" sh -c 'dpkg -s "$@" >/dev/null 2>&1 || {
		apt-get -qq update &&
		apt-get -qq -y --no-install-recommends install "$@"
	}' sh "${more[@]}"
}

build_gcc()
{
	# shellcheck disable=SC2016
	in_chroot "$root" bash -c 'cd /source && ./quickstart build &&
		make -s -j"$(nproc)" -C tests check TESTS='
}

# In a copy, because the tests run in gcc's build.
build_clang()
{
	# shellcheck disable=SC2016
	in_chroot "$root" bash -c 'rm -rf /clang && cp -a /source /clang &&
		cd /clang && make -s distclean && ./configure -q CC=clang &&
		make -s -j"$(nproc)" &&
		make -s -j"$(nproc)" -C tests check TESTS= &&
		cd / && rm -rf /clang'
}

# build_with COMPILER: tests whether it builds, its version, and whether it warns.
build_with()
{
	local log=$work/$suite-$1.log cell place=$suite

	if ! "build_$1" >"$log" 2>&1; then
		tail -n 40 "$log" >"$log.end"
		tap_not_ok "$suite: builds with $1" "$log.end"
		printf '%s %s fails\n' "$suite" "$1" >>"$counts"
		return 1
	fi
	cell=$(in_chroot "$root" "$1" --version | head -n 1 |
		grep -oE '[0-9]+\.[0-9.]+' | tail -n 1)
	no_warnings "$suite, $1" "$log" || cell=$cell,warns
	printf '%s %s %s\n' "$suite" "$1" "$cell" >>"$counts"
}

test_suite()
{
	local suite=$1 root=$work/$1 log=$work/$1.log counts_inside
	local place=$1

	if ! { make_chroot "$root-fresh" "$suite" &&
	       copy_chroot "$root-fresh" "$root"; } >"$log" 2>&1; then
		tap_skip "$suite" "no chroot can be made: $(
			no_chroot_made "$log")"
		return
	fi
	if ! { install_more && make_sources; } >"$log" 2>&1; then
		tail -n 40 "$log" >"$log.end"
		tap_not_ok "$suite: packages and sources" "$log.end"
		return
	fi
	build_with gcc || return
	build_with clang
	counts_inside=$root/counts
	: >"$counts_inside"
	: >"$counts_inside.rows"
	in_chroot "$root" DIST_DIR=/dist DIST_TESTS="$wanted_tests" \
		DIST_LINKS="$wanted_links" \
		DIST_IMAGES="${DIST_IMAGES-}" DIST_SEEDS="${DIST_SEEDS-}" \
		E2PF_JOBS="$E2PF_JOBS" \
		E2FSPROGS_TESTS=${corpus:+/e2fsprogs-tests} \
		bash /source/tests/tools/check-distributions.sh \
		--inside "$suite" /counts ||
		tap_not_ok "$suite: ended before its last test"
	cat "$counts_inside" >>"$counts"
	cat "$counts_inside.rows" >>"$counts.rows"
}

test_suites()
{
	local suite corpus

	corpus=${E2FSPROGS_TESTS:-$srcdir/../../shared/e2fsprogs-tests}
	if [ -r "$corpus/manifest.tsv" ]; then
		corpus=$(cd "$corpus" && pwd)
	else
		corpus=
	fi
	chroot_mounts=(${corpus:+"$corpus:/e2fsprogs-tests"})
	for suite; do
		test_suite "$suite"
	done
}

#
# The closing table: passed, skipped and failed of each group in each place.
#
print_table()
{
	awk '
	$2 == "version" { version[$1] = $3; next }
	$2 == "gcc" {
		gcc[$1] = $3
		if ($3 == "fails")
			places[++count] = $1
		next
	}
	$2 == "clang" { clang[$1] = $3; next }
	!($1 in seen) { seen[$1] = 1; places[++count] = $1 }
	$2 == "use" { use[$1] = $3; next }
	{ n[$1, $2, $3]++; any[$1, $2] = 1 }
	function cell(p, g)
	{
		if (!((p, g) in any))
			return ""
		return n[p, g, "passed"] + 0 " / " n[p, g, "skipped"] + 0 \
			" / " n[p, g, "failed"] + 0
	}
	END {
		print "| distribution | gcc | clang | e2fsprogs | libext2fs" \
			" | unit tests" \
			" | corpus | features | corruptions | faults" \
			" | in use |"
		print "| --- | --- | --- | --- | --- | --- | --- | --- | --- |" \
			" --- | --- |"
		for (i = 1; i <= count; i++) {
			p = places[i]
			split(p, part, "/")
			row = "| " part[1] " | " gcc[part[1]] " | " \
				clang[part[1]] " | " version[part[1]] " | " \
				part[2]
			gsub(",", ", ", row)
			groups = split("unit corpus features corruptions faults",
				group, " ")
			for (k = 1; k <= groups; k++)
				row = row " | " cell(p, group[k])
			gsub(",", ", ", use[p])
			print row " | " use[p] " |"
		}
	}' "$counts"
}

main()
{
	if [ "$*" = here ]; then
		# shellcheck source=/dev/null
		test_here "$(. /etc/os-release; echo "${VERSION_CODENAME:-here}")"
	else
		test_suites "$@"
	fi
	[ -s "$counts" ] || return 0
	tap_diag "passed / skipped / failed:"
	print_table >"$work/table"
	sed 's/^/# /' "$work/table"
	[ -z "${TABLE-}" ] || write_table distributions "$work/table" "$TABLE"
	[ -s "$counts.rows" ] || return 0
	bash "$srcdir/tools/check-e2fsprogs.sh" --table "$counts.rows" >"$work/table"
	sed 's/^/# /' "$work/table"
	[ -z "${TABLE-}" ] || write_table e2fsprogs "$work/table" "$TABLE"
}

case ${1-} in
--mount)
	mount --bind "$2" "$3" || exit 125
	shift 3
	exec "$@"
	;;
--inside)
	tmp_setup
	counts=$3
	test_here "$2"
	exit
	;;
esac

[ $# -gt 0 ] || set -- bullseye bookworm trixie sid
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
work=${DIST_DIR:-$E2PF_TMP}
counts=$E2PF_TMP/counts
mkdir -p "$work"
: >"$counts"
tap_run main "$@"
