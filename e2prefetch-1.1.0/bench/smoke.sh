#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests whether the rig works on this machine: the models against their
# parameters, faults, the smallest image on two models, and that nothing is left
# behind.  Prints TAP.  No test depends on speed.

set -u
srcdir=${srcdir:-$(dirname "$0")}
srcdir=$(cd "$srcdir" && pwd)
BENCH_BUILD=${BENCH_BUILD:-$srcdir}
export BENCH_BUILD
PATH=$PATH:/usr/sbin:/sbin

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

command -v python3 >/dev/null || skip_all 'no python3'
[ "$(id -u)" = 0 ] || skip_all 'modelled disks take root'
[ -x "$BENCH_BUILD/diskmodel" ] || skip_all 'diskmodel is not built'
[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip_all 'no /dev/fuse'
[ -w /dev/loop-control ] || skip_all 'no loop devices'
[ -d /dev/shm ] || skip_all 'no /dev/shm'

tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench-smoke-XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT

number=0
failed=0

# check NAME COMMAND...
check()
{
	local name=$1

	shift
	number=$((number + 1))
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$tmp/log"
		failed=1
	fi
}

run()
{
	"$srcdir/run" --images-dir "$tmp" "$@"
}

# The simulation has its own clock.  The path through FUSE is not tested: other
# tests keep the machine busy.
formula()
{
	"$BENCH_BUILD/diskmodel" --selftest --no-path
}

matrix()
{
	run --models nvme,disk-7200-ncq --images extents@1/100 \
		--checkers stock,stock-ra0 --repeat 1 --out "$tmp/out"
}

report_complete()
{
	local file

	for file in timing.md runs.csv result.json; do
		[ -s "$tmp/out/$file" ] || return 1
	done
	grep -q '^| extents@1/100 | disk-7200-ncq |' "$tmp/out/timing.md" &&
	grep -q '^| extents@1/100 | disk-7200-ncq | stock | 1 | [1-9]' \
		"$tmp/out/timing.md" &&
	grep -q '^All runs of an image had the same exit status and output' \
		"$tmp/out/timing.md"
}

# A bound that no checker beats: the larger of the device's, which is what the
# quickest reading took, and of the processor's.  The pictures name all.
bounds()
{
	PYTHONPATH=$srcdir python3 -B - <<-'END'
	import report
	def run(checker, mode, seconds, busy=None):
	    return dict(label="x", model="nvme" if mode == "cold" else "memory",
	                checker=checker, mode=mode, seconds=seconds, rep=0,
	                busy_s=busy, model_cpu=busy and 0.1)
	r = dict(images={"x": "ext4, 5 inodes"}, bounds=[dict(label="x",
	         model="nvme", blocks=1, times={"sorted": 0.9})],
	         runs=[run("stock", "cold", 2, 1.5), run("ours", "cold", 0.8, 0.7),
	               run("stock", "warm", 0.6), run("ours", "warm", 0.3)])
	assert report.bound(r, "x", "nvme") == 0.7
	r["runs"][3]["seconds"] = 0.75
	r["runs"][2]["seconds"] = 0.78
	assert report.bound(r, "x", "nvme") == 0.75
	drawn = []
	report.gnuplot = lambda script, base: drawn.append(script["text"]) or True
	assert report.bars(r, "x", "base")
	for word in ("stock e2fsck", "with prefetching", "NVMe", "ext4, 5 inodes",
	             "bound 0.75 s", "all in memory"):
	    assert word in drawn[0], word
	assert '"ours"' not in drawn[0] and '"nvme"' not in drawn[0]
	# An outlier does not squeeze the bars.
	r["runs"] += [run("stock", "cold", 2, 1.5), run("stock", "cold", 50, 1.5)]
	assert report.bars(r, "x", "base")
	assert "set yrange [0:2.6]" in drawn[1], drawn[1]
	END
}

# Devices without FUSE: the plain image, and a loop device limited by the kernel, if it
# can do so.  At 3000 reads per second without a burst, 4,000 reads take more than a
# second.
own_disk()
{
	run --models plain --images extents@1/100 --checkers stock \
		--repeat 1 --no-warm --out "$tmp/own" &&
	grep -q '^| extents@1/100 | plain |' "$tmp/own/timing.md"
}

# shellcheck disable=SC2016
throttled()
{
	local seconds

	run --hold throttled-loop "$tmp/extents-1-100.img" -- \
		"$BENCH_BUILD/replay" --random=4000 {} >"$tmp/throttled" &&
	seconds=$(sed -n 's/.*"seconds": \([0-9]*\).*/\1/p' \
		"$tmp/throttled") && [ "$seconds" -ge 1 ]
}

# The image made without the kernel passes the check that `images' does.
inodes()
{
	"$srcdir/images" --dir "$tmp" inodes@1/20000 trees@1/6000
}

# Ten blocks of files that are claimed twice have at least eleven claimants.
damaged()
{
	"$srcdir/images" --dir "$tmp" extents@1/100+twice10 \
		extents@1/100+restart2 >"$tmp/damaged" || return
	e2fsck -fn "$(head -n 1 "$tmp/damaged")" 2>/dev/null |
		grep -E '^\(There are (1[1-9]|20) inodes'
}

# Six of twelve snapshots were kept, the trees have seeks, and both tables are there:
# nobody reads less than is needed.
btrfs_aged()
{
	"$srcdir/btrfs-check" --images-dir "$tmp" -i btrfs-aged@1/100 -r 1 \
		--before "$BENCH_BUILD/.." nvme >"$tmp/aged" || return
	btrfs inspect-internal dump-tree -t root "$tmp/btrfs-aged-1-100.img" |
		grep -c ROOT_REF >"$tmp/roots"
	[ "$(cat "$tmp/roots")" = 6 ] &&
	grep -q '^| fs tree | [0-9]* | [1-9]' "$tmp/aged" &&
	grep -q '^| btrfs-aged@1/100 | nvme | original, before |' \
		"$tmp/aged" &&
	awk -F ' *[|] *' '$2 == "btrfs-aged@1/100" && $3 == "DUP" {
			programs = programs " " $6
			if ($7 < 100000 || $8 < $7)
				exit 1
		}
		END { exit programs != " stock ours before" }' "$tmp/aged"
}

