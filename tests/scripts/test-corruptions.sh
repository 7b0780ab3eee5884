#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Seeded corruptions of the feature images, one each, by corrupt.c: the command
# under test must say, return and write what stock e2fsck does, with both I/O
# managers, for every set of options, and again on what -fy left.
#
#   test-corruptions.sh [SEED...]	only these, or COUNT seeds from FIRST
#
# COUNT (default 260), FIRST (default 1).  With TABLE=FILE the figures replace
# what stands between the two marks for them in FILE.  With KEEP=FOLDER the
# images that do not agree are kept there.
#
# The seed says all: the kind of structure goes round with it, and the image
# with the rounds.  A line names the image and what was changed, and
#	mkimages.sh . IMAGE && corrupt IMAGE SEED KIND
# makes the same image again.

# Checkers flush what they write, which takes most of the time on a disk.
[ ! -w /dev/shm ] || TMPDIR=${TMPDIR:-/dev/shm}

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/report.sh
. "$srcdir/tools/report.sh"
# shellcheck source=../tools/seeds.sh
. "$srcdir/tools/seeds.sh"

COUNT=${COUNT:-260}
FIRST=${FIRST:-1}
kinds=(super group inode extent indirect directory htree xattr bitmap journal
	swap zero truncate)
modes=(-fn -fy -fp -fyD)

# Told "no", stock e2fsck can ask the same without end (seeds 700, 1090, 1908).
# Of the other swaps and zeroed blocks the longest output with -fn is 60 kB.
# The command under test gets more time, so that a busy machine is not taken
# for a hang.
OUTPUT_LIMIT=2000000
STOCK_LIMIT=10
TEST_LIMIT=60

# Cases of one worker before its output is written.
BATCH=10

corrupt_setup()
{
	CORRUPT=$top_builddir/tests/tools/corrupt
	[ -x "$CORRUPT" ] && return
	CORRUPT=$E2PF_TMP/corrupt
	${CC:-cc} -O2 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$srcdir/../lib" \
		-o "$CORRUPT" "$srcdir"/tools/corrupt*.c -lext2fs -lcom_err ||
		tap_bail "no corrupt, and it does not compile"
}

make_image()
{
	local image=$E2PF_TMP/images/$1 why

	if ! why=$(image_make "$1" "$image" 2>&1); then
		rm -f "$image"
		tap_diag "$1: this mke2fs does not make it: ${why//$'\n'/ }"
		return
	fi
	"$CORRUPT" "$image" >"$E2PF_TMP/kinds/$1"
}

# images_of KIND: the names of the images that have it, sorted.
images_of() { (cd "$E2PF_TMP/kinds" && grep -l "^$1 " -- *); }

# agree_endless DIR: neither run ended, and they began alike.
agree_endless()
{
	local dir=$1 part

	case $(<"$dir/test.status") in
	123|124) ;;
	*) return 1 ;;
	esac
	for part in out err; do
		"$IMGTOOL" prefix "$dir/stock.$part" "$dir/test.$part" ||
			return
	done
}

# stock_differs DIR IMAGE OPTION...: does stock differ from itself?
stock_differs()
{
	local dir=$1 part

	shift
	compare_run "$E2FSCK_STOCK" "$dir/again" "$@"
	for part in .status .out .err /fs; do
		"$IMGTOOL" cmp "$dir/stock$part" "$dir/again$part" || return 0
	done >/dev/null
	return 1
}

# check_test DIR MANAGER IMAGE OPTION...: prints how it went in one word; what
# differs is added to DIR/log.
check_test()
{
	local dir=$1 word=agreed stock status endless=

	stock=$(<"$dir/stock.status")
	case $stock in
	123|124) endless=yes COMPARE_LIMIT=$STOCK_LIMIT ;;
	*) COMPARE_LIMIT=$TEST_LIMIT ;;
	esac
	if ! compare_test "$@" >"$dir/why"; then
		status=$(<"$dir/test.status")
		case $status in
		123|124) word=hung ;;
		12[89]|1[3-9]*) word=crashed ;;
		*) word=disagreed ;;
		esac
		! grep -aq '^Signal (' "$dir/test.err" || word=crashed
		if [ -n "$endless" ] && agree_endless "$dir" >>"$dir/why"; then
			word=agreed
		fi
	fi
	if [ $word != agreed ]; then
		{
			echo "${*:4}: $word"
			cat "$dir/why"
			! stock_differs "$dir" "${@:3}" ||
				echo "Stock e2fsck differs from itself."
		} >>"$dir/log"
	elif [ -n "$endless" ]; then
		word=endless
	elif [ "$stock" -ge 128 ] || grep -aq '^Signal (' "$dir/stock.err"; then
		word=stock-crashed
	fi
	echo $word
}

