#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The manuals are well formed.  Prints TAP.

doc=${docdir:-$(dirname "$0")}
pages=("$doc"/*.[58])
echo "1..${#pages[@]}"

n=0
for page in "${pages[@]}"; do
	name=$(basename "$page")
	n=$((n + 1))
	if ! command -v mandoc >/dev/null; then
		echo "ok $n - $name # SKIP no mandoc"
	elif said=$(mandoc -Tlint -Wwarning "$page" 2>&1); then
		echo "ok $n - $name"
	else
		printf '%s\n' "$said" | sed 's/^/# /'
		echo "not ok $n - $name"
	fi
done
