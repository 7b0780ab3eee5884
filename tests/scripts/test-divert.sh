#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# e2prefetch enable, disable and status, on a system in a folder with a small
# database of dpkg's: what is where afterwards, an upgrade in between, what is
# half done or in the way; what goes into an initramfs; and that a launcher in
# e2fsck's place starts what was put aside.  tools/check-boot.sh boots with it.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

# shellcheck disable=SC2154
DIVERT=$top_builddir/prefetch/divert
stock=$(sed -n 's/^stock=//p' "$DIVERT")
launcher=$(sed -n 's/^launcher=//p' "$DIVERT")

# new_root hard|symbolic: the names of e2fsck are links of that kind.
new_root()
{
	local name

	root=$E2PF_TMP/root
	rm -rf "$root"
	mkdir -p "$root/usr/sbin" "$root${launcher%/*}" \
		"$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
	ln -s usr/sbin "$root/sbin"
	mkdir -p "$root${stock%/*}"
	echo stock >"$root$stock"
	echo launcher >"$root$launcher"
	chmod +x "$root$stock" "$root$launcher"
	for name in ext2 ext3 ext4; do
		if [ "$1" = hard ]; then
			ln "$root$stock" "$root${stock%/*}/fsck.$name"
		else
			ln -s e2fsck "$root${stock%/*}/fsck.$name"
		fi
	done
	cat >"$root/var/lib/dpkg/status" <<-END
	Package: e2fsprogs
	Status: install ok installed
	Version: 1.47.0-2
	Architecture: all
	Maintainer: nobody <nobody@example.org>
	Description: none
	END
	printf '%s\n' /. "$stock" "${stock%/*}/fsck.ext4" \
		>"$root/var/lib/dpkg/info/e2fsprogs.list"
	: >"$root/var/lib/dpkg/diversions"
	# What it was like.
	list >"$E2PF_TMP/before"
}

# Names, kinds, targets and contents, without the database's own.
list()
{
	(
		cd "$root" &&
		find . -path ./var -prune -o -printf '%y %m %p %l\n' &&
		find . -path ./var -prune -o -type f -exec sha256sum {} + &&
		cat var/lib/dpkg/diversions
	) | sort
}

as_before() { list | diff "$E2PF_TMP/before" -; }

# run STATUS COMMAND [OPTION...]: below $root; what it says in $said.
run()
{
	local expected=$1 status=0

	shift
	said=$(sh "$DIVERT" "$@" --root="$root" 2>&1) || status=$?
	echo "$said"
	[ $status = "$expected" ] || { echo "status $status"; return 1; }
}

# says TEXT: in the last line.
says() { [[ $(tail -n 1 <<<"$said") = *$1* ]] || { echo "not: $1"; return 1; }; }

lines() { [ "$(wc -l <<<"$said")" = "$1" ]; }

there_and_back()
{
	local name

	new_root "$1"
	run 1 status && says "disabled: $stock is the stock program" || return
	run 0 enable && [ -z "$said" ] || return
	[ "$(readlink "$root$stock")" = "$launcher" ] &&
		[ "$(cat "$root$stock.stock")" = stock ] || return
	for name in ext2 ext3 ext4; do
		case $(readlink "$root${stock%/*}/fsck.$name") in
		"$launcher"|e2fsck) ;;
		*) return 1 ;;
		esac
	done
	run 0 status && says "the stock program (e2fsprogs 1.47.0-2)" || return
	run 0 enable && run 0 status || return
	# Wherever dpkg is told to put the next version, it is beside.
	[ "$(dpkg-divert --root="$root" --truename "$stock")" = "$stock.stock" ] &&
	[ "$(dpkg-divert --root="$root" --truename "/usr/sbin/e2fsck")" = \
		/usr/sbin/e2fsck.stock ] &&
	[ "$(dpkg-divert --root="$root" --truename "/sbin/e2fsck")" = \
		/sbin/e2fsck.stock ] || return
	run 0 disable && [ -z "$said" ] && as_before && run 0 disable &&
		run 1 status
}

