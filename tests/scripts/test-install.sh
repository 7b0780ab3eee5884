#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# The wrapper and the command work where `make install' puts them.  All files that
# documents name exist.  `make uninstall' removes all installed files
# and nothing else.  Prints TAP.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

run_make() { make_apart "$1" DESTDIR="$dest"; }

# installed NAME: the only file or directory whose path ends in NAME.
installed()
{
	find "$dest" -path "*/$1" | grep . ||
		{ echo "not installed: $1" >&2; return 1; }
}

all_installed()
{
	local name

	for name; do
		installed "$name" || return
	done
}

names_its_siblings()
{
	local dir name

	dir=$(installed libexec/e2prefetch) || return
	for name in fsck.ext2 fsck.ext3 fsck.ext4; do
		[ "$(readlink "$dir/$name")" = e2fsck ] || return
	done
}

# Installing enables nothing: the directories that initramfs-tools, dracut or
# systemd read contain none of our files.
changes_nothing()
{
	! find "$dest" -path '*initramfs-tools*' -o -path '*dracut.conf.d*' \
		-o -path '*systemd/*' | grep .
}

# The commands, from the directory that is in root's PATH: the preload library beside the
# wrapper is found through the link.
commands_prefetch()
{
	local command

	command=$(installed sbin/e2fsck-prefetch) || return
	rm -f "$dir/stats"
	PREFETCH_STATS=$dir/stats "$command" -fn "$image" >"$dir/ours" 2>&1 &&
	grep -q '"planned_bytes"' "$dir/stats" &&
	command=$(installed sbin/btrfs-prefetch) && [ -x "$command" ] &&
	[[ $(readlink "$command") = */btrfs ]]
}

# The path of an installation directory, without DESTDIR: "libexecdir".
directory_of() { make_apart -f Makefile -f - print <<<"print: ; @echo '\$($1)'"; }

# is_there PATH: it was installed.
is_there() { [ -e "$dest$1" ] || [ -L "$dest$1" ]; }

