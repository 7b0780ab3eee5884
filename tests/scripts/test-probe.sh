#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# e2prefetch probe: what it prints, and where nothing can be measured.  unit/test-speed
# has the reasons.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/e2prefetch.sh"

# Columns: class, blocks, runs, KiB; the last line has the sums.
adds_up()
{
	run 0 probe "$image" && sed '1,/^class/d' "$dir/out" | awk '
		$1 != "all" { blocks += $2; runs += $3; kib += $4 }
		$1 == "all" { ok = $2 == blocks && $3 == runs && $4 == kib }
		END { exit !(ok && NR > 2 && blocks) }'
}

# All groups of a small filesystem are looked at.
all_groups()
{
	drop "$big"
	run 0 probe "$big" >"$dir/null" &&
		grep -q '^inodes    131072 to check$' "$dir/out" &&
		! grep 'estimated from' "$dir/out"
}

# Of 128 MiB of inode tables six groups are, and each third one stands for three.
some_groups()
{
	truncate -s 2G "$dir/sparse" &&
	mke2fs -q -F -b 4096 -O ^uninit_bg,^metadata_csum -N 524288 \
		-E lazy_itable_init=1 "$dir/sparse" && run 0 probe "$dir/sparse" &&
	[ "$(grep -cE 'as below, from 6 of 16 groups$|^(bitmaps +36|inodes +36864) ' \
		"$dir/out")" = 3 ]
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
	local dev status busy="unknown .read times vary" \
		few="(about|at most) [0-9.]+ (s|min)"

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
	first_line "estimate: $few for a prefetched check" &&
	grep -q '^measured  [0-9.]* ms for a small read' "$dir/out" &&
	grep -qE '^          (.* MB/s sequential; )?(seek-bound, single spindle|not seek-bound)$' "$dir/out"
}

# no_figure IMAGE REASON: it says why, and no time.
no_figure()
{
	run 0 probe "$1" >/dev/null &&
	first_line "estimate: unknown \(.*$2.*\)" &&
	grep -qE "^measured  nothing: .*$2" "$dir/out" &&
	! grep -qE "^(estimate: (about|at most)|range)|less than|MB/s" "$dir/out"
}

all_cached()
{
	cat "$big" >"$dir/null" && no_figure "$big" "too little uncached metadata" &&
		run 4 probe --longer-than 1m "$big" &&
		run 4 probe --longer-than 999999999 "$big"
}

# Who may not see what is cached measures nothing.
not_visible()
{
	cp --sparse=auto "$image" "$E2PF_TMP/public" && chmod 0444 "$E2PF_TMP/public" &&
	chmod 0777 "$dir" && PREFETCHER="$dir/as-nobody" \
		no_figure "$E2PF_TMP/public" "this user may not query"
}

test_probe()
{
	local big=$dir/full

	# Inode tables of 32 MiB; stored as a whole, so that there are no holes.
	head -c 120M /dev/zero >"$big" &&
	mke2fs -q -F -t ext4 -O flex_bg,^uninit_bg,^metadata_csum -N 131072 \
		-E lazy_itable_init=0,nodiscard "$big" >/dev/null 2>&1 ||
		tap_bail "no large image"
	tap_check "probe: what there is adds up" adds_up
	tap_check "nothing is written" leaves_it
	tap_unless "${E2PF_RUNTIME:+a sanitizer}" "with a stack of 72 KiB" \
		exits 0 bash -c 'ulimit -s 72; exec "$@"' - "$PREFETCHER" probe "$big"
	tap_check "of all groups" all_groups
	tap_check "of some groups" some_groups
	tap_unless "$(no_loops)" "how long a check takes" measures
	tap_check "not measured: little metadata" no_figure "$image" "too little uncached"
	tap_check "not measured: all is cached" undisturbed all_cached
	printf '#!/bin/sh\nexec setpriv --reuid=65534 "%s" "$@"\n' \
		"$PREFETCHER" >"$dir/as-nobody"
	chmod 0755 "$dir/as-nobody"
	tap_unless "$(lacks setpriv)$(have_root || echo "not root")" \
		"not measured: not visible" not_visible
}

test_all()
{
	make_images probe
	set -- probe
	test_groups "$@"
}

setup_e2prefetch awk
tap_run test_all "$@"
