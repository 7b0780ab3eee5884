#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Tests whether the rig works on this machine: the models against their
# parameters, faults, every kind of run on small images, and that all is cleaned up.
# Prints TAP.  The tests do not depend on speed.

bench=$(cd "$(dirname "$0")" && pwd)
export BENCH_BUILD=${BENCH_BUILD:-$bench}
srcdir=$bench/../tests top_builddir=$BENCH_BUILD/..
. "$srcdir/tools/lib.sh"
# The kernel, which makes the images, has the real time.
unset E2FSPROGS_FAKE_TIME E2FSCK_TIME SOURCE_DATE_EPOCH

run()
{
	"$bench/run" --images-dir "$tmp" "$@"
}

# Two models and checkers, with bounds, passes, a picture and changes to a model.
matrix()
{
	run --models nvme,disk-7200-ncq:rpm=7300 --images extents@1/100 \
		--checkers stock,stock-ra0 --repeat 1 --passes --pictures nvme \
		--out "$tmp/out"
}

report_complete()
{
	local row='| extents@1/100 | disk-7200-ncq:rpm=7300'

	[ -s "$tmp/out/result.json" ] &&
	grep -q "^$row | [0-9]" "$tmp/out/timing.md" &&
	grep -q "^$row | stock | [1-9]" "$tmp/out/timing.md" &&
	grep -q "^$row | 5 | [0-9.]* | [0-9.]* | [0-9]* | [0-9.]* |" \
		"$tmp/out/timing.md" &&
	grep -q '^All runs of an image had the same exit status and output' \
		"$tmp/out/timing.md" &&
	grep -q 'stock: .* s</text>' "$tmp/out/timing-extents-1-100-nvme.svg"
}

# A bound that no checker beats: the larger of the device's, which is what the
# quickest reading took, and of the processor's.
bounds()
{
	PYTHONPATH=$bench python3 -B - <<-'END'
	import report, rig
	def run(checker, mode, seconds, busy=None):
	    return dict(label="x", model="nvme" if mode == "cold" else "memory",
	                checker=checker, mode=mode, seconds=seconds, rep=0,
	                busy_s=busy, model_cpu=busy and 0.1)
	r = dict(bounds=[dict(label="x", model="nvme", blocks=1,
	                      times={"sorted": 0.9})],
	         runs=[run("stock", "cold", 2, 1.5), run("ours", "cold", 0.8, 0.7),
	               run("stock", "warm", 0.6), run("ours", "warm", 0.3)])
	assert report.device_bound(r, "x", "nvme") == (0.7, "as ours")
	assert report.cpu_bound(r, "x") == 0.3
	assert report.table(r)[1][2:] == ["2.00 (2.00-2.00)", "0.80 (0.80-0.80)",
	                                  "0.40", "0.70 as ours", "0.30"]
	ranges = [(0, 4096), (4096, 4096), (16384, 4096)]
	assert rig.merged(ranges, 0, 8192) == [[0, 8192], [16384, 4096]]
	assert rig.merged(ranges, 8192, 20480) == [[0, 20480]]
	assert rig.merged(ranges, 8192, 20479) == [[0, 8192], [16384, 4096]]
	END
}

own_disk()
{
	run --models plain --images extents@1/100 --checkers stock \
		--repeat 1 --no-warm --out "$tmp/own" &&
	grep -q '^| extents@1/100 | plain |' "$tmp/own/timing.md"
}

# Others' programs: the images are sound, and the list of chunks is complete.
of_others()
{
	"$bench/images" --dir "$tmp" chunks@1/500 nested@1/200 snapshots@1/100 || return
	[ "$(debugfs -R "cat list" "$tmp/chunks-1-500.img" 2>&1 |
		grep -c '^[0-9a-f]*/')" = 400 ]
}

# The images made without the kernel pass the check that `images' does.
inodes()
{
	"$bench/images" --dir "$tmp" inodes@1/20000 trees@1/6000
}

