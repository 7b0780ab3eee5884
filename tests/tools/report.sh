# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# To be sourced by scripts that run other tests in many places: passes on their TAP,
# counts it by place and group, and writes a table into a document.

# pass_on PLACE GROUP NAME COUNTS: the TAP of one program, each line under its
# name, and "PLACE GROUP passed|skipped|failed" in the file COUNTS.  cmocka 1.1 prints
# a skipped test as "not ok", after the reason; a program that ends early does not
# match its plan.
pass_on()
{
	awk -v place="$1" -v group="$2" -v of="$3" -v counts="$4" '
	function count(result)
	{
		print place, group, result >>counts
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
		if (/^ *# SKIP [^ ]+$/) {
			sub(/^ *# SKIP /, "")
			$0 = $0 " # SKIP " said
		}
		print (result == "failed" ? "not ok" : "ok") " - " place \
			": " of ": " $0
		count(result)
		next
	}
	{
		if (!/^#/)
			said = $0
		print (/^#/ ? "" : "# ") $0
	}
	END {
		if (planned < 0 || planned && planned == seen)
			exit
		print "not ok - " place ": " of ": ended before its last test"
		count("failed")
	}'
}

# write_table NAME TABLE DOCUMENT: replace the text between the marks NAME in DOCUMENT,
# or in the document of that folder that has them, with the file TABLE.
write_table()
{
	local document=$3

	[ ! -d "$3" ] || document=$(grep -l "^<!-- $1:" "$3"/*.md) || return
	awk -v name="$1" -v table="$2" '
	index($0, "<!-- end of " name " -->") == 1 { skip = 0 }
	!skip
	index($0, "<!-- " name ":") == 1 {
		skip = 1
		print ""
		while ((getline line <table) > 0)
			print line
		print ""
	}' "$document" >"$2.document" && cat "$2.document" >"$document"
	rm -f "$2.document"
}