# dpkg replaces the file by a rename, as here.
upgrade()
{
	new_root symbolic
	run 0 enable || return
	echo newer >"$root$stock.new"
	chmod +x "$root$stock.new"
	mv "$root$stock.new" "$root$(dpkg-divert --root="$root" --truename "$stock")"
	run 0 status && run 0 disable &&
		[ "$(cat "$root$stock")" = newer ] && [ ! -L "$root$stock" ]
}

# refused FILE...: enable ends with 8 and two lines, and all is as before.
refused()
{
	list >"$E2PF_TMP/before"
	run 8 enable && lines 2 && says "nothing was changed" && as_before
}

in_the_way()
{
	new_root symbolic
	echo other >"$root$stock.stock"
	refused
}

diverted_by_another()
{
	new_root symbolic
	dpkg-divert --root="$root" --quiet --package other --no-rename \
		--divert "$stock.other" --add "$stock" || return
	refused
}

no_program()
{
	new_root symbolic
	mv "$root$stock" "$root$stock.real"
	ln -s e2fsck.real "$root$stock"
	refused
}

# The second program of a system with hard links cannot be diverted: the first
# is restored.
rolled_back()
{
	new_root hard
	mkdir "$root${stock%/*}/fsck.ext4.stock"
	refused || return
	new_root hard
	# A database that dpkg-divert does not write to.
	printf 'one\ntwo\n' >"$root/var/lib/dpkg/diversions"
	list >"$E2PF_TMP/before"
	run 8 enable && says "nothing was changed" && as_before
}

no_launcher()
{
	new_root symbolic
	rm "$root$launcher"
	run 8 enable && says "is not there"
}

# Each state that a run may have left when it was killed.
half_done()
{
	local step

	for step in copy diversion one_name; do
		new_root hard
		case $step in
		copy) ln "$root$stock" "$root$stock.stock" ;;
		diversion)
			ln "$root$stock" "$root$stock.stock"
			dpkg-divert --root="$root" --quiet --package e2prefetch \
				--no-rename --divert "$stock.stock" --add "$stock"
			;;
		one_name)
			run 0 enable || return
			ln -f "$root$stock.stock" "$root${stock%/*}/fsck.ext4"
			;;
		esac
		echo "$step:"
		run 4 status && says "half: " && run 0 disable && as_before &&
			run 1 status || return
	done
	new_root symbolic
	ln "$root$stock" "$root$stock.stock"
	run 0 enable && run 0 status && run 0 disable && as_before
}

stock_lost()
{
	new_root symbolic
	run 0 enable || return
	rm "$root$stock.stock"
	run 4 status && says "is missing" && run 8 disable &&
		grep "install e2fsprogs again" <<<"$said"
}

# Where dpkg has no part in it.
by_links()
{
	new_root symbolic
	mkdir -p "$root/usr/local/sbin"
	list >"$E2PF_TMP/before"
	run 0 enable --links || return
	[ "$(readlink "$root/usr/local/sbin/fsck.ext4")" = "$launcher" ] || return
	run 0 status && says "enabled: links in /usr/local/sbin" || return
	run 0 disable && as_before || return
	echo other >"$root/usr/local/sbin/fsck.ext3"
	list >"$E2PF_TMP/before"
	run 8 enable --links && says "nothing was changed" && as_before
}

# A hook that did not come with a package is linked where initramfs-tools looks.
hook_is_linked()
{
	local hook=$root/etc/initramfs-tools/hooks/e2prefetch

	new_root symbolic
	mkdir -p "${hook%/*}"
	list >"$E2PF_TMP/before"
	run 0 enable && [[ $(readlink "$hook") = */hooks/e2prefetch ]] &&
		run 0 disable && as_before || return
	mkdir -p "$root/usr/share/initramfs-tools/hooks"
	: >"$root/usr/share/initramfs-tools/hooks/e2prefetch"
	run 0 enable && [ ! -L "$hook" ] && run 0 disable
}

wrong_usage()
{
	local arguments

	new_root symbolic
	while read -r arguments; do
		# shellcheck disable=SC2086
		run 16 $arguments && lines 1 || return
	done <<-END
	enable disable
	enable --all
	status /dev/sda
	END
	sh "$DIVERT" enable --root=relative
	[ $? = 16 ]
}

