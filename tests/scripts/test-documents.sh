#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# Documents and packages agree with the sources: each option and setting is in the
# manuals and completions, and the examples of the manuals run; each directory includes
# only what CONTRIBUTING.md allows; commands in documents run; files that these and
# sources name exist; version, address, licences and the functions that are interposed are
# the same everywhere.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

top=$(cd "$srcdir/.." && pwd)
cd "$top" || tap_bail "no sources"

# same A B: two lists have the same lines, and there are some.
same() { [ -n "$1" ] && diff <(sort -u <<<"$1") <(sort -u <<<"$2"); }

#
# Options and settings.
#

options() { "$PREFETCHER" --help | sed -n 's/^  \(-.\), \(--[a-z-]*\).*/\1\n\2/p'; }
# The table of settings, up to those that are variables only.
settings() { sed -n '/^} settings\[\]/,/^}/s/^\t{ "\([a-z_]*\)", .*/\1/p' \
	prefetch/settings.c; }
items() { sed -n "s/^\\.It $2 \\(.*\\)/\\1/p" "doc/$1"; }

# What each shell completes the last of these words to.
bash_offers()
{
	bash --norc --noprofile -c '
		. "$0"
		COMP_WORDS=(e2prefetch "$@") COMP_CWORD=$#
		_e2prefetch
		printf "%s\n" "${COMPREPLY[@]%=}"
	' "$top/completions/bash/e2prefetch" "$@"
}
fish_offers()
{
	fish --no-config -c "source '$top/completions/fish/e2prefetch.fish'
		complete -C 'e2prefetch $*'" | cut -f 1
}
# Without a terminal zsh completes nothing: these are the functions that it has then.
zsh_offers()
{
	zsh -fc '
		setopt extendedglob
		compadd() { print -l -- ${@[2, -1]}; }
		_files() { print -l -- $words[CURRENT]*(N); }
		_describe() { print -rl -- ${${(P)2}%%:*}; }
		_normal() { print $^commands[(I)$words[CURRENT]*]; }
		words=(e2prefetch "$@") CURRENT=$(($# + 1))
		eval "$(<$0)"
	' "$top/completions/zsh/_e2prefetch" "$@" | grep -e "^${!#}"
}

# offers WORDS WORD...: the shell completes the last word to these.
offers() { same "$(tr ' ' '\n' <<<"$1")" "$("${shell}_offers" "${@:2}")"; }

completions()
(
	shell=$1 all=$(options | tr '\n' ' ') PATH=${PREFETCHER%/*}:$PATH
	cd "$dir/files" && : >partition &&
	offers "${all% }" - && offers "${all% }" probe - &&
	offers "disable enable partition probe progress status" "" &&
	offers "partition" probe p && offers "partition" -n p &&
	offers "--root" enable - &&
	offers "touch" disk -- touc
)

# Each letter after Fl is that of an option.
no_other_letters()
{
	grep -oE '\bFl [a-zA-Z]\b' doc/e2prefetch.8 | sed 's/Fl /-/' |
		sort -u >"$dir/letters"
	[ -s "$dir/letters" ] && ! options | sort -u | comm -23 "$dir/letters" - | grep .
}

test_options()
{
	local variables shell

	variables=$(grep -ohE '"(PREFETCH[A-Z0-9_]*|TEST_MMAP_IO)"' prefetch/settings.c \
		e2fsck/Makefile.am | tr -d '"')
	for shell in bash fish zsh; do
		tap_unless "$(lacks $shell)" "completions of $shell" completions $shell
	done
	tap_check "e2prefetch(8) has all options" same "$(options | grep -e --)" \
		"$(items e2prefetch.8 Fl | sed -n 's/.* Fl Fl \([a-z-]*\).*/--\1/p')"
	tap_check "e2prefetch(8) has no other letters" no_other_letters
	tap_check "e2prefetch.conf(5) has all settings" same "$(settings)" \
		"$(items e2prefetch.conf.5 Cm)"
	tap_check "e2prefetch.conf has all settings" same "$(settings)" \
		"$(sed -n 's/^#\([a-z_]*\) = .*/\1/p' boot/e2prefetch.conf)"
	tap_check "e2fsck-prefetch(8) has all variables" same \
		"$variables" "$(items e2fsck-prefetch.8 Ev)"
}

#
# Manuals.
#

# The commands of a manual's examples, one in each line.
commands_of()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "doc/$1" |
		sed -n 's/^\.Dl # //p; /^# /,/^\.Ed/{/^\.Ed/d;s/^# //;p}' |
		sed -e 's/\\-/-/g' -e 's/\\e$/\\/' |
		sed -e :a -e '/\\$/{N;s/\\\n *//;ta' -e '}'
}

# runs IMAGE COMMAND: with the paths of this build, and this image as the device.
runs()
(
	command=$2
	command=${command//"/usr/libexec/e2prefetch/btrfs"/"$top_builddir/btrfs/btrfs"}
	command=${command//"/usr/libexec/e2prefetch"/"$top_builddir/e2fsck"}
	command=$(sed "s|/dev/sdb1*|$1|g" <<<"$command")
	cd "$dir/files" || return
	printf '#!/bin/sh\nexec e2fsck -fn %s\n' "$1" >check-all
	chmod +x check-all
	PATH=$top_builddir/cmd:$top_builddir/e2fsck:$top_builddir/btrfs:$PATH \
		bash -c "$command" </dev/null
)

# The messages in the section DIAGNOSTICS are those of the sources: all that is not a
# NUMBER, a NAME or another word in capitals.
messages_exist()
{
	python3 - "$1" <<-'END'
	import glob, re, sys
	sources = open("e2fsck/Makefile.am").read()
	for d in ("cmd", "preload", "prefetch", "e2fsck", "e2fsck/accel", "btrfs", "ext4",
	          "lib"):
	    for f in glob.glob(d + "/*.[ci]*[cn]") + glob.glob(d + "/*.c"):
	        sources += open(f).read()
	sources = re.sub(r'"\s*\n\s*"', "", sources).replace('\\"', '"')
	sources = sources.replace('" PROGRAM "', "e2fsck")
	sources = sources.replace('" PACKAGE_OF "', "e2fsprogs")
	# Put together from parts.
	sources += "prefetch: off (|prefetch: asleep (|: not accelerated (|: accelerated (" \
	    "self-test matched libext2fs)|cannot read ahead: "
	page = open(sys.argv[1]).read().split(".Sh DIAGNOSTICS")[1].split("\n.Sh ")[0]
	items = re.findall(r"^\.It (.*)|^\.Dq (.*?) ?[,.]?$", page, re.M)
	missing = [part for item in items for part in re.split(
	    r"\b[A-Z]{2,}(?:_[A-Z]+)*\b(?![=(])|\bN\b|\.\.\.", "".join(item).replace("\\(dq", '"'))
	    if len(part.strip()) > 3 and part.strip(" :") not in sources]
	print("not in the sources:", missing)
	sys.exit(not items or bool(missing))
	END
}

# The settings of the example are ones that a check takes.
example_settings()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd/,/^\.Ed/{/^\./d;p}}' \
		doc/e2prefetch.conf.5 >"$dir/conf"
	grep -q = "$dir/conf" &&
	PREFETCH=1 PREFETCH_CONFIG=$dir/conf "$E2FSCK_TEST" -fn "$image" \
		>"$dir/out" 2>"$dir/err" && ! grep prefetch "$dir/err"
}

test_manuals()
{
	local page command count image=$E2PF_TMP/image

	image_make ext4-1k "$image" || tap_bail "no image"
	truncate -s 128M "$E2PF_TMP/btrfs"
	for page in doc/*.[358]; do
		! have_program mandoc ||
			tap_check "$page" mandoc -Tlint -Wwarning "$page"
		tap_check "$page: messages" messages_exist "$page"
	done
	for page in e2prefetch.8 e2fsck-prefetch.8 btrfs-prefetch.8; do
		count=0
		while IFS= read -r command; do
			count=$((count + 1))
			case $command in
			*" send "*) ;;	# test-btrfs-send.sh
			*btrfs*)
				! mkfs.btrfs -qf "$E2PF_TMP/btrfs" >"$dir/out" 2>&1 ||
				tap_check "$page: $command" runs "$E2PF_TMP/btrfs" \
					"$command"
				;;
			*) tap_check "$page: $command" runs "$image" "$command" ;;
			esac
		done < <(commands_of $page)
		tap_check "$page has examples" [ $count -ge 3 ]
	done
	tap_check "the example of e2prefetch.conf(5)" example_settings
}

#
# Commands in the documents.
#

# The indented commands of a document, one in each line.  What lies between lines of grave
# accents is none.
indented()
{
	awk '/^```/ { fenced = !fenced } !fenced' "$1" | sed -n 's/^    //p' |
		sed -e :a -e '/\\$/{N;s/\\\n */ /;ta' -e '}' | sed 's/   *[#/].*//'
}

# What follows `bench/run' in a document's commands, and between grave accents.
timings() { { indented "$1"; tr '\n' ' ' <"$1" | grep -o '`bench/run[^`]*`' | tr -d '`' |
	tr -s ' '; } | sed -n 's|^bench/run ||p'; }

# bench/run takes these options, and there are such images and models.
times_again()
{
	python3 -B - "$@" <<-'END'
	import os, re, runpy, shlex, subprocess, sys
	sys.path.insert(0, "bench")
	parser = runpy.run_path("bench/run", run_name="run")["parser"]()
	args = parser.parse_args(shlex.split(sys.argv[1]))
	images = subprocess.run(["bench/images", "--list"], stdout=subprocess.PIPE,
	                        text=True, check=True).stdout
	for name in args.images:
	    if name != "IMAGE":
	        image = "^" + re.sub("[@+].*", "", name) + " "
	        assert re.search(image, images, re.M), name
	for name in args.models:
	    name = name.partition(":")[0]
	    model = f"bench/models/{name}.conf"
	    assert name in ("MODEL", "plain") or os.path.exists(model), name
	END
}

# As a user types it, with this build, an image as the device, and programs that touch
# nothing.
typed()
(
	command=$(sed -E "s#(^| |=)/(srv|backup|data|home)#\1$dir/files/\2#g
		s#/dev/sdb1|disk\.img#$image#g
		s#^(.*)(\./e2fsck/)#\1$top_builddir/e2fsck/#" <<<"$1")
	export PATH=$dir/stubs:$top_builddir/cmd:$top_builddir/e2fsck:$PATH LD_PRELOAD=''
	echo "$command"
	case $command in
	"e2fsck-prefetch -f "*)	# asks questions
		script -qec "$command" /dev/null ;;
	"e2prefetch progress")
		bash -c "$command" || [ $? = 1 ] ;;
	*)	bash -c "$command" </dev/null ;;
	esac
)