# Ten blocks of files that are claimed twice have at least eleven claimants.
damaged()
{
	"$bench/images" --dir "$tmp" extents@1/100+twice10 || return
	e2fsck -fn "$tmp/extents-1-100-twice10.img" 2>/dev/null |
		grep -E '^\(There are (1[1-9]|20) inodes'
}

# Six of twelve snapshots were kept.  Another build takes part, and is told to
# prefetch; each reads at most twice the bytes that it needs.
btrfs_aged()
{
	cat >"$tmp/other" <<-'end' &&
		#!/bin/sh
		[ "$PREFETCH" = 1 ] || exit 16
		exec btrfs "$@"
	end
	chmod +x "$tmp/other" &&
	# Others that look at all devices read a part of this one, too.
	undisturbed aged_is_read &&
	btrfs inspect-internal dump-tree -t root "$tmp/btrfs-aged-1-100.img" |
		grep -c ROOT_REF | grep -x 6
}

aged_is_read()
{
	run --models nvme --images btrfs-aged@1/100 --repeat 1 \
		--checkers "stock,other=$tmp/other" --out "$tmp/aged" &&
	jq -e '(.bounds[0].blocks * 4096) as $needed | [.runs[] |
		select(.mode == "cold") | .read_bytes / $needed] |
		length == 2 and all(. > 0.9 and . < 2)' "$tmp/aged/result.json"
}

# Each repair finds the damage.
repairs()
{
	run --models nvme --images extents@1/100+twice10 --repeat 2 --write \
		--checkers stock,stock-ra0 --options=-fy --out "$tmp/repairs" &&
	jq -e '.runs | length == 4 and all(.status == 1 and .writes > 0)' \
		"$tmp/repairs/result.json"
}

# The streams of stock and ours are the same, and few blocks are the bound.
sent()
{
	run --send incremental --models nvme --images btrfs-send@1/100 --repeat 1 \
		--checkers stock,ours --no-warm --out "$tmp/sent" &&
	jq -e '(.bounds[0].blocks > 100) and (.runs | length == 2 and
		all(.status == 0 and .reads > 10))' "$tmp/sent/result.json"
}

# A walk of the mounted filesystem, alone, after e2prefetch, and by another program.
walked()
{
	run --walk 'find {} -printf %s:%p\n' --models nvme --images extents@1/100 \
		--repeat 2 --checkers 'peer=du -s {}' --out "$tmp/walked" &&
	jq -e '.[0] | (.bound > 0) and (.runs | (.alone + .e2prefetch |
		length == 4 and all(.status == 0 and .reads > 0 and
			.output == $all[0][0].runs.alone[0].output)) and
		.peer[0].status == 0)' --slurpfile all "$tmp/walked/walks.json" \
		"$tmp/walked/walks.json" &&
	grep -q '^| extents@1/100 | nvme | `find .* | peer [0-9.]* (' \
		"$tmp/walked/timing-walks.md" &&
	! grep 'dropped caches' "$tmp/walked/timing-walks.md"
}

# A run in which caches are dropped, here by the command, is marked.
dropped()
{
	run --walk 'sh -c "echo 1 >/proc/sys/vm/drop_caches; ls {}"' --models nvme \
		--images extents@1/100 --repeat 1 --out "$tmp/dropped" >"$tmp/said" &&
		[ "$(grep -c ', caches dropped$' "$tmp/said")" = 2 ] &&
		grep -q 'dropped caches during 2 ' "$tmp/dropped/timing-walks.md"
}

# More memory than a cgroup of nothing, and less than one of plenty.
memory()
{
	run --memory --groups --images claimed-1G --repeat 1 --checkers stock \
		>"$tmp/memory" &&
	grep -E '^\| claimed-1G \| [0-9]{2}\.[0-9] \| [0-9.]+ \| [0-9]{2} \|' \
		"$tmp/memory"
}

