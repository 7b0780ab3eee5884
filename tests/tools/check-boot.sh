#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Boots a small Debian in a virtual machine, as doc/testing.md describes.  The output
# and duration of the checks are sent over the serial line.
#
#	check-boot.sh [SUITE]	default: bookworm
#
# DIST_DIR	directory of check-packages.sh, an absolute path: has the packages, in
#		SUITE-packages, and keeps a chroot with a kernel, SUITE-boot
#
# Needs qemu, root, a loop device, 512 MB of memory and 5 GB in TMPDIR.  Without KVM
# the processor is emulated: a boot takes a minute, making an initramfs several.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"
. "$srcdir/tools/chroots.sh"

qemu="qemu-system-x86_64"
included=--include=systemd,systemd-sysv,udev,dbus,e2fsprogs,initramfs-tools,kmod,lvm2
included=$included,linux-image-cloud-amd64

why_not()
{
	[ "$(uname -m)" = x86_64 ] || echo "the machine is no x86-64"
	lacks $qemu mke2fs debugfs
	no_packages "$suite"
}

#
# The machine.
#

# Runs at the end of each boot: reports the output of the checks, does what the
# kernel's command line asks for, and powers off.
write_report()
{
	cat >"$1" <<'END'
#!/bin/bash
exec >/dev/ttyS0 2>&1
[[ $(</proc/cmdline) =~ boot_action=([a-z-]*) ]] && action=${BASH_REMATCH[1]}
usec() { systemctl show --value -p "$2" "$1"; }
took()
{
	echo "took $1 $(($(usec "$2" ExecMainExitTimestampMonotonic) -
		$(usec "$2" ExecMainStartTimestampMonotonic)))"
}
echo
echo "== report begins"
# The output of fsck in the initramfs, between the times of its start and end.
if [ -e /run/initramfs/fsck.log ]; then
	sed 's/^/initramfs: /' /run/initramfs/fsck.log
	mapfile -t times < <(sed -n '/^[A-Z].. [A-Z].. .*:.*:.* 20..$/p' \
		/run/initramfs/fsck.log)
	echo "seconds root $(($(date -d "${times[1]}" +%s) -
		$(date -d "${times[0]}" +%s)))"
fi
journal() { journalctl -b -q --no-hostname -o short-monotonic -u "$1"; }
journal systemd-fsck-root.service | sed 's/^/root: /'
journal systemd-fsck@dev-vdb.service | sed 's/^/data: /'
took data systemd-fsck@dev-vdb.service
took root systemd-fsck-root.service
e2prefetch status
echo "status $?"
echo "failed units: $(systemctl --failed --plain --no-legend | tr '\n' ' ')"
case $action in
enable)
	e2prefetch enable
	echo "enable $?"
	;;
scrub)
	truncate -s 600M /pv
	device=$(losetup -f --show /pv)
	vgcreate -q scrub "$device" && lvcreate -q -y -L 256M -n lv scrub &&
	mke2fs -q -t ext4 /dev/scrub/lv && mkdir /scrubbed &&
	mount /dev/scrub/lv /scrubbed && cp -r /etc /scrubbed &&
	systemctl start e2scrub@-scrubbed.service
	echo "scrub $?"
	journalctl -b -q --no-hostname -u e2scrub@-scrubbed.service |
		sed 's/^/scrub: /'
	umount /scrubbed
	vgremove -q -y scrub
	losetup -d "$device"
	;;
esac
sync
echo "== report ends"
systemctl poweroff --no-block
END
	chmod +x "$1"
}

write_unit()
{
	cat >"$1" <<'END'
[Unit]
Description=What the checks at boot have said
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/report
TimeoutSec=infinity
END
}

