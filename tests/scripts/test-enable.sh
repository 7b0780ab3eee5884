#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
#
# e2prefetch enable, disable and status, on a system in a directory: which links exist
# afterwards, also after a run was killed at each of its steps, on a full disk, and
# with files of others.  Then the effects: on fsck with the drop-in's PATH, on
# e2scrub and in an initramfs.  tools/check-upgrades.sh and tools/check-boot.sh test
# whole systems.

srcdir=${srcdir:-$(dirname "$0")/..}
. "$srcdir/tools/lib.sh"

ENABLE=$top_builddir/cmd/enable
top=$srcdir/..
BOOT=$top_builddir/boot
value_of() { sed -n "s/^$1=//p" "$ENABLE"; }
stock=$(value_of stock)
wrappers=$(value_of wrapper_directory)
wrapper=$wrappers/e2fsck
units=/etc/systemd/system
files="$units/systemd-fsck@.service.d/e2prefetch.conf
	$units/systemd-fsck-root.service.d/e2prefetch.conf
	/etc/initramfs-tools/hooks/e2prefetch /etc/dracut.conf.d/e2prefetch.conf"

new_root()
{
	root=$E2PF_TMP/root
	rm -rf "$root"
	mkdir -p "$root"/usr/sbin "$root$wrappers/boot" "$root$units" "$root${stock%/*}" \
		"$root"/etc/{initramfs-tools/hooks,dracut.conf.d} \
		"$root/usr/lib/systemd/system"
	echo stock >"$root$stock"
	echo wrapper >"$root$wrapper"
	chmod +x "$root$stock" "$root$wrapper"
	touch "$root/usr/lib/systemd/system"/systemd-fsck{@,-root}.service
	cp "$BOOT"/*.conf "$BOOT/initramfs-hook" "$BOOT/e2scrub.bash" \
		"$root$wrappers/boot"
	list >"$E2PF_TMP/before"
}

new_enabled_root() { new_root && run 0 enable; }

# Names, types, targets, modes and contents of all files.
list()
{
	(
		cd "$root" &&
		find . -printf '%y %m %p %l\n' &&
		find . -type f -exec sha256sum {} +
	) | sort
}

as_before() { list | diff "$E2PF_TMP/before" -; }

# run STATUS COMMAND [OPTION...]: runs a command on $root, which must exit with
# STATUS; its output goes to $said.
run()
{
	local status=0

	said=$(sh "$ENABLE" "${@:2}" --root="$root" 2>&1) || status=$?
	echo "$said"
	[ $status = "$1" ] || { echo "status $status"; return 1; }
}

# says TEXT: the output contains it.
says() { grep -qF -- "$1" <<<"$said" || { echo "not said: $1"; return 1; }; }

# begins TEXT: the first line of the output does.
begins() { [[ $said = "$1"* ]] || { echo "does not begin: $1"; return 1; }; }

lines() { [ "$(wc -l <<<"$said")" = "$1" ] || { echo "not $1 lines"; return 1; }; }

# Links to files that are there.
has_all_files()
{
	local file target

	for file in $files; do
		target=$(readlink "$root$file") && [ -s "$root$target" ] &&
			[[ $target = "$wrappers/boot/"* ]] ||
			{ echo "not there: $file"; return 1; }
	done
}

there_and_back()
{
	new_root
	run 1 status && begins "disabled: " &&
		says "systemd-fsck@.service.d/e2prefetch.conf: disabled" &&
	run 0 enable && says "enabled: " && has_all_files &&
	run 0 status && begins "enabled: " && says "hooks/e2prefetch: enabled" ||
		return
	list >"$E2PF_TMP/enabled"
	run 0 enable && list | diff "$E2PF_TMP/enabled" - || return
	run 0 disable && says "disabled: " && as_before &&
	run 0 disable && lines 1 && begins "disabled: " && run 1 status
}

state_of() { case $1 in *systemd-fsck.conf) echo enabled ;; *) echo disabled ;; esac; }

# What has the name of a link is the administrator's: a file, an edited copy of ours, or
# a link to /dev/null, which hides it.  All three commands say so, and leave it.
in_the_way()
{
	local file kind

	for file in $files; do
		for kind in "cp $root/other" "cp $BOOT/systemd-fsck.conf" \
			"ln -s /dev/null"; do
			new_root
			echo other >"$root/other"
			mkdir -p "$root${file%/*}"
			$kind "$root$file"
			list >"$E2PF_TMP/before"
			run 0 enable && says "$file: not e2prefetch's link" &&
			run 0 status && says "$file: $(state_of "$kind"): not e2pre" &&
			run 0 disable && says "$file: not e2prefetch's link" &&
				as_before ||
				return
		done
	done
	run 1 status && new_enabled_root && rm "$root$file" || return
	cp "$BOOT/dracut.conf" "$root$file"
	echo "# mine" >>"$root$file"
	run 0 enable && grep "# mine" "$root$file"
}

no_program()
{
	local wrong

	for wrong in "chmod 644" "truncate -s 0" rm; do
		new_root
		$wrong "$root$wrapper"
		list >"$E2PF_TMP/before"
		run 8 enable && lines 1 && says "cannot be run" && as_before || return
	done
	new_root
	rm "$root$stock"
	run 8 enable && lines 1 && says "$stock is missing"
}

nothing_here()
{
	new_root
	rm -r "${root:?}/etc"
	list >"$E2PF_TMP/before"
	run 8 enable && lines 1 && says "neither systemd nor an initramfs" &&
		as_before && run 1 status
}

# killed_at N COMMAND: wrappers of the programs that change something count their
# calls and kill the script at the Nth.  Fails if the run ended before.
killed_at()
{
	local bin=$E2PF_TMP/bin name steps

	if [ ! -d "$bin" ]; then
		mkdir "$bin"
		for name in mv rm mkdir rmdir ln; do
			cat >"$bin/$name" <<-END
			#!/bin/sh
			read -r n <$E2PF_TMP/step
			echo \$((n + 1)) >$E2PF_TMP/step
			[ "\$n" != "\$KILL_AT" ] || kill -9 0
			exec $(command -v $name) "\$@"
			END
			chmod +x "$bin/$name"
		done
	fi
	# To rebuild an initramfs is a step, too.
	sed -e "s|^PATH=|PATH=$bin:|" \
		-e 's|^\t\tsay "rebuild|\t\trm -f /nosuch/file; &|' \
		"$ENABLE" >"$E2PF_TMP/killable"
	echo 1 >"$E2PF_TMP/step"
	# In a process group of its own.  This shell's message about its death is
	# discarded.
	(
		KILL_AT=$1 setsid --wait sh "$E2PF_TMP/killable" "${@:2}" --root="$root"
		:
	) >"$E2PF_TMP/killed.out" 2>&1
	read -r steps <"$E2PF_TMP/step"
	[ "$steps" -gt "$1" ]
}

# killed_everywhere STATE COMMAND: STATE creates the machine.  After each kill,
# `enable' must lead to the listing of an enabled machine, and `disable' to that of
# one that was never enabled.
killed_everywhere()
{
	local n finish

	new_enabled_root && list >"$E2PF_TMP/enabled" || return
	for ((n = 1; ; n++)); do
		for finish in enable disable; do
			$1 >/dev/null || return
			killed_at $n "$2" || { [ $n -gt 4 ]; return; }
			run 0 $finish >/dev/null &&
			if [ $finish = enable ]; then
				list | diff "$E2PF_TMP/enabled" - && run 0 status
			else
				as_before && run 1 status
			fi || { echo "step $n, then $finish"; return 1; }
		done
	done
}

# is_rebuilt DIRECTORY: wherever a run of `disable' was killed, the initramfs has been
# rebuilt when the next one has ended, on a machine with only this of its tools.
is_rebuilt()
{
	local n others=initramfs-tools

	[ "$1" = initramfs-tools ] && others=dracut.conf.d
	for ((n = 1; ; n++)); do
		new_root && rm -r "$root/etc/$others" && run 0 enable || return
		killed_at $n disable || { [ $n -gt 4 ]; return; }
		run 0 disable &&
		grep -q "rebuild the initramfs" "$E2PF_TMP/killed.out" - <<<"$said" ||
			{ echo "step $n: not rebuilt"; return 1; }
	done
}

# in_small_etc COMMAND...: runs it with /etc on a separate filesystem that has room for
# four more files.
in_small_etc()
{
	unshare --mount bash -c '
		root=$1
		shift
		cp -a "$root/etc" "$root/etc.saved" &&
		mount -t tmpfs -o size=64k,mode=755,nr_inodes=$(($(find "$root/etc" |
			wc -l) + 4)) none "$root/etc" &&
		cp -a "$root/etc.saved/." "$root/etc" && rm -r "$root/etc.saved" &&
		"$@"' bash "$root" "$@"
}

# in_both FUNCTION: for enable and disable.
in_both()
{
	export -f list as_before run says lines "$1"
	export ENABLE E2PF_TMP root
	new_root
	in_small_etc "$1" enable || return
	new_enabled_root
	in_small_etc "$1" disable
}

# A directory for each of two drop-ins, a link, and what fills the disk.
full_disk()
{
	cat /dev/zero >"$root/etc/filling" 2>/dev/null
	if [ "$1" = enable ]; then
		run 8 enable && says "cannot make a link" && run 4 status &&
		rm "$root/etc/filling" && run 8 enable &&
		mount -o remount,nr_inodes=0 "$root/etc" && run 0 enable && run 0 status
	else
		run 0 disable && run 1 status
	fi
}

read_only()
{
	mount -o remount,ro "$root/etc"
	list >"$E2PF_TMP/before"
	run 8 "$1" && says "e2prefetch: cannot " && as_before
}

# by_package NAME ARGUMENT: run a script of the package, with its paths changed to those
# of $root.  Sets $triggers.
by_package()
{
	sed -e "s|\([[:space:]=]\)/etc|\1$root/etc|g; s|/usr/libexec/e2prefetch|$wrappers|" \
		-e "s|/run/e2prefetch|$root/run/e2prefetch|; s|dpkg-trigger|echo|" \
		-e "s|/run/systemd/system|/nosuch|" "$top/debian/e2prefetch.$1" \
		>"$E2PF_TMP/script" &&
	! grep -v '^#' "$E2PF_TMP/script" | grep -E '[[:space:]=]/(etc|usr|run)' &&
	triggers=$(sh "$E2PF_TMP/script" "$2")
}

rebuilds() { [ "$triggers" = "--no-await update-initramfs" ]; }

# Also if the package's files are gone, and after a run of `disable' was killed.  What
# the administrator put in a link's place stays.
postrm_removes()
{
	local call file=${files%%
*}

	for call in remove purge; do
		new_root && rm -r "$root$wrappers" && list >"$E2PF_TMP/gone" &&
		new_enabled_root && rm -r "$root$wrappers" &&
		mv "$E2PF_TMP/gone" "$E2PF_TMP/before" &&
		mkdir -p "$root/run/e2prefetch" &&
		touch "$root/run/e2prefetch/1.progress" &&
		mv "$root/etc/dracut.conf.d/e2prefetch.conf"{,.removed~} &&
		by_package postrm $call && rm -d "$root/run" && as_before &&
		rebuilds && by_package postrm $call && as_before &&
		[ -z "$triggers" ] || return
	done
	new_enabled_root && by_package postrm upgrade && has_all_files &&
	rm "$root$file" && echo mine >"$root$file" && by_package postrm purge &&
		grep mine "$root$file"
}

# An upgrade changes no file, and has the initramfs rebuilt if that has some of ours.
postinst_changes_nothing()
{
	new_root && by_package postinst configure && [ -z "$triggers" ] && as_before &&
	new_enabled_root &&
		rm "$root$units"/systemd-fsck{@,-root}.service.d/e2prefetch.conf &&
	echo mine >"$root$units/systemd-fsck@.service.d/e2prefetch.conf" &&
	list >"$E2PF_TMP/before" && by_package postinst configure && as_before || return
	# From outside the links of $root lead nowhere.
	[ -z "$triggers" ] && rm "$root/etc/dracut.conf.d/e2prefetch.conf" &&
	: >"$root/etc/dracut.conf.d/e2prefetch.conf" &&
	by_package postinst configure && rebuilds
}

wrong_usage()
{
	new_root
	run 16 enable disable && lines 1 && run 16 enable --everywhere && lines 1 &&
	run 16 status /dev/sda && lines 1 && root=relative run 16 enable
}

# but TEXT COMMAND...: after COMMAND on an enabled machine, status says TEXT.
but()
{
	new_enabled_root && "${@:2}" && run 4 status && begins "partly enabled" &&
		says "$1"
}

says_why_not()
{
	local file

	but "$stock is missing" rm "$root$stock" &&
	but "cannot be run: reinstall e2prefetch" chmod 644 "$root$wrapper" &&
	but "cannot be run: reinstall e2prefetch" rm "$root$wrapper" || return
	for file in $files; do
		but "$file: disabled" rm "$root$file" &&
		but "$file: enabled, but" rm -r "$root$wrappers/boot" || return
	done
	new_enabled_root && mkdir -p "$root$(dirname "$(value_of settings |
		sed 's|^@||')")" &&
	printf '# mine\n\n mem = 7M\n' >"$root$(value_of settings)" &&
	run 0 status && says "settings in $root" && says "  mem = 7M" &&
		! says "# mine" >/dev/null
}

# A link is made where something reads it; one whose unit has gone goes, too.
no_unit()
{
	local unit=systemd-fsck-root.service

	new_root
	rm -r "$root/usr/lib/systemd/system/$unit" "$root/etc/dracut.conf.d"
	list >"$E2PF_TMP/before"
	run 0 enable && [ ! -e "$root$units/$unit.d" ] && run 0 status &&
	says "not needed: no $unit" &&
	says "not needed: no $root/etc/dracut.conf.d" &&
	run 0 disable && as_before && new_enabled_root || return
	rm "$root/usr/lib/systemd/system/$unit"
	run 0 status && says "enabled, but without effect: no $unit" &&
	run 0 disable && [ ! -e "$root$units/$unit.d" ]
}

# in_use STATUS TEXT [TOOL PRINTS]: status says it on a machine with lsinitramfs,
# journalctl and systemctl, one of which prints this from here on.
in_use()
{
	[ $# = 2 ] || echo "$4" >"$E2PF_TMP/tools/$3.prints"
	sed -e "s|^PATH=|PATH=$E2PF_TMP/tools:|" -e "s|^root=.*|root=$root|" \
		-e 's|elif \[ -z "\$root" \]|elif true|' \
		-e 's/\[ -n "\$root" \] || set/set/' \
		"$ENABLE" >"$E2PF_TMP/with-tools"
	ENABLE=$E2PF_TMP/with-tools run "$1" status && says "$2"
}

says_what_is_in_use()
{
	local name tools=$E2PF_TMP/tools

	mkdir "$tools"
	for name in lsinitramfs journalctl systemctl; do
		printf '#!/bin/sh\necho "$*" >>%s.asked\ncat %s.prints\n' \
			"$tools/$name" "$tools/$name" >"$tools/$name"
		: >"$tools/$name.prints"
	done
	chmod +x "$tools"/*
	new_enabled_root && mkdir -p "$root/boot" && touch "$root/boot/initrd.img-1" &&
	in_use 0 "hooks/e2prefetch: enabled" &&
	! says "last prefetched walks" >/dev/null &&
	in_use 0 "  2026-01-02T03:04:05 /dev/sda1: nothing read ahead: memory" \
		journalctl "2026-01-02T03:04:05 host e2prefetch[1]: e2prefetch: \
/dev/sda1: nothing read ahead: memory
2026-01-02T03:04:06 host e2prefetch[2]: e2fsck: /dev/sda1: checked" &&
		! says checked >/dev/null &&
	in_use 0 "hooks/e2prefetch: enabled" lsinitramfs "${wrappers#/}/e2fsck" &&
		! says "enabled, but" >/dev/null &&
	in_use 4 "hooks/e2prefetch: enabled, but not in the initramfs" \
		lsinitramfs usr/sbin/e2fsck &&
	in_use 0 "the initramfs has no e2fsck: nothing to do" lsinitramfs usr/bin/sh &&
	in_use 0 "systemd-fsck@.service.d/e2prefetch.conf: enabled" \
		systemctl "Environment=PATH=$wrappers/enabled:/usr/sbin X=1" &&
		! says "PATH is set" >/dev/null &&
		grep "Environment systemd-fsck@x.service" "$tools/systemctl.asked" &&
	in_use 4 "PATH is set elsewhere: see systemctl cat systemd-fsck@x.service" \
		systemctl "Environment=PATH=/usr/sbin"
}

# Settings that are newer than all that were copied into an initramfs.
old_copy()
{
	local conf image text="the initramfs has an older copy"

	new_enabled_root
	conf=$root$(value_of settings) image=$root/boot/initrd.img-1
	mkdir -p "${conf%/*}" "$root/boot"
	echo "mem = 7M" >"$conf"
	run 0 status && ! says "$text" >/dev/null && touch -d '-1 hour' "$image" &&
	run 0 status && says "$text" && touch -d '+1 hour' "$image-new" &&
	run 0 status && ! says "$text" >/dev/null
}

# The real wrapper and preload library, in a directory.  problem_is TEXT: status says it.
problem_is()
{
	sed -e "s|^wrapper_directory=.*|wrapper_directory=$dir|" \
		-e "s|^btrfs=.*|btrfs=/nosuch|" "$ENABLE" >"$dir/status"
	said=$(sh "$dir/status" status)
	echo "$said"
	[[ ${said#*$'\n'} = "e2fsck-prefetch: "$1* ]]
}

finds_problems()
{
	local name

	dir=$E2PF_TMP/problems
	mkdir -p "$dir/enabled"
	cp "$E2FSCK_TEST" "$dir/e2fsck" &&
	cp "$top_builddir/e2fsck/.libs/e2fsck-prefetch.so" "$dir" || return
	for name in e2fsck fsck.ext4; do
		ln -s ../e2fsck "$dir/enabled/$name"
	done
	problem_is "runs $stock" || return
	rm "$dir/e2fsck-prefetch.so"
	problem_is "cannot prefetch: preload library: not loaded" || return
	: >"$dir/e2fsck"
	problem_is "the preload library is not loaded" || return
	rm "$dir/e2fsck"
	problem_is "$dir/e2fsck cannot be run"
}

# answers STATUS WRAPPER [VARIABLE=VALUE...]: whether it would prefetch through a link in
# another directory.
answers()
{
	local status=0 link=$E2PF_TMP/linked/${2##*/}

	mkdir -p "${link%/*}" && ln -sf "$(realpath "$2")" "$link" &&
	env -u PREFETCH "${@:3}" "$link" --prefetch-status >"$E2PF_TMP/answer" 2>&1 ||
		status=$?
	[ $status = "$1" ] || { echo "$*: $status"; return 1; }
}