# The line that users send: an image file will do.
a_line()
{
	"$bench/real" "$tmp/extents-1-100.img" >"$tmp/line" &&
	[ "$(wc -l <"$tmp/line")" = 1 ] &&
	grep -E '^e2prefetch-machine device=\[.+\] size=2GiB .* inodes=[0-9]{4} ' \
		"$tmp/line" |
	grep -E ' stock: 1=[0-9.]+s/[0-9]+MiB .*5=.* all=[0-9.]+s ours: 1=.* all='
}

# A read that overlaps the range fails, one next to it does not.
fault()
{
	run --model-option=--fault=eio:1M+4K --hold zero \
		"$tmp/extents-1-100.img" -- bash -c '
		dd if="$DEV" of=/dev/null bs=4k count=1 skip=255 \
			iflag=direct status=none &&
		! dd if="$DEV" of=/dev/null bs=4k count=1 skip=256 \
			iflag=direct status=none &&
		grep -q "\"errors\": 1," "$POINT/control"'
}

# Data written through the model reads back unchanged.
written()
{
	run --hold raid6-6 "$tmp/extents-1-100.img" -- bash -c '
		head -c 1M /dev/urandom >'"$tmp"'/data &&
		dd if='"$tmp"'/data of="$DEV" bs=64k seek=3 oflag=direct \
			conv=fsync status=none &&
		dd if="$DEV" bs=64k skip=3 count=16 iflag=direct \
			status=none | cmp - '"$tmp"'/data'
}

