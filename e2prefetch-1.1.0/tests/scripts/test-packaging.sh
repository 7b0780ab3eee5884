#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The files that packages are made from agree with the sources: version,
# address, licences, the functions that the modules interpose, the libraries that
# are loaded at run time, and the tests of the packages.  The release contains all
# of these files.  Prints TAP.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

cd "$srcdir/.." || exit

# init NUMBER: an argument of AC_INIT.
init()
{
	sed -n 's/^AC_INIT(\[\(.*\)])$/\1/p' configure.ac |
		awk -F '\\], \\[' -v n="$1" '{ print $n }'
}

# is_init NUMBER VALUE: VALUE is that argument.
is_init()
{
	echo "$2 here, configure.ac has $(init "$1")"
	[ -n "$2" ] && [ "$2" = "$(init "$1")" ]
}

# has_version VERSION
has_version() { is_init 2 "$1"; }

# has_address ADDRESS
has_address() { is_init 3 "$1"; }

# below_url URL: it is the home page, a page below it, or its repository.
below_url()
{
	echo "$1 here, configure.ac has $(init 5)"
	[ -n "$(init 5)" ] &&
	[[ $1/ = "$(init 5)"/* || $1 = "$(init 5)".git ]]
}

# field FILE NAME: the value of a field in a control file's first paragraph or
# in YAML, or of a tag in the spec file.
field() { sed -n "s/^$2: *//p" "$1" | head -n 1; }

# The version of the newest entry, without the package's revision.
debian_version() { sed -n '1s/^e2prefetch (\(.*\)-[^-]*) .*/\1/p' debian/changelog; }
# The newest release; changes that are not released yet have no number.
newest_changes() { sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1; }

address_in() { sed -n "$2"'s/.*<\(.*\)>.*/\1/p' "$1" | head -n 1; }

# No other file repeats the address or the URL, so that a change needs no other
# edits.
only_there()
{
	git grep -lF -e "$(init 3)" -e "$(init 5)" >"$E2PF_TMP/places"
	cat "$E2PF_TMP/places"
	diff "$E2PF_TMP/places" - <<-'END'
	configure.ac
	debian/changelog
	debian/control
	debian/upstream/metadata
	debian/watch
	packaging/e2prefetch.spec
	END
}

# The version of Debian Policy: three or four numbers.
standards_version()
{
	field debian/control Standards-Version
	field debian/control Standards-Version |
		grep -qE '^[0-9]+\.[0-9]+\.[0-9]+(\.[0-9]+)?$'
}

# The functions that a module's version script exports.
stood_in()
{
	sed -n '/^global:/,/^local:/s/^\t\([a-z0-9_]*\);$/\1/p' "$@" | sort -u
}

# The functions in README.source's tables: between grave accents, in the first
# column.
explained()
{
	# shellcheck disable=SC2016
	sed -n 's/^| \(`[^|]*\) |.*/\1/p' debian/README.source |
		grep -o '`[a-z0-9_]*`' | tr -d '`' | sort -u
}

same_stand_ins()
{
	stood_in e2fsck/*.map btrfs/*.map | grep -q . &&
	diff <(stood_in e2fsck/*.map btrfs/*.map) <(explained)
}

# Each pattern of debian/copyright with its licence.  The last pattern that
# matches a file applies.
patterns()
{
	awk '
	function out(  i) {
		for (i = 1; i <= n; i++)
			print pattern[i], licence
		n = 0
	}
	/^Files:/ { out(); in_files = 1; sub(/^Files:/, " ") }
	/^[A-Z]/ { in_files = 0 }
	in_files { for (i = 1; i <= NF; i++) pattern[++n] = $i }
	/^License:/ { licence = $2; out() }' debian/copyright
}

# licence_of FILE
licence_of()
{
	local pattern licence found=

	while read -r pattern licence; do
		# shellcheck disable=SC2053
		[[ $1 != $pattern ]] || found=$licence
	done <"$E2PF_TMP/patterns"
	printf '%s\n' "$found"
}

# The licence in each file is that in debian/copyright.
same_licences()
{
	local file said wrong=0 seen=0

	patterns >"$E2PF_TMP/patterns"
	while IFS=: read -r file said; do
		said=${said##*SPDX-License-Identifier: }
		said=${said%% *}
		seen=$((seen + 1))
		[ "$said" = "$(licence_of "$file")" ] || {
			echo "$file: $said; debian/copyright:" \
				"$(licence_of "$file")"
			wrong=1
		}
	done < <(git grep -m 1 -E '^[^ ]{0,3} *SPDX-License-Identifier: ')
	echo "$seen files"
	[ $wrong = 0 ] && [ $seen -gt 100 ]
}

# Libraries that programs load by name at run time, from the sources and from
# the result of configure.  Packaging tools cannot find these dependencies.
loaded()
{
	{
		sed -n 's/^#define [A-Z0-9]*_SONAME "\(.*\)"$/\1/p' \
			"$top_builddir/config.h"
		grep -rhoE --include='*.[ch]' '"lib[a-z0-9_-]+\.so\.[0-9]+"' \
			accel btrfs e2fsck lib prefetch | tr -d '"'
	} | sort -u
}

# linked PROGRAM: the libraries that it is linked to; for a wrapper script of
# libtool, those of the real program.
linked()
{
	local program=$1

	[ ! -e "${1%/*}/.libs/${1##*/}" ] || program=${1%/*}/.libs/${1##*/}
	readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)]$/\1/p'
}