# Every file below our own directories that an installed manual or text names, and every
# link from one text to another, exists.
names_what_is_there()
{
	local docdir libexecdir file path missing=0 seen=0

	docdir=$(directory_of docdir) libexecdir=$(directory_of libexecdir)
	while IFS=: read -r file path; do
		seen=$((seen + 1))
		is_there "$path" || { echo "${file##*/} names $path"; missing=1; }
	done < <(
		grep -roE "($docdir|$libexecdir/e2prefetch)/[a-zA-Z0-9._-]+" \
			"$dest$docdir" "$dest$(directory_of mandir)" | sed 's/\.$//'
		grep -oE '\]\([a-z-]+\.(png|svg)|(^|[^a-zA-Z/-])[a-z-]+\.md' \
			"$dest$docdir"/*.md |
			sed -E "s|:[^a-z]*([a-z.-]*)$|:$docdir/\1|"
	)
	echo "$seen names"
	[ $missing = 0 ] && [ $seen -gt 10 ]
}

# Manuals and texts name installed paths, and none of the sources or packages instead;
# README.md names both.
names_no_other_place()
{
	local docdir libexecdir

	docdir=$(directory_of docdir) libexecdir=$(directory_of libexecdir)
	grep -rnE '(^|[^a-z/])doc/[a-z-]+\.(md|png)' "$dest$docdir" \
		"$dest$(directory_of mandir)" | grep -v 'in the sources' && return 1
	# Pictures are not installed.
	! grep -rn '](.*\.svg)' "$dest$docdir" || return
	[ "$libexecdir" = /usr/libexec ] ||
		! grep -rn '/usr/libexec/e2prefetch' "$dest$docdir" \
			"$dest$(directory_of mandir)"
}

# No text has the name of a variable of the build.
names_no_variable()
{
	! grep -rnE 'libexecdir|@[a-zA-Z_]+@|\$\{?(exec_)?prefix' \
		"$dest$(directory_of docdir)" "$dest$(directory_of mandir)"
}

# The example, built outside the tree from what is installed, prints the inodes that
# debugfs finds, from a mapping.
links_with_the_library()
{
	local flags pc libs

	pc=$(installed pkgconfig/e2mmap.pc) && libs=$(dirname "$(dirname "$pc")") &&
	flags=$(PKG_CONFIG_SYSROOT_DIR=$dest PKG_CONFIG_PATH=${pc%/*} \
		pkg-config --cflags --libs e2mmap com_err) &&
	cp "$srcdir/../examples/inodes.c" "$dir/" &&
	(cd "$dir" && ${CC:-cc} inodes.c $flags -o inodes) &&
	readelf -d "$dir/inodes" | grep -q 'libe2mmap\.so\.0' &&
	LD_LIBRARY_PATH=$libs "$dir/inodes" "$image" >"$dir/out" 2>"$dir/err" &&
	cat "$dir/out" "$dir/err" && [ ! -s "$dir/err" ] &&
	grep -q '^2 40755 ' "$dir/out" && grep -q '^11 40700 ' "$dir/out" &&
	(cd "$dir" && ${CC:-cc} -static inodes.c $(PKG_CONFIG_SYSROOT_DIR=$dest \
		PKG_CONFIG_PATH=${pc%/*} pkg-config --static --cflags --libs e2mmap \
		com_err) \
		-o inodes-static) &&
	"$dir/inodes-static" "$image" | cmp - "$dir/out"
}

leaves_nothing()
{
	run_make uninstall &&
	! find "$dest" \( ! -type d -o -name '*e2prefetch*' \) | grep .
}

# Without DESTDIR, too, the links of `e2prefetch enable' are only mentioned.
disables_nothing()
{
	local said

	said=$(make -n -C "$top_builddir/cmd" uninstall-local DESTDIR=) &&
		grep -F "enable disable" <<<"$said" && ! grep -F " ./enable" <<<"$said"
}

leaves_others()
{
	local dir found

	run_make install || return
	for dir in libexec/e2prefetch doc/e2prefetch; do
		touch "$(installed "$dir")/other" || return
	done
	run_make uninstall || return
	found=$(find "$dest" ! -type d)
	printf '%s\n' "$found"
	[ "$(wc -l <<<"$found")" = 2 ] && ! grep -v '/other$' <<<"$found"
}

test_install()
{
	dir=$E2PF_TMP dest=$E2PF_TMP/dest image=$E2PF_TMP/image
	mkdir "$dest"
	mke2fs -q -F -t ext4 "$image" 16M >/dev/null || tap_bail "no image"
	tap_check "make install" run_make install
	tap_check "fsck.ext2, fsck.ext3 and fsck.ext4" names_its_siblings
	tap_check "documents name what is installed" names_what_is_there
	tap_check "and no place where it is not" names_no_other_place
	tap_check "nor a variable of the build" names_no_variable
	tap_check "nothing that others would find by themselves" changes_nothing
	tap_check "e2prefetch, completions for bash, fish and zsh" all_installed \
		sbin/e2prefetch completions/e2prefetch e2prefetch.fish _e2prefetch
	if [ "${SANITIZERS:-no}" = no ]; then
		tap_check "e2fsck-prefetch and btrfs-prefetch" commands_prefetch
	else
		tap_skip "the programs" "built with $SANITIZERS"
	fi
	tap_check "the library: header, shared and static, manual" all_installed \
		e2mmap/mmap_io.h libe2mmap.so libe2mmap.so.0 libe2mmap.a man3/e2mmap.3
	tap_unless "${E2PF_RUNTIME:+a sanitizer}" "a program of libe2mmap" \
		links_with_the_library
	tap_check "make uninstall leaves nothing" leaves_nothing
	tap_check "make uninstall leaves what is not ours" leaves_others
	tap_check "make uninstall disables nothing" disables_nothing
}

require_programs mke2fs make
tmp_setup
tap_run test_install
