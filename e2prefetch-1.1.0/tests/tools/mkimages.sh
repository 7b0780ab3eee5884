#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mkimages.sh FOLDER [NAME...]: writes the test images of images.sh to a folder,
# for inspection by hand.

if [ $# -lt 1 ]; then
	echo "Usage: mkimages.sh FOLDER [NAME...]" >&2
	exit 2
fi
srcdir=${srcdir:-$(dirname "$0")/..}
# shellcheck source=lib.sh
. "$srcdir/tools/lib.sh"
# shellcheck source=images.sh
. "$srcdir/tools/images.sh"

folder=$1
shift
mkdir -p "$folder" || exit
tmp_setup
helpers_setup
images_setup
status=0
# Names have no spaces.
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(image_names)
for name in "$@"; do
	if ! image_make "$name" "$folder/$name"; then
		echo "$name: not made" >&2
		status=1
	fi
done
exit $status
