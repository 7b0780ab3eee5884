#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The commands of the manuals' EXAMPLES, on an image in place of the device; the
# settings of an example are valid.

srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=../tools/lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=../tools/images.sh
. "$srcdir/tools/images.sh"

doc=$srcdir/../doc

# The commands of a manual's examples, one in each line.
commands_of()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "$doc/$1" |
		sed -n 's/^\.Dl # //p; /^# /,/^\.Ed/{/^\.Ed/d;s/^# //;p}' |
		sed -e 's/\\-/-/g' -e 's/\\e$/\\/' |
		sed -e :a -e '/\\$/{N;s/\\\n *//;ta' -e '}'
}

# runs IMAGE COMMAND: it ends with 0, in a folder of its own.  The paths are those of
# this build, and the device is this image.
runs()
{
	local command

	command=$(printf '%s\n' "$2" | sed \
		-e "s|/usr/libexec/e2prefetch/btrfs|$top_builddir/btrfs/btrfs|g" \
		-e "s|/usr/libexec/e2prefetch|$top_builddir/e2fsck|g" \
		-e "s|/dev/sdb1*|$1|g")
	(
		mkdir -p "$dir/work" && cd "$dir/work" || exit
		printf '#!/bin/sh\nexec e2fsck -fn %s\n' "$1" >check-all
		chmod +x check-all
		PATH=$top_builddir/prefetch:$top_builddir/e2fsck:$top_builddir/btrfs:$PATH
		bash -c "$command" </dev/null
	)
}

# examples MANUAL LEAST: all run, and there are so many.
examples()
{
	local command n=0

	while IFS= read -r command; do
		n=$((n + 1))
		case $command in
		*" send "*)
			tap_skip "$1: $command" "tested by test-btrfs-send.sh"
			;;
		*btrfs*)
			if [ -e "$btrfs" ]; then
				tap_check "$1: $command" runs "$btrfs" "$command"
			else
				tap_skip "$1: $command" "no mkfs.btrfs"
			fi
			;;
		*)
			tap_check "$1: $command" runs "$image" "$command"
			;;
		esac
	done < <(commands_of "$1")
	tap_check "$1 has examples" [ $n -ge "$2" ]
}

# The configuration of an example is one that a check takes.
configuration()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd/,/^\.Ed/{/^\./d;p}}' \
		"$doc/e2prefetch.conf.5" >"$dir/conf"
	grep -q = "$dir/conf" &&
	PREFETCH=1 PREFETCH_CONFIG=$dir/conf "$E2FSCK_TEST" -fn "$image" \
		>"$dir/out" 2>"$dir/err" &&
	! grep prefetch "$dir/err"
}

test_all()
{
	dir=$E2PF_TMP/manuals
	mkdir "$dir"
	image=$E2PF_TMP/image
	btrfs=$E2PF_TMP/btrfs
	image_make ext4-1k "$image" || tap_bail "no image"
	if have_program mkfs.btrfs; then
		truncate -s 128M "$btrfs" && mkfs.btrfs -q "$btrfs"
	fi
	examples e2prefetch.8 3
	examples e2fsck-prefetch.8 3
	examples btrfs-prefetch.8 3
	tap_check "e2prefetch.conf.5: the example" configuration
}

require_programs mke2fs debugfs e2image
[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
tmp_setup
helpers_setup
images_setup
tap_run test_all
