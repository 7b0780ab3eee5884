#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Upgrades and other transitions of a machine on which e2prefetch is enabled, in chroots;
# doc/testing.md describes them.
#
#	check-upgrades.sh [GROUP...]	of all_rows (default: all)
#
# DIST_DIR	directory of check-packages.sh, an absolute path: has the packages,
#		in bullseye-packages and bookworm-packages, and chroots, in
#		SUITE-fresh; keeps a chroot of Debian 11 with /usr not merged,
#		bullseye-split
# KILLS		points of an upgrade at which dpkg is killed (default: 10)
# UPGRADES_LOG	file that gets the output of every step
#
# Needs root, half an hour, and space for overlays in TMPDIR.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/chroots.sh"

kills=${KILLS:-10}
#
# A machine.
#

# use BASE [copy]: all changes to it are dropped with its overlay.  usrmerge does not
# work on an overlay, and gets a copy.
use()
{
	leave
	root=$E2PF_TMP/root
	mkdir -p "$root"
	if [ $# = 1 ]; then
		# Another namespace may still have the previous one.
		rm -rf "$E2PF_TMP"/over.*
		over=$(mktemp -d "$E2PF_TMP/over.XXXXXX") &&
		mkdir "$over/upper" "$over/work" && chmod 755 "$over/upper" &&
		mount -t overlay \
			-o "lowerdir=$1,upperdir=$over/upper,workdir=$over/work" \
			none "$root"
	else
		rm -rf "$root" && mkdir "$root" && cp -a "$1/." "$root"
	fi
}

leave()
{
	! mountpoint -q "$E2PF_TMP/root" || umount "$E2PF_TMP/root"
	root=
}

# base NAME FROM FUNCTION [ARGUMENT...]: make a chroot in $E2PF_TMP, once.
base()
{
	[ ! -e "$E2PF_TMP/$1" ] || return 0
	root=$E2PF_TMP/$1.new
	mkdir -p "$root" && cp -a "$2/." "$root" && "${@:3}" >>"$log" 2>&1 &&
		rm -f "$root/complete" && mv "$root" "$E2PF_TMP/$1" && root=
}

# The files that a check needs, and the loop that runs it.
add_check()
{
	apt update && apt install e2fsprogs strace && apt clean || return
	# systemd is not installed here, but status looks for its units.
	mkdir -p "$root/lib/systemd/system" &&
	touch "$root/lib/systemd/system"/systemd-fsck{@,-root}.service || return
	truncate -s 16M "$root/image"
	inside mke2fs -q -F -t ext4 /image && make_watch
}

copy_packages() { mkdir -p "$root/$2" && cp "$1"/e2prefetch_*.deb "$root/$2"; }

ready_ours()
{
	add_check && copy_packages "$1" ours && make_next &&
	inside sh -c 'apt-get -q -y --no-install-recommends \
		install /ours/*.deb' && inside e2prefetch enable
}

# A newer version of our package.
make_next()
{
	local dir=$E2PF_TMP/next deb

	mkdir -p "$root/next"
	for deb in "$root"/ours/*.deb; do
		rm -rf "$dir"
		dpkg-deb -R "$deb" "$dir" &&
		sed -i 's/^Version: .*/&+next/' "$dir/DEBIAN/control" &&
		dpkg-deb -b "$dir" "$root/next" >/dev/null || return
	done
}

#
# The loop.
#

# It runs no programs but bash, e2fsck and fsck; the drop-in says which PATH systemd
# would set.
make_watch()
{
	cat >"$root/watch" <<'END'
#!/bin/bash
dropin=/etc/systemd/system/systemd-fsck@.service.d/e2prefetch.conf
# While Debian replaces libraries of stock e2fsck or fsck they briefly cannot be
# loaded, also without e2prefetch.  With the ld.so of one libc and the libc.so of
# another no program can be loaded: a symbol or version is missing, or the stack is
# smashed.
libraries='lib(ext2fs|e2p|com_err|blkid|uuid|mount|c)\.so|GLIBC_[0-9P]'
mixed='stack smashing detected|undefined symbol.*GLIBC_PRIVATE'
failed()
{
	local of=/failures

	if [[ $said =~ ($libraries).*(cannot\ open|not\ found) ]] ||
		[[ $said =~ $mixed ]]; then
		of=/unloadable
	fi
	echo "$SECONDS $1: status $status: ${said//$'\n'/ / }" >>$of
}
check()
{
	said=$("${@:2}" 2>&1)
	status=$?
	[ $status = 0 ] || failed "$1"
}
by_name() { check e2fsck e2fsck -fn /image; }
by_fsck()
{
	local path=$PATH line

	if [ -e $dropin ]; then
		while read -r line; do
			case $line in
			Environment=PATH=*) path=${line#*=*=} ;;
			esac
		done <$dropin
	fi 2>/dev/null
	PATH=$path check fsck /sbin/fsck -T -t ext4 /image -- -fn
}
loop()
{
	local n=0

	while [ ! -e /stop ]; do
		$1
		echo $((n += 1)) >/checks.$1
		read -r -t 0.05 <>/pause
	done
}
loop by_name &
loop by_fsck &
wait
END
	mkfifo "$root/pause"
}

start_watch()
{
	rm -f "$root"/{stop,failures,unloadable,checks.by_name,checks.by_fsck}
	in_chroot "$root" bash /watch &
	watch=$!
	until [ -s "$root/checks.by_name" ] && [ -s "$root/checks.by_fsck" ]; do
		kill -0 $watch || return
		sleep 0.05
	done
	sleep 0.5
}

# Sets $checks, and of these $failures and $unloadable.
stop_watch()
{
	sleep 0.5
	touch "$root/stop"
	wait $watch
	checks=$(($(<"$root/checks.by_name") + $(<"$root/checks.by_fsck")))
	touch "$root/failures" "$root/unloadable"
	failures=$(wc -l <"$root/failures")
	unloadable=$(wc -l <"$root/unloadable")
	head -n 20 "$root/failures"
	head -n 3 "$root/unloadable"
}

#
# The state afterwards.
#

yes_no() { if "$@" >/dev/null 2>&1; then echo yes; else echo NO; fi; }

# The result of fsck as systemd calls it: prefetched, stock or NO.
fsck_now()
{
	inside env PREFETCH_STATS=/stats bash -c '
	rm -f /stats
	dropin=/etc/systemd/system/systemd-fsck@.service.d/e2prefetch.conf
	if [ -e $dropin ]; then
		PATH=$(sed -n "s/^Environment=PATH=//p" $dropin)
	fi
	/sbin/fsck -T -t ext4 /image -- -fn >/dev/null || exit
	if grep -q planned_bytes /stats; then echo prefetched; else echo stock; fi
	' 2>/dev/null || echo NO
}

status_now()
{
	local status=0

	inside e2prefetch status || status=$?
	case $status in
	0) state=enabled ;;
	1) state=disabled ;;
	4) state="in part" ;;
	127) state=removed ;;
	*) state=$status ;;
	esac
}

