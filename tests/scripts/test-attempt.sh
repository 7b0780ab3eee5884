#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Modules that an e2fsck cannot be started with: the check is the stock one,
# to the last byte of its standard error, and the reason is said to who asks
# for it.  Each case is a folder with the launcher and something in the
# module's place.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

MODULE=$top_builddir/e2fsck/.libs/e2fsck-prefetch.so
COMPARE_MANAGERS=0

launcher_alone()
{
	dir=$E2PF_TMP/$1
	mkdir "$dir"
	cp "$top_builddir/e2fsck/e2fsck" "$dir/e2fsck"
	E2FSCK_TEST=$dir/e2fsck
}

# module_from FILE [OPTION...]: compiled in the module's place.
module_from()
{
	local source=$1

	shift
	"${CC:-cc}" -shared -fPIC -o "$dir/e2fsck-prefetch.so" "$source" "$@"
}

# reason_is TEXT: what PREFETCH_VERBOSE=1 says of the module, all of it.
reason_is()
{
	PREFETCH=1 PREFETCH_VERBOSE=1 LD_PRELOAD=$E2PF_RUNTIME \
		"$E2FSCK_TEST" -fn "$image" >"$dir/out" 2>"$dir/err" </dev/null
	grep "^e2fsck-prefetch: " "$dir/err"
	[ "$(grep "^e2fsck-prefetch: " "$dir/err")" = \
		"e2fsck-prefetch: module: left out ($1)" ]
}

# refused NAME [REASON]
refused()
{
	local reason=${2-the module cannot be loaded into this e2fsck}

	compare_image "$1: the check is stock's" "$dir/cmp" "$image" -fy || :
	tap_check "$1: the reason is said" reason_is "$reason"
}

test_files()
{
	launcher_alone none
	refused "no module" "the module does not lie beside the launcher"

	launcher_alone text
	echo "no module" >"$dir/e2fsck-prefetch.so"
	refused "a module that is no library"

	launcher_alone cut
	head -c 20000 "$MODULE" >"$dir/e2fsck-prefetch.so"
	refused "a module that is cut off"
}

test_libraries()
{
	launcher_alone gone
	echo "int gone;" >"$dir/gone.c"
	"${CC:-cc}" -shared -fPIC -o "$dir/libgone.so" "$dir/gone.c"
	module_from "$dir/gone.c" -Wl,--no-as-needed -L"$dir" -lgone
	rm "$dir/libgone.so"
	refused "a module whose library is missing"

	launcher_alone symbol
	printf 'int nowhere(void); int f(void) { return nowhere(); }\n' \
		>"$dir/symbol.c"
	module_from "$dir/symbol.c" -Wl,-z,now
	refused "a module whose function is missing"
}

# The constructors of these run in the trial and nowhere else.
test_trials()
{
	local begin="__attribute__((constructor)) static void begin(void)"

	launcher_alone crash
	printf '#include <stdlib.h>\n%s { abort(); }\n' "$begin" >"$dir/m.c"
	module_from "$dir/m.c"
	refused "a module that crashes in its trial"

	launcher_alone mute
	printf '#include <unistd.h>\n%s { _exit(0); }\n' "$begin" >"$dir/m.c"
	module_from "$dir/m.c"
	refused "a module that does not answer"

	launcher_alone wrong
	printf '#include <unistd.h>\n%s { write(1, "whole\\n", 6); _exit(0); }\n' \
		"$begin" >"$dir/m.c"
	module_from "$dir/m.c" -w
	refused "a module of another version"

	launcher_alone endless
	printf '#include <unistd.h>\n%s { for (;;) pause(); }\n' "$begin" \
		>"$dir/m.c"
	module_from "$dir/m.c"
	tap_check "a module whose trial does not end: the reason is said" \
		reason_is "the module cannot be loaded into this e2fsck"
}

test_noexec()
{
	launcher_alone noexec
	mkdir "$dir/.libs"
	if ! have_root ||
	   ! mount -t tmpfs -o noexec,size=64m none "$dir/.libs" 2>/dev/null
	then
		tap_skip "a folder without execution" "not root, or no mounts"
		return
	fi
	cp "$MODULE" "$dir/.libs/"
	refused "a folder without execution"
	umount "$dir/.libs"
}

# The launcher in the place of e2fsck, which lies elsewhere.
test_in_place()
{
	launcher_alone place
	cp "$MODULE" "$dir/"
	tap_check "the module beside the launcher is used" in_place
}

in_place()
{
	PREFETCH=1 PREFETCH_VERBOSE=1 LD_PRELOAD=$E2PF_RUNTIME \
		"$E2FSCK_TEST" -fn "$image" >"$dir/out" 2>"$dir/err" </dev/null
	cat "$dir/err"
	! grep -q "^e2fsck-prefetch: module:" "$dir/err" &&
	grep -q "^e2fsck-prefetch: indirect: " "$dir/err"
}

test_attempt()
{
	image=$E2PF_TMP/image
	image_make ext4-1k "$image" || tap_bail "no image"
	test_in_place
	test_files
	test_libraries
	test_trials
	test_noexec
	tap_check "no process is left behind" no_process_left
}

require_programs mke2fs debugfs flock diff "${CC:-cc}"
tmp_setup
helpers_setup
images_setup
tap_run test_attempt
