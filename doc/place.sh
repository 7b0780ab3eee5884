#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Documents name files by the places that packages put them in, or by those in
# the sources.  In documents that were just installed this puts in the places
# where the files are now.
#
#	place.sh LIBEXECDIR SYSCONFDIR DOCDIR FILE...
#
# Pictures of the timing report are not installed: they are half a megabyte.

libexecdir=$1 sysconfdir=$2 docdir=$3
shift 3

set -e
for file; do
	# In a text a document beside it, in a manual one by its full name.
	case $file in
	*.md) beside= ;;
	*) beside=$docdir/ ;;
	esac
	sed -e "s|/usr/libexec/e2prefetch|$libexecdir/e2prefetch|g" \
		-e "s|/etc/e2prefetch\.conf|$sysconfdir/e2prefetch.conf|g" \
		-e 's|^!\[\(.*\)](\(timing-[^)]*\))$|\1: `doc/\2` in the sources|' \
		-e "/in the sources/!s|doc/\([a-z-]*\.md\)|$beside\1|g" \
		-e "/in the sources/!s|doc/\([a-z-]*\.png\)|$beside\1|g" \
		"$file" >"$file.new"
	# The mode that it was installed with stays.
	cat "$file.new" >"$file"
	rm "$file.new"
done
