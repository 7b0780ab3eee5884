#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# e2prefetch enable, disable and status, on a system in a folder with a small
# dpkg database.  First, which files exist afterwards: after a run was killed at
# each of its steps, on a full disk, with files of other packages, and if
# version 1.0.0 was enabled.  Then, the effects: on fsck with the drop-in's
# PATH, on e2scrub, in an initramfs, and that a launcher in place of e2fsck
# starts the diverted program.  tools/check-upgrades.sh and tools/check-boot.sh
# test whole systems.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

# shellcheck disable=SC2154
ENABLE=$top_builddir/prefetch/enable
value_of() { sed -n "s/^$1=//p" "$ENABLE"; }
stock=$(value_of stock)
launchers=$(value_of launcher_folder)
launcher=$launchers/e2fsck
units=/etc/systemd/system
files="$units/systemd-fsck@.service.d/e2prefetch.conf
	$units/systemd-fsck-root.service.d/e2prefetch.conf
	$units/e2scrub@.service.d/e2prefetch.conf
	/etc/initramfs-tools/hooks/e2prefetch /etc/dracut.conf.d/e2prefetch.conf"

# new_root hard|symbolic: creates a system in which the other names of e2fsck
# are links of that kind.
new_root()
{
	local name folder

	root=$E2PF_TMP/root
	rm -rf "$root"
	for folder in usr/sbin usr/lib/systemd/system ${launchers#/} boot \
		var/lib/dpkg/info var/lib/dpkg/updates ${units#/} \
		etc/initramfs-tools/hooks etc/dracut.conf.d usr/local/sbin; do
		mkdir -p "$root/$folder"
	done
	ln -s usr/sbin "$root/sbin"
	mkdir -p "$root${stock%/*}"
	echo stock >"$root$stock"
	for name in e2fsck e2fsck-prefetch.so e2scrub.bash ready; do
		echo $name >"$root$launchers/$name"
	done
	chmod +x "$root$stock" "$root$launcher" "$root$launchers/ready"
	touch "$root/usr/lib/systemd/system/systemd-fsck@.service" \
		"$root/usr/lib/systemd/system/e2scrub@.service"
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
	# Its initial state.
	list >"$E2PF_TMP/before"
}

# Names, types, targets and contents of all files except the database.
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

# run STATUS COMMAND [OPTION...]: runs a command on $root, which must exit with
# STATUS; its output goes to $said.
run()
{
	local expected=$1 status=0

	shift
	said=$(sh "$ENABLE" "$@" --root="$root" 2>&1) || status=$?
	echo "$said"
	[ $status = "$expected" ] || { echo "status $status"; return 1; }
}

# says TEXT: the output contains it.
says() { grep -qF -- "$1" <<<"$said" || { echo "not said: $1"; return 1; }; }

lines() { [ "$(wc -l <<<"$said")" = "$1" ] || { echo "not $1 lines"; return 1; }; }

has_all_files()
{
	local file

	for file in $files; do
		[ -s "$root$file" ] || { echo "not there: $file"; return 1; }
	done
}

# The stock program is still a file in its place, and nothing is diverted.
stock_is_untouched()
{
	[ "$(cat "$root$stock")" = "${1:-stock}" ] && [ ! -L "$root$stock" ] &&
	[ -x "$root$stock" ] && [ ! -s "$root/var/lib/dpkg/diversions" ] &&
	[ ! -e "$root$stock.stock" ]
}

there_and_back()
{
	new_root "$1"
	run 1 status && says "systemd: disabled" && says "initramfs: disabled" &&
	run 0 enable && [ -z "$said" ] && has_all_files &&
		stock_is_untouched || return
	run 0 status && says "systemd: enabled" && says "e2scrub: enabled" &&
		says "initramfs: enabled" && says "links: disabled" || return
	list >"$E2PF_TMP/enabled"
	run 0 enable && list | diff "$E2PF_TMP/enabled" - || return
	run 0 disable && [ -z "$said" ] && as_before && run 0 disable &&
		run 1 status
}

# All new files have our name in theirs.
only_adds()
{
	new_root symbolic
	run 0 enable || return
	list | diff "$E2PF_TMP/before" - | grep '^[<>]' |
		grep -v '^> .*e2prefetch.conf\|^> .*hooks/e2prefetch\|^> d .*service.d' &&
		return 1
	run 0 disable && as_before
}

# As dpkg does if /usr is merged: it installs the new file by its new name, then
# removes the old one by its old name.  Without diversions it notices that both are
# the same file.
upgrade_moves_e2fsck()
{
	local old new

	new_root symbolic
	run 0 enable || return
	new=$(dpkg-divert --root="$root" --truename /usr/sbin/e2fsck)
	old=$(dpkg-divert --root="$root" --truename /sbin/e2fsck)
	echo newer >"$root$new.dpkg-new"
	chmod +x "$root$new.dpkg-new"
	mv "$root$new.dpkg-new" "$root$new"
	[ "$old" = /sbin/e2fsck ] || rm "$root$old"
	stock_is_untouched newer && run 0 status && run 0 disable &&
		stock_is_untouched newer
}

in_the_way()
{
	local file

	for file in $files; do
		new_root symbolic
		mkdir -p "$root${file%/*}"
		echo other >"$root$file"
		list >"$E2PF_TMP/before"
		run 8 enable && lines 1 && says "is not e2prefetch's; nothing was changed" &&
			as_before && run 0 disable && as_before || return
	done
}

no_program()
{
	local wrong

	for wrong in "chmod 644" "truncate -s 0" rm; do
		new_root symbolic
		$wrong "$root$launcher"
		list >"$E2PF_TMP/before"
		run 8 enable && lines 1 && says "cannot be run" && as_before ||
			return
	done
	new_root symbolic
	rm "$root$stock"
	run 8 enable && lines 1 && says "$stock is missing"
}

# A machine without the programs that use the files.
nothing_here()
{
	new_root symbolic
	rm -r "${root:?}/etc"
	list >"$E2PF_TMP/before"
	run 8 enable && lines 1 && says "neither systemd nor an initramfs" &&
		as_before && run 1 status || return
	new_root symbolic
	rm -r "${root:?}/usr/lib/systemd" "$root/etc/initramfs-tools" \
		"$root/etc/dracut.conf.d"
	run 0 enable && run 4 status && says "nothing on this machine uses"
}

#
# Killed at each step.
#

# killed_at N COMMAND [OPTION...]: wrappers of the programs that change something
# count their calls and kill the script at the Nth.  Fails if the run ended before.
killed_at()
{
	local kill_at=$1 bin=$E2PF_TMP/bin scripts=$E2PF_TMP/scripts name steps

	shift
	if [ ! -d "$bin" ]; then
		mkdir "$bin" "$scripts"
		for name in mv rm mkdir rmdir ln chmod dpkg-divert; do
			cat >"$bin/$name" <<-END
			#!/bin/sh
			case \$* in
			*--list*) exec $(command -v $name) "\$@" ;;
			esac
			read -r n <$E2PF_TMP/step
			echo \$((n + 1)) >$E2PF_TMP/step
			[ "\$n" != "\$KILL_AT" ] || kill -9 0
			exec $(command -v $name) "\$@"
			END
			chmod +x "$bin/$name"
		done
		for name in enable undivert; do
			sed "s|^PATH=|PATH=$bin:|" \
				"$top_builddir/prefetch/$name" >"$scripts/$name"
		done
	fi
	echo 1 >"$E2PF_TMP/step"
	# In a process group of its own.  This shell's message about its death is
	# discarded.
	(
		KILL_AT=$kill_at setsid --wait sh "$scripts/enable" "$@" \
			--root="$root"
		:
	) >"$E2PF_TMP/killed.out" 2>&1
	read -r steps <"$E2PF_TMP/step"
	[ "$steps" -gt "$kill_at" ]
}

# At each moment e2fsck is the stock program, or the launcher of version 1.0.0 with
# the stock program beside it.
has_e2fsck()
{
	if [ -L "$root$stock" ]; then
		[ "$(readlink "$root$stock")" = "$launcher" ] &&
			[ "$(cat "$root$stock.stock")" = stock ]
	else
		[ "$(cat "$root$stock")" = stock ] && [ -x "$root$stock" ]
	fi
}

# killed_everywhere STATE ENABLED COMMAND: STATE creates the machine.  After each
# kill, `enable' must lead to the listing ENABLED, and `disable' to that of a machine
# that was never enabled.
killed_everywhere()
{
	local state=$1 n finish

	shift
	for ((n = 1; ; n++)); do
		for finish in enable disable; do
			$state >/dev/null || return
			if ! killed_at $n "$@"; then
				[ $n -gt 4 ]
				return
			fi
			has_e2fsck || { echo "step $n: no e2fsck"; return 1; }
			run 0 $finish >/dev/null && stock_is_untouched &&
			if [ $finish = enable ]; then
				list | diff "$E2PF_TMP/enabled" - &&
					run 0 status
			else
				as_before && run 1 status
			fi || { echo "step $n, then $finish"; return 1; }
		done
	done
}

new_enabled_root() { new_root symbolic && run 0 enable; }

keep_enabled_listing()
{
	new_enabled_root && list >"$E2PF_TMP/enabled"
}

killed_enabling()
{
	keep_enabled_listing && killed_everywhere "new_root symbolic" enable
}

killed_disabling()
{
	keep_enabled_listing && killed_everywhere new_enabled_root disable
}

# If the initramfs was not rebuilt before the kill, the next run does it.
pending_is_finished()
{
	local hook=$root/etc/initramfs-tools/hooks/e2prefetch

	new_enabled_root || return
	sed -n 's/^pending="\(.*\)"$/\1/p' "$ENABLE" | grep . >>"$hook" || return
	touch "$root/boot/initrd.img-1"
	run 4 status && says "was not rebuilt" &&
	run 0 enable && says "must be rebuilt" && run 0 disable &&
		says "must be rebuilt"
}

#
# A full disk, and a read-only one.
#

# in_small_etc COMMAND...: runs it with /etc on a separate filesystem of 64 KiB.
in_small_etc()
{
	# shellcheck disable=SC2016
	unshare --mount bash -c '
		root=$1
		shift
		cp -a "$root/etc" "$root/etc.saved" &&
		mount -t tmpfs -o size=64k none "$root/etc" &&
		cp -a "$root/etc.saved/." "$root/etc" && rm -r "$root/etc.saved" &&
		"$@"' bash "$root" "$@"
}

full_disk()
{
	export -f list as_before run says lines full_disk_inside
	export ENABLE E2PF_TMP root
	new_root symbolic
	in_small_etc full_disk_inside enable || return
	new_enabled_root
	in_small_etc full_disk_inside disable
}

# The listing leaves out the file that fills the disk, and the disk's own
# folder.
full_disk_inside()
{
	cat /dev/zero >"$root/etc/filling" 2>/dev/null
	list >"$E2PF_TMP/before"
	if [ "$1" = enable ]; then
		run 8 enable && lines 1 && says "nothing was changed" && as_before
	else
		run 0 disable && run 1 status
	fi
}

read_only()
{
	export -f list as_before run says lines read_only_inside
	export ENABLE E2PF_TMP root
	new_root symbolic
	in_small_etc read_only_inside enable || return
	new_enabled_root
	in_small_etc read_only_inside disable
}

read_only_inside()
{
	mount -o remount,ro "$root/etc"
	list >"$E2PF_TMP/before"
	run 8 "$1" && lines 1 && says "nothing was changed" && as_before
}

#
# Upgrades from version 1.0.0.
#

# divert_name NAME: diverts it as version 1.0.0 did.
divert_name()
{
	local file=${stock%/*}/$1 name

	ln "$root$file" "$root$file.stock"
	for name in "/sbin/$1" "/usr/sbin/$1"; do
		dpkg-divert --root="$root" --quiet --package e2prefetch \
			--no-rename --divert "$name.stock" --add "$name" || return
	done
	ln -sf "$launcher" "$root$file"
}

new_diverted_root()
{
	new_root "${1:-symbolic}" && divert_name e2fsck &&
	if [ "${1-}" = hard ]; then
		divert_name fsck.ext2 && divert_name fsck.ext3 &&
			divert_name fsck.ext4
	fi &&
	# And its hook.
	ln -s /usr/share/initramfs-tools/hooks/e2prefetch \
		"$root/etc/initramfs-tools/hooks/e2prefetch"
}

# moved_over KIND COMMAND STATUS
moved_over()
{
	new_diverted_root "$1" && run "$3" "$2" &&
		says "the diversion of e2fsck by version 1.0.0 was removed" &&
		stock_is_untouched || return
	case $2 in
	enable|configure) has_all_files && run 0 status ;;
	*) as_before ;;
	esac && run 0 disable && as_before
}

killed_moving()
{
	keep_enabled_listing && killed_everywhere new_diverted_root enable &&
		killed_everywhere new_diverted_root disable
}

# Each state that a killed run of that version may have left.
half_diverted()
{
	local step

	for step in copy diversion one_name copied; do
		new_root hard
		case $step in
		copy) ln "$root$stock" "$root$stock.stock" ;;
		copied) cp -p "$root$stock" "$root$stock.stock" ;;
		diversion)
			ln "$root$stock" "$root$stock.stock"
			dpkg-divert --root="$root" --quiet --package e2prefetch \
				--no-rename --divert "$stock.stock" --add "$stock"
			;;
		one_name)
			new_diverted_root hard
			ln -f "$root$stock.stock" "$root${stock%/*}/fsck.ext4"
			;;
		esac
		echo "$step:"
		run 1 status && stock_is_untouched && as_before || return
	done
}

# An upgrade of e2fsprogs wrote to the diverted name: keep that version.
newer_aside()
{
	new_diverted_root
	echo newer >"$root$stock.stock"
	run 1 status && stock_is_untouched newer || return
	new_diverted_root
	rm "$root$stock"
	ln "$root$stock.stock" "$root$stock"
	rm "$root$stock.stock"
	echo newer >"$root$stock.stock"
	chmod +x "$root$stock.stock"
	run 1 status && stock_is_untouched newer
}

# If the stock program is lost, copies are searched for; if there is none, the
# package must still be configured.
stock_lost()
{
	local deb=$E2PF_TMP/deb

	new_diverted_root
	rm "$root$stock.stock"
	run 8 enable && says "apt-get install --reinstall e2fsprogs" &&
		[ ! -L "$root$stock" ] && [ ! -s "$root/var/lib/dpkg/diversions" ] &&
		run 1 status && run 0 configure && run 0 disable || return
	new_diverted_root
	rm "$root$stock.stock"
	run 4 disable && says "apt-get install --reinstall e2fsprogs" || return
	new_diverted_root
	rm "$root$stock.stock"
	echo stock >"$root${stock%/*}/e2fsck.static"
	chmod +x "$root${stock%/*}/e2fsck.static"
	run 0 enable && [ "$(readlink "$root$stock")" = e2fsck.static ] || return
	# From a package in apt's cache, with the checksum that dpkg records.
	new_diverted_root
	rm "$root$stock.stock"
	rm -rf "$deb"
	mkdir -p "$deb/DEBIAN" "$deb/usr/sbin" "$root/var/cache/apt/archives"
	echo stock >"$deb/usr/sbin/e2fsck"
	cp "$root/var/lib/dpkg/status" "$deb/DEBIAN/control"
	sed -i /^Status/d "$deb/DEBIAN/control"
	dpkg-deb --build "$deb" \
		"$root/var/cache/apt/archives/e2fsprogs_1_all.deb" || return
	(cd "$deb" && md5sum usr/sbin/e2fsck) \
		>"$root/var/lib/dpkg/info/e2fsprogs.md5sums"
	run 0 enable && says "the package in apt's cache" &&
		stock_is_untouched || return
	# A package of another version is not used.
	new_diverted_root
	rm "$root$stock.stock"
	mkdir -p "$root/var/cache/apt/archives"
	dpkg-deb --build "$deb" \
		"$root/var/cache/apt/archives/e2fsprogs_1_all.deb" || return
	echo "0 usr/sbin/e2fsck" >"$root/var/lib/dpkg/info/e2fsprogs.md5sums"
	run 8 enable
}

# Diversions of other packages are kept.
others_diversion()
{
	new_root symbolic
	dpkg-divert --root="$root" --quiet --package other --no-rename \
		--divert "$stock.other" --add "$stock" || return
	list >"$E2PF_TMP/before"
	run 0 enable && run 0 disable && as_before
}

# The package's script does nothing if nothing was enabled.
configure_changes_nothing()
{
	new_root symbolic
	run 0 configure && [ -z "$said" ] && as_before || return
	new_enabled_root
	echo "# of an older version" >>"$root${files%%
*}"
	run 0 configure && run 0 status
}

#
# Links, and the command line.
#

by_links()
{
	new_root symbolic
	run 0 enable --links && has_all_files || return
	[ "$(readlink "$root/usr/local/sbin/fsck.ext4")" = "$launcher" ] || return
	run 0 status && says "links: enabled" || return
	rm "$root/usr/local/sbin/fsck.ext4"
	run 4 status && says "links: partly enabled" || return
	run 0 disable && as_before || return
	echo other >"$root/usr/local/sbin/fsck.ext3"
	list >"$E2PF_TMP/before"
	run 8 enable --links && says "nothing was changed" && as_before
}

# A shell and execvp() skip a link to a missing launcher.
dangling_links()
{
	new_root symbolic
	ln -s "$root/nosuch" "$root/usr/local/sbin/e2fsck"
	echo 'echo stock' >"$root$stock"
	[ "$(PATH=$root/usr/local/sbin:$root/usr/sbin e2fsck)" = stock ] &&
	[ "$(PATH=$root/usr/local/sbin:$root/usr/sbin:$PATH \
		env e2fsck)" = stock ]
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
	enable --everywhere
	status /dev/sda
	END
	sh "$ENABLE" enable --root=relative
	[ $? = 16 ]
}

# The command runs the script of the build tree.
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
# Status if enabling has no effect.
#

# but TEXT [COMMAND]: after COMMAND on an enabled machine, status contains TEXT.
but()
{
	local text=$1 status=0

	shift
	new_enabled_root && "$@" || return
	said=$("$top_builddir/prefetch/e2prefetch" status --root="$root" 2>&1) ||
		status=$?
	echo "$said"
	[ $status = 4 ] && says "$text"
}

settings_are()
{
	local conf

	conf=$root$(value_of settings)
	mkdir -p "${conf%/*}"
	echo "$1" >"$conf"
}

# state_is STATUS LINE...: status exits so, and prints these lines, whatever others.
state_is()
{
	local expected=$1 status=0 line

	shift
	said=$("$top_builddir/prefetch/e2prefetch" status --root="$root" 2>&1) ||
		status=$?
	echo "$said"
	[ $status = "$expected" ] || { echo "status $status"; return 1; }
	for line; do
		grep -qxF -- "$line" <<<"$said" || { echo "not said: $line"; return 1; }
	done
}

# "enabled" is said only of what prefetches.
five_states()
{
	local works="e2fsck-prefetch: installed, not tried with $stock"
	local gone="the module is missing: reinstall e2prefetch"
	local conf hook=/etc/initramfs-tools/hooks/e2prefetch

	conf=$(value_of settings)
	new_root symbolic
	state_is 1 "$works" "systemd: disabled" "e2scrub: disabled" \
		"initramfs: disabled" "links: disabled" || return
	run 0 enable && state_is 0 "$works" "systemd: enabled" \
		"e2scrub: enabled" "initramfs: enabled" || return
	settings_are "prefetch = off"
	state_is 4 "$works" "systemd: without effect: $conf has prefetch = off" \
		"initramfs: without effect: $conf has prefetch = off" || return
	settings_are $'# mine\r\n\nnice = 77'
	local wrong="the settings are invalid: $root$conf:3: nice: \"77\" is not \
a number from 1 to 19"
	state_is 4 "e2fsck-prefetch: $wrong" \
		"systemd: without effect: the settings are invalid" &&
		! grep -q "^settings:" <<<"$said" || return
	settings_are "prefetch = on"
	echo "# The initramfs has not been rebuilt with this yet." \
		>>"$root$hook"
	state_is 4 "$works" "systemd: enabled" "initramfs: without effect: the \
initramfs was not rebuilt: run e2prefetch enable" || return
	new_enabled_root && rm "$root$launchers/e2fsck-prefetch.so" &&
	state_is 4 "e2fsck-prefetch: $gone" "systemd: without effect: $gone" \
		"e2scrub: without effect: $gone" &&
	run 0 disable && state_is 1 "e2fsck-prefetch: $gone" "systemd: disabled"
}

# The settings in effect, and where each comes from.
shows_settings()
{
	local conf

	new_root symbolic
	settings_are $'# mine\nthreads = 4\nverbose = details'
	conf=$root$(value_of settings)
	PREFETCH_THREADS=9 state_is 1 "settings:" "  threads       4 ($conf)" \
		"  verbose       details ($conf)" "  history       on (default)" \
		"  memory        half of what is available (default)" || return
	[ "$(grep -c '^  [a-z-]* ' <<<"$said")" = 11 ] || return
	[ ! -e "$(value_of settings)" ] || return 0
	said=$(E2PREFETCH_THREADS=9 PREFETCH_NICE=99 PREFETCH_HISTORY=0 \
		"$top_builddir/prefetch/e2prefetch" status)
	says "  threads       9 (E2PREFETCH_THREADS, in this shell)" &&
	says "  nice          99 (PREFETCH_NICE: invalid)" &&
	says "  history       off (PREFETCH_HISTORY, in this shell)"
}

says_why_not()
{
	local file

	but "without effect: the launcher does not run" \
		chmod 644 "$root$launcher" &&
	but "without effect: $root$launcher is missing" rm "$root$launcher" &&
	but "without effect: the module is missing" \
		rm "$root$launchers/e2fsck-prefetch.so" &&
	but "systemd: without effect: $launchers/ready is missing" \
		rm "$root$launchers/ready" &&
	but "e2scrub: without effect: $launchers/e2scrub.bash is missing" \
		rm "$root$launchers/e2scrub.bash" &&
	but "has prefetch = off" settings_are "prefetch = off" &&
	but "e2prefetch.conf:1: prefetch: \"maybe\" is not on or off" \
		settings_are "prefetch = maybe" &&
	but "$stock is missing" rm "$root$stock" || return
	for file in $files; do
		case $file in
		*fsck@*|*fsck-root*) but "systemd: partly enabled, " rm "$root$file" ;;
		*/hooks/*|*dracut*) but "initramfs: partly enabled, " rm "$root$file" ;;
		esac || return
	done
	new_enabled_root && settings_are "prefetch = on" && run 0 status
}

# problem_is TEXT: status reports this problem of the launcher and the module in
# $dir, which it runs.
problem_is()
{
	sed -e '/^for argument; do/,$d' -e "s|^launcher_folder=.*|launcher_folder=$dir|" \
		"$ENABLE" >"$dir/problem"
	echo 'root=; find_problem; echo "$problem"; btrfs=/nosuch; show_commands' \
		>>"$dir/problem"
	said=$(sh "$dir/problem")
	echo "$said"
	[[ $said = $1$'\n'"e2fsck-prefetch: "${1:-"works, the module loads into $stock"} ]]
}

finds_problems()
{
	local name

	dir=$E2PF_TMP/problems
	mkdir -p "$dir/enabled"
	cp "$E2FSCK_TEST" "$dir/e2fsck" &&
	cp "$top_builddir/e2fsck/.libs/e2fsck-prefetch.so" "$dir" || return
	for name in e2fsck fsck.ext4; do
		ln -s ../e2fsck "$dir/enabled/$name"
	done
	problem_is "" || return
	: >"$dir/e2fsck-prefetch.so"
	problem_is "the module cannot be loaded*: reinstall e2prefetch" ||
		return
	rm "$dir/e2fsck-prefetch.so"
	problem_is "the module does not lie beside*: reinstall e2prefetch" ||
		return
	: >"$dir/e2fsck"
	problem_is "the launcher does not run: reinstall e2prefetch"
}

#
# The folder that systemd's checks have first in PATH.
#

# A folder of launchers that are scripts, and of stock programs.
make_enabled()
{
	local name

	dir=$E2PF_TMP/enabled.d
	rm -rf "$dir"
	mkdir -p "$dir/launchers/enabled" "$dir/stock"
	for name in e2fsck fsck.ext4; do
		printf '#!/bin/sh\necho stock\n' >"$dir/stock/$name"
		ln -s ../e2fsck "$dir/launchers/enabled/$name"
	done
	printf '#!/bin/sh\n[ "$1" != -V ] || exec echo e2fsck 1.47\necho launcher\n' \
		>"$dir/launchers/e2fsck"
	chmod +x "$dir/stock"/* "$dir/launchers/e2fsck"
	sed -e "s|^enabled=.*|enabled=$dir/launchers/enabled|" \
		-e "s|^link=.*|link=$dir/run|" \
		-e "s|\\*) folder=/.*|*) folder=$dir/stock ;;|" \
		"$top_builddir/boot/ready" >"$dir/ready"
	chmod +x "$dir/ready"
}

# fsck_runs launcher|stock: after the drop-in's ExecStartPre, even if that fails.
fsck_runs()
{
	"$dir/ready"
	said=$(PATH=$dir/run:$dir/links:$dir/stock:$PATH fsck -t ext4 "$dir/image" 2>&1)
	echo "$said"
	[ "$(tail -n 1 <<<"$said")" = "$1" ]
}

# whatever_is_wrong COMMAND...: the stock program runs, whether the link was missing
# or led to the launcher before.
whatever_is_wrong()
{
	make_enabled
	: >"$dir/image"
	"$@"
	fsck_runs stock || return
	make_enabled
	: >"$dir/image"
	fsck_runs launcher || return
	"$@"
	fsck_runs stock
}

cut_off() { : >"$dir/launchers/e2fsck"; }
no_library() { printf '#!/bin/sh\nexit 127\n' >"$dir/launchers/e2fsck"; }
cut_in_two() { head -c 100 "$E2FSCK_STOCK" >"$dir/launchers/e2fsck"; }
another_processor() { printf '\177ELF\2' >"$dir/launchers/e2fsck"; }
no_interpreter() { printf '#!/nosuch\n' >"$dir/launchers/e2fsck"; }
# Links of --links come after the folder.
with_links()
{
	mkdir -p "$dir/links"
	ln -s "$dir/launchers/e2fsck" "$dir/links/fsck.ext4"
	no_library
}
folder_gone() { rm -r "$dir/launchers"; }
script_gone() { rm -r "$dir/launchers" "$dir/ready"; }

fsck_never_fails()
{
	local wrong

	make_enabled
	: >"$dir/image"
	fsck_runs launcher && fsck_runs launcher || return
	for wrong in cut_off cut_in_two no_library another_processor no_interpreter \
		with_links folder_gone script_gone; do
		echo "$wrong:"
		whatever_is_wrong $wrong || return
	done
	whatever_is_wrong chmod 644 "$dir/launchers/e2fsck" &&
		whatever_is_wrong rm "$dir/launchers/e2fsck"
}

# scrub_runs launcher|stock [FILE]: call e2fsck as e2scrub does, with an empty
# variable before its full path.
scrub_runs()
{
	sed -e "s|^/[a-z/]*e2fsck()|$dir/stock/e2fsck()|" \
		-e "s|_check /[a-z/]*e2fsck|_check $dir/stock/e2fsck|" \
		-e "s|launcher=[^ ]*|launcher=$dir/launchers/enabled/e2fsck|" \
		"$top_builddir/boot/e2scrub.bash" >"$dir/e2scrub.bash"
	printf '#!/bin/bash\nset -e\n${DBG} "%s" -f -y x\n' \
		"$dir/stock/e2fsck" >"$dir/e2scrub"
	said=$(BASH_ENV=${2-$dir/e2scrub.bash} bash "$dir/e2scrub" 2>&1)
	echo "$said"
	[ "$said" = "$1" ]
}

scrub_never_fails()
{
	local wrong

	for wrong in cut_off cut_in_two no_library another_processor no_interpreter \
		folder_gone; do
		make_enabled
		scrub_runs launcher || return
		$wrong
		echo "$wrong:"
		scrub_runs stock || return
	done
	make_enabled
	scrub_runs stock /nosuch
}

#
# Files of an initramfs.
#

# make_initramfs: an image in the state in which initramfs-tools calls the hook.
make_initramfs()
{
	local name

	dir=$E2PF_TMP/initramfs
	rm -rf "$dir"
	mkdir -p "$dir/image$E2PF_TMP/initramfs" "$dir/launchers" \
		"$dir/image$dir/stock" "$dir/image/bin"
	printf '#!/bin/sh\necho e2fsck 1.47\n' >"$dir/launchers/e2fsck"
	echo module >"$dir/launchers/e2fsck-prefetch.so"
	chmod +x "$dir/launchers/e2fsck"
	echo stock >"$dir/image$dir/stock/e2fsck"
	echo "prefetch = on" >"$dir/conf"
	cat >"$dir/functions" <<-END
	copy_exec()
	{
		mkdir -p "\$DESTDIR\${1%/*}" && cp "\$1" "\$DESTDIR\$1" || return 2
		return \${COPIED-0}
	}
	copy_file() { copy_exec "\$2"; }
	END
	# If chroot is not possible, the copy is run from outside.
	mkdir "$dir/bin"
	cat >"$dir/bin/chroot" <<-END
	#!/bin/sh
	shift
	"$dir/image\$@"
	END
	chmod +x "$dir/bin/chroot"
	sed -e "s|^launchers=.*|launchers=$dir/launchers|" \
		-e "s|^settings=.*|settings=$dir/conf|" \
		-e "s|$stock|$dir/stock/e2fsck|" \
		-e "s|^PATH=|PATH=$dir/bin:|" \
		-e "s|/usr/share/initramfs-tools/hook-functions|$dir/functions|" \
		"$top_builddir/boot/initramfs-hook" >"$dir/hook"
}

image_list() { (cd "$dir/image" && find . ! -type d -printf '%p %l\n' | sort); }

run_hook() { said=$(DESTDIR=$dir/image sh "$dir/hook" 2>&1); }

hook_copies()
{
	local copied

	for copied in 0 1; do
		make_initramfs
		COPIED=$copied run_hook && [ -z "$said" ] &&
		[ -x "$dir/image$dir/launchers/e2fsck" ] &&
		[ -s "$dir/image$dir/launchers/e2fsck-prefetch.so" ] &&
		[ -s "$dir/image$dir/conf" ] &&
		[ "$(readlink "$dir/image$dir/launchers/enabled/fsck.ext4")" = \
			../e2fsck ] &&
		[ "$(cat "$dir/image$dir/stock/e2fsck")" = stock ] || return
	done
}

# The init of initramfs-tools reads a file that extends PATH if the launcher runs.
init_reads()
{
	make_initramfs
	run_hook || return
	sed "s|$dir/launchers|$dir/image&|" \
		"$dir/image/conf/conf.d/e2prefetch" >"$dir/read"
	# shellcheck disable=SC2016
	[ "$(sh -ec 'PATH=/bin; . "$1"; echo $PATH' sh "$dir/read")" = \
		"$dir/image$dir/launchers/enabled:/bin" ] || return
	rm "$dir/image$dir/launchers/e2fsck"
	# shellcheck disable=SC2016
	[ "$(sh -ec 'PATH=/bin; . "$1"; echo $PATH' sh "$dir/read")" = /bin ]
}

# Whatever goes wrong, the image is unchanged, and the hook succeeds.
hook_leaves_out()
{
	make_initramfs
	: >"$dir/launchers/e2fsck"
	run_hook && grep "does not run there: not added" <<<"$said" || return
	image_list | grep launchers && return 1
	make_initramfs
	rm "$dir/launchers/e2fsck-prefetch.so"
	run_hook && grep "not added" <<<"$said" || return
	image_list | grep launchers && return 1
	make_initramfs
	rm "$dir/functions"
	run_hook
	make_initramfs
	rm "$dir/image$dir/stock/e2fsck"
	run_hook && [ -z "$said" ] && ! image_list | grep launchers
}

# dracut reads a bash script: it names the files and the library that the launcher
# loads with dlopen().
written_for_dracut()
{
	local program=$top_builddir/prefetch/e2prefetch install_optional_items=

	new_enabled_root || return
	[ ! -e "$top_builddir/prefetch/.libs/e2prefetch" ] ||
		program=$top_builddir/prefetch/.libs/e2prefetch
	sed "s|$(value_of program)|$program|" \
		"$root/etc/dracut.conf.d/e2prefetch.conf" >"$E2PF_TMP/dracut.conf"
	# shellcheck disable=SC1091
	. "$E2PF_TMP/dracut.conf"
	echo "$install_optional_items"
	[[ $install_optional_items = *" $launchers/ready "* ]] &&
	[[ $install_optional_items = *" $launcher "* ]] || return
	! ldd "$program" | grep -q 'libinih.*=> /' ||
		[[ $install_optional_items = *" /"*/libinih.so* ]]
}