# None of our files is left, and e2fsprogs is as packaged.
is_clean()
{
	local left

	# The settings stay until a purge.
	left=$(cd "$root" && find etc usr run boot var/lib -name '*e2prefetch*' \
		! -path 'var/lib/dpkg/*' ! -path "${settings_stay-}" 2>/dev/null
		inside dpkg -V e2fsprogs)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}

remove_all()
{
	inside dpkg --purge e2prefetch && is_clean &&
	inside e2fsck -fn /image >/dev/null && [ "$(fsck_now)" = stock ]
}

# row NAME EXPECTED COMMAND...: run a transition while the loops run.  EXPECTED is a
# pattern of the state afterwards and the result of fsck: "enabled prefetched".
row()
{
	local name=$1 expected=$2 ok=1 removal e2fsck fsck

	{
		echo "== $name"
		start_watch && "${@:3}" || { echo "the transition failed"; ok=; }
		stop_watch
		e2fsck=$(yes_no inside e2fsck -fn /image)
		fsck=$(fsck_now)
		status_now
		removal=-
		if [ "$state" != removed ]; then
			[ -n "$keep" ] || removal=$(yes_no remove_all)
		elif ! is_clean; then
			removal=NO
		fi
		note "$name" e2fsck "$e2fsck"
		note "$name" fsck "$fsck"
		note "$name" status "$state"
		note "$name" removal $removal
		note "$name" unloadable "$unloadable"
		note "$name" failures "$failures of $checks"
		tail -n 6 "$notes"
	} >"$E2PF_TMP/row" 2>&1
	cat "$E2PF_TMP/row" >>"$log"
	if [ -n "$ok" ] && [[ "$state $fsck" = $expected ]] &&
		[ "$e2fsck" = yes ] && [ "$failures" = 0 ] &&
		[ "$removal" != NO ]; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "$E2PF_TMP/row" 60
	fi
}
keep=

# install_debs DIRECTORY: install its packages with dpkg.
install_debs() { inside sh -c 'dpkg -i --force-confold /'"$1"'/*.deb'; }

#
# The rows.
#

# ours [SUITE]: with e2prefetch enabled.
ours()
{
	local suite=${1:-bookworm}

	base "$suite-ours" "$DIST_DIR/$suite-fresh" ready_ours \
		"$DIST_DIR/$suite-packages" &&
		use "$E2PF_TMP/$suite-ours"
}

row_suites()
{
	local suite before=bullseye

	ours bullseye || return
	for suite in bookworm trixie sid; do
		keep=1
		[ $suite != sid ] || keep=
		suite_is $suite >>"$log" 2>&1
		row "enabled, e2fsprogs of $before to that of $suite" \
			"enabled prefetched" apt install e2fsprogs
		before=$suite
	done
	keep=
}

# ours_row NAME EXPECTED COMMAND...: from Debian 12 with e2prefetch enabled.
ours_row() { ours && row "enabled, $@"; }