plain()
{
	run --plain-file --images extents@1/100 --checkers stock --repeat 1 \
		--out "$tmp/plain" &&
	grep -q 'plain image files' "$tmp/plain/timing.md"
}

# A read that overlaps the range fails, one next to it does not.
# shellcheck disable=SC2016
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
# shellcheck disable=SC2016
written()
{
	run --hold raid6-6 "$tmp/extents-1-100.img" -- bash -c '
		head -c 1M /dev/urandom >'"$tmp"'/data &&
		dd if='"$tmp"'/data of="$DEV" bs=64k seek=3 oflag=direct \
			conv=fsync status=none &&
		dd if="$DEV" bs=64k skip=3 count=16 iflag=direct \
			status=none | cmp - '"$tmp"'/data'
}

# An interrupted run removes everything that it has set up.
interrupted()
{
	local pid point

	"$srcdir/run" --hold nvme "$tmp/extents-1-100.img" >"$tmp/held" 2>&1 &
	pid=$!
	for _ in $(seq 6000); do
		grep -q '^DEV=' "$tmp/held" && break
		sleep 0.1
	done
	kill -TERM "$pid"
	wait "$pid"
	point=$(sed -n 's/^POINT=//p' "$tmp/held")
	[ -n "$point" ] && [ ! -e "$point" ]
}

