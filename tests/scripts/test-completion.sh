#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The completions for e2prefetch offer exactly its options and classes, and the
# completion for bash offers the right words in each place.  Prints TAP.
#
# PREFETCHER	the command (default: that of the build tree)

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

folder=$srcdir/../completions
bash_file=$folder/bash/e2prefetch
zsh_file=$folder/zsh/_e2prefetch
not_of_probe="dry-run|quiet|progress|verbose|version|stats"
PREFETCHER=${PREFETCHER:-$top_builddir/prefetch/e2prefetch}

# Options in the help: "-n", "--dry-run".
options_of_help()
{
	"$PREFETCHER" --help | sed -n '/^  /p' | cut -c 1-24 |
		grep -oE -- '(^|[ ,])--?[a-zA-Z][a-z-]*' | tr -d ' ,' | sort
}

classes_of_help()
{
	"$PREFETCHER" --help | tr -d '\n' |
		sed 's/.*CLASS,\.\.\.  //; s/  -b BLOCK.*//' |
		tr -d ' ' | tr , '\n' | sort
}

# complete_bash WORD...: what bash offers for the last word, one per line.  A word
# with "=" is split in three, as bash does.
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
		<(complete_bash "$@" | sort)
}

# Run in a folder with a file whose name starts with the same letter as several
# commands.
bash_commands()
{
	mkdir "$E2PF_TMP/first" && : >"$E2PF_TMP/first/partition" &&
	(cd "$E2PF_TMP/first" && offers "partition plot probe progress" e2prefetch p &&
	 offers "partition" e2prefetch plot p)
}

bash_options()
{
	diff <(options_of_help) \
		<(complete_bash e2prefetch - | tr -d = | sort)
}

# Each command's own options.  Those of probe are e2prefetch's except for three;
# the usage lists all of the others.
bash_command_options()
{
	local command

	for command in history progress trace plot enable disable status; do
		diff <({ "$PREFETCHER" $command --help |
			grep -oE -- ' \[?--?[a-z]+' | tr -d ' ['; echo -h
			echo --help; } | sed '/^--$/d' | sort) \
			<(complete_bash e2prefetch $command - | tr -d = |
			sort) || return
	done
	diff <(options_of_help | grep -vxE -- "-[nqvV]|--($not_of_probe)") \
		<(complete_bash e2prefetch probe - | tr -d = | sort)
}

bash_classes()
{
	diff <(classes_of_help) \
		<(complete_bash e2prefetch --only = | sort)
}

offers_files()
{
	cd "$E2PF_TMP/files" && offers "a-disk an-image" e2prefetch a &&
		offers "a-disk an-image" e2prefetch --stats = a
}

offers_commands()
{
	complete_bash e2prefetch disk -- tou | grep -qx touch
}

# The option specifications that the zsh completion passes to _arguments.
zsh_arguments()
{
	# shellcheck disable=SC2016
	zsh -fc '
		_arguments() { print -rl -- "$@" }
		file=$1
		shift
		words=(e2prefetch "$@" "") CURRENT=$#words
		. "$file"
	' zsh "$zsh_file" "$@"
}

zsh_named() { sed -nE 's/^(\([^)]*\)|\*)?(--?[a-zA-Z][a-z-]*)[+=]?\[.*/\2/p'; }

zsh_command_options()
{
	local command

	for command in history progress trace plot enable disable status; do
		diff <(complete_bash e2prefetch $command - | tr -d = | sort) \
			<(zsh_arguments $command | zsh_named | sort) || return
	done
}

zsh_options()
{
	diff <(options_of_help) <(zsh_arguments | zsh_named | sort)
}

# The zsh completion passes the classes to _values.
zsh_classes()
{
	# shellcheck disable=SC2016
	diff <(classes_of_help) <(zsh -fc '
		_arguments() { _e2prefetch_classes }
		_values() { shift 3; print -rl -- "$@" }
		. "$1"
	' zsh "$zsh_file" | sed -nE 's/^([a-z]+)\[[^]]+\]$/\1/p' | sort)
}

test_completion()
{
	mkdir "$E2PF_TMP/files"
	touch "$E2PF_TMP/files/"{a-disk,an-image,other}
	tap_check "bash: all options" bash_options
	tap_check "bash: commands and files" bash_commands
	tap_check "bash: options of commands" bash_command_options
	tap_check "bash: all classes" bash_classes
	tap_check "bash: a long option" offers --only= e2prefetch --on
	tap_check "bash: a class" offers "descriptors dirs" \
		e2prefetch --only = d
	tap_check "bash: a second class" offers "dirs,descriptors" \
		e2prefetch --only = dirs,d
	tap_check "bash: a block size" offers "4096" e2prefetch -B 4
	tap_check "bash: nothing for a number" offers "" e2prefetch -t ""
	tap_check "bash: files" offers_files
	tap_check "bash: a command" offers_commands
	if have_program shellcheck; then
		tap_check "bash: shellcheck" shellcheck "$bash_file"
	else
		tap_skip "bash: shellcheck" "shellcheck not found"
	fi
	if have_program zsh; then
		tap_check "zsh: syntax" zsh -n "$zsh_file"
		tap_check "zsh: all options" zsh_options
		tap_check "zsh: options of commands" zsh_command_options
		tap_check "zsh: all classes" zsh_classes
	else
		tap_skip "zsh" "zsh not found"
	fi
}

[ -x "$PREFETCHER" ] || tap_skip_all "not built: $PREFETCHER"
tmp_setup
tap_run test_completion