# The hook written by enable calls the hook above, and exits with 0 whatever that
# does, and if it is missing.
written_hook()
{
	local hook=$E2PF_TMP/hook

	new_enabled_root || return
	[ -x "$root/etc/initramfs-tools/hooks/e2prefetch" ] || return
	sed "s|$launchers/initramfs-hook|$E2PF_TMP/called|g" \
		"$root/etc/initramfs-tools/hooks/e2prefetch" >"$hook"
	[ -z "$(sh "$hook" prereqs)" ] && sh "$hook" || return
	printf '#!/bin/sh\ntouch %s.yes\nexit 3\n' "$E2PF_TMP/called" \
		>"$E2PF_TMP/called"
	chmod +x "$E2PF_TMP/called"
	sh "$hook" prereqs && [ ! -e "$E2PF_TMP/called.yes" ] &&
		sh "$hook" && [ -e "$E2PF_TMP/called.yes" ]
}

#
# The launcher in place of e2fsck.
#

# A folder like /sbin, with the real e2fsck under another name.
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

# in_place NAME OPTION...: runs this name of e2fsck; output goes to
# $E2PF_TMP/out and err.
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
	# A message that contains the program's name.
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

# If it is run by its own path, a settings file can turn prefetching on.
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

# The launcher finds no e2fsck but itself.
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
		tap_skip "enable and disable" "root is needed"
		return
	fi
	tap_check "enable and disable" there_and_back symbolic
	tap_check "enabling adds files and replaces none" only_adds
	tap_check "a file that is in the way" in_the_way
	tap_check "no launcher, or one that does not run" no_program
	tap_check "nothing that could use it" nothing_here
	tap_check "enable killed at each step" killed_enabling
	tap_check "disable killed at each step" killed_disabling
	tap_check "an initramfs that was not made again" pending_is_finished
	if unshare --mount true 2>/dev/null; then
		tap_check "a full disk" full_disk
		tap_check "an /etc that is read-only" read_only
	else
		tap_skip "full and read-only disks" "no mount name space"
	fi
	tap_check "links in /usr/local/sbin" by_links
	tap_check "links to a launcher that is gone" dangling_links
	tap_check "wrong usage" wrong_usage
	tap_check "by the command" by_command
	tap_check "status says why nothing would prefetch" says_why_not
	tap_check "status of five machines" five_states
	tap_check "status shows the settings" shows_settings
	tap_check "the package's script, nothing to do" configure_changes_nothing
	tap_check "the hook that is written" written_hook
	tap_check "the list for dracut that is written" written_for_dracut
	if ! have_program dpkg-divert; then
		tap_skip "diversions of version 1.0.0" "no dpkg-divert"
		return
	fi
	tap_check "an upgrade of e2fsprogs that moves e2fsck" upgrade_moves_e2fsck
	tap_check "diverted: enable, symbolic links" moved_over symbolic enable 0
	tap_check "diverted: enable, hard links" moved_over hard enable 0
	tap_check "diverted: the package" moved_over hard configure 0
	tap_check "diverted: disable" moved_over hard disable 0
	tap_check "diverted: status" moved_over symbolic status 1
	tap_check "diverted: killed at each step" killed_moving
	tap_check "half diverted" half_diverted
	tap_check "diverted: what dpkg has put aside is kept" newer_aside
	tap_check "diverted: a stock program that is lost" stock_lost
	tap_check "a diversion of another package" others_diversion
}

test_enable()
{
	test_files
	if have_program fsck; then
		tap_check "fsck runs the stock program whatever is wrong" \
			fsck_never_fails
	else
		tap_skip "fsck along PATH" "no fsck"
	fi
	tap_check "e2scrub runs the stock program whatever is wrong" \
		scrub_never_fails
	tap_check "the hook copies what the launcher needs" hook_copies
	tap_check "init puts the launchers first in PATH" init_reads
	tap_check "the hook leaves out what does not run" hook_leaves_out
	if [ -n "$E2PF_RUNTIME" ]; then
		tap_skip "the launcher in e2fsck's place" \
			"a sanitizer's runtime goes before the module"
		return
	fi
	make_place || tap_bail "no image"
	tap_check "status runs the launcher and loads the module" finds_problems
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
tap_run test_enable
