# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A run of seeded cases by several workers, and the table of what they came to.
# Sourced, after lib.sh and report.sh; it knows nothing about what a case is.
#
# The script has
#   check_case SEED	a case: its TAP line, and lines for the table in the file
#			figures of the folder work.$BASHPID in E2PF_TMP
#   print_table		the table, of $E2PF_TMP/figures
#   COUNT, FIRST	the seeds, where none are named
#   BATCH		cases of one worker before its output is written

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

# check_seeds NAME [SEED...]: these, or COUNT from FIRST.  With TABLE=FILE the
# table replaces what stands in FILE between the marks NAME.
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
	print_table | sed 's/^/# /'
	[ -n "${TABLE-}" ] || return 0
	{
		printf 'Seeds %d to %d:\n\n' "${seeds[0]}" "${seeds[-1]}"
		print_table
	} >"$E2PF_TMP/table"
	write_table "$name" "$E2PF_TMP/table" "$TABLE"
}