# A chroot with a kernel, kept in DIST_DIR; a copy of it with our packages.
make_system()
{
	local fresh=$DIST_DIR/$suite-boot

	make_chroot "$fresh" "$suite" "$included" &&
	cp -a "$fresh" "$root" && rm "$root/complete" &&
	mkdir "$root/ours" &&
	cp "$DIST_DIR/$suite-packages"/e2prefetch_*.deb "$root/ours" &&
	apt update &&
	inside sh -c 'apt-get -q -y --no-install-recommends install \
		/ours/*.deb' || return
	printf '%s\n' '/dev/vda / ext4 errors=remount-ro 0 1' \
		'/dev/vdb /data ext4 defaults 0 2' >"$root/etc/fstab"
	echo booted >"$root/etc/hostname"
	mkdir "$root/data"
	echo '. /usr/libexec/e2prefetch/boot/e2scrub.bash' >>"$root/etc/e2scrub.conf"
	# The preload library's report of a check.
	echo "verbose = 2" >>"$root/etc/e2prefetch.conf"
	write_report "$root/report"
	write_unit "$root/etc/systemd/system/report.service"
	# A login on the serial line would interrupt the report.
	ln -s /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
	ln -s ../report.service \
		"$root/etc/systemd/system/multi-user.target.wants/report.service"
	rm -f "$root"/var/cache/apt/archives/*.deb
	# A small initramfs, which is made quickly; the type of the root
	# filesystem is known only on the running machine.
	rm -f "$root"/usr/share/initramfs-tools/hooks/{dmsetup,keymap,lvm2,resume,thermal}
	printf '%s\n' MODULES=list FSTYPE=ext4 COMPRESS=gzip COMPRESSLEVEL=1 \
		>"$root/etc/initramfs-tools/conf.d/boot"
	printf '%s\n' virtio_pci virtio_blk >"$root/etc/initramfs-tools/modules"
	inside update-initramfs -u
}

# Directories, and fragmented files with extent trees.
make_data()
{
	local tree=$E2PF_TMP/tree i

	mkdir "$tree" && (
		cd "$tree" && mkdir {1..400} &&
		printf '%s\n' {1..400}/{1..100} | xargs touch &&
		for ((i = 1; i <= 300; i++)); do
			truncate -s 1M "$i/pieces" || exit
			for at in 0 16 32 48 64 80 96 112 128 144; do
				printf x | dd of="$i/pieces" bs=4k seek=$at \
					conv=notrunc status=none || exit
			done
		done
	) && truncate -s 20G "$data" &&
	mke2fs -q -F -t ext4 -N 400000 -d "$tree" "$data" || return
	rm -rf "$tree"
}

make_disks()
{
	rm -f "$disk" "$data"
	truncate -s 3G "$disk" &&
	mke2fs -q -F -t ext4 -d "$root" "$disk" && rm -rf "$root" && make_data
}

# on_disk COMMAND...: run in the system on the disk without booting it.  The mount
# is in a namespace of its own.  Otherwise a namespace created meanwhile would keep a
# copy of the mount, and the disk could change after this has ended.
on_disk()
{
	mkdir -p "$E2PF_TMP/mounted" &&
	unshare --mount bash -c '
		srcdir=$1
		. "$2"
		disk=$3 mounted=$4
		shift 4
		mount -o loop "$disk" "$mounted" || exit
		in_chroot "$mounted" "$@"
		status=$?
		umount "$mounted" && exit $status' bash "$srcdir" "$chroots_file" \
		"$disk" "$E2PF_TMP/mounted" "$@"
}

#
# A boot.
#

# As after a crash: the journal is empty, but the filesystem must be checked in full.
make_dirty() { debugfs -w -R "set_super_value state 0" "$1" 2>/dev/null; }

# The current kernel and initramfs of the root filesystem.
take_kernel()
{
	local name

	debugfs -R "ls -p /boot" "$disk" 2>/dev/null | tr / '\n' |
		grep -E '^(vmlinuz|initrd.img)-' >"$E2PF_TMP/boot-files"
	while read -r name; do
		debugfs -R "dump /boot/$name $E2PF_TMP/${name%%-*}" "$disk" \
			2>/dev/null || return
	done <"$E2PF_TMP/boot-files"
	[ -s "$E2PF_TMP/vmlinuz" ] && [ -s "$E2PF_TMP/initrd.img" ]
}

# boot ACTION [PARAMETER...]: writes the report to $report.
boot()
{
	local action=$1

	shift
	report=$E2PF_TMP/report
	: >"$report"
	take_kernel || return
	timeout -k 5 900 $qemu -accel "$accel" -cpu "$cpu" \
		-m 512 -smp 2 -display none -no-reboot -nodefaults \
		-serial "file:$E2PF_TMP/serial" \
		-kernel "$E2PF_TMP/vmlinuz" -initrd "$E2PF_TMP/initrd.img" \
		-append "root=/dev/vda ro console=ttyS0 quiet mitigations=off cryptomgr.notests boot_action=$action $*" \
		-drive "file=$disk,if=virtio,format=raw,cache=unsafe" \
		-drive "file=$data,if=virtio,format=raw,cache=unsafe,throttling.iops-total=1000" \
		</dev/null || {
		tail -n 40 "$E2PF_TMP/serial"
		return 1
	}
	tr -d '\r' <"$E2PF_TMP/serial" |
		sed -n '/^== report begins/,/^== report ends/p' >"$report"
	cat "$report"
	grep -q '^== report ends' "$report"
}

# boot_as NAME dirty|clean ACTION [PARAMETER...]: adds a row to the table.
boot_as()
{
	local name=$1 state=$2

	shift 2
	if [ "$state" = dirty ]; then
		make_dirty "$disk" && make_dirty "$data" || return
	fi
	boot "$@" || return
	sed "s/^/# $name: /" "$report" >>"$E2PF_TMP/all"
	note "$name" filesystems "$state"
	for state in root data; do
		note "$name" $state "$(said_of $state)"
		note "$name" ${state}_took "$(time_of $state)"
	done
}

# The duration of a check: from its unit, or in seconds from the initramfs's clock.
time_of()
{
	awk -v key="$1" '
	$1 == "seconds" && $2 == key && !time { time = $3 " s" }
	$1 == "took" && $2 == key && $3 > 0 {
		time = sprintf("%.0f ms", $3 / 1000)
	}
	END { print time ? time : "-" }' "$report"
}

# The report of a check: for the root filesystem that of the initramfs, if it was
# checked there.
lines_of()
{
	if [ "$1" = root ] && grep -q '^initramfs: .*/dev/vda' "$report"; then
		grep '^initramfs: ' "$report"
	else
		grep "^$1: " "$report"
	fi
}

