# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# To be sourced after lib.sh.  Makes chroots of Debian's suites with debootstrap,
# enters them in separate namespaces, and makes the release sources.  Gets source
# packages by apt, with a state of its own: the machine's configuration stays.
#
# Variables a caller may set:
#   DIST_MIRROR		default: http://deb.debian.org/debian
#   chroot_mounts	array of FROM:TO: file or directory FROM is mounted as TO in
#			the chroot

. "$srcdir/tools/report.sh"

chroots_file=$(realpath "${BASH_SOURCE[0]}")
mirror=${DIST_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
chroot_mounts=()

# The reason why no chroot can be made here, if there is one.
no_chroots()
{
	have_root || { echo "root is needed to make a chroot"; return; }
	lacks debootstrap unshare | grep . && return
	if [ ! -r "$keyring" ]; then
		echo "$keyring not found (package debian-archive-keyring)"
	elif ! unshare --mount --pid --fork --kill-child true 2>/dev/null; then
		echo "no name spaces can be had"
	fi
}

# The reason why the packages of check-packages.sh for these suites are not in DIST_DIR,
# or why no chroot can be made.
no_packages()
{
	local suite

	no_chroots | grep . && return
	[ -n "${DIST_DIR-}" ] || echo "DIST_DIR names no directory of check-packages"
	for suite; do
		compgen -G "${DIST_DIR-}/$suite-packages/e2prefetch_*.deb" >/dev/null ||
			echo "${DIST_DIR-}/$suite-packages has no packages"
	done
}

# chroot_enter ROOT COUNT FROM:TO... COMMAND...: called in new namespaces.
chroot_enter()
{
	local root=$1 count=$2 pair

	shift 2
	# A mount of its own, so that further namespaces can be created in it.
	mount --bind "$root" "$root" && cd / &&
	mount -t proc proc "$root/proc" &&
	mount --rbind /dev "$root/dev" &&
	mount --rbind /sys "$root/sys" || return
	for pair in "${@:1:count}"; do
		if [ -d "${pair%:*}" ]; then
			mkdir -p "$root${pair##*:}"
		else
			touch "$root${pair##*:}"
		fi && mount --bind "${pair%:*}" "$root${pair##*:}" || return
	done
	shift "$count"
	exec chroot "$root" "$@"
}

# in_chroot ROOT COMMAND...: run it with a separate environment.  Its mounts and
# processes end with it, however it ends.
in_chroot()
{
	unshare --mount --pid --fork --kill-child bash -c '
		srcdir=$1
		. "$2"
		shift 2
		chroot_enter "$@"
		exit 125' bash "$srcdir" "$chroots_file" \
		"$1" ${#chroot_mounts[@]} "${chroot_mounts[@]}" env -i \
		HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${@:2}" </dev/null
}

# In the chroot $root.
inside() { in_chroot "$root" "$@"; }
apt() { inside apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }

# make_chroot ROOT SUITE[:ARCHITECTURE] [OPTION...]: make a chroot by debootstrap,
# unless a complete one exists.
make_chroot()
{
	local root=$1 suite=${2%:*} architecture=()

	[ ! -e "$root/complete" ] || return 0
	[ "$2" = "$suite" ] || architecture=("--arch=${2#*:}")
	rm -rf "$root"
	debootstrap --variant=minbase "${architecture[@]}" --keyring="$keyring" \
		"${@:3}" "$suite" "$root" "$mirror" || return
	suite_is "$suite" || return
	rm -f "$root"/var/cache/apt/archives/*.deb
	touch "$root/complete"
}

# The apt sources of a suite.  A mirror that is not brought up to date any more has
# lists whose time is over; who signed them is still asked.
suite_is()
{
	echo "deb $mirror $1 main" >"$root/etc/apt/sources.list"
	apt update || {
		echo 'Acquire::Check-Valid-Until "false";' \
			>"$root/etc/apt/apt.conf.d/90expired"
		apt update
	}
}

# The reason why a chroot could not be made, from debootstrap's output.
no_chroot_made() { grep -E '^(E|W|debootstrap):' "$1" | tail -n 1; }

# release_sources DIRECTORY: write the release sources there.
release_sources()
{
	local dist=dist-$$

	make -s -C "$top_builddir" distdir distdir="$dist" >/dev/null || return
	rm -rf "$1"
	mv "$top_builddir/$dist" "$1"
}

# no_warnings PLACE LOG: the compiler and the linker did not warn; libtool and
# debhelper may.
no_warnings()
{
	if grep -E -A 4 '(:[0-9]+|ld|cc1|clang): warning:' "$2" >"$2.warnings"; then
		tap_not_ok "$1: builds without warnings" "$2.warnings"
		return 1
	fi
	tap_ok "$1: builds without warnings"
}

#
# Packages without a chroot.
#

# apt_get DIR OPTION...: with what DIR holds in the place of /etc/apt's lists.
apt_get()
{
	apt-get -qq -o Dir::Etc::sourcelist="$1/sources.list" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$1/lists" \
		-o Dir::Cache="$1/cache" -o Debug::NoLocking=1 \
		-o APT::Sandbox::User=root "${@:2}"
}

# apt_update DIR LINES [OPTION...]: make DIR, with these lines for apt.
apt_update()
{
	rm -rf "$1"
	mkdir -p "$1"/{lists/partial,cache/archives/partial,got} || return
	printf '%s\n' "$2" >"$1/sources.list"
	: >"$1/status"
	apt_get "$1" "${@:3}" update || apt_get "$1" "${@:3}" \
		-o Acquire::Check-Valid-Until=false update
}

# why_not LOG: what apt complained of first, or the last line.
why_not() { grep -m 1 -E '^[EW]: ' "$1" || tail -n 1 "$1"; }

# Lines for apt of where this machine has its packages from, for sources.  A
# machine that never asked for the lists gets Debian's own server.
source_lines()
{
	local key='' lines

	[ ! -r "$keyring" ] || key="[signed-by=$keyring] "
	lines=$(apt-get indextargets 'Created-By: Packages' --format \
		'$(ORIGIN) $(COMPONENT) $(REPO_URI) $(RELEASE)' 2>/dev/null |
		awk -v key="$key" '
		($1 == "Debian" || $1 == "Ubuntu") && $2 == "main" &&
		!seen[$3, $4]++ {
			print "deb-src " ($1 == "Debian" ? key : "") $3 " " $4 " main"
		}')
	[ -n "$lines" ] || lines="deb-src $key$mirror $(
		. /etc/os-release && echo "${VERSION_CODENAME-sid}") main"
	printf '%s\n' "$lines"
}

# configure_e2fsprogs [OPTION...]: in a directory beside its source.
configure_e2fsprogs()
{
	../source/configure -q --enable-elf-shlibs --disable-nls \
		--disable-uuidd --disable-fsck --disable-fuse2fs "$@"
}

# source_package DIR PACKAGE: DIR/source is the source of PACKAGE, of the version that
# is installed, DIR/version that version.  Kept when it is there.  Otherwise 1, and
# why_not() finds the reason in what it said.  DIR is an absolute path.  A mirror may
# lack the signature beside an archive; apt has compared the archive with the lists, which
# are signed too.
source_package()
{
	local dir=$1 package=$2 version

	! lacks apt-get dpkg-query dpkg-source | grep . || return
	version=$(dpkg-query -W -f '${source:Version}' "$package") || return
	[ "$(cat "$dir/version" 2>/dev/null)" != "$version" ] || return 0
	apt_update "$dir" "$(source_lines)" && (
		cd "$dir/got" && {
			apt_get "$dir" --download-only --ignore-missing source \
				"$package=$version" ||
			compgen -G "${package}_*.orig.tar.*" >/dev/null
		} && dpkg-source --no-check --no-copy -x "$package"_*.dsc ../source
	) || return
	rm -rf "$dir"/{got,lists,cache}
	printf '%s\n' "$version" >"$dir/version"
}