compiles()
{
	{
		echo '#include "lib/mmap_io.h"'
		echo 'int main(void) { ext2_filsys fs; const char *device = "";'
		echo "return (int)$1 }"
	} >"$dir/opens.c" && ${CC:-cc} -Werror -fsyntax-only -I. "$dir/opens.c"
}

test_commands()
{
	local command file image=$E2PF_TMP/image

	mkdir -p "$dir/stubs" "$dir/files"/{srv/www,srv/old,backup/daily.0,data,home}
	for command in rsync chown rm sleep; do
		printf '#!/bin/sh\n' >"$dir/stubs/$command" &&
			chmod +x "$dir/stubs/$command"
	done
	for file in README.md doc/containers.md doc/performance.md; do
		while read -r command; do
			case $command in
			# By check-packages.sh, test-enable.sh, test-container.sh, the CI.
			*apt-get*|*dpkg-buildpackage*|*enable*|journalctl*|COPY*|RUN*|ENV*|kubectl*|./quickstart*)
				;;
			"seconds = "*|"+ "*|bench/run*) ;;
			ext2fs_open*) tap_check "$file: $command" compiles "$command" ;;
			"e2fsck-prefetch -f "*)
				tap_unless "$(lacks script)" "$file: $command" typed \
					"$command" ;;
			bench/real*)
				tap_unless "$(lacks python3)" "$file: $command" typed \
					"$command" ;;
			*) tap_check "$file: $command" typed "$command" ;;
			esac
		done < <(indented "$file")
	done
	skipped "bench/run in documents" "$(lacks python3)" && return
	for file in README.md bench/README.md doc/performance.md doc/testing.md; do
		while read -r command; do
			tap_check "$file: bench/run $command" times_again "$command"
		done < <(timings "$file")
	done
}

