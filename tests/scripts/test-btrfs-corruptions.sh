#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seeded corruptions of small btrfs filesystems, one each, by corrupt.c:
# btrfs check, that of lowmem mode, and repairs of copies by both must print,
# return and write what the stock program does.  And however hostile the bytes,
# no more is planned than the device has room for.
#
#   test-btrfs-corruptions.sh [SEED...]	only these, or COUNT seeds from FIRST
#
# COUNT, FIRST (default 1).  Without either 22, and some on which the stock
# program writes to memory that it has freed: how it ends shows whether its heap
# is what it is without us.  With TABLE=FILE the figures replace what stands
# between the two marks for them in FILE.
#
# The seed says all: the kind goes round with it, and the image with the rounds.
# A line names the image and what was changed.  tools/compare-btrfs.sh names the
# variables of the comparison.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/report.sh
. "$srcdir/tools/report.sh"
# shellcheck source=../tools/seeds.sh
. "$srcdir/tools/seeds.sh"
BTRFS_LIMIT=${BTRFS_LIMIT:-5}
BTRFS_OUTPUT=${BTRFS_OUTPUT:-2000000}
# shellcheck source=../tools/compare-btrfs.sh
. "$srcdir/tools/compare-btrfs.sh"

heaps=(69 124 432 663)
if [ $# = 0 ] && [ -z "${COUNT-}${FIRST-}" ]; then
	# shellcheck disable=SC2046
	set -- $(seq 22) "${heaps[@]}"
fi
COUNT=${COUNT:-22}
FIRST=${FIRST:-1}
kinds=(super array header pointer entry chunk root body swap zero truncate)
modes=("" --mode=lowmem --repair "--mode=lowmem --repair")
corrupt=$top_builddir/tests/tools/corrupt
bytes=$((128 << 20))

# Cases of one worker before its output is written.
BATCH=8

# Name, devices, options of mkfs.btrfs; of two devices one is missing later.
images()
{
	cat <<-'END'
	single	1	-n 4096 -m single
	dup	1	-n 4096 -m dup
	node-16k	1	-n 16384 -m dup
	node-64k	1	-n 65536 -m single
	mixed	1	-M -n 4096
	full-extents	1	-n 4096 -m single -O ^skinny-metadata,^no-holes
	quota	1	-n 4096 -m single -R quota
	raid1-missing	2	-n 4096 -m raid1 -d single
	END
}

# On a filesystem of its own, for inodes keep their numbers in the image.
make_files()
{
	local d f

	mkdir "$E2PF_TMP/files"
	mount -t tmpfs none "$E2PF_TMP/files" 2>/dev/null ||
		tap_diag "no mounts: a seed is a case of this run only"
	for d in $(seq 12); do
		mkdir -p "$E2PF_TMP/files/$d"
		for f in $(seq 30); do
			head -c $((f * 90)) /dev/zero \
				>"$E2PF_TMP/files/$d/a-file-named-$f"
		done
	done
	find "$E2PF_TMP/files" -exec touch -d @1500000000 {} +
}

# The same bytes each time, but for the times of files.
make_image()
{
	local name=$1 devices=$2 image=$E2PF_TMP/images/$1

	shift 2
	truncate -s "$bytes" "$image"
	if [ "$devices" = 2 ]; then
		truncate -s "$bytes" "$E2PF_TMP/second"
		set -- "$@" "$image" "$E2PF_TMP/second"
	else
		set -- "$@" --rootdir "$E2PF_TMP/files" "$image"
	fi
	if LD_PRELOAD=$FIXED_RANDOM mkfs.btrfs -q \
		-U 0123e567-e89b-42d3-a456-426614174000 "$@" \
		>"$E2PF_TMP/mkfs.out" 2>&1; then
		"$corrupt" "$image" >"$E2PF_TMP/kinds/$name"
	else
		rm -f "$image"
		tap_diag "$name: this mkfs.btrfs does not make it"
	fi
}

# images_of KIND: the names of the images that have it, sorted.
images_of() { (cd "$E2PF_TMP/kinds" && grep -l "^$1 " -- *); }

# check_modes DIR KIND: figures, and what is not as it should be in DIR/log.
check_modes()
{
	local dir=$1 kind=$2 mode planned word

	for mode in "${modes[@]}"; do
		# shellcheck disable=SC2086
		btrfs_compare "$dir" $mode
		word=$BTRFS_OUTCOME
		planned=$(btrfs_planned "$dir")
		if [ "$word" = disagreed ]; then
			{ echo "check $mode:"; cat "$dir/diff"; } >>"$dir/log"
		fi
		if [ "$planned" -gt $((bytes / 4096)) ]; then
			echo "check $mode: $planned blocks" >>"$dir/log"
		fi
		if [ "$word" = agreed ] &&
			[ "$(<"$dir/stock.status")" -ge 128 ]; then
			word=crashed
		fi
		printf '%s\t%s\t%s\n' "$kind" "$word" "$planned"
	done
}

check_case()
{
	local seed=$1 dir=$E2PF_TMP/work.$BASHPID kind image what
	local -a images

	kind=${kinds[seed % ${#kinds[@]}]}
	mapfile -t images < <(images_of "$kind")
	image=${images[seed / ${#kinds[@]} % ${#images[@]}]}
	mkdir -p "$dir"
	cp --sparse=auto "$E2PF_TMP/images/$image" "$dir/fs"
	if ! what=$("$corrupt" "$dir/fs" "$seed" "$kind" 2>&1); then
		tap_not_ok "$seed $image: not corrupted: $what"
		return
	fi
	: >"$dir/log"
	printf '%s\tcase\t0\n' "$kind" >>"$dir/figures"
	check_modes "$dir" "$kind" >>"$dir/figures"
	if [ -s "$dir/log" ]; then
		tap_not_ok "$seed $image: $what" "$dir/log"
	else
		tap_ok "$seed $image: $what"
	fi
}

print_table()
{
	awk -F'\t' -v order="${kinds[*]}" '
		function row(k) {
			printf "| %s | %d | %d | %d | %d | %d | %d | %d |\n",
			       k, n[k, "case"], n[k, "checks"], n[k, "agreed"],
			       n[k, "disagreed"], n[k, "unsure"],
			       n[k, "endless"], most[k]
		}
		function count(k, word) {
			n[k, word]++
			n["all", word]++
		}
		{
			count($1, $2)
			if ($2 != "case")
				count($1, "checks")
			# Where stock crashes, ours crashes alike.
			if ($2 == "crashed")
				count($1, "agreed")
			if ($3 > most[$1])
				most[$1] = $3
			if ($3 > most["all"])
				most["all"] = $3
		}
		END {
			print "| kind | cases | checks | agreed | disagreed |" \
			      " stock differs from itself |" \
			      " stock does not end | blocks planned at most |"
			print "| --- | --- | --- | --- | --- | --- | --- | --- |"
			kinds = split(order, kind, " ")
			for (i = 1; i <= kinds; i++)
				row(kind[i])
			row("all")
			printf "\nIn %d of the checks that agree the stock " \
			       "program crashes, and so does ours.\n",
			       n["all", "crashed"]
		}' "$E2PF_TMP/figures"
}

test_all()
{
	local name devices options

	mkdir "$E2PF_TMP/images" "$E2PF_TMP/kinds"
	make_files
	while IFS=$'\t' read -r name devices options; do
		# shellcheck disable=SC2086
		make_image "$name" "$devices" $options
	done < <(images)
	umount "$E2PF_TMP/files" 2>/dev/null
	check_seeds "corruptions of btrfs" "$@"
}

require_programs flock mkfs.btrfs
[ -x "$BTRFS_TEST" ] || tap_skip_all "not built: $BTRFS_TEST"
[ -x "$corrupt" ] || tap_skip_all "not built: $corrupt"
[ -n "$BTRFS_STOCK" ] || tap_skip_all "btrfs not found"
if [ -z "${E2PF_OWN_MOUNTS-}" ]; then
	own_mounts=-m
	have_root || own_mounts=-rm
	! unshare $own_mounts true 2>/dev/null ||
		E2PF_OWN_MOUNTS=1 exec unshare $own_mounts bash "$0" "$@"
fi
tmp_setup
helpers_setup
tap_run test_all "$@"
