# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# Sourced by lib.sh, for scripts that source compare.sh.  Runs many cases, several at a
# time, counts their outcomes and prints one TAP line per kind of fault, and a row of
# check-faults' table.  It does not know what the faults are.
#
# Variables:
#   E2PF_FAULTS	"all" for every case; otherwise a sample
#   E2PF_TABLE	file that rows are added to

E2PF_FAULTS=${E2PF_FAULTS-}

# tally KIND OUTCOME NAME: agreed, disagreed, crashed or hung.  Lines are short
# enough to be written whole by several processes.
tally() { printf '%s\t%s\n' "$2" "$3" >>"$E2PF_TMP/tally.${1//[ \/]/_}"; }

# tally_case KIND NAME DIR MANAGER IMAGE OPTION...: one run against DIR/stock.
tally_case()
{
	compare_outcome "${@:3}"
	tally_outcome "$@"
}

# tally_outcome KIND NAME DIR MANAGER...: of the run that was compared last.
tally_outcome()
{
	local kind=$1 name=$2

	case $COMPARE_OUTCOME in
	endless) tap_diag "$kind: $name: stock does not end" ;;
	agreed) tally "$kind" agreed "$name" ;;
	*)	tally "$kind" "$COMPARE_OUTCOME" "$name, TEST_MMAP_IO=$4"
		{ echo "$name:"; cat "$3/why"; } >>"$E2PF_TMP/why.${kind//[ \/]/_}" ;;
	esac
}

tally_count() { grep -c "^$2" "$1"; }

# tally_end KIND: print the TAP line, and the differences.
tally_end()
{
	local kind=$1 file=$E2PF_TMP/tally.${1//[ \/]/_} cases outcome row
	local why=$E2PF_TMP/why.${1//[ \/]/_}

	if [ ! -s "$file" ]; then
		tap_not_ok "$kind: no case was run"
		return
	fi
	cases=$(wc -l <"$file")
	row="| $kind | $cases"
	for outcome in agreed disagreed crashed hung; do
		row="$row | $(tally_count "$file" "$outcome"$'\t')"
	done
	[ -z "${E2PF_TABLE-}" ] || echo "$row |" >>"$E2PF_TABLE"
	if [ -n "${tally_differs-}" ] && ! grep -vqE '^(agreed|disagreed)' "$file"; then
		tap_ok "$kind: $cases cases, a known difference"
	elif grep -vq '^agreed' "$file"; then
		{ grep -v '^agreed' "$file"; cat "$why"; } 2>/dev/null |
			head -n 60 >"$file.not"
		tap_not_ok "$kind: not all $cases cases agree" "$file.not"
	else
		tap_ok "$kind: $cases cases agree"
	fi
}

# tally_known KIND: the same where some cases may disagree, for the reason that
# doc/testing.md names.  None may crash or hang.
tally_known() { local tally_differs=1; tally_end "$1"; }

# sample MOST: print at most MOST lines of standard input, evenly spread; all of them
# with E2PF_FAULTS=all.
sample()
{
	if [ "$E2PF_FAULTS" = all ]; then
		cat
	else
		awk -v most="$1" '{ line[NR] = $0 }
			END {
				step = NR > most ? NR / most : 1
				for (i = step; i < NR + 1e-6; i += step)
					print line[int(i)]
			}'
	fi
}

# workers FUNCTION ARG...: run FUNCTION ARG for each ARG, E2PF_JOBS at a time.  Outputs
# are not mixed.
workers()
{
	local arg out running=0

	for arg in "${@:2}"; do
		[ $((running++)) -lt "$E2PF_JOBS" ] || wait -n
		(
			trap - EXIT
			out=$("$1" "$arg" 2>&1)
			[ -z "$out" ] || printf '%s\n' "$out" | flock "$E2PF_TMP" cat
		) &
	done
	wait
}

# tally_line LINE: a case, in a directory of its own ($dir).
tally_line()
{
	local dir=$E2PF_TMP/worker.$BASHPID noise=$E2PF_TMP/noise.$BASHPID

	mkdir "$dir"
	"$tally_function" "$1" </dev/null 2>"$noise"
	# The shell prints a message for each run that a signal ended.
	grep -Ev 'line [0-9]+: +[0-9]+ (Killed|Terminated|Interrupt|Alarm clock|Hangup|Aborted|Segmentation fault|File size limit exceeded)' \
		"$noise" | head -n 20 | sed 's/^/# /'
	rm -rf "$noise" "$dir"
}

# test_groups GROUP...: test_GROUP of each, which must leave no process.
test_groups()
{
	local group

	for group; do
		"test_$group"
	done
	tap_check "no process is left behind" no_process_left
}

# tally_all FUNCTION [KIND...]: for each line on standard input; then the results of
# each kind.
tally_all()
{
	local kind
	local -a lines

	mapfile -t lines
	tally_function=$1 workers tally_line "${lines[@]}"
	for kind in "${@:2}"; do
		tally_end "$kind"
	done
}