#
# Paths and tables of the documents.
#

# The words between grave accents that are paths of the tree: in one of its directories,
# or of lib/ or tests/, or with the ending of a source file.
paths_in()
{
	tr '\n' ' ' <"$1" | grep -o '`[^`]*`' | tr -d '`' | tr ' ' '\n' |
		grep -xE '[A-Za-z0-9_.*+-]+(/[A-Za-z0-9_.*+-]*)*' |
		while IFS= read -r word; do
			for base in . tests; do
				[[ $word != */* ]] || [ ! -d "$base/${word%%/*}" ] ||
					{ echo "$word"; continue 2; }
			done
			[[ $word != *.@(c|h|sh|py|map|am|ac|in) ]] || echo "$word"
		done | sort -u
}

# Our manuals that it names, as paths.
manuals_in()
{
	grep -ohE '(e2prefetch|e2fsck-prefetch|btrfs-prefetch)(\.conf)?\([1-9]\)' "$1" |
		sed 's|\(.*\)(\(.\))|doc/\1.\2|' | sort -u
}

# exist LEAST: of the paths on standard input each is here or where it was built, below
# tests/, or a C file of this name is; a file without a directory anywhere.  There
# are at least so many.  NAME stands for any.  lib/ext2fs/ and some others are e2fsprogs's
# and the kernel's.
exist()
{
	local word base missing=0 seen=0

	while IFS= read -r word; do
		seen=$((seen + 1))
		for base in . tests "$top_builddir"; do
			! compgen -G "$base/${word//NAME/*}" &&
				! compgen -G "$base/${word//NAME/*}.c" || continue 2
		done >/dev/null
		[[ $word = */* ]] ||
			[ -z "$(find . -name "${word//NAME/*}" -print -quit)" ] ||
			continue
		case $word in
		lib/ext2fs/*|linux/*|mm/readahead.c|blkmap64_rb.c|gen_bitmap64.c) ;;
		*) echo "no $word"; missing=1 ;;
		esac
	done
	[ $missing = 0 ] && [ $seen -ge "$1" ]
}

# A comment may speak of a file that was renamed.
paths_of_sources()
{
	grep -rhE --include='*.[ch]' '\.[ch]\>' bench lib prefetch ext4 preload e2fsck \
		btrfs cmd tests \
		| grep -v '#include <' | grep -oE '[A-Za-z0-9_/-]+\.[ch]\>' |
		sort -u
}

# The manifests of containers.md: each is YAML, and mounts what it declares as a volume.
manifests()
{
	python3 - doc/containers.md <<-'END'
	import re, sys, yaml
	texts = re.findall(r"^```yaml\n(.*?)^```$", open(sys.argv[1]).read(), re.S | re.M)
	specs = [d["spec"] for text in texts for d in yaml.safe_load_all(text)]
	pods = [spec.get("template", {"spec": spec})["spec"] for spec in specs]
	pods = [pod for pod in pods if "initContainers" in pod]
	for pod in pods:
	    declared = {v["name"] for v in pod["volumes"]}
	    used = {v["name"] for c in pod["initContainers"] + pod.get("containers", [])
	            for v in c.get("volumeMounts", []) + c.get("volumeDevices", [])}
	    print("declared", declared, "used", used)
	    assert declared == used
	assert len(pods) == 3
	END
}

no_yaml() { python3 -c 'import yaml' 2>/dev/null || echo "python3-yaml not found"; }

test_paths()
{
	local file

	for file in README.md SECURITY.md CONTRIBUTING.md doc/*.md; do
		tap_check "$file: paths" exist 0 < <(paths_in "$file"; manuals_in "$file")
	done
	tap_check "the documents name more than a hundred" exist 100 < <(
		for file in README.md SECURITY.md CONTRIBUTING.md doc/*.md; do paths_in \
			"$file"; manuals_in "$file"; done)
	tap_check "files that sources name" exist 100 < <(paths_of_sources)
	tap_unless "$(no_yaml)" "doc/containers.md: manifests" manifests
}

#
# Packages.
#

# init NUMBER: an argument of AC_INIT: 2 version, 3 address, 5 home page.
init() { sed -n 's/^AC_INIT(\[\(.*\)])$/\1/p' configure.ac |
	awk -F '\\], \\[' -v n="$1" '{ print $n }'; }

# File, and what finds the version there.
facts='debian/changelog 1s/^e2prefetch (\(.*\)-[^-]*) .*/\1/p
packaging/e2prefetch.spec s/^Version: *//p
CHANGELOG.md s/^## \([0-9][0-9.]*\).*/\1/p'

# has_version FILE COMMAND
has_version() { same "$(init 2)" "$(sed -n "$2" "$1" | head -n 1)"; }

lines() { [ $# = 0 ] || printf '%s\n' "$@"; }

# A release has the address and the home page of configure.ac in these files, or none.
# origin_is ADDRESS HOME: also the number of warnings.
origin_is()
{
	local release=$dir/release said

	rm -rf "$release" && mkdir "$release" &&
	cp -r debian packaging "$release" && rm -f "$release/debian/watch" &&
	rm -rf "$release/debian/upstream" &&
	said=$(sh packaging/origin "$1" "$2" "$release" 2>&1) &&
	echo "$said" && cd "$release" || return
	[ "$(grep -c warning <<<"$said")" = $(($([ -n "$1" ]; echo $?) +
		$([ -n "$2" ]; echo $?))) ] || return
	same "${1:-no-address@e2prefetch.invalid}" \
		"$(sed -n 's/^Maintainer:.*<\(.*\)>/\1/p' \
		debian/control)" &&
	same "${1:-no-address@e2prefetch.invalid}" "$(sed -n 's/^ --.*<\(.*\)>.*/\1/p' \
		debian/changelog)" || return
	diff <(lines ${2:+"debian/control:Homepage: $2" "debian/watch:Source: $2/" \
		"packaging/e2prefetch.spec:URL: $2"}) \
		<(grep -rE '^(Homepage|URL|Source): *[^ ]*/' . |
		sed 's|^\./||; s/:  */: /' | sort) &&
	diff <(lines ${2:+${1:+"Bug-Submit: mailto:$1"} "Repository: $2"}) \
		<(cat debian/upstream/metadata 2>/dev/null)
}

origins()
{
	local address home

	for address in "" somebody@example.org; do
		for home in "" https://example.org/home; do
			(origin_is "$address" "$home") || return
		done
	done
}

interposed() { sed -n '/^global:/,/^local:/s/^\t\([a-z0-9_]*\);$/\1/p' e2fsck/*.map \
	btrfs/*.map |
	grep -v -e e2fsck_accel -e prefetch_wants_accel | sort -u; }
# In README.source's tables: between grave accents, in the first column.
explained() { sed -n 's/^| \(`[^|]*\) |.*/\1/p' debian/README.source |
	grep -o '`[a-z0-9_]*`' | tr -d '`' | sort -u; }

# The libraries that programs load by name are linked to e2prefetch: packaging tools
# find no other dependencies.
loaded_are_linked()
{
	local name

	readelf -d "$PREFETCHER" | grep -q 'NEEDED.*\[libc\.' || return
	{
		sed -n 's/^#define [A-Z0-9]*_SONAME "\(.*\)"$/\1/p' \
			"$top_builddir/config.h"
		grep -rhoE --include='*.[ch]' '"lib[a-z0-9_-]+\.so\.[0-9]+"' \
			lib prefetch ext4 preload e2fsck btrfs cmd | tr -d '"'
	} | sort -u | while read -r name; do
		readelf -d "$PREFETCHER" | grep -F "[$name]" ||
			{ echo "no package depends on $name"; exit 1; }
	done
}

# The licence in each file is that of the last pattern of debian/copyright that
# matches it.
same_licences()
{
	local file said pattern licence found wrong=0 seen=0

	awk '/^[A-Z]/ { in_files = 0 }
		/^Files:/ { in_files = 1; $1 = "" }
		in_files { for (i = 1; i <= NF; i++) pattern[++n] = $i }
		/^License:/ { for (i = 1; i <= n; i++) print pattern[i], $2; n = 0 }
		' debian/copyright >"$dir/patterns"
	while IFS=: read -r file said; do
		said=${said##*SPDX-License-Identifier: } found=
		seen=$((seen + 1))
		while read -r pattern licence; do
			[[ $file != $pattern ]] || found=$licence
		done <"$dir/patterns"
		[ "${said%% *}" = "$found" ] ||
			{ echo "$file: $said; debian/copyright: $found"; wrong=1; }
	done < <(git grep -m 1 -E '^[^ ]{0,3} *SPDX-License-Identifier: ')
	[ $wrong = 0 ] && [ $seen -gt 100 ]
}

# Each source says under which licence it is, and who holds its copyright.
says_licences()
{
	{
		git ls-files '*.[ch]' '*.sh' '*.py' '*.am' '*.ac' '*.in' '*.[1-8]'
		git grep -lI '^#!'
	} | sort -u >"$dir/sources" && [ "$(wc -l <"$dir/sources")" -gt 100 ] &&
	! xargs grep -L 'SPDX-License-[I]dentifier: ' <"$dir/sources" | grep . &&
	! xargs grep -L 'SPDX-FileCopyright[T]ext: ' <"$dir/sources" | grep .
}

# Those that modify the machine declare it.
package_tests()
{
	local name

	same "$(sed -n 's/^Tests: //p' debian/tests/control | tr ' ' '\n')" \
		"$(find debian/tests -type f -perm -u+x -printf '%f\n')" || return
	for name in $(grep -lE '^(e2prefetch|dpkg|apt-get) .*(enable|install)' \
		debian/tests/*); do
		sed -n "/^Tests:.*${name##*/}/,/^\$/p" debian/tests/control |
			grep "^Restrictions:.*breaks-testbed.*needs-root" || return
	done
}

# The release contains all tracked files of these directories.
released()
{
	local file

	git ls-files debian packaging completions boot | grep -v '/Makefile\.am$' |
	while read -r file; do
		grep -qF "${file##*/}" Makefile.am completions/Makefile.am \
			boot/Makefile.am || { echo "not in the release: $file"; exit 1; }
	done
}

# Neither of them stands anywhere else.
only_there()
{
	same "$(printf '%s\n' debian/{changelog,control} packaging/origin \
		tests/scripts/test-documents.sh)" \
		"$(git grep -lF no-address@e2prefetch.invalid)" || return
	[ -z "$(init 3)$(init 5)" ] || same configure.ac \
		"$(git grep -lF -e "$(init 3)" -e "$(init 5)")"
}

test_packages()
{
	local file command

	while read -r file command; do
		tap_check "$file: the version" has_version "$file" "$command"
	done <<<"$facts"
	tap_check "a release has the address and the home page" origins
	tap_check "debian/control: Standards-Version" grep -E \
		'^Standards-Version: [0-9]+(\.[0-9]+){2,3}$' debian/control
	tap_check "README.source has every function that is interposed" \
		same "$(interposed)" "$(explained)"
	! have_program readelf || tap_check "libraries that are loaded by name" \
		loaded_are_linked
	tap_check "debian/tests and their restrictions" package_tests
	if git ls-files --error-unmatch debian/control >/dev/null 2>&1; then
		tap_check "address and home page stand nowhere else" only_there
		tap_check "each source has a licence" says_licences
		tap_check "debian/copyright: licences" same_licences
		tap_check "the release has what packages need" released
	else
		tap_skip "the whole tree" "no git here"
	fi
}

#
# Layers.
#

# Directory, and a pattern of the headers of other directories that it may include.
layers='lib none
prefetch lib/.*\.h
ext4 (lib|prefetch)/.*\.h
preload lib/.*\.h|prefetch/(filter|progress|report|session|settings|statistics|tasks)\.h
e2fsck (lib|prefetch|ext4|preload|e2fsck/accel)/.*\.h
e2fsck/accel lib/(mmap_io|weak)\.h|prefetch/settings\.h|preload/interpose\.h
btrfs (lib|prefetch|preload)/.*\.h
cmd (lib|prefetch|ext4)/.*\.h|btrfs/walk\.h'

# includes DIRECTORY ALLOWED: of its own headers and these.
includes()
{
	local file header bad=1

	while IFS=: read -r file header; do
		[ $bad != 1 ] || bad=0
		header=${header#*\"} header=${header%%\"*}
		[ -e "$1/$header" ] || [[ $header =~ ^($2)$ ]] ||
			{ echo "$file: $header"; bad=2; }
	done < <(grep -H '^#include "' "$1"/*.[ch])
	return $bad
}

# These deal with files and settings, too.
others='budget|cgroup|device|filter|share|speed|spindle|tasks|topology|progress|report|session|settings|statistics'
no_filesystem()
{
	! find prefetch -name '*.[ch]' | grep -vE "/($others)\." |
		xargs grep -nwiE \
		'ext2fs|ext[234]|e2fsck|groups?|inodes?|tables?|director(y|ies)|bitmaps?'
}

test_layers()
{
	local directory allowed

	while read -r directory allowed; do
		tap_check "$directory includes what it may" includes "$directory" \
			"$allowed"
	done <<<"$layers"
	tap_check "the engine speaks of no filesystem" no_filesystem
}

test_all()
{
	dir=$E2PF_TMP/documents
	mkdir -p "$dir/files"
	test_options
	test_manuals
	test_commands
	test_paths
	test_packages
	test_layers
}

[ -z "$E2PF_RUNTIME" ] || tap_skip_all "the sanitizer's runtime is not loaded"
setup mke2fs debugfs e2image
tap_run test_all
