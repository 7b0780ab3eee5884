# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# To be sourced after lib.sh, report.sh and compare.sh.  Seeded corruptions of sound
# images, one each, by corrupt.c: the command under test must have the output, status
# and image of stock.  Consecutive seeds take the kinds of corruption in turn, and each
# round of kinds uses the next image, so a seed always names the same case.
#
# The script defines
#   kinds		of corruptions, in the order of the seeds; "none" leaves the
#			image sound
#   check_corrupted DIR KIND IMAGE
#			checks DIR/bad, a corrupted copy of IMAGE, with
#			check_image; text added to $what appears in the output
#   columns		of the table, words that print_table knows
#   COUNT, FIRST	the seeds if none are given
#   BATCH		cases of one worker before its output is written
#   PLANNED_MOST	blocks that may be planned, with COMPARE_STATS
# and makes its images in E2PF_TMP/images, with one call of found_kinds for each.
# It may have its own choose().
#
# With TABLE=FILE the figures are written between their two marks in FILE.  With
# KEEP=FOLDER the images that do not agree are kept there.

seeds_setup()
{
	mkdir "$E2PF_TMP/images" "$E2PF_TMP/kinds"
	CORRUPT=$top_builddir/tests/tools/corrupt
	[ -x "$CORRUPT" ] && return
	CORRUPT=$E2PF_TMP/corrupt
	${CC:-cc} -O2 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$srcdir/../lib" \
		-o "$CORRUPT" "$srcdir"/tools/corrupt*.c -lext2fs -lcom_err ||
		tap_bail "no corrupt, and it does not compile"
}

# found_kinds IMAGE: which kinds of corruption the image of this name can have.
found_kinds() { "$CORRUPT" "$E2PF_TMP/images/$1" >"$E2PF_TMP/kinds/$1"; }

# images_of KIND: the names of the images that have it, sorted.
images_of() { (cd "$E2PF_TMP/kinds" && grep -l "^$1 " -- *); }

# check_image DIR KIND IMAGE OPTION...: runs stock once, then each I/O manager.
# Prints the outcome of each; differences are added to DIR/log.
check_image()
{
	local dir=$1 kind=$2 manager planned=0 word

	shift 2
	compare_stock "$dir" "$@"
	for manager in $COMPARE_MANAGERS; do
		compare_outcome "$dir" "$manager" "$@"
		word=$COMPARE_OUTCOME
		case $word in
		agreed)
			! compare_crashed "$dir/stock" || word=stock-crashed
			;;
		unsure) what+=" (stock differs from itself)" ;;
		hung|crashed|disagreed)
			{
				echo "${*:2}: $word"
				cat "$dir/why"
				! compare_differs "$dir" "$@" ||
					echo "Stock differs from itself."
			} >>"$dir/log"
			;;
		esac
		[ -z "$COMPARE_STATS" ] || planned=$(compare_planned "$dir")
		[ "$planned" -le "${PLANNED_MOST:-0}" ] ||
			echo "${*:2}: $planned blocks planned" >>"$dir/log"
		printf '%s\t%s\t%s\n' "$kind" "$word" "$planned"
	done
}

# choose SEED: sets kind, which changes with each seed, and image, which changes
# with each round of kinds.
choose()
{
	local -a images

	kind=${kinds[$1 % ${#kinds[@]}]}
	mapfile -t images < <(images_of "$kind")
	image=${images[$1 / ${#kinds[@]} % ${#images[@]}]}
}

# check_case SEED
check_case()
{
	local seed=$1 dir=$E2PF_TMP/work.$BASHPID kind image what=sound

	choose "$seed"
	mkdir -p "$dir"
	rm -f "$dir/bad" "$dir/bad.jdev"
	cp --sparse=auto "$E2PF_TMP/images/$image" "$dir/bad"
	[ ! -e "$E2PF_TMP/images/$image.jdev" ] ||
		cp "$E2PF_TMP/images/$image.jdev" "$dir/bad.jdev"
	if [ "$kind" != none ] && ! what=$("$CORRUPT" "$dir/bad" "$seed" "$kind" 2>&1); then
		tap_not_ok "$seed $image: not corrupted: $what"
		return
	fi
	: >"$dir/log"
	printf '%s\tcase\t0\n' "$kind" >>"$dir/figures"
	check_corrupted "$dir" "$kind" "$image" >>"$dir/figures"
	if [ -s "$dir/log" ]; then
		tap_not_ok "$seed $image: $what" "$dir/log"
		[ -z "${KEEP-}" ] || cp --sparse=auto "$dir/bad" \
			"$KEEP/$seed-$kind-$image"
	else
		tap_ok "$seed $image: $what"
	fi
}

# check_batch "SEED..."
check_batch()
{
	local seed

	for seed in $1; do
		check_case "$seed"
	done
	cat "$E2PF_TMP/work.$BASHPID/figures" >>"$E2PF_TMP/figures"
	rm -rf "$E2PF_TMP/work.$BASHPID"
}

print_table()
{
	awk -F'\t' -v order="${kinds[*]}" -v columns="${columns[*]}" '
		function row(k,    i) {
			printf "| %s", k
			for (i = 1; i <= width; i++)
				printf " | %d", n[k, column[i]]
			print " |"
		}
		function count(k, word) {
			n[k, word]++
			n["all", word]++
		}
		function most(k, planned) {
			if (planned > n[k, "planned"])
				n[k, "planned"] = planned
		}
		BEGIN {
			said["case"] = "cases"
			said["checks"] = "checks"
			said["agreed"] = "agreed"
			said["disagreed"] = "disagreed"
			said["crashed"] = "crashed"
			said["hung"] = "hung"
			said["unsure"] = "stock differs from itself"
			said["endless"] = "stock does not end"
			said["planned"] = "blocks planned at most"
			width = split(columns, column, " ")
		}
		{
			# If stock crashes, ours must crash in the same way.
			count($1, $2)
			if ($2 == "stock-crashed")
				count($1, "agreed")
			if ($2 != "case")
				count($1, "checks")
			most($1, $3 + 0)
			most("all", $3 + 0)
		}
		END {
			printf "| kind"
			for (i = 1; i <= width; i++)
				printf " | %s", said[column[i]]
			printf " |\n| ---"
			for (i = 1; i <= width; i++)
				printf " | ---"
			print " |"
			kinds = split(order, kind, " ")
			for (i = 1; i <= kinds; i++)
				row(kind[i])
			row("all")
			printf "\nIn %d of the checks that agree both " \
			       "programs crash.\n", n["all", "stock-crashed"]
		}' "$E2PF_TMP/figures"
}

# check_seeds NAME [SEED...]: runs these seeds, or COUNT seeds from FIRST.  NAME
# is that of the marks in TABLE.
check_seeds()
{
	local name=$1 i
	local -a seeds batches=()

	shift
	if [ $# -gt 0 ]; then
		seeds=("$@")
	else
		mapfile -t seeds < <(seq "$FIRST" $((FIRST + COUNT - 1)))
	fi
	for ((i = 0; i < ${#seeds[@]}; i += BATCH)); do
		batches+=("${seeds[*]:i:BATCH}")
	done
	workers check_batch "${batches[@]}"
	tap_check "no process is left behind" no_process_left
	{
		printf 'Seeds %d to %d:\n\n' "${seeds[0]}" "${seeds[-1]}"
		print_table
	} | show_table "$name"
}