# Someone who takes a copy of all mounts must not keep the image in use: it would not
# be complete.
aged()
{
	local status

	mkdir "$tmp/bin" &&
	cat >"$tmp/bin/umount" <<-end &&
		#!/bin/bash
		nsenter --mount=/proc/$$/ns/mnt unshare --mount sleep 600 &
		echo \$! >>"$tmp/copies"
		until grep -q sleep /proc/\$!/comm; do sleep 0.01; done
		PATH=\${PATH#*:} exec umount "\$@"
	end
	chmod +x "$tmp/bin/umount" || return
	PATH=$tmp/bin:$PATH "$bench/images" --dir "$tmp" aged@1/50
	status=$?
	# Signals that end a process are blocked while images cleans up.
	xargs kill -s KILL <"$tmp/copies"
	[ $status = 0 ] &&
	dumpe2fs -h "$tmp/aged-1-50.img" 2>&1 |
		grep '^Filesystem state: *clean$' &&
	debugfs -R 'stat /d0000/d0000' "$tmp/aged-1-50.img" 2>&1 |
		grep 'Type: directory'
}

# If two want the same image at the same time, one makes it.
one_makes()
{
	"$bench/images" --dir "$tmp" bigalloc@1/100 >"$tmp/first" 2>&1 &
	"$bench/images" --dir "$tmp" bigalloc@1/100 >"$tmp/second" 2>&1 &&
	wait $! &&
	[ "$(tail -qn 1 "$tmp/first" "$tmp/second" | sort -u)" = \
		"$tmp/bigalloc-1-100.img" ] &&
	[ "$(cat "$tmp/first" "$tmp/second" | grep -c 'MiB stored of')" = 1 ]
}

# A run of an image with two devices waits until the run that has it is over.
one_runs()
{
	local file pid tries=0

	"$bench/images" --dir "$tmp" btrfs-aged-raid1@1/100 || return
	file=$tmp/btrfs-aged-raid1-1-100.img.2
	exec 8<"$file" && flock 8 || return
	run --models nvme --images btrfs-aged-raid1@1/100 --checkers stock \
		--repeat 1 --no-warm --no-bounds --out "$tmp/two" 8<&- &
	pid=$!
	# A process that does not wait ends, or never came to the lock.
	until grep -q -- "-> FLOCK.*:$(stat -c %i "$file") " /proc/locks; do
		kill -0 $pid && [ $((tries += 1)) -lt 1200 ] && sleep 0.05 || return
	done
	exec 8<&-
	wait $pid &&
	jq -e '.runs | length == 1 and .[0].status == 0' "$tmp/two/result.json"
}

# A signal that comes while a loop device is attached, and a second one, as of timeout,
# while it is detached because of the first.
signalled()
{
	local dev file left=0 dir=$tmp/signals

	mkdir "$dir" &&
	cat >"$dir/losetup" <<-'end' &&
		#!/bin/bash
		if [[ "$*" != *--show* ]]; then
			# Whom the signal interrupts ends this process.
			kill -TERM $PPID
			sleep 1
			exec "$E2PF_LOSETUP" "$@"
		fi
		dev=$("$E2PF_LOSETUP" "$@") || exit
		echo "$dev $(cat "/sys/block/${dev#/dev/}/loop/backing_file")" \
			>>"$E2PF_SIGNALS/attached"
		echo "$dev"
		kill -TERM $PPID
	end
	chmod +x "$dir/losetup" || return
	E2PF_SIGNALS=$dir E2PF_LOSETUP=$(command -v losetup) \
		PATH=$dir:$PATH exits 130 "$bench/run" --hold nvme \
		"$tmp/extents-1-100.img" -- sleep 600 &&
	[ -s "$dir/attached" ] || return
	while read -r dev file; do
		echo "$dev $file"
		# /disk: the filesystem of the file is no longer mounted.
		case $(cat "/sys/block/${dev#/dev/}/loop/backing_file" \
			2>/dev/null) in
		"$file"*|/disk) left=1 ;;
		esac
		[ ! -e "${file%/model-*}" ] || left=1
	done <"$dir/attached"
	return $left
}

left_behind()
{
	! grep -s 'e2prefetch-bench-' /sys/block/loop*/loop/backing_file |
		grep -q 'extents-1-100\|calibrate'
}

no_btrfs()
{
	lacks mkfs.btrfs fstrim | grep . && return
	grep -qw btrfs /proc/filesystems || echo "the kernel has no btrfs"
}

no_ours() { [ -x "$E2FSCK_TEST" ] || echo "not built: $E2FSCK_TEST"; }

test_all()
{
	tap_check "the models do what their parameters say" "$bench/selftest"
	tap_check "two models, two checkers, bounds, passes" matrix
	tap_check "the report is complete" report_complete
	tap_check "bounds are bounds" bounds
	tap_check "on this machine's own disk" own_disk
	tap_check "files written without the kernel are sound" inodes
	tap_unless "$(no_mounts)" "images as of others' programs" of_others
	tap_check "damaged files claim what others have" damaged
	tap_unless "$(no_btrfs)" "checks of an aged btrfs" btrfs_aged
	tap_check "repairs, each on its own copy" repairs
	tap_unless "$(no_btrfs)$(no_ours)" "a snapshot is sent" sent
	tap_unless "$(no_ours)" "a walk, alone and after e2prefetch" walked
	tap_unless "$(no_ours)" "caches dropped meanwhile" dropped
	tap_check "the memory of a check" memory
	tap_unless "$(no_ours)" "a line about a machine" a_line
	tap_check "a fault hits its range only" fault
	tap_check "data comes back as written" written
	tap_check "an image is complete whoever copies the mounts" aged
	tap_check "signals leave nothing" signalled
	tap_check "of two that want an image one makes it" one_makes
	tap_unless "$(no_btrfs)" "of two that run on two devices one waits" one_runs
	tap_check "no loop device is left" left_behind
}

why=$(lacks python3 jq)$(no_loops)
[ -z "$why" ] || tap_skip_all "$why"
[ -x "$BENCH_BUILD/diskmodel" ] || tap_skip_all "diskmodel is not built"
[ -w /dev/fuse ] && [ -d /dev/shm ] || tap_skip_all "no /dev/fuse or no /dev/shm"
tmp_setup
tmp=$E2PF_TMP
tap_run test_all