# check_image DIR KIND IMAGE OPTION...: stock once, then each manager.
check_image()
{
	local dir=$1 kind=$2 manager

	shift 2
	COMPARE_LIMIT=$STOCK_LIMIT
	compare_stock "$dir" "$@"
	for manager in 0 1; do
		printf '%s\t%s\n' "$kind" "$(check_test "$dir" $manager "$@")"
	done
}

# check_case SEED: figures go to E2PF_TMP/figures.
check_case()
{
	local seed=$1 dir=$E2PF_TMP/work.$BASHPID kind image what mode
	local -a images options

	kind=${kinds[seed % ${#kinds[@]}]}
	mapfile -t images < <(images_of "$kind")
	image=${images[seed / ${#kinds[@]} % ${#images[@]}]}
	mkdir -p "$dir"
	rm -f "$dir/bad" "$dir/bad.jdev"
	cp --sparse=auto "$E2PF_TMP/images/$image" "$dir/bad"
	[ ! -e "$E2PF_TMP/images/$image.jdev" ] ||
		cp "$E2PF_TMP/images/$image.jdev" "$dir/bad.jdev"
	if ! what=$("$CORRUPT" "$dir/bad" "$seed" "$kind" 2>&1); then
		tap_not_ok "$seed $image: not corrupted: $what"
		return
	fi
	# shellcheck disable=SC2207
	options=($(image_options "$image"))
	: >"$dir/log"
	{
		printf '%s\tcase\n' "$kind"
		for mode in "${modes[@]}"; do
			check_image "$dir" "$kind" "$dir/bad" \
				${options[@]+"${options[@]}"} "$mode"
			[ "$mode" != -fy ] ||
				cp --sparse=auto "$dir/stock/fs" "$dir/mended"
		done
		check_image "$dir" "$kind" "$dir/mended" \
			${options[@]+"${options[@]}"} -fn
	} >>"$dir/figures"
	if [ -s "$dir/log" ]; then
		tap_not_ok "$seed $image: $what" "$dir/log"
		[ -z "${KEEP-}" ] || cp --sparse=auto "$dir/bad" \
			"$KEEP/$seed-$kind-$image"
	else
		tap_ok "$seed $image: $what"
	fi
}

print_table()
{
	awk -F'\t' -v order="${kinds[*]}" '
		function row(name, k) {
			printf "| %s | %d | %d | %d | %d | %d | %d | %d |\n",
			       name, n[k, "case"], n[k, "all"], n[k, "agreed"],
			       n[k, "disagreed"], n[k, "crashed"],
			       n[k, "hung"], n[k, "endless"]
		}
		function count(k, word) {
			n[k, word]++
			n["all", word]++
		}
		{
			# Where stock crashes, ours must crash alike.
			word = $2
			if (word == "stock-crashed") {
				count($1, "stock")
				word = "agreed"
			}
			count($1, word)
			if (word != "case")
				count($1, "all")
		}
		END {
			print "| kind | cases | checks | agreed | disagreed |" \
			      " crashed | hung | stock does not end |"
			print "| --- | --- | --- | --- | --- | --- | --- | --- |"
			kinds = split(order, kind, " ")
			for (i = 1; i <= kinds; i++)
				row(kind[i], kind[i])
			row("all", "all")
			printf "\nIn %d of the checks that agree stock " \
			       "e2fsck itself crashes, and so does ours.\n",
			       n["all", "stock"]
		}' "$E2PF_TMP/figures"
}

test_all()
{
	mkdir "$E2PF_TMP/images" "$E2PF_TMP/kinds"
	# Names have no spaces.
	# shellcheck disable=SC2046
	workers make_image $(image_names)
	COMPARE_OUTPUT=$OUTPUT_LIMIT
	check_seeds corruptions "$@"
}

require_programs mke2fs debugfs dumpe2fs flock diff dd awk
tmp_setup
helpers_setup
corrupt_setup
images_setup
tap_run test_all "$@"