# said_of root|data: whether its check was prefetched, stock, or missing.
said_of()
{
	if lines_of "$1" |
		grep -q 'e2fsck-prefetch: checked in .* read ahead in [1-9]'; then
		echo "prefetched"
	elif lines_of "$1" | grep -q "/dev/vd[ab]: .*clean\|/dev/vd[ab]: .*files"; then
		echo "stock"
	else
		echo "none"
	fi
}

#
# The tests.
#

# reported PATTERN...: each matches a line of the report.
reported()
{
	local pattern

	for pattern; do
		grep -E -- "$pattern" "$report" || {
			echo "not there: $pattern"
			cat "$report"
			return 1
		}
	done
}

# checked root|data stock|prefetched|none
checked()
{
	local is

	is=$(said_of "$1")
	[ "$is" = "$2" ] || { echo "$1: $is"; cat "$report"; return 1; }
}

nothing_failed() { reported '^failed units: *$'; }

# boots NAME ROOT DATA ACTION [PARAMETER...]: a boot that checks, how it did in the two
# filesystems, and no unit failed.
boots()
{
	tap_check "a boot that checks: $1" boot_as "$1" dirty "${@:4}"
	tap_check "$2 for the root filesystem" checked root "$2"
	tap_check "$3 for the data" checked data "$3"
	tap_check "no unit failed" nothing_failed
}

# settings_are LINE: also in the initramfs.
settings_are()
{
	on_disk sh -c 'sed -i "/^prefetch/d" /etc/e2prefetch.conf &&
		[ -z "$1" ] || echo "$1" >>/etc/e2prefetch.conf
		update-initramfs -u' sh "$1"
}

test_boots()
{
	# The initramfs uses the first of these parameters, systemd the last.
	local by_systemd="fsck.mode=skip fsck.mode=auto" late="root by systemd-fsck-root"

	boots before stock stock enable
	tap_check "it can be enabled" reported '^/etc/.*: disabled' '^enable 0$'

	tap_check "a clean boot, enabled" boot_as "enabled" clean none
	tap_check "nothing failed, enabled" nothing_failed
	tap_check "a clean filesystem gets no library" checked data stock
	boots enabled prefetched prefetched none
	tap_check "status says so" reported 'systemd-fsck@.*: enabled$' \
		'initramfs-tools.*: enabled$' '^status 0$'

	boots "$late" prefetched prefetched scrub $by_systemd
	tap_check "it was systemd-fsck-root" \
		reported '^root: .* e2fsck-prefetch: checked in .* read ahead in [1-9]' \
		'^took root [1-9]'
	tap_check "e2scrub@ prefetches" reported '^scrub 0$' \
		'^scrub: .*e2fsck-prefetch: checked in .* read ahead in [1-9]'

	tap_check "settings that are wrong" settings_are "prefetch = perhaps"
	boots "settings that are wrong" stock stock none
	tap_check "status says so" reported \
		'^e2fsck-prefetch: .*perhaps' '^status 4$'
	tap_check "settings that are right" settings_are ""

	tap_check "the package's programs deleted" on_disk sh -c \
		'rm -r /usr/libexec/e2prefetch && update-initramfs -u'
	boots "half removed" stock stock none
	tap_check "the package installed again" on_disk sh -c \
		'dpkg -i --force-confold /ours/*.deb && e2prefetch status'

	tap_check "disable" on_disk e2prefetch disable
	boots disabled stock stock none
	tap_check "disabled" reported '^/etc/.*: disabled' '^status 1$'

	tap_check "enabled again, and removed" on_disk sh -c \
		'e2prefetch enable && dpkg --purge e2prefetch'
	boots removed stock stock none
}

test_boot()
{
	tap_check "$suite: a system with our packages" make_system
	tap_check "$suite: its disks" make_disks
	test_boots
	cat "$E2PF_TMP/all"
	notes_table boot= filesystems=filesystems root=root data=data \
		"root took=root_took" "data took=data_took"
}

suite=${1:-bookworm}
why=$(why_not | head -n 1)
[ -z "$why" ] || tap_skip_all "$why"
# On some machines that have /dev/kvm no kernel boots with it.
accel=tcg
[ ! -w /dev/kvm ] || ! grep -qwE 'vmx|svm' /proc/cpuinfo || accel=kvm
# A newer processor's features are slower when emulated.
cpu=Nehalem,+pclmulqdq
[ "$accel" = tcg ] || cpu=max
tmp_setup
root=$E2PF_TMP/root notes=$E2PF_TMP/notes
disk=$E2PF_TMP/root.img data=$E2PF_TMP/data.img
: >"$E2PF_TMP/all"
tap_run test_boot
