# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The source package of what is installed on this machine, by apt.  Sourced.
# Nothing of the machine's configuration changes: apt works on a state of its
# own.

# Lines for apt of where this machine has its packages from, for sources.  A
# machine that never asked for the lists gets Debian's own server.
source_lines()
{
	local key lines

	key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r $key ] && key="[signed-by=$key] " || key=
	# shellcheck disable=SC2016
	lines=$(apt-get indextargets 'Created-By: Packages' --format \
		'$(ORIGIN) $(COMPONENT) $(REPO_URI) $(RELEASE)' 2>/dev/null |
		awk -v key="$key" '
		$1 == "Debian" || $1 == "Ubuntu" {
			if ($2 == "main" && !seen[$3, $4]++)
				print "deb-src " ($1 == "Debian" ? key : "") \
					$3 " " $4 " main"
		}')
	[ -n "$lines" ] || lines=$(
		# shellcheck source=/dev/null
		. /etc/os-release
		[ "$ID" != debian ] ||
			echo "deb-src ${key}http://deb.debian.org/debian" \
				"${VERSION_CODENAME-sid} main"
	)
	printf '%s\n' "$lines"
}

# apt_get DIR OPTION...: with what DIR holds in the place of /etc/apt's lists.
apt_get()
{
	local dir=$1

	shift
	apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" \
		-o Dir::Cache="$dir/cache" -o Debug::NoLocking=1 \
		-o APT::Sandbox::User=root "$@"
}

# apt_update COMMAND...: COMMAND update.  A mirror that is not brought up to
# date any more has lists whose time is over; who signed them is still asked.
apt_update()
{
	local said

	said=$("$@" update 2>&1)
	case $?,$said in
	0,*) printf '%s\n' "$said"; return 0 ;;
	*"is expired"*|*"not valid until"*) ;;
	*) printf '%s\n' "$said"; return 1 ;;
	esac
	"$@" -o Acquire::Check-Valid-Until=false update
}

# download DIR PACKAGE VERSION: into DIR/src.  A mirror may lack the signature beside
# an archive; what is there apt has compared with the lists, which are signed too.
download()
{
	cd "$1/src" || return
	apt_get "$1" --download-only --ignore-missing source "$2=$3" ||
		compgen -G "$2_*.orig.tar.*" >/dev/null
}

# why_not LOG: what apt complained of first, or the last line.
why_not() { grep -m 1 -E '^[EW]: ' "$1" || tail -n 1 "$1"; }

# unpack_source DIR PACKAGE VERSION SOURCES: by apt, whose sources.list SOURCES is.
unpack_source()
{
	local dir=$1 package=$2 version=$3

	rm -rf "$dir"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$dir/src"
	printf '%s\n' "$4" >"$dir/sources.list"
	apt_update apt_get "$dir" &&
		(download "$dir" "$package" "$version") &&
		dpkg-source --no-check --no-copy -x "$dir/src/${package}"_*.dsc \
			"$dir/source" >"$dir/log" || return
	rm -rf "$dir/src" "$dir/lists" "$dir/cache" "$dir/log"
}

# source_package DIR PACKAGE [BINARY]: DIR/source is the source of PACKAGE, of
# the version that BINARY is installed in, DIR/version that version.  Kept when
# it is there.  Otherwise 1, and why_not() finds the reason in what it said.
# DIR is an absolute path.
source_package()
{
	local dir=$1 package=$2 version program

	for program in apt-get dpkg-query dpkg-source; do
		have_program $program || {
			echo "$program not found"
			return 1
		}
	done
	version=$(dpkg-query -W -f '${source:Version}' "${3-$2}") || return
	[ "$(cat "$dir/version" 2>/dev/null)" != "$version" ] || return 0
	unpack_source "$dir" "$package" "$version" "$(source_lines)" || return
	printf '%s\n' "$version" >"$dir/version"
}