# shellcheck disable=SC2016
# A pattern, a change and a seed; another reader; another build, which is told to
# prefetch.
weather()
{
	local run="$tmp/weather"

	cat >"$tmp/other" <<-'end'
		#!/bin/sh
		[ "$PREFETCH" = 1 ] || exit 16
		exec e2fsck "$@"
	end
	chmod +x "$tmp/other"
	run --models 'sata-ssd-sh*:tenant_start=0' --seed 3 --repeat 1 \
		--images extents@1/100 --checkers "stock,other=$tmp/other" \
		--no-warm --keep-traces --out "$run" &&
	sed -n '/^## The other reader/,/^## P/p' "$run/timing.md" >"$run/readers" &&
	grep -q '^| extents@1/100 | sata-ssd-shared:tenant_start=0:seed=3 | none |' \
		"$run/readers" &&
	grep -q '^| extents@1/100 | sata-ssd-shared:tenant_start=0:seed=3 | other |' \
		"$run/readers" &&
	"$srcdir/rampup" --blocks "$run/traces/extents-1-100.blocks" \
		"$run"/traces/*-other.trace |
		grep 'requests, .* ms until' | grep -v 'until 0\.0' &&
	run --hold raid5-4:spindles=3 "$tmp/extents-1-100.img" -- \
		bash -c '[ "$(grep -o crossings "$POINT/control" | wc -l)" = 3 ]'
}

# A run of 4 s reads 4 KiB per 10 ms for a second, and then 64 KiB per ms.  Within
# windows of 200 ms that is 0.9 of the best after 180 ms, or a little less, since the
# 4 KiB count.  Bytes that were read before do not, nor those that no one needs.
ramp()
{
	python3 - >"$tmp/ramp.trace" <<-'end' || return
		for i in range(100):
		    print(i * 10**7, i * 4096, 4096, "r", 10**6)
		for i in range(3000):
		    print(10**9 + i * 10**6, (1000 + 16 * i) * 4096, 65536, "r", 10**6)
		for i in range(1000):
		    print(4 * 10**9 + i * 1000, 4096000, 1048576, "r", 1000)
	end
	"$srcdir/rampup" "$tmp/ramp.trace" | tee "$tmp/ramped" >&2 &&
	grep -q ': 281 of 4100 requests, 1180 ms until 59.0 MB/s' "$tmp/ramped" &&
	seq 0 99 >"$tmp/few" &&
	"$srcdir/rampup" --blocks "$tmp/few" "$tmp/ramp.trace" |
		tee "$tmp/ramped" >&2 &&
	grep -q ': [12][0-9] of 4100 requests, 1[0-9][0-9] ms until 0.4 MB/s' \
		"$tmp/ramped"
}

# All tables, with this build as the one before, where it is built.
proof()
{
	local model=sata-ssd-shared:tenant_start=0

	"$srcdir/proof" --before "$BENCH_BUILD/../e2fsck/e2fsck" --models $model \
		--images extents@1/100 --images-dir "$tmp" --repeat 1 \
		--seeds 2 --out "$tmp/proof" >"$tmp/tables" || return
	[ "$(grep -c "^| extents@1/100 | $model |" "$tmp/tables")" = 10 ] &&
	grep -q "^| extents@1/100 | $model | 2 |" \
		"$tmp/proof/seeds.md"
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
	PATH=$tmp/bin:$PATH "$srcdir/images" --dir "$tmp" aged@1/50
	status=$?
	xargs kill <"$tmp/copies"
	[ $status = 0 ] &&
	dumpe2fs -h "$tmp/aged-1-50.img" 2>&1 |
		grep '^Filesystem state: *clean$' &&
	debugfs -R 'stat /d0000/d0000' "$tmp/aged-1-50.img" 2>&1 |
		grep 'Type: directory'
}

# Two that want the same image at the same time: one makes it, the other waits.
one_makes()
{
	local held name status
	local -a pids=()

	exec {held}>"$tmp/.features-1-100.img.lock" && flock "$held" || return
	for name in first second; do
		"$srcdir/images" --dir "$tmp" features@1/100 \
			>"$tmp/$name" 2>&1 {held}>&- &
		pids+=($!)
	done
	# Neither has begun while somebody has the lock.
	waiting "${pids[0]}" && waiting "${pids[1]}" &&
		[ ! -e "$tmp/features-1-100.img" ]
	status=$?
	exec {held}>&-
	wait "${pids[0]}" && wait "${pids[1]}" && [ $status = 0 ] &&
	[ "$(tail -qn 1 "$tmp/first" "$tmp/second" | sort -u)" = \
		"$tmp/features-1-100.img" ] &&
	[ "$(cat "$tmp/first" "$tmp/second" | grep -c 'MiB stored of')" = 1 ]
}

# waiting PID: it waits for a lock.
waiting()
{
	for _ in $(seq 6000); do
		! grep -q -- "-> FLOCK .* $1 " /proc/locks || return 0
		kill -0 "$1" || return
		sleep 0.01
	done
	return 1
}

# signalled WHEN: a signal that comes while a loop device is attached; twice: the
# second, as of timeout, comes when a device is detached because of the first; or
# outside, to a tool that runs another.
# shellcheck disable=SC2016
signalled()
{
	local dev file left=0
	local -a tool=("$srcdir/run")

	[ "$1" != outside ] || tool=(python3 -Bc 'import rig, sys
rig.stop_on_signals()
try:
    rig.tool("run", *sys.argv[1:])
except KeyboardInterrupt:
    sys.exit(130)')
	rm -rf "$tmp/signals" && mkdir "$tmp/signals" || return
	cat >"$tmp/signals/losetup" <<-'end'
		#!/bin/bash
		if [[ "$*" != *--show* ]]; then
			# Whom the signal interrupts ends this process.
			[ ! -e "$E2PF_SIGNALS/first" ] || {
				[ "$E2PF_WHEN" = outside ] || kill -TERM $PPID
				sleep 1
			}
			exec "$E2PF_LOSETUP" "$@"
		fi
		dev=$("$E2PF_LOSETUP" "$@") || exit
		echo "$dev $(cat "/sys/block/${dev#/dev/}/loop/backing_file")" \
			>>"$E2PF_SIGNALS/attached"
		echo "$dev"
		[ "$E2PF_WHEN" != attaching ] || kill -TERM $PPID
	end
	chmod +x "$tmp/signals/losetup"
	E2PF_WHEN=$1 E2PF_SIGNALS=$tmp/signals PYTHONPATH=$srcdir \
		E2PF_LOSETUP=$(command -v losetup) PATH=$tmp/signals:$PATH \
		"${tool[@]}" --hold nvme "$tmp/extents-1-100.img" -- \
		bash -c 'touch "$E2PF_SIGNALS/first"
			pid=$PPID
			[ "$E2PF_WHEN" != outside ] ||
				read -r _ _ _ pid _ </proc/$PPID/stat
			kill -TERM $pid
			exec sleep 600' &
	wait $!
	[ $? = 130 ] && [ -s "$tmp/signals/attached" ] || return
	while read -r dev file; do
		echo "$dev $file"
		# /disk: the filesystem of the file is no longer mounted.
		case $(cat "/sys/block/${dev#/dev/}/loop/backing_file" \
			2>/dev/null) in
		"$file"*|/disk) left=1 ;;
		esac
		[ ! -e "${file%/model-*}" ] || left=1
	done <"$tmp/signals/attached"
	return $left
}

signalled_whenever()
{
	local when

	for when in attaching twice outside; do
		echo "$when:"
		signalled $when || return
	done
}

left_behind()
{
	! grep -s 'e2prefetch-bench-' /sys/block/loop*/loop/backing_file |
		grep -q 'extents-1-100\|calibrate'
}

