#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The completion for bash offers the commands and options of e2prefetch --help, and
# files; the manual has the same options.  Prints TAP.
#
# PREFETCHER	the command (default: that of the build tree)

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

bash_file=$srcdir/../completions/bash/e2prefetch
manual=$srcdir/../doc/e2prefetch.8
PREFETCHER=${PREFETCHER:-$top_builddir/prefetch/e2prefetch}

# Options in the help: "-n", "--dry-run".
options_of_help()
{
	"$PREFETCHER" --help | sed -n 's/^  \(-., --[a-z-]*\).*/\1/p' |
		tr -d ' ' | tr , '\n' | sort
}

# complete_bash WORD...: what bash offers for the last word, one per line.
complete_bash()
{
	# shellcheck disable=SC2016
	bash --norc --noprofile -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_e2prefetch
		[ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$bash_file" "$@"
}

# offers LINES WORD...: exactly LINES are offered, in any order.
offers()
{
	local wanted=$1

	shift
	diff <(printf '%s' "$wanted" | tr ' ' '\n' | sed '/./!d' | sort) \
		<(complete_bash "$PREFETCHER" "$@" | sort)
}

# Files are offered beside commands, and alone after the first word.
files()
{
	mkdir "$E2PF_TMP/files" && : >"$E2PF_TMP/files/partition" &&
	cd "$E2PF_TMP/files" && offers "partition probe progress" p &&
	offers "partition" probe p && offers "partition" -n p
}

all_options()
{
	options_of_help | grep -qx -- --dry-run &&
	diff <(options_of_help) \
		<(complete_bash "$PREFETCHER" - | tr -d = | sort) &&
	diff <(options_of_help) \
		<(complete_bash "$PREFETCHER" probe - | tr -d = | sort)
}

options_of_commands()
{
	offers "--fields --follow" progress - && offers "--root=" enable -
}

all_commands()
{
	mkdir "$E2PF_TMP/empty" && cd "$E2PF_TMP/empty" &&
	offers "disable enable probe progress status" "" &&
	complete_bash "$PREFETCHER" disk -- tou | grep -qx touch
}

# The manual's list of options is that of --help.
manual_options()
{
	diff <(options_of_help | grep '^--') <(sed -n '/^\.Sh OPTIONS/,/^\.Sh/p' \
		"$manual" | sed -n 's/^\.It Fl .* Fl Fl \([a-z-]*\).*/--\1/p' |
		sort)
}

test_completion()
{
	tap_check "all options" all_options
	tap_check "options of commands" options_of_commands
	tap_check "files" files
	tap_check "commands, and a command's own completions" all_commands
	tap_check "the manual has all options" manual_options
	if have_program shellcheck; then
		tap_check "shellcheck" shellcheck "$bash_file"
	else
		tap_skip "shellcheck" "shellcheck not found"
	fi
}

[ -x "$PREFETCHER" ] || tap_skip_all "not built: $PREFETCHER"
tmp_setup
tap_run test_completion
