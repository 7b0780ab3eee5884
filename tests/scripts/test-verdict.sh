#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a trial has found is kept in /run: the next check needs no trial, unless a
# file that was tried has changed, or what was kept cannot be believed.  The module
# is one that counts its trials.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

have_root || tap_skip_all "not root"
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer is preloaded"
[ -e /etc/ld.so.cache ] && [ ! -e /etc/ld.so.preload ] ||
	tap_skip_all "this dynamic linker has no cache, or preloads something"
# The machine's own /run stays as it is.
if [ -z "${E2PF_OWN_RUN-}" ]; then
	unshare -m true 2>/dev/null || tap_skip_all "cannot unshare mounts"
	E2PF_OWN_RUN=1 exec unshare -m bash "$0" "$@"
fi
mount -t tmpfs -o mode=0755 tmpfs /run || tap_skip_all "cannot mount a tmpfs"
# What lib.sh sets to prevent that all other tests write there.
others=${GLIBC_TUNABLES+GLIBC_TUNABLES=$GLIBC_TUNABLES}
unset GLIBC_TUNABLES

MODULE=$top_builddir/e2fsck/.libs/e2fsck-prefetch.so

# use FOLDER: the launcher and its module.
use()
{
	folder=$1
	kept=/run/e2prefetch-verdict.$(tr / - <<<"${folder#/}")-e2fsck-prefetch.so
}

# Its trial answers what that of the real module does, with a library that can be
# replaced.
make_module()
{
	local answer

	answer=$(PREFETCH_TRIAL=1 LD_PRELOAD=$MODULE "$E2FSCK_STOCK" -V |
		sed "s|$MODULE|$dir/e2fsck-prefetch.so|g")
	cat >"$dir/module.c" <<-END
	#include <fcntl.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	__attribute__((constructor)) static void begin(void)
	{
		int fd;

		if (!getenv("PREFETCH_TRIAL"))
			return;
		signal(SIGXFSZ, SIG_IGN);
		fd = open("$dir/trials", O_WRONLY | O_APPEND);
		dprintf(fd, "one\n");
		puts("$answer $dir/library");
		fflush(stdout);
		_exit(0);
	}
	END
	"${CC:-cc}" -shared -fPIC -o "$dir/e2fsck-prefetch.so" "$dir/module.c"
}

trials() { wc -l <"$dir/trials"; }

check()
{
	PREFETCH=1 PREFETCH_E2FSCK=$folder/stock "$folder/e2fsck" -fn "$image" \
		>"$dir/out" 2>&1 </dev/null
}

# Whether a check needs no trial.
is_known()
{
	local before

	before=$(trials)
	check && [ "$(trials)" = "$before" ]
}

# Files that changed within the last second are not believed to be those that
# were tried, so it may take more than one check.
becomes_known() { wait_for is_known && [ -f "$kept" ]; }

# A check is tried anew, and so is the next one if this had to be kept first.
is_tried() { ! is_known && grep -q "Pass 5" "$dir/out"; }

# renewed NAME COMMAND...: after the command there is another trial.
renewed()
{
	local name=$1

	shift
	becomes_known || return
	"$@" && tap_check "$name: another trial" is_tried
}

replace()
{
	cp "$1" "$1.new" && mv "$1.new" "$1"
}

write_to() { echo >>"$1"; }

is_old() { [ "$(stat -c %Z "$1")" -lt "$(date +%s)" ]; }

# A change in this second would be refused whatever was kept.
some_time_ago()
{
	"$@" && wait_for is_old "$2"
}

changes()
{
	local file

	for file in stock e2fsck-prefetch.so library; do
		renewed "another $file" some_time_ago replace "$dir/$file"
		renewed "$file written to" some_time_ago write_to "$dir/$file"
	done
}

cut() { truncate -s "$1" "$kept"; }

altered()
{
	local at=$1

	printf '~' | dd of="$kept" bs=1 seek="$at" conv=notrunc status=none
}

as_link() { mv "$kept" /run/other && ln -s /run/other "$kept"; }

# Nothing is kept while /run is open to others, so that the next check is tried,
# too.
open_run()
{
	chmod 0777 /run
	! is_known && ! is_known
	local status=$?

	chmod 0755 /run
	return $status
}

distrust()
{
	local size

	becomes_known
	size=$(stat -c %s "$kept")
	renewed "what was kept is empty" cut 0
	renewed "what was kept is cut off" cut $((size - 1))
	renewed "what was kept is too long" cut 100000
	renewed "what was kept has another header" altered 3
	renewed "what was kept was in another boot" altered 25
	renewed "what was kept has another number" altered $((size - 90))
	renewed "what was kept has another owner" chown 1 "$kept"
	renewed "what was kept can be written to by others" chmod 0666 "$kept"
	renewed "what was kept is a link" as_link
	renewed "what was kept is gone" rm -f "$kept"
	becomes_known
	tap_check "/run is open to others: trials" open_run
}

with()
{
	local status

	export "$1"
	! is_known && ! is_known
	status=$?
	unset "${1%%=*}"
	return $status
}

environments()
{
	becomes_known
	tap_check "a library path: trials" with LD_LIBRARY_PATH=/nowhere
	tap_check "tunables: trials" with GLIBC_TUNABLES=
	tap_check "the environment of other tests: trials" with "$others"
	tap_check "another module: trials" with "LD_PRELOAD=$dir/library.so"
}

# A signal would end the launcher.
limited()
{
	rm -f "$kept"
	(ulimit -f 0 && exec >/dev/null 2>&1 && PREFETCH=1 \
		PREFETCH_E2FSCK=$dir/stock "$dir/e2fsck" -fn "$image") &&
	[ ! -e "$kept" ]
}

# Each of two modules of the same name has its own.
elsewhere()
{
	becomes_known && mkdir "$dir/elsewhere" || return
	cp -t "$dir/elsewhere" "$dir/e2fsck" "$dir/stock" \
		"$dir/e2fsck-prefetch.so" || return
	(use "$dir/elsewhere" && ! is_known && becomes_known) && is_known
}

# A module that was replaced by one that cannot be loaded is left out.
broken()
{
	echo broken >"$dir/e2fsck-prefetch.so"
	PREFETCH_VERBOSE=1 check
	cat "$dir/out"
	grep -q "left out (the module cannot be loaded" "$dir/out" &&
		grep -q "Pass 5" "$dir/out" && ! grep -q ERROR "$dir/out"
}

all()
{
	dir=$E2PF_TMP/folder
	mkdir "$dir"
	use "$dir"
	cp "$top_builddir/e2fsck/e2fsck" "$dir/e2fsck"
	cp "$E2FSCK_STOCK" "$dir/stock"
	"${CC:-cc}" -shared -fPIC -o "$dir/library.so" -x c /dev/null
	: >"$dir/library"
	: >"$dir/trials"
	make_module
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	tap_check "the second check needs no trial" becomes_known
	changes
	distrust
	environments
	tap_check "a module elsewhere has a file of its own" elsewhere
	tap_check "a limit on file sizes: nothing is kept" limited
	becomes_known
	tap_check "a module that broke later is left out" broken
}

require_programs mke2fs debugfs "${CC:-cc}"
tmp_setup
helpers_setup
images_setup
tap_run all
