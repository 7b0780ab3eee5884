#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Documents name files by their paths in packages or in the sources.  This replaces
# these in documents that were just installed with the paths on this system.
#
#	place.sh LIBEXECDIR SYSCONFDIR DOCDIR FILE...
#
# Pictures and the documents for developers are not installed.

libexecdir=$1 sysconfdir=$2 docdir=$3
shift 3
installed='faq|containers|performance'
developers='architecture|packaging|statistics|testing|tracing'

set -e
for file; do
	# A text names a document beside it, a manual by its full path.
	case $file in
	*.md) beside= ;;
	*) beside=$docdir/ ;;
	esac
	sed -E -e "s|/usr/libexec/e2prefetch|$libexecdir/e2prefetch|g" \
		-e "s|/etc/e2prefetch\.conf|$sysconfdir/e2prefetch.conf|g" \
		-e 's|^!\[(.*)\]\((doc/)?(timing-[^)]*)\)$|\1: `doc/\3` in the sources|' \
		-e 's@\[[^]]*\]\((\.\./)?((bench/README|SECURITY|CONTRIBUTING)\.md)\)@`\2` in the sources@g' \
		-e \
		"s@\[[^]]*\]\((doc/)?(($developers)\.md)\)@\`doc/\2\` in the sources@g" \
		-e "s@doc/(($installed)\.md)@$beside\1@g" \
		"$file" >"$file.new"
	# The mode of the installed file is kept.
	cat "$file.new" >"$file"
	rm "$file.new"
done
