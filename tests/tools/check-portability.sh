#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests on other machines: 32 bit (i386), another 64 bit one (arm64) and
# big-endian (s390x).  Debian's cross compilers build; the libraries and
# e2fsprogs are Debian's packages for the machine, unpacked in a folder;
# qemu-user runs what this processor does not.  Nothing of the host changes:
# apt works on a state of its own, dpkg -x installs nothing, and what has to
# be seen in /usr is mounted in a name space of its own.
#
#   check-portability.sh [ARCHITECTURE...]	default: i386 arm64 s390x
#
# PORT_DIR	folder to work in, kept for the next time (default: one that
#		goes away)
# PORT_TESTS	tests to run: names of unit tests and of scripts (default: all)
# PORT_IMAGES	images for test-compare.sh (default: all; emulated, a few)
# PORT_SEEDS	corruptions (default: 260; emulated, 13)
# TABLE		file that gets the closing table between its two marks

srcdir=${srcdir:-$(dirname "$0")/..}
self=$(realpath "$0")
# shellcheck source=lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=report.sh
. "$srcdir/tools/report.sh"

top_srcdir=$(cd "$srcdir/.." && pwd)
packages="libext2fs-dev comerr-dev libcmocka-dev
	libfuse3-dev liburing-dev e2fsprogs"
groups="unit scripts features corruptions faults"
# The last has more bytes than 32 bits can count.
emulated_images="ext3-1k ext4-4k ext4-64g"

# Architecture, GNU triplet, emulator.
machine()
{
	case $1 in
	i386) triplet=i686-linux-gnu emulator=qemu-i386 libdir=i386-linux-gnu ;;
	arm64) triplet=aarch64-linux-gnu emulator=qemu-aarch64 ;;
	s390x) triplet=s390x-linux-gnu emulator=qemu-s390x ;;
	*) return 1 ;;
	esac
	[ "$1" = i386 ] || libdir=$triplet
}

# fetch ARCHITECTURE: its packages, unpacked to $dir/root.  What programs have
# to find in /usr/lib is $dir/lib.
fetch()
{
	local deb
	local -a apt=(apt-get -qq -o APT::Architecture="$1"
		-o APT::Architectures::="$1" -o Dir::State::lists="$dir/lists"
		-o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache"
		-o Debug::NoLocking=1 -o APT::Install-Recommends=0
		-o APT::Sandbox::User=root)

	[ ! -e "$dir/complete" ] || return 0
	rm -rf "$dir/root" "$dir/lib"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" \
		"$dir/root" "$dir/lib/$libdir"
	: >"$dir/status"
	# A mirror may lack one index of several; the install says whether the
	# others do.
	"${apt[@]}" update || true
	# shellcheck disable=SC2086
	"${apt[@]}" -y --download-only install $packages || return
	for deb in "$dir"/cache/archives/*.deb; do
		dpkg -x "$deb" "$dir/root" || return
	done
	cp -a "$dir/root/usr/lib/$libdir/." "$dir/root/lib/$libdir/." \
		"$dir/lib/$libdir" || return
	cp -a "$dir"/root/lib/ld* "$dir/lib" || return
	# Links to the root of the machine lead out of the folder.
	find "$dir/root" -lname '/*' | while read -r link; do
		ln -sfn "$dir/root$(readlink "$link")" "$link"
	done
	touch "$dir/complete"
}

# Configure and make, with everything from $dir/root.
build()
{
	local root=$dir/root

	mkdir -p "$dir/build" && cd "$dir/build" || return
	[ -e Makefile ] ||
		PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_LIBDIR=$root/usr/lib/$libdir/pkgconfig:$root/usr/share/pkgconfig \
		"$top_srcdir/configure" -q --host="$triplet" \
			--with-e2fsck=/sbin/e2fsck \
			CC="$triplet-gcc --sysroot=$root" CFLAGS="-O2 -g" \
			LDFLAGS="-L$root/usr/lib/$libdir" || return
	make -s -j "$E2PF_JOBS" &&
		make -s -j "$E2PF_JOBS" -C tests check TESTS= >/dev/null
}

#
# A name space in which this is a machine of the other kind as far as e2fsprogs
# and the libraries go, and the rest is the host's.
#

# Programs of the ELF header of $1 are run by the emulator, in this name space
# alone (Linux 6.7).  P: argv[0] stays; F: the emulator is opened now.
register_emulator()
{
	local magic mask

	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || return
	magic=$(od -An -v -tx1 -N 20 "$1" | tr -d '\n' | sed 's/ /\\x/g')
	# The kind of system, and whether it is position independent, are free.
	case $magic in
	'\x7f\x45\x4c\x46\x02\x02'*) mask='\xff\xfe\xff\xff' ;;
	*) mask='\xfe\xff\xff\xff' ;;
	esac
	printf ':e2pf:M::%s:%s%s%s:%s:PF' "$magic" \
		'\xff\xff\xff\xff\xff\xff\xff\x00' \
		'\xff\xff\xff\xff\xff\xff\xff\xff' "$mask" "$2" \
		>/proc/sys/fs/binfmt_misc/register
}

# enter DIR EMULATOR COMMAND...: called in the new name space.
enter()
{
	local dir=$1 emulator=$2 program host

	shift 2
	[ -L /lib ] || return
	[ -z "$emulator" ] ||
		register_emulator "$dir/root/sbin/e2fsck" "$emulator" || return
	mount -t overlay e2pf -o "lowerdir=$dir/lib:/usr/lib" /usr/lib ||
		return
	for program in "$dir"/root/sbin/* "$dir"/root/usr/sbin/*; do
		host=/usr/sbin/${program##*/}
		[ ! -f "$host" ] || mount --bind "$program" "$host" || return
	done
	exec "$@"
}