# Another program of the same package is linked to each of them.
loaded_are_linked()
{
	local name missing=0

	linked "$top_builddir/prefetch/e2prefetch" >"$E2PF_TMP/linked" || return
	grep -q '^libc\.' "$E2PF_TMP/linked" || return
	for name in $(loaded); do
		grep -qxF "$name" "$E2PF_TMP/linked" || {
			echo "$name is loaded, and no package depends on it"
			missing=1
		}
	done
	[ $missing = 0 ]
}

# paragraph TEST: its paragraph in debian/tests/control.
paragraph()
{
	awk -v RS= -v test="$1" '
	$0 ~ "(^|\n)Tests: ([^\n]* )?" test "( |\n|$)"' debian/tests/control
}

# The programs in debian/tests are exactly the tests that are run, and those
# that modify the machine declare it.
package_tests()
{
	local name restriction wrong=0

	diff <(sed -n 's/^Tests: //p' debian/tests/control | tr ' ' '\n' | sort) \
		<(find debian/tests -type f -perm -u+x -printf '%f\n' | sort) ||
		return
	while read -r name; do
		grep -qE '^(e2prefetch|dpkg|apt-get) .*(enable|install)' \
			"debian/tests/$name" || continue
		paragraph "$name" >"$E2PF_TMP/paragraph"
		for restriction in breaks-testbed needs-root; do
			grep -q "^Restrictions:.*$restriction" \
				"$E2PF_TMP/paragraph" && continue
			echo "debian/tests/$name is not $restriction"
			wrong=1
		done
	done < <(sed -n 's/^Tests: //p' debian/tests/control)
	[ $wrong = 0 ]
}

# The release contains all tracked files of these folders.
released()
{
	local file missing=0

	for file in $(git ls-files debian packaging completions boot |
		grep -v '/Makefile\.am$'); do
		grep -qF "${file##*/}" Makefile.am completions/Makefile.am \
			boot/Makefile.am || {
			echo "not in the release: $file"
			missing=1
		}
	done
	[ $missing = 0 ]
}

test_versions()
{
	tap_check "debian/changelog: version" has_version "$(debian_version)"
	tap_check "e2prefetch.spec: version" has_version \
		"$(field packaging/e2prefetch.spec Version)"
	tap_check "CHANGELOG.md: newest entry" has_version "$(newest_changes)"
	tap_check "debian/control: Standards-Version" standards_version
}

test_addresses()
{
	tap_check "debian/control: address" has_address \
		"$(address_in debian/control '/^Maintainer:/')"
	tap_check "debian/changelog: address" has_address \
		"$(address_in debian/changelog '/^ --/')"
	tap_check "debian/upstream/metadata: address" has_address \
		"$(field debian/upstream/metadata Bug-Submit |
			sed 's/^mailto://')"
	tap_check "debian/control: home page" below_url \
		"$(field debian/control Homepage)"
	tap_check "debian/watch: home page" below_url \
		"$(grep -oE 'https?://[^ ]*' debian/watch)"
	tap_check "debian/upstream/metadata: home page" below_url \
		"$(field debian/upstream/metadata Repository)"
	tap_check "e2prefetch.spec: home page" below_url \
		"$(field packaging/e2prefetch.spec URL)"
}

test_packaging()
{
	test_versions
	test_addresses
	tap_check "README.source has every function that is stood in for" \
		same_stand_ins
	if have_program readelf; then
		tap_check "libraries that are loaded by name" loaded_are_linked
	else
		tap_skip "libraries that are loaded by name" "readelf not found"
	fi
	tap_check "debian/tests and their restrictions" package_tests
	if git ls-files --error-unmatch debian/control >/dev/null 2>&1; then
		tap_check "address and home page stand nowhere else" only_there
		tap_check "debian/copyright: licences" same_licences
		tap_check "the release has what packages need" released
	else
		tap_skip "the whole tree" "no git here"
	fi
}

tmp_setup
tap_run test_packaging