echo 1..20
check 'the models do what their parameters say' formula
check 'two models, two checkers, bounds' matrix
check 'the report is complete' report_complete
check 'bounds are bounds, and pictures say what they show' bounds
check 'the same without models' plain
check 'on this machine'\''s own disk' own_disk
reason=$(cd "$srcdir" && python3 -Bc 'import rig; print(rig.why_not_throttled() or "")')
if [ -n "$reason" ]; then
	number=$((number + 1))
	echo "ok $number - a loop device that the kernel limits # SKIP $reason"
else
	check 'a loop device that the kernel limits' throttled
fi
check 'files written without the kernel are sound' inodes
check 'damaged files claim what others have' damaged
reason=
for program in mkfs.btrfs strace fstrim; do
	command -v $program >/dev/null || reason="$program not found"
done
grep -qw btrfs /proc/filesystems || reason='the kernel has no btrfs'
if [ -n "$reason" ]; then
	number=$((number + 1))
	echo "ok $number - checks of an aged btrfs # SKIP $reason"
else
	check 'checks of an aged btrfs' btrfs_aged
fi
check 'a fault hits its range only' fault
check 'data comes back as written' written
check 'an image is complete whoever copies the mounts' aged
check 'changes, seeds and another reader' weather
check 'when a run is at full speed' ramp
if [ -x "$BENCH_BUILD/../e2fsck/e2fsck" ]; then
	check 'tables about all devices' proof
else
	number=$((number + 1))
	echo "ok $number - tables about all devices # SKIP e2fsck is not built"
fi
check 'an interrupted run takes its device down' interrupted
check 'signals leave nothing, whenever they come' signalled_whenever
check 'of two that want an image one makes it' one_makes
check 'no loop device is left' left_behind
exit $failed