# inside COMMAND...: $how is "native" or "emulated".  Root stays root where no
# emulator has to be registered: loop devices can be had then.
#
# The emulator has to be a static one: LD_PRELOAD is for what it runs.
inside()
{
	local with='' flags=-rm

	if [ "$how" = emulated ]; then
		with=$(command -v "$emulator-static")
	elif have_root; then
		flags=-m
	fi
	unshare $flags bash "$self" --enter "$dir" "$with" "$@"
}

# Sets $how: can programs of the machine be run, and can all of its e2fsprogs?
find_how()
{
	for how in native emulated; do
		[ $how = native ] || have_program "$emulator-static" ||
			continue
		! inside /usr/sbin/dumpe2fs -V 2>&1 |
			grep -q '^dumpe2fs' || return 0
	done
	return 1
}

# run [NAME=VALUE...] PROGRAM ARGUMENT...: a program of the machine, with this
# environment.
run() { inside timeout 900 env "$@"; }

#
# The tests.
#

is_wanted()
{
	case " ${PORT_TESTS-} " in
	"  "|*" $1 "*) return 0 ;;
	*) return 1 ;;
	esac
}

unit_tests()
{
	local test

	cd "$dir/build/tests" || return
	for test in unit/test-*; do
		case $test in
		*.*) continue ;;
		esac
		is_wanted "${test#unit/}" || continue
		run srcdir="$top_srcdir/tests" CMOCKA_MESSAGE_OUTPUT=TAP \
			"$dir/build/tests/$test" </dev/null 2>&1 |
			pass_on "$name" unit "${test#unit/}" "$work/counts"
	done
}

# script GROUP NAME ARGUMENT...: a test script of the suite, on that machine.
script()
{
	local group=$1 test=$2

	shift 2
	is_wanted "$test" || return 0
	(
		export top_builddir=$dir/build srcdir=$top_srcdir/tests
		export CC="$triplet-gcc --sysroot=$dir/root -L$dir/lib/$libdir"
		unset E2FSCK_STOCK E2FSCK_TEST TABLE
		inside bash "$srcdir/scripts/$test" "$@" </dev/null
	) 2>&1 | pass_on "$name" "$group" "$test" "$work/counts"
}

scripts()
{
	local images=${PORT_IMAGES-} seeds=${PORT_SEEDS-}

	if [ "$how" = emulated ]; then
		images=${images:-$emulated_images} seeds=${seeds:-13}
		# Ten times slower.
		export COMPARE_LIMIT=300
	fi
	script scripts test-cli.sh
	script scripts test-progress.sh
	# shellcheck disable=SC2086
	script features test-compare.sh ${images:-features} options
	COUNT=${seeds:-260} script corruptions test-corruptions.sh
	[ "$how" = emulated ] || script faults test-faults.sh
	[ "$how" = emulated ] || script faults test-limits.sh
}

test_machine()
{
	local name=$1 dir=$work/$1 log=$work/$1.log
	local triplet emulator libdir how

	if ! machine "$name"; then
		tap_skip "$name" "not one this script knows"
		return
	fi
	have_program "$triplet-gcc" || {
		tap_skip "$name" "$triplet-gcc not found"
		return
	}
	mkdir -p "$dir"
	if ! fetch "$name" >"$log" 2>&1; then
		tap_skip "$name" "Debian's packages for it cannot be had: $(tail -n 1 "$log")"
		return
	fi
	find_how || {
		tap_skip "$name" "this processor does not run it, and $emulator-static cannot"
		return
	}
	if ! (build) >"$log" 2>&1; then
		tap_not_ok "$name: builds" "$log"
		return
	fi
	if grep -q 'warning:' "$log"; then
		grep -A 4 'warning:' "$log" >"$log.warnings"
		tap_not_ok "$name: builds without warnings" "$log.warnings"
	else
		tap_ok "$name: builds without warnings"
	fi
	printf '%s how %s\n' "$name" "$how" >>"$work/counts"
	unit_tests
	scripts
}

# Passed, skipped and failed, of each group on each machine.
print_table()
{
	heading machine run "unit tests" "command line" features corruptions faults
	awk -v groups="$groups" '
	$2 == "how" { how[$1] = $3; names[++machines] = $1; next }
	{ n[$1, $2, $3]++ }
	function cell(m, g)
	{
		return n[m, g, "passed"] + 0 " / " n[m, g, "skipped"] + 0 \
			" / " n[m, g, "failed"] + 0
	}
	END {
		count = split(groups, group)
		for (i = 1; i <= machines; i++) {
			row = "| " names[i] " | " how[names[i]]
			for (k = 1; k <= count; k++)
				row = row " | " cell(names[i], group[k])
			print row " |"
		}
	}' "$work/counts"
}

test_machines()
{
	local name

	for name in ${*:-i386 arm64 s390x}; do
		test_machine "$name"
	done
	[ ! -s "$work/counts" ] || {
		tap_diag "passed / skipped / failed:"
		print_table | show_table portability
	}
}

if [ "${1-}" = --enter ]; then
	shift
	enter "$@"
	exit 125
fi
for program in apt-get dpkg mke2fs debugfs unshare od; do
	have_program "$program" || tap_skip_all "$program not found"
done
[ -x "$top_srcdir/configure" ] || tap_bail "no configure: run autoreconf -fi"
tmp_setup
work=${PORT_DIR:-$E2PF_TMP}
mkdir -p "$work"
work=$(cd "$work" && pwd)
rm -f "$work/counts"
tap_run test_machines "$@"