# The command runs the script that lies in the build tree.
by_command()
{
	new_root symbolic
	"$top_builddir/prefetch/e2prefetch" status --root="$root"
	[ $? = 1 ] &&
	"$top_builddir/prefetch/e2prefetch" enable --root="$root" &&
	"$top_builddir/prefetch/e2prefetch" status --root="$root" &&
	"$top_builddir/prefetch/e2prefetch" disable --root="$root" && as_before
}

#
# What goes into an initramfs.
#

# hook STATUS: the hook of the build tree, with $place in place of /sbin, on an
# initramfs-tools whose functions say what they were asked for and end with
# STATUS; 1 is that it is there already.
hook()
{
	cat >"$place/hook-functions" <<-END
	copy_exec() { echo "\$1" >>"$place/copied"; return $1; }
	copy_file() { echo "\$1 \$2" >>"$place/copied"; return $1; }
	END
	sed -e "s|/usr/share/initramfs-tools|$place|" \
		-e "s|$stock|$place/e2fsck|g" \
		-e "s|/[^ ]*/e2prefetch.conf|$place/conf|g" \
		"$top_builddir/boot/initramfs-hook" >"$place/hook"
	rm -f "$place/copied"
	sh "$place/hook"
}

hook_copies()
{
	local status

	echo "verbose = on" >"$place/conf"
	for status in 0 1; do
		hook $status || return
		diff "$place/copied" - <<-END || return
		$place/e2fsck
		$place/e2fsck.stock
		${launcher%/*}/e2fsck-prefetch.so
		configuration $place/conf
		END
	done
	rm "$place/conf"
	hook 0 && [ "$(wc -l <"$place/copied")" = 3 ] && ! hook 2
}

# Where the stock program is in its place there is nothing to copy.
hook_passes()
{
	[ -z "$(sh "$top_builddir/boot/initramfs-hook" prereqs)" ] || return
	mv "$place/e2fsck.stock" "$place/aside"
	hook 0 && [ ! -e "$place/copied" ] || return
	mv "$place/aside" "$place/e2fsck.stock"
	mv "$place/e2fsck" "$place/link"
	cp "$place/e2fsck.stock" "$place/e2fsck"
	hook 0 && [ ! -e "$place/copied" ] || return
	mv -f "$place/link" "$place/e2fsck"
}

#
# The launcher in e2fsck's place.
#

# A folder like /sbin, with the real e2fsck put aside.
make_place()
{
	place=$E2PF_TMP/place
	mkdir -p "$place"
	cp "$E2FSCK_STOCK" "$place/e2fsck.stock"
	ln -s "$E2FSCK_TEST" "$place/e2fsck"
	ln -s e2fsck "$place/fsck.ext4"
	image=$E2PF_TMP/image
	image_make ext4-1k "$image"
}

# in_place NAME OPTION...: output in $E2PF_TMP/out and err.
in_place()
{
	local name=$1

	shift
	PREFETCH_E2FSCK=$place/e2fsck "$place/$name" "$@" "$image" \
		>"$E2PF_TMP/out" 2>"$E2PF_TMP/err" </dev/null
}

starts_what_was_put_aside()
{
	in_place fsck.ext4 -fn || return
	(exec -a "$place/fsck.ext4" "$E2FSCK_STOCK" -fn "$image") \
		>"$E2PF_TMP/so" 2>"$E2PF_TMP/se" </dev/null
	diff "$E2PF_TMP/so" "$E2PF_TMP/out" && diff "$E2PF_TMP/se" "$E2PF_TMP/err" ||
		return
	# A message that has the program's name in it.
	in_place fsck.ext4 -E nonsense
	grep -q "e2fsck-prefetch" "$E2PF_TMP/err" && return 1
	PREFETCH_E2FSCK=$place/e2fsck "$place/fsck.ext4" >/dev/null 2>"$E2PF_TMP/err"
	(exec -a "$place/fsck.ext4" "$E2FSCK_STOCK") >/dev/null 2>"$E2PF_TMP/se"
	diff "$E2PF_TMP/se" "$E2PF_TMP/err"
}

# statistics_are yes|no [VARIABLE=VALUE...]: whether this check prefetched.
statistics_are()
{
	local expected=$1

	shift
	rm -f "$E2PF_TMP/stats"
	(
		export PREFETCH_STATS=$E2PF_TMP/stats
		while [ $# -gt 0 ]; do
			export "${1?}"
			shift
		done
		in_place e2fsck -fn
	) || return
	case $expected in
	yes) [ -s "$E2PF_TMP/stats" ] ;;
	no) [ ! -e "$E2PF_TMP/stats" ] ;;
	esac
}

by_habit()
{
	local conf=$E2PF_TMP/conf

	echo "prefetch = off" >"$conf"
	statistics_are yes &&
	statistics_are no PREFETCH=0 &&
	statistics_are no PREFETCH_CONFIG="$conf" &&
	statistics_are yes PREFETCH_CONFIG="$conf" PREFETCH=1 || return
	echo "prefetch = maybe" >"$conf"
	statistics_are no PREFETCH_CONFIG="$conf" &&
	[ "$(wc -l <"$E2PF_TMP/err")" = 2 ] &&
	grep "^e2fsck-prefetch: $conf:1: prefetch: \"maybe\" is not on or off; prefetching is off\$" \
		"$E2PF_TMP/err"
}

# By its own path, a file of settings switches it on.
by_file()
{
	local conf=$E2PF_TMP/conf

	echo "prefetch = on" >"$conf"
	rm -f "$E2PF_TMP/stats"
	PREFETCH_STATS=$E2PF_TMP/stats "$E2FSCK_TEST" -fn "$image" || return
	[ ! -e "$E2PF_TMP/stats" ] || return
	PREFETCH_CONFIG=$conf PREFETCH_STATS=$E2PF_TMP/stats \
		"$E2FSCK_TEST" -fn "$image" && [ -s "$E2PF_TMP/stats" ]
}

# Nothing but itself to start.
never_itself()
{
	local status

	rm "$place/e2fsck.stock"
	ln -s "$E2FSCK_TEST" "$place/e2fsck.stock"
	in_place e2fsck -fn
	status=$?
	cat "$E2PF_TMP/err"
	[ $status = 0 ] && grep "this is the launcher itself" "$E2PF_TMP/err"
}

test_files()
{
	if ! have_root; then
		tap_skip "diversions" "root is needed"
		return
	elif ! have_program dpkg-divert; then
		tap_skip "diversions" "no dpkg-divert"
		return
	fi
	tap_check "enable and disable, symbolic links" there_and_back symbolic
	tap_check "enable and disable, hard links" there_and_back hard
	tap_check "an upgrade of e2fsprogs" upgrade
	tap_check "a file that is in the way" in_the_way
	tap_check "a diversion of another package" diverted_by_another
	tap_check "an e2fsck that is a link" no_program
	tap_check "a step that fails undoes those before it" rolled_back
	tap_check "no launcher" no_launcher
	tap_check "what a killed run has left" half_done
	tap_check "a stock program that is lost" stock_lost
	tap_check "links in /usr/local/sbin" by_links
	tap_check "the hook for initramfs-tools is linked" hook_is_linked
	tap_check "wrong usage" wrong_usage
	tap_check "by the command" by_command
}

test_divert()
{
	test_files
	make_place || tap_bail "no image"
	tap_check "the hook copies the launcher and what it needs" hook_copies
	tap_check "the hook copies nothing for the stock program" hook_passes
	if [ -n "$E2PF_RUNTIME" ]; then
		tap_skip "the launcher in e2fsck's place" \
			"a sanitizer's runtime goes before the module"
		return
	fi
	tap_check "the launcher starts what was put aside" \
		starts_what_was_put_aside
	tap_check "prefetching by habit, unless told otherwise" by_habit
	tap_check "prefetching as the file says" by_file
	tap_check "the launcher never starts itself" never_itself
}

require_programs mke2fs
tmp_setup
helpers_setup
images_setup
tap_run test_divert
