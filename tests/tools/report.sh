# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# To be sourced by scripts that run other tests in many places: passes on their TAP,
# notes what they find in each place, and prints a table of it.

# note PLACE KEY VALUE: a line of the file $notes, a cell of the table.
note() { printf '%s\t%s\t%s\n' "$@" >>"$notes"; }

# pass_on PLACE GROUP NAME: the TAP of one program, each line under its name.  Notes
# of each test whether GROUP "passed", "skipped" or "failed".  A program that ends
# early does not match its plan.
pass_on()
{
	awk -v place="$1" -v group="$2" -v of="$3" -v notes="$notes" '
	function count(result)
	{
		print place "\t" group "\t" result >>notes
		fflush()
	}
	/^1\.\.0 # SKIP/ {
		sub(/^1\.\.0 # SKIP */, "")
		print "ok - " place ": " of " # SKIP " $0
		count("skipped")
		planned = -1
		next
	}
	/^1\.\.[0-9]+/ {
		sub(/^1\.\./, "")
		planned = $0 + 0
		next
	}
	/^(not )?ok / {
		seen++
		result = /# SKIP/ ? "skipped" : /^not/ ? "failed" : "passed"
		sub(/^(not )?ok *[0-9]*( *- *)?/, "")
		print (result == "failed" ? "not ok" : "ok") " - " place \
			": " of ": " $0
		count(result)
		next
	}
	{ print (/^#/ ? "" : "# ") $0 }
	END {
		if (planned < 0 || planned && planned == seen)
			exit
		print "not ok - " place ": " of ": ended before its last test"
		count("failed")
	}'
}

# heading COLUMN...: the first two lines of a table.
heading()
{
	printf '|'
	printf ' %s |' "$@"
	printf '\n|'
	printf ' --- |%.0s' "$@"
	echo
}

# notes_table HEADING=KEY...: a table of the notes as diagnostics, a row for each place
# that has any of these keys.  The first column is the place and has no key.  Results of
# tests are counted: passed / skipped / failed.
notes_table()
{
	{
		heading "${@%%=*}"
		awk -F '\t' -v keys="${*#*=}" '
		!($1 in seen) { seen[$1] = 1; places[++count] = $1 }
		$3 ~ /^(passed|skipped|failed)$/ {
			n[$1, $2, $3]++
			cell[$1, $2] = n[$1, $2, "passed"] + 0 " / " \
				n[$1, $2, "skipped"] + 0 " / " \
				n[$1, $2, "failed"] + 0
			next
		}
		{ cell[$1, $2] = $3 }
		END {
			columns = split(keys, key, " ")
			for (i = 1; i <= count; i++) {
				row = any = ""
				for (k = 1; k <= columns; k++) {
					any = any cell[places[i], key[k]]
					row = row " | " cell[places[i], key[k]]
				}
				if (any != "")
					print "| " places[i] row " |"
			}
		}' "$notes"
	} | sed 's/^/# /'
}
