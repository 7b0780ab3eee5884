#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Modules with which e2fsck cannot be started: the check must be the stock one,
# to the last byte of its standard error, and PREFETCH_VERBOSE=1 must print the
# reason.  Each case is a folder with the launcher and a file in place of the
# module.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/compare.sh
. "$srcdir/tools/compare.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

MODULE=$top_builddir/e2fsck/.libs/e2fsck-prefetch.so
COMPARE_MANAGERS=0
BECOME=

launcher_alone()
{
	dir=$E2PF_TMP/$1
	mkdir "$dir"
	cp "$top_builddir/e2fsck/e2fsck" "$dir/e2fsck"
	E2FSCK_TEST=$dir/e2fsck
}

# module_from FILE [OPTION...]: compiles FILE as the module.
module_from()
{
	local source=$1

	shift
	"${CC:-cc}" -shared -fPIC -o "$dir/e2fsck-prefetch.so" "$source" "$@"
}

# reason_is TEXT: PREFETCH_VERBOSE=1 prints exactly this about the module.
reason_is()
{
	# shellcheck disable=SC2086
	PREFETCH=1 PREFETCH_VERBOSE=1 LD_PRELOAD=$E2PF_RUNTIME $BECOME \
		"$E2FSCK_TEST" -fn "$image" >"$dir/out" 2>"$dir/err" </dev/null
	cat "$dir/err"
	[ "$(grep -vc -e "^e2fsck-prefetch: " -e "^e2fsck 1" "$dir/err")" = 0 ] &&
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

# Filters that change the machine (e_machine) or the class (EI_CLASS) of an ELF
# file.
other_machine() { head -c 18; head -c 2 >/dev/null; printf '\266\266'; cat; }
other_class() { head -c 4; head -c 1 >/dev/null; printf '\003'; cat; }

# A module that this user may not read.  Root may read any file.
test_unreadable()
{
	launcher_alone unreadable
	cp "$MODULE" "$dir/"
	chmod 0000 "$dir/e2fsck-prefetch.so"
	chmod 0755 "$dir"
	chmod 0644 "$image"
	if ! have_root || ! setpriv --reuid=65534 true 2>/dev/null; then
		tap_skip "a module that cannot be read" "no other user to be"
		return
	fi
	BECOME=$NOBODY
	tap_check "a module that cannot be read: the reason is said" \
		reason_is "the module does not lie beside the launcher"
	BECOME=
}

# A library of the module is removed, as during an upgrade: only the reason is
# on standard error.
test_upgrade()
{
	launcher_alone upgrade
	cp "$MODULE" "$dir/"
	mkdir "$dir/lib"
	echo garbage >"$dir/lib/$(readelf -d "$MODULE" |
		sed -n 's/.*NEEDED.*\[\(libjson-c[^]]*\)\].*/\1/p')"
	export LD_LIBRARY_PATH=$dir/lib
	refused "a library that cannot be loaded"
	unset LD_LIBRARY_PATH
}

test_files()
{
	launcher_alone none
	refused "no module" "the module does not lie beside the launcher"

	launcher_alone text
	echo "no module" >"$dir/e2fsck-prefetch.so"
	refused "a module that is no library"

	launcher_alone empty
	: >"$dir/e2fsck-prefetch.so"
	refused "a module that is empty"

	launcher_alone folder
	mkdir "$dir/e2fsck-prefetch.so"
	refused "a module that is a folder"

	launcher_alone loop
	ln -s e2fsck-prefetch.so "$dir/e2fsck-prefetch.so"
	refused "a module that is a link to itself" \
		"the module does not lie beside the launcher"

	launcher_alone machine
	other_machine <"$MODULE" >"$dir/e2fsck-prefetch.so"
	refused "a module for another machine"

	launcher_alone class
	other_class <"$MODULE" >"$dir/e2fsck-prefetch.so"
	refused "a module of another word size"

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

# Modules whose constructors run in the self-test and nowhere else.
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

	launcher_alone killed
	printf '#include <signal.h>\n%s { raise(SIGSEGV); }\n' "$begin" \
		>"$dir/m.c"
	module_from "$dir/m.c"
	refused "a module that ends with SIGSEGV in its trial"

	launcher_alone stays
	cat >"$dir/m.c" <<-END
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	$begin
	{
		if (!getenv("PREFETCH_TRIAL"))
			return;
		puts("$(PREFETCH_TRIAL=1 LD_PRELOAD=${E2PF_RUNTIME:+$E2PF_RUNTIME:}$MODULE "$E2FSCK_STOCK" -V)");
		fflush(stdout);
		for (;;)
			pause();
	}
	END
	module_from "$dir/m.c"
	compare_image "a module that answers and does not end" "$dir/cmp" \
		"$image" -fy || :

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

# The launcher is installed in place of e2fsck, which is in another folder.
test_in_place()
{
	launcher_alone place
	cp "$MODULE" "$dir/"
	tap_check "the module beside the launcher is used" in_place
}

in_place()
{
	PREFETCH=1 PREFETCH_VERBOSE=2 LD_PRELOAD=$E2PF_RUNTIME \
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
	test_unreadable
	test_upgrade
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
