#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# e2prefetch probe: what it prints, and where nothing can be measured.  The unit test
# of lib/device/speed.c has the reasons.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

# run STATUS ARG...: e2prefetch exits with STATUS.
run() { exits "$1" "$PREFETCHER" "${@:2}"; }

# The counts are those of the plan.
counts()
{
	"$PREFETCHER" -n "$image" >"$dir/plan" && [ -s "$dir/plan" ] &&
	"$PREFETCHER" probe "$image" | sed -n '/^class/,$p' | diff "$dir/plan" -
}

# All groups of a small filesystem are looked at.
all_groups()
{
	drop "$big"
	run 0 probe "$big" >"$dir/null" &&
		grep -q '^inodes    131072 to check$' "$dir/out" &&
		! grep 'estimated from' "$dir/out"
}

leaves_it()
{
	cp --sparse=auto "$image" "$dir/probed" && chmod 0400 "$dir/probed" &&
	run 0 probe "$dir/probed" && cmp "$image" "$dir/probed" &&
	grep -q "^inodes " "$dir/out"
}

# first_line PATTERN: the first line is this sentence.
first_line() { head -n 1 "$dir/out" | grep -xE -- "$1" || { cat "$dir/out"; false; }; }

# A device is measured, and the first line has the time; or, on a busy machine, that the
# reads took too different times.
measures()
{
	local dev status busy="is not known: the machine( or the device)? is busy" few="[0-9.]+ (s|min)( or less)?"

	drop "$big"
	dev=$(loop_attach "$big") || return
	"$PREFETCHER" probe --longer-than 1h "$dev" >"$dir/out"
	status=$?
	[ "$(wc -l <"$dir/out")" = 1 ] || status=lines
	[ $status = 1 ] || { [ $status = 4 ] && grep -qE "$busy" "$dir/out"; } ||
		status=wrong
	"$PREFETCHER" probe "$dev" >"$dir/out"
	loop_detach "$dev"
	[ $status = 1 ] || [ $status = 4 ] || return
	! grep -qE "$busy" "$dir/out" || return 0
	first_line "A check of $dev that prefetches takes some $few\." &&
	grep -q '^measured  [0-9.]* ms for a small read' "$dir/out" &&
	grep -qE '^          (.* MB/s sequential; )?it (seeks: a single spindle|does not seek)$' "$dir/out"
}

# no_figure IMAGE REASON: it says why, and no time.
no_figure()
{
	run 0 probe "$1" >/dev/null &&
	first_line "How long a check of $1 takes is not known: .*$2.*\." &&
	grep -qE "^measured  nothing: .*$2" "$dir/out" &&
	! grep -qE "^(A check|range)|less than|MB/s" "$dir/out"
}

all_cached()
{
	cat "$big" >"$dir/null" && no_figure "$big" "most of it is cached" &&
		run 4 probe --longer-than 1m "$big" &&
		run 4 probe --longer-than 999999999 "$big"
}

# Who may not see what is cached measures nothing.
not_visible()
{
	cp --sparse=auto "$image" "$E2PF_TMP/public" && chmod 0444 "$E2PF_TMP/public" &&
	chmod 0777 "$dir" && PREFETCHER="$dir/as-nobody" \
		no_figure "$E2PF_TMP/public" "this user may not see"
}

test_all()
{
	small_image probe
	# Inode tables of 32 MiB; stored as a whole, so that there are no holes.
	big=$E2PF_TMP/big
	head -c 120M /dev/zero >"$big" &&
	mke2fs -q -F -t ext4 -O flex_bg,^uninit_bg,^metadata_csum -N 131072 \
		-E lazy_itable_init=0,nodiscard "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
	tap_check "what there is" counts
	tap_check "nothing is written" leaves_it
	tap_check "of all groups" all_groups
	tap_unless "$(no_loops)" "how long a check takes" measures
	tap_check "not measured: little metadata" no_figure "$image" "there is little"
	tap_check "not measured: all is cached" undisturbed all_cached
	printf '#!/bin/sh\nexec setpriv --reuid=65534 "%s" "$@"\n' \
		"$PREFETCHER" >"$dir/as-nobody"
	chmod 0755 "$dir/as-nobody"
	tap_unless "$(lacks setpriv)$(have_root || echo "not root")" \
		"not measured: not visible" not_visible
}

[ -x "$PREFETCHER" ] || tap_skip_all "not built: $PREFETCHER"
setup mke2fs debugfs
tap_run test_all