row_versions()
{
	ours_row "upgraded to a newer version" "enabled prefetched" install_debs next
	ours && install_debs next >>"$log" 2>&1 &&
	row "enabled, downgraded to an older version" "enabled prefetched" \
		install_debs ours
}

row_again()
{
	ours_row "e2prefetch installed again" "enabled prefetched" install_debs ours
	ours_row "e2fsprogs installed again" "enabled prefetched" \
		apt --reinstall install e2fsprogs
}

row_remove()
{
	settings_stay=etc/e2prefetch.conf
	ours_row "apt-get remove" "removed stock" apt remove e2prefetch
	settings_stay=
	ours_row "apt-get purge" "removed stock" apt purge e2prefetch
}

# Files of the package are deleted while it is enabled.  This is done before the loop
# begins, because a program deleted after fsck has found it cannot be run.
without() { rm -r "$root/usr/libexec/e2prefetch/${1#.}"; }

# Deleted files, the state that status must report, and the expected kind of check.
row_half()
{
	local what state

	while read -r what state; do
		ours && without "$what" &&
			row "enabled, $what of /usr/libexec/e2prefetch deleted" \
				"$state" true
	done <<-END
	e2fsck in part stock
	e2fsck-prefetch.so in part stock
	enabled in part stock
	boot in part stock
	enable 8 prefetched
	. 8 stock
	END
}

#
# dpkg killed.
#

# The calls with which dpkg changes files and waits for scripts.
calls=rename,unlink,link,symlink,wait4

# kill_at N COMMAND: kill dpkg and its children with SIGKILL at its Nth such call.
kill_at()
{
	! inside strace -o /dev/null -e trace=$calls \
		-e inject=$calls:signal=KILL:when="$1" "${@:2}"
}

count_calls()
{
	inside strace -o /trace -e trace=$calls "$@" >/dev/null 2>&1
	grep -c '(' "$root/trace"
}

# An administrator's repair, and repeating the installation.
repair()
{
	inside dpkg --configure -a
	inside sh -c "$1" && inside dpkg --configure -a &&
		[ -z "$(inside dpkg --audit)" ]
}

killed_and_repaired() { kill_at "$1" sh -c "exec $2"; repair "$2"; }

# killed NAME BASE DEBS STATE: kill dpkg at each of $kills points.
killed()
{
	local name=$1 base=$2 command="dpkg -i --force-confold $3" count i

	$base || return
	count=$(count_calls sh -c "exec $command")
	for ((i = 1; i <= kills; i++)); do
		$base || return
		row "enabled, dpkg killed at call $((count * i / (kills + 1))) of $count of an upgrade of $name" \
			"enabled prefetched" killed_and_repaired \
			$((count * i / (kills + 1))) "$command"
	done
}

# The libraries are installed already: only one package is unpacked, which moves
# e2fsck from /sbin to /usr/sbin.
ready_trixie()
{
	cp -a "$E2PF_TMP/bookworm-ours/." "$root" && suite_is trixie &&
	apt install libc6 libext2fs2t64 libss2t64 libcom-err2 &&
	inside sh -c 'mkdir /newer && cd /newer && apt-get -q download \
		e2fsprogs logsave'
}

bookworm_trixie()
{
	ours && base bookworm-trixie "$E2PF_TMP/bookworm-ours" ready_trixie &&
		use "$E2PF_TMP/bookworm-trixie"
}

row_killed()
{
	killed e2prefetch ours '/next/*.deb'
	killed e2fsprogs bookworm_trixie '/newer/*.deb'
}

#
# /usr merged later.
#

row_usrmerge()
{
	make_chroot "$DIST_DIR/bullseye-split" bullseye --no-merged-usr &&
	base bullseye-split "$DIST_DIR/bullseye-split" \
		ready_ours "$DIST_DIR/bullseye-packages" || return
	use "$E2PF_TMP/bullseye-split" copy &&
	row "enabled, /usr not merged" "enabled prefetched" true
	use "$E2PF_TMP/bullseye-split" copy &&
	row "enabled, then usrmerge" "enabled prefetched" apt install usrmerge
}

all_rows="suites versions again remove half killed usrmerge"

main()
{
	local name

	[ $# -gt 0 ] || set -- $all_rows
	for name; do
		row_$name >"$E2PF_TMP/rows.out" 2>"$E2PF_TMP/rows.err" ||
			tap_not_ok "$name" "$E2PF_TMP/rows.err"
		cat "$E2PF_TMP/rows.out"
	done
	leave
	notes_table transition= "e2fsck -fn=e2fsck" "fsck -t ext4=fsck" \
		status=status "removed without a trace=removal" \
		"stock lacks its libraries=unloadable" \
		"other moments without a check=failures"
}

log=${UPGRADES_LOG:-/dev/null}
why=$(no_packages bullseye bookworm | head -n 1)
[ -z "$why" ] || tap_skip_all "$why"
root=
tmp_setup
trap 'leave; tmp_cleanup' EXIT
notes=$E2PF_TMP/notes
: >"$notes"
tap_run main "$@"
