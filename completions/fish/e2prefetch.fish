# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# e2prefetch(8) for fish: what `e2prefetch --help' lists.

function __e2prefetch_is # COMMAND: which may be empty
	set -l tokens (commandline -opc) ''
	not contains -- -- $tokens
	and string match -qr -- "^($argv[1]|-.*|)\$" "$tokens[2]"
end

function __e2prefetch_command
	set -l tokens (commandline -opc)
	if set -l at (contains -i -- -- $tokens)
		complete -C (string join ' ' -- $tokens[(math $at + 1)..-1] (commandline -ct))
	end
end

command -q e2prefetch; or return
complete -c e2prefetch -n 'contains -- -- (commandline -opc)' -a '(__e2prefetch_command)'
for line in (e2prefetch --help 2>/dev/null)
	if set -l found (string match -r '^  -(.), --([a-z-]*)(=\S*|) *(.*)' -- $line)
		set -l value
		test -z "$found[4]"; or set value -r
		complete -c e2prefetch -n '__e2prefetch_is probe' $value -s $found[2] \
			-l $found[3] -d $found[5]
	else if set -l found (string match -r '^ +e2prefetch ([a-z]+)(.*)' -- $line)
		complete -c e2prefetch -n 'test (count (commandline -opc)) = 1' -a $found[2]
		for option in (string match -ar -- '--[a-z]+' $found[3])
			complete -c e2prefetch -l (string sub -s 3 -- $option) \
				-n "string match -qr -- '^$found[2]\$' (commandline -opc)[2]"
		end
	end
end