# stock_answers PREFETCH WRAPPER ARGUMENT...: to these the answer is the stock
# program's.
stock_answers()
{
	local stock=0 ours=0

	PREFETCH=0 "${@:2}" >/dev/null 2>&1 || stock=$?
	PREFETCH=$1 "${@:2}" >/dev/null 2>&1 || ours=$?
	[ $stock = $ours ] && [ $stock != 0 ]
}

# answers_by_status WRAPPER: each status of ours, and where none is.
answers_by_status()
{
	answers 40 "$1" && [ ! -s "$E2PF_TMP/answer" ] &&
	answers 41 "$1" PREFETCH_MEM=99 &&
	grep -q "PREFETCH_MEM" "$E2PF_TMP/answer" &&
	answers 41 "$1" PREFETCH_CONFIG="$E2PF_TMP/off.conf" &&
	(ulimit -d 4000000 && answers 42 "$1") &&
	grep -q "not loaded" "$E2PF_TMP/answer" &&
	stock_answers "" "$1" --prefetch-status &&
	stock_answers 1 "$1" --prefetch-status /nosuch
}

#
# What the files do.
#

# A directory of wrappers that are scripts, and of stock programs.
make_enabled()
{
	local name

	dir=$E2PF_TMP/enabled.d
	rm -rf "$dir"
	mkdir -p "$dir/wrappers/enabled" "$dir/stock"
	for name in e2fsck fsck.ext4; do
		printf '#!/bin/sh\necho stock\n' >"$dir/stock/$name"
		ln -s ../e2fsck "$dir/wrappers/enabled/$name"
	done
	printf '#!/bin/sh\necho wrapper\n' >"$dir/wrappers/e2fsck"
	chmod +x "$dir/stock"/* "$dir/wrappers/e2fsck"
	: >"$dir/image"
}

# fsck_runs wrapper|stock: with the drop-in's PATH.
fsck_runs()
{
	local path

	path=$(sed -n 's/^Environment=PATH=//p' "$BOOT/systemd-fsck.conf")
	[[ $path = "$wrappers/enabled:/usr/local/sbin:"* ]] || return
	said=$(PATH=$dir/wrappers/enabled:$dir/stock:${path#*:} \
		fsck -t ext4 "$dir/image" 2>&1)
	echo "$said"
	[ "$(tail -n 1 <<<"$said")" = "$1" ]
}

# scrub_runs wrapper|stock: call e2fsck as e2scrub does, with an empty variable before
# its full path, after its configuration has what e2scrub.bash says.
scrub_runs()
{
	sed -n "s|^#\t||p" "$BOOT/e2scrub.bash" | grep . |
		sed "s|$wrappers/boot|$dir|g" >"$dir/e2scrub.conf"
	[ -s "$dir/e2scrub.conf" ] || return
	[ "${2-}" = without ] ||
	sed -e "s|^/[a-z/]*e2fsck()|$dir/stock/e2fsck()|" \
		-e "s|_check /[a-z/]*e2fsck|_check $dir/stock/e2fsck|" \
		-e "s|wrapper=/[^ ]*|wrapper=$dir/wrappers/enabled/e2fsck|" \
		"$BOOT/e2scrub.bash" >"$dir/e2scrub.bash"
	printf '#!/bin/bash\n. %s\n${DBG} "%s" -f -y x\n' \
		"$dir/e2scrub.conf" "$dir/stock/e2fsck" >"$dir/e2scrub"
	said=$(bash -e "$dir/e2scrub" 2>&1)
	echo "$said"
	[ "$said" = "$1" ]
}

# Without wrappers fsck and e2scrub run the stock programs.
goes_on()
{
	make_enabled
	"$1" wrapper && chmod 644 "$dir/wrappers/e2fsck" && "$1" stock &&
	rm "$dir/wrappers/e2fsck" && "$1" stock &&
	rm -r "$dir/wrappers" && "$1" stock || return
	[ "$1" != scrub_runs ] || {
		rm "$dir/e2scrub.bash"
		scrub_runs stock without
	}
}

# make_initramfs: an image in the state in which initramfs-tools calls the hook.
make_initramfs()
{
	dir=$E2PF_TMP/initramfs
	rm -rf "$dir"
	mkdir -p "$dir/image$dir/stock" "$dir/wrappers" "$dir/bin"
	printf '#!/bin/sh\necho e2fsck 1.47\n' >"$dir/wrappers/e2fsck"
	echo library | tee "$dir/wrappers"/e2fsck-{accel,prefetch}.so >/dev/null
	chmod +x "$dir/wrappers/e2fsck"
	echo stock >"$dir/image$dir/stock/e2fsck"
	echo "prefetch = 1" >"$dir/conf"
	cat >"$dir/functions" <<-END
	copy_exec()
	{
		mkdir -p "\$DESTDIR\${1%/*}" && cp "\$1" "\$DESTDIR\$1" || return 2
		return \${COPIED-0}
	}
	copy_file() { copy_exec "\$2"; }
	END
	# If chroot is not possible, the copy is run from outside.
	cat >"$dir/bin/chroot" <<-END
	#!/bin/sh
	shift
	"$dir/image\$@"
	END
	chmod +x "$dir/bin/chroot"
	sed -e "s|^wrappers=.*|wrappers=$dir/wrappers|" \
		-e "s|^settings=.*|settings=$dir/conf|" \
		-e "s|$stock|$dir/stock/e2fsck|" \
		-e "s|^PATH=|PATH=$dir/bin:|" \
		-e "s|/usr/share/initramfs-tools/hook-functions|$dir/functions|" \
		"$BOOT/initramfs-hook" >"$dir/hook"
}

image_list() { (cd "$dir/image" && find . ! -type d -printf '%p %l\n' | sort); }

run_hook() { said=$(DESTDIR=$dir/image sh "$dir/hook" 2>&1); }

# init reads a file that puts the wrappers first in PATH.
hook_copies()
{
	local copied

	[ -z "$(sh "$BOOT/initramfs-hook" prereqs)" ] || return
	for copied in 0 1; do
		make_initramfs
		COPIED=$copied run_hook && [ -z "$said" ] &&
		[ -x "$dir/image$dir/wrappers/e2fsck" ] &&
		[ -s "$dir/image$dir/wrappers/e2fsck-prefetch.so" ] &&
		[ -s "$dir/image$dir/wrappers/e2fsck-accel.so" ] &&
		[ -s "$dir/image$dir/conf" ] &&
		[ "$(readlink "$dir/image$dir/wrappers/enabled/fsck.ext4")" = \
			../e2fsck ] &&
		[ "$(cat "$dir/image$dir/stock/e2fsck")" = stock ] || return
	done
	[ "$(sh -ec 'PATH=/bin; . "$1"; echo $PATH' sh \
		"$dir/image/conf/conf.d/e2prefetch")" = \
		"$dir/wrappers/enabled:/bin" ]
}

# left_out TEXT COMMAND...: after COMMAND the hook succeeds, says TEXT, and the image is
# unchanged.
left_out()
{
	make_initramfs
	(cd "$dir" && "${@:2}") && image_list >"$dir/list"
	run_hook && [[ $said = *$1* ]] && image_list | diff "$dir/list" -
}

hook_leaves_out()
{
	left_out "does not run there: not added" truncate -s 0 wrappers/e2fsck &&
	left_out "not added" rm wrappers/e2fsck-prefetch.so &&
	left_out "" rm "image$dir/stock/e2fsck" && [ -z "$said" ] &&
	left_out "" rm -r wrappers && [ -z "$said" ]
}

# dracut reads a bash script.
written_for_dracut()
{
	local install_optional_items='' name

	. "$BOOT/dracut.conf"
	echo "$install_optional_items"
	for name in "$wrapper" "$wrapper"-{accel,prefetch}.so \
		"$wrappers/enabled/fsck.ext4" \
		"$wrappers/boot/systemd-fsck.conf" \
		"$units/systemd-fsck-root.service.d/e2prefetch.conf"; do
		[[ $install_optional_items = *" $name "* ]] || return
	done
}

test_files()
{
	skipped "enable and disable" "$(have_root || echo "not root")" && return
	tap_check "enable and disable" there_and_back
	tap_check "files of the administrator" in_the_way
	tap_check "no wrapper, or one that does not run" no_program
	tap_check "nothing that could use it" nothing_here
	tap_check "enable killed at each step" killed_everywhere new_root enable
	tap_check "disable killed at each step" killed_everywhere new_enabled_root disable
	tap_check "disable killed: initramfs-tools is called" is_rebuilt initramfs-tools
	tap_check "disable killed: dracut is called" is_rebuilt dracut.conf.d
	tap_unless "$(no_mounts)" "a full disk" in_both full_disk
	tap_unless "$(no_mounts)" "an /etc that is read-only" in_both read_only
	tap_check "wrong usage" wrong_usage
	tap_check "status says what is wrong, and the settings" says_why_not
	tap_check "status says whether a link is in use" says_what_is_in_use
	tap_check "a link that nothing would read" no_unit
	tap_check "status says if an initramfs has older settings" old_copy
	tap_check "the package's postrm removes what is enabled" postrm_removes
	tap_check "its postinst changes nothing" postinst_changes_nothing
}

test_enable()
{
	test_files
	tap_unless "$(lacks fsck)" \
		"fsck runs the wrapper, or without it the stock program" \
		goes_on fsck_runs
	tap_check "and so does e2scrub" goes_on scrub_runs
	tap_check "the hook copies what the wrapper needs" hook_copies
	tap_check "the hook leaves out what does not run" hook_leaves_out
	tap_check "the list for dracut" written_for_dracut
	skipped "status runs the wrapper" \
		"${E2PF_RUNTIME:+a sanitizer goes before the preload library}" &&
		return
	tap_check "status runs the wrapper and loads the preload library" finds_problems
	echo "prefetch = 0" >"$E2PF_TMP/off.conf"
	tap_check "each answer of e2fsck's wrapper" answers_by_status "$E2FSCK_TEST"
	tap_unless "$(lacks btrfs)" "each answer of btrfs's" answers_by_status \
		"$top_builddir/btrfs/btrfs"
}

setup mke2fs
tap_run test_enable
