# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# To be sourced after lib.sh.  Makes chroots of Debian's suites with debootstrap,
# enters them in separate namespaces, and makes the release sources.
#
# Variables a caller may set:
#   DIST_MIRROR		default: http://deb.debian.org/debian
#   chroot_mounts	array of FROM:TO: file or folder FROM is mounted as TO in
#			the chroot

chroots_file=$(realpath "${BASH_SOURCE[0]}")
mirror=${DIST_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
chroot_mounts=()

# The reason why no chroot can be made here, if there is one.
no_chroots()
{
	local program

	have_root || { echo "root is needed to make a chroot"; return; }
	for program in debootstrap unshare; do
		have_program $program || { echo "$program not found"; return; }
	done
	if [ ! -r "$keyring" ]; then
		echo "$keyring not found (package debian-archive-keyring)"
	elif ! unshare --mount --pid --fork --kill-child true 2>/dev/null; then
		echo "no name spaces can be had"
	fi
}

# The reason why the packages of check-packages.sh for these suites are not in DIST_DIR, or
# why no chroot can be made.
no_packages()
{
	local suite

	no_chroots | grep . && return
	[ -n "${DIST_DIR-}" ] || echo "DIST_DIR names no folder of check-packages"
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
	local root=$1

	shift
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child bash -c '
		. "$1"
		shift
		chroot_enter "$@"
		exit 125' bash "$chroots_file" \
		"$root" ${#chroot_mounts[@]} "${chroot_mounts[@]}" env -i \
		HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

# make_chroot ROOT SUITE [PACKAGE,...]: make a chroot, unless a complete one
# exists.  Suites that have left the mirrors are found in Debian's archive.
make_chroot()
{
	local root=$1 suite=$2

	[ ! -e "$root/complete" ] || return 0
	rm -rf "$root"
	debootstrap --variant=minbase ${3:+--include="$3"} \
		--keyring="$keyring" "$suite" "$root" "$mirror" || return
	echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
	in_chroot "$root" apt-get -q update || {
		# See apt_update(); for quickstart too.
		echo 'Acquire::Check-Valid-Until "false";' \
			>"$root/etc/apt/apt.conf.d/90expired"
		in_chroot "$root" apt-get -q update || return
	}
	rm -f "$root"/var/cache/apt/archives/*.deb
	touch "$root/complete"
}

# copy_chroot FROM ROOT: make ROOT, a copy to work in; an existing one is kept.
copy_chroot()
{
	[ ! -e "$2/complete" ] || return 0
	rm -rf "$2" "$2.copy"
	cp -a "$1" "$2.copy" && mv "$2.copy" "$2"
}

# The reason why a chroot could not be made, from debootstrap's output.
no_chroot_made() { grep -E '^(E|W|debootstrap):' "$1" | tail -n 1; }

# release_sources FOLDER: write the release sources there.
release_sources()
{
	local dist=dist-$$

	# shellcheck disable=SC2154
	make -s -C "$top_builddir" distdir distdir="$dist" >/dev/null || return
	rm -rf "$1"
	mv "$top_builddir/$dist" "$1"
}
