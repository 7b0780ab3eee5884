#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What packages are made of agrees with the sources: the version, the symbols,
# and that the release has all of it.  Prints TAP.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"

cd "$srcdir/.." || exit

version()
{
	sed -n 's/^AC_INIT(\[e2prefetch], \[\([^]]*\)].*/\1/p' configure.ac
}

# has_version VERSION: it is configure.ac's.
has_version()
{
	echo "$1 here, configure.ac has $(version)"
	[ -n "$1" ] && [ "$1" = "$(version)" ]
}

# The newest entry; "-REVISION" is the package's.
debian_version() { sed -n '1s/^e2prefetch (\(.*\)-[^-]*) .*/\1/p' debian/changelog; }
rpm_version() { sed -n 's/^Version: *//p' packaging/e2prefetch.spec; }
rpm_newest()
{
	sed -n '/^%changelog/{n;s/.* - \([0-9.]*\)-[^-]*$/\1/p}' \
		packaging/e2prefetch.spec
}
newest_changes() { sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1; }

# Each with the set of versions it is in.
exported()
{
	awk '
	/^E2PREFETCH_/ { set = $1; print set "@" set }
	/^local:/ { set = "" }
	/^\te2pf_.*;$/ && set {
		sub(/^\t/, "")
		sub(/;$/, "")
		print $0 "@" set
	}' lib/libe2prefetch.map | sort
}

same_symbols()
{
	exported | grep -q '^e2pf_' &&
	diff <(exported) <(sed -n 's/^ \([^ ]*\) [0-9.]*$/\1/p' \
		debian/libe2prefetch0.symbols | sort)
}

# What git knows in these folders the release has.
released()
{
	local file missing=0

	for file in $(git ls-files debian packaging completions examples |
		grep -v '/Makefile\.am$'); do
		grep -qF "${file##*/}" Makefile.am completions/Makefile.am \
			examples/Makefile.am || {
			echo "not in the release: $file"
			missing=1
		}
	done
	[ $missing = 0 ]
}

test_packaging()
{
	tap_check "debian/changelog: version" has_version "$(debian_version)"
	tap_check "e2prefetch.spec: version" has_version "$(rpm_version)"
	tap_check "e2prefetch.spec: newest entry" has_version "$(rpm_newest)"
	tap_check "CHANGELOG.md: newest entry" has_version "$(newest_changes)"
	tap_check "debian/libe2prefetch0.symbols" same_symbols
	if git ls-files --error-unmatch debian/control >/dev/null 2>&1; then
		tap_check "the release has what packages need" released
	else
		tap_skip "the release has what packages need" "no git here"
	fi
}

tmp_setup
tap_run test_packaging
