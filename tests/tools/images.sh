# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: the e2prefetch contributors
# shellcheck shell=bash
#
# Small filesystems, one for each feature of ext2, ext3 and ext4 that changes where
# metadata is stored or how it is read.  They are reproducible: UUID, hash seed and
# clock are fixed, and debugfs adds files in a fixed order (mke2fs -d uses the order of
# the host's readdir).
#
# Sourced by lib.sh.  image_names prints the names, image_make NAME FILE makes one,
# small_image the one that most scripts need.  This file does not know the checker under
# test; it uses the stock one to build htree directories and to correct counts.

IMAGE_UUID=e2f5e2f5-0001-4002-8003-000000000001
IMAGE_JUUID=e2f5e2f5-0001-4002-8003-000000000002
IMAGE_SEED=e2f5e2f5-0001-4002-8003-000000000003

# small_files DIRECTORY: 12 directories of 30 files each, for mkfs.btrfs --rootdir.
small_files()
{
	local d f

	for d in $(seq 12); do
		mkdir -p "$1/$d"
		for f in $(seq 30); do
			printf '%*s' $((f * 90)) '' >"$1/$d/a-file-named-$f"
		done
	done
}

# sparse FILE SIZE BLOCK...: a file with data in these blocks of SIZE bytes.
sparse()
{
	perl -e '($file, $size, @blocks) = @ARGV;
		open F, ">", $file or die "$file: $!";
		for (@blocks) {
			seek F, $_ * $size, 0;
			print F chr(97 + $_ / 2 % 26) x $size;
		}' "$@"
}

# dirblocks BLOCKSIZE INO PARENT TARGET COUNT LENGTH: directory blocks, with COUNT names
# of LENGTH bytes for inode TARGET.  debugfs takes minutes for as many, because it
# searches the directory each time.
dirblocks()
{
	perl -e '($bs, $ino, $parent, $target, $count, $len) = @ARGV;
		$size = 8 + $len + 3 & ~3;
		@e = ([$ino, 12, 2, "."], [$parent, 12, 2, ".."]);
		for ($i = 0, $room = $bs - 24; $i < $count || @e; $room = $bs, @e = ()) {
			for (; $i < $count && $room >= $size; $room -= $size) {
				$name = sprintf("%015d", $i++) . "n" x ($len - 15);
				push @e, [$target, $size, 1, $name];
			}
			$e[-1][1] += $room;	# to the end of the block
			print pack "VvCCa" . ($_->[1] - 8), $_->[0], $_->[1],
				length $_->[3], $_->[2], $_->[3] for @e;
		}' "$@"
}

# Features are named one by one, never taken from the host's mke2fs.conf.
images_setup()
{
	IMAGE_SRC=$E2PF_TMP/src
	mkdir -p "$IMAGE_SRC"
	{
		printf '%s\n' '[defaults]' 'base_features = none' \
			'default_mntopts = acl,user_xattr' 'enable_periodic_fsck = 0' \
			'blocksize = 4096' 'inode_size = 256' 'inode_ratio = 16384' \
			'[fs_types]'
		printf '%s = {\nreserved_ratio = 5\n}\n' ext2 ext3 ext4 small
	} >"$IMAGE_SRC/mke2fs.conf"
	export MKE2FS_CONFIG=$IMAGE_SRC/mke2fs.conf
	export MKE2FS_SKIP_CHECK_MSG=1 MKE2FS_SKIP_PROGRESS=1
	image_sources
}

# Files of the host that are copied into images.
image_sources()
{
	local s=$IMAGE_SRC n

	for n in 40 600 5000 70000; do
		head -c "$n" /dev/zero | tr '\0' "$((n % 7))" >"$s/f$n"
	done
	head -c 20000 /dev/zero | tr '\0' x >"$s/xattr-large"
	head -c 600 /dev/zero | tr '\0' y >"$s/xattr-block"
	# Every second block is a hole: as many extents as blocks.
	sparse "$s/frag1k" 1024 {0..1398..2}
	sparse "$s/frag4k" 4096 {0..2998..2}
	sparse "$s/frag8k" 8192 {0..1398..2}
	sparse "$s/frag64k" 65536 {0..10..2}
	# These offsets are reached through the inode and through single, double and
	# triple indirect blocks, which start behind 4 GB with 4k blocks.
	sparse "$s/sparse1k" 1024 0 20 300 9000 66000 67000 200000
	sparse "$s/sparse4k" 4096 0 20 1030 5000 1049700 1060000
	image_tree >"$s/tree.cmd"
}

# debugfs commands: a tree with a file of each kind.
image_tree()
{
	local s=$IMAGE_SRC d i name path=/deep
	local long=a-name-that-is-long-on-purpose-so-that-few-fit-in-a-block

	for d in 0 1 2 3; do
		echo "mkdir /d$d"
		for ((i = 0; i < 12; i++)); do
			echo "write $s/f$((i % 2 ? 600 : 40)) /d$d/f$i"
		done
	done
	echo "write $s/f5000 /d0/f5000"
	echo "write $s/f70000 /d1/f70000"
	echo "mkdir /deep"
	for ((i = 0; i < 16; i++)); do
		path=$path/$i
		echo "mkdir $path"
	done
	echo "mkdir /many"
	for ((i = 0; i < 150; i++)); do
		printf 'symlink /many/%s-%s-%03d t%d\n' "$long" "$long" "$i" "$i"
	done
	name=$long
	for i in 1 2 3; do
		name=$name/$name
	done
	echo "symlink /slow ${name:0:900}"
	echo "symlink /fast d0/f0"
	echo "ln /d0/f0 /hard0"
	echo "ln /d0/f0 /d1/hard1"
	echo "sif /d0/f0 links_count 3"
	# mknod takes no path, only a name in the current directory.
	echo "cd /d2"
	echo "mknod char c 1 3"
	echo "mknod block b 300 1000"
	echo "mknod pipe p"
	echo "cd /"
	echo "ea_set /d0/f1 user.small value"
	echo "ea_set /d0/f2 user.other another-value"
	echo "ea_set -f $s/xattr-block /d0/f3 user.block"
	echo "ea_set -f $s/xattr-block /d1 user.dir"
}

# The recipes: name, size, options of mke2fs, and further steps.  The step NAME is the
# function image_do_NAME, or the file of this name is written, without its size.
image_table()
{
	local e4=extent,flex_bg,dir_index,filetype,sparse_super,large_file
	local e4=$e4,huge_file,dir_nlink,extra_isize,ext_attr
	local e3=dir_index,filetype,sparse_super,large_file,ext_attr
	local csum=$e4,metadata_csum,64bit,resize_inode
	local j="-J size=4"

	cat <<-END
	ext2-1k-i128|6M|-b 1024 -I 128 -O $e3,resize_inode|tree sparse1k
	ext2-4k-i128|12M|-I 128 -O $e3|tree sparse4k frag4k
	ext2-rev0|2M|-r 0 -b 1024 -I 128|f600
	ext3-1k|8M|-b 1024 -g 1024 -O $e3,has_journal -J size=1|tree sparse1k frag1k
	ext3-2k|16M|-b 2048 -O $e3,has_journal,resize_inode $j|tree frag4k
	ext3-no-index|6M|-b 1024 -O filetype,ext_attr|tree
	ext4-1k|10M|-b 1024 -g 2048 -O $csum,has_journal -J size=1|tree frag1k
	ext4-2k-i512|12M|-b 2048 -I 512 -O $csum|tree frag4k
	ext4-4k|24M|-O $csum,has_journal $j|tree frag4k
	ext4-4k-i1024|16M|-I 1024 -O $csum|tree sparse4k
	ext2-16k|24M|-b 16384 -g 512 -I 128 -O $e3|tree sparse4k
	ext2-32k|32M|-b 32768 -O $e3|tree sparse4k
	ext3-8k|32M|-b 8192 -O $e3,has_journal -J size=8|tree frag8k recovery
	ext4-8k|32M|-b 8192 -g 1024 -O $csum,has_journal -J size=8|tree frag8k
	ext4-16k|48M|-b 16384 -g 1024 -O $csum,has_journal -J size=16|tree frag64k htree2 recovery_csum
	ext4-32k|48M|-b 32768 -g 512 -O $csum,inline_data -N 600|tree frag64k
	ext4-64k|48M|-b 65536 -O $csum -N 600|tree frag64k htree2
	ext4-64k-recovery|160M|-b 65536 -g 512 -O $e4,has_journal -J size=64 -N 600|tree recovery
	ext4-bigalloc-2m|1200M|-g 256 -O $csum,bigalloc,^resize_inode -C 2097152 -N 1024|tree frag4k
	ext4-bigalloc-8k|96M|-b 8192 -g 256 -O $csum,bigalloc,^resize_inode -C 131072 -N 600|tree frag8k
	ext4-bigalloc-64k|1G|-b 65536 -g 256 -O $csum,bigalloc,^resize_inode -C 2097152 -N 600|tree frag64k
	ext4-no-csum|12M|-O $e4,has_journal $j|tree frag4k
	ext4-uninit-bg|24M|-b 1024 -O $e4,uninit_bg -E lazy_itable_init=1|tree frag1k
	ext4-lazy-itable|24M|-b 1024 -O $csum -N 8192 -E lazy_itable_init=1|tree
	ext4-no-flex|20M|-b 1024 -g 2048 -O $csum,^flex_bg|tree frag1k
	ext4-flex-64|20M|-b 1024 -g 512 -G 64 -O $csum|tree frag1k
	ext4-no-64bit|12M|-O $e4,metadata_csum|tree
	ext4-csum-seed|12M|-O $csum,metadata_csum_seed|tree frag4k
	ext4-meta-bg|16M|-b 1024 -g 256 -O $csum,meta_bg,^resize_inode|tree frag1k
	ext4-meta-bg-no-csum|16M|-b 1024 -g 256 -O $e4,meta_bg|tree
	ext4-sparse-super2|16M|-b 1024 -g 1024 -O $e4,metadata_csum,sparse_super2 -E num_backup_sb=2|tree
	ext4-backup-all|8M|-b 1024 -g 1024 -O ^sparse_super,extent,filetype|tree
	ext4-bigalloc|16M|-O $csum,bigalloc,^resize_inode -C 16384|tree frag4k
	ext4-bigalloc-1k|32M|-b 1024 -O $csum,bigalloc,^resize_inode -C 65536 -N 1024|tree frag1k
	ext4-inline|8M|-b 1024 -O $csum,inline_data|tree
	ext4-inline-i512|8M|-I 512 -O $csum,inline_data|tree
	ext4-ea-inode|12M|-O $csum,ea_inode|tree ea_large
	ext4-large-dir|12M|-b 1024 -O $csum,large_dir|tree
	ext4-htree-3|56M|-b 1024 -O $e4,large_dir -N 1024|tree htree3
	ext4-htree-2|8M|-b 1024 -O $csum -N 1024|htree2
	ext4-casefold|12M|-O $csum,casefold -E encoding=utf8-12.1|tree casefold
	ext4-encrypt|12M|-O $csum,encrypt|tree encrypt
	ext4-verity|12M|-O $csum,verity|tree verity
	ext4-stable-inodes|12M|-O $csum,stable_inodes|tree
	ext4-quota|12M|-O $csum,quota,project -E quotatype=usrquota:grpquota:prjquota|tree
	ext4-orphan-file|12M|-O $csum,has_journal,orphan_file $j|tree
	ext4-orphan-list|12M|-O $csum,has_journal $j|tree orphans
	ext4-mmp|12M|-O $csum,mmp -E mmp_update_interval=1|tree
	ext4-huge-file|12M|-O $csum|tree huge_file
	ext4-extents-holes|80M|-b 1024 -O $csum|deep_extents
	ext4-full|4M|-b 1024 -O $csum -m 0|tree full
	ext4-journal-device|12M|-O $csum|tree journal_device
	ext4-recovery|16M|-O $csum,has_journal $j|tree recovery
	ext3-recovery|10M|-b 1024 -O $e3,has_journal -J size=1|tree recovery
	ext4-recovery-csum|16M|-O $csum,has_journal $j|tree recovery_csum
	ext4-not-clean|12M|-O $csum,has_journal $j|tree not_clean
	ext4-counts-off|12M|-O $csum|tree counts_off
	ext4-64g|64G|-O $csum -N 65536 -E lazy_itable_init=1,packed_meta_blocks=1|tree
	END
}

image_names() { image_table | cut -d'|' -f1; }

# Numbers that a seed gives, the same with every shell: chance N leaves one below N
# in $chance, often PERCENT is true so often, one_of WORD... leaves one in $one.
chance_seed() { chance_state=$(($1 * 7919 + 12345)); chance 2; }

chance()
{
	chance_state=$(((chance_state * 1103515245 + 12345) & 0x7fffffff))
	chance=$(((chance_state >> 12) % $1))
}

often() { chance 100; [ "$chance" -lt "$1" ]; }
one_of() { chance $#; one=${*:chance+1:1}; }

# The recipe of random-SEED: features that go together.
image_random()
{
	local features='' options='' words=tree extended='' type block size=16M
	local feature

	chance_seed "$1"
	one_of ext2 ext3 ext4 ext4 ext4 ext4
	type=$one
	one_of 1024 1024 2048 4096
	block=$one
	if [ "$type" = ext4 ]; then
		image_random_ext4
	else
		one_of 128 256
		options=" -I $one"
	fi
	for feature in dir_index filetype ext_attr large_file; do
		! often 85 || features+=,$feature
	done
	[[ $features = *,sparse_super2* ]] || ! often 80 ||
		features+=,sparse_super
	if [[ $features != *,bigalloc* ]]; then
		one_of ,resize_inode ,meta_bg "" ""
		[[ $one$features, = ,resize_inode*,sparse_super,* ]] ||
			one=${one#,resize_inode}
		features+=$one
		[ "$block" != 1024 ] || ! often 40 || options+=" -g 1024"
	fi
	if [ "$type" = ext3 ] || { [ "$type" = ext4 ] && often 60; }; then
		features+=,has_journal
		options+=" -J size=$((block / 1024))"
		one_of "" "" " recovery" " not_clean"
		words+=$one
	elif [ "$type$block" = ext44096 ] && often 30; then
		words+=" journal_device"
	fi
	! often 20 || words+=" counts_off"
	[ "$block" = 1024 ] && feature=1k || feature=4k
	! often 50 || words+=" frag$feature"
	echo "random-$1|$size|-b $block$options -O none$features${extended:+ -E ${extended#,}}|$words"
}

image_random_ext4()
{
	features=,extent,extra_isize
	one_of 256 256 512
	options=" -I $one"
	for feature in flex_bg:70 huge_file:70 dir_nlink:70 inline_data:15 large_dir:15 \
		ea_inode:15 stable_inodes:15 sparse_super2:15 mmp:15; do
		! often "${feature#*:}" || features+=,${feature%:*}
	done
	if often 50; then
		features+=,metadata_csum
		! often 30 || features+=,metadata_csum_seed
	else
		! often 40 || features+=,uninit_bg
	fi
	! often 40 || features+=,64bit
	for feature in encrypt verity casefold; do
		# The flag of casefold would take that of inline data away.
		[[ $feature$features != casefold*,inline_data* ]] || continue
		! often 20 || { features+=,$feature words+=" $feature"; }
	done
	[[ $features != *,casefold* ]] || extended+=,encoding=utf8-12.1
	! often 20 || {
		features+=,quota,project
		extended+=,quotatype=usrquota:grpquota:prjquota
	}
	! often 50 || extended+=,lazy_itable_init=1
	! often 15 || {
		features+=,bigalloc size=32M
		options+=" -C $((block * 16)) -N 1024"
	}
}

# image_line NAME: its recipe.
image_line()
{
	case $1 in
	random-*) image_random "${1#random-}" ;;
	*) image_table | grep "^$1|" ;;
	esac
}

# The image as mke2fs and debugfs left it is not always what e2fsck calls
# clean (link counts, quotas) and has no htree: -fyD sees to both.
image_settle()
{
	LD_PRELOAD=$FIXED_RANDOM "$E2FSCK_STOCK" -fyD "$1" \
		</dev/null >"$1.log" 2>&1
	[ $? -le 3 ] || { cat "$1.log"; return 1; }
	rm -f "$1.log"
}

# Commands on standard input.  debugfs does not report errors in its exit status;
# anything on standard error except its name is an error.
image_debugfs()
{
	LD_PRELOAD=$FIXED_RANDOM debugfs -w -f - "$1" >"$1.log" 2>"$1.err"
	if grep -v '^debugfs [0-9.]* (' "$1.err"; then
		return 1
	fi
	rm -f "$1.log" "$1.err"
}

image_do_tree() { image_debugfs "$1" <"$IMAGE_SRC/tree.cmd"; }

image_do_ea_large()
{
	image_debugfs "$1" <<-END
	ea_set -f $IMAGE_SRC/xattr-large /d0/f4 user.large
	ea_set -f $IMAGE_SRC/xattr-large /d0/f5 user.large
	ea_set -f $IMAGE_SRC/f5000 /d0/f5 user.medium
	ea_set -f $IMAGE_SRC/f5000 /d2 user.medium
	END
}

# EXT4_CASEFOLD_FL is allowed only on an empty directory.
image_do_casefold()
{
	local i

	{
		echo "mkdir /fold"
		echo "sif /fold flags 0x40080000"
		for ((i = 0; i < 120; i++)); do
			echo "symlink /fold/Some-Name-In-Mixed-CASE-$i t$i"
		done
	} | image_debugfs "$1"
}

# Flags without the context xattr, as in a hostile image.
image_do_encrypt()
{
	image_debugfs "$1" <<-END
	sif /d3 flags 0x80800
	sif /d3/f1 flags 0x80800
	END
}

image_do_verity() { echo "sif /d0/f5000 flags 0x180000" | image_debugfs "$1"; }

# With EXT4_HUGE_FILE_FL i_blocks counts blocks of 4k.
image_do_huge_file()
{
	image_debugfs "$1" <<-END
	sif /d1/f70000 flags 0xc0000
	sif /d1/f70000 blocks 18
	END
}

# A directory written as a file, which becomes one by its mode.  e2fsck builds the
# index: 3 names per 1k block, 120 blocks per index block.
image_big_dir()
{
	local image=$1 count=$2 blocks=$IMAGE_SRC/dir.${1##*/}

	image_debugfs "$image" <<-END
	write $IMAGE_SRC/f40 /target
	write $IMAGE_SRC/f40 /big
	END
	local target big size
	target=$(image_ino "$image" /target)
	big=$(image_ino "$image" /big)
	dirblocks "$(image_blocksize "$image")" "$big" 2 "$target" \
		"$count" 250 >"$blocks"
	size=$(stat -c %s "$blocks")
	image_debugfs "$image" <<-END
	rm /big
	write $blocks /big
	sif /big mode 040755
	sif /big size $size
	sif /big links_count 2
	END
	rm -f "$blocks"
}

image_ino()
{
	debugfs -R "stat $2" "$1" 2>/dev/null | sed -n 's/^Inode: \([0-9]*\).*/\1/p'
}

image_do_htree2() { image_big_dir "$1" 1500; }
image_do_htree3() { image_big_dir "$1" 50000; }

# 16,000 extents of one block: 191 leaves, 3 index blocks over them.
image_do_deep_extents()
{
	sparse "$1.src" 1024 {0..31998..2}
	echo "write $1.src /frag" | image_debugfs "$1"
	rm -f "$1.src"
}

image_do_full()
{
	local free

	free=$(dumpe2fs -h "$1" 2>/dev/null |
		awk '/^Free blocks:/ { print $3 }')
	head -c "$(((free - 8) * 1024))" /dev/zero | tr '\0' z >"$1.src"
	echo "write $1.src /full" | image_debugfs "$1"
	rm -f "$1.src"
}

image_do_orphans()
{
	local a b

	a=$(image_ino "$1" /d2/f3)
	b=$(image_ino "$1" /d2/f4)
	# The list is linked through the deletion times; the last one is 0.
	image_debugfs "$1" <<-END
	unlink /d2/f3
	unlink /d2/f4
	sif <$a> links_count 0
	sif <$b> links_count 0
	sif <$a> dtime $b
	sif <$b> dtime 0
	ssv last_orphan $a
	END
}

# A journal device and a filesystem that uses it.  mke2fs -J device= accepts only
# block devices; of 63:0 there is none.
image_do_journal_device()
{
	truncate -s 5M "$1.jdev"
	LD_PRELOAD=$FIXED_RANDOM mke2fs -q -F -b 4096 -O journal_dev \
		-U $IMAGE_JUUID "$1.jdev" || return
	# s_nr_users and the first of s_users, in the superblock at the start of
	# block 1 of 4k.
	printf '\0\0\0\1' | dd of="$1.jdev" bs=1 conv=notrunc status=none \
		seek=$((4096 + 64))
	printf '%s' "$IMAGE_UUID" | tr -d - | sed 's/../\\x&/g' |
		xargs -0 printf | dd of="$1.jdev" bs=1 conv=notrunc \
		status=none seek=$((4096 + 256))
	image_debugfs "$1" <<-END
	feature has_journal
	ssv journal_uuid $IMAGE_JUUID
	ssv journal_dev 0x3f00
	END
}

# Transactions with blocks of zeros for a data block and the old contents of
# the first inode table, and one revoked.
image_recovery()
{
	local image=$1 csum=$2 itable

	itable=$(dumpe2fs "$image" 2>/dev/null |
		sed -n 's/.*Inode table at \([0-9]*\)-.*/\1/p' | head -n 1)
	dd if="$image" of="$image.src" bs="$(image_blocksize "$image")" \
		skip="$itable" count=2 status=none
	image_debugfs "$image" <<-END
	jo $csum
	jw -b $itable,$((itable + 1)) $image.src
	jw -b $((itable + 100)) /dev/zero
	jw -r $((itable + 100))
	jc
	END
	rm -f "$image.src"
}

image_blocksize()
{
	dumpe2fs -h "$1" 2>/dev/null | awk '/^Block size:/ { print $3 }'
}

image_do_recovery() { image_recovery "$1" ""; }
image_do_recovery_csum() { image_recovery "$1" -c; }
image_do_not_clean() { echo "ssv state 0" | image_debugfs "$1"; }

image_do_counts_off()
{
	image_debugfs "$1" <<-END
	ssv free_blocks_count 17
	ssv free_inodes_count 18
	END
}

# Options a check of this image needs.
image_options() { [[ $(image_line "$1") != *journal?device* ]] || echo "-j jdev"; }

# Steps that -fyD would undo come after it.
image_late="encrypt verity huge_file orphans journal_device recovery recovery_csum not_clean
	counts_off"

# image_make NAME FILE: returns 0, or 1 with the reason on standard output if the
# host's e2fsprogs cannot make it.
image_make()
{
	local name=$1 file=$2 line size options words word late is type=${1%%-*}

	line=$(image_line "$name") || return
	IFS='|' read -r name size options words <<<"$line"
	rm -f "$file" "$file".*
	truncate -s "$size" "$file"
	[ "$type" != random ] || type=ext4
	# The last -E counts.
	case $options in
	*"-E "*) options=${options/-E /-E hash_seed=$IMAGE_SEED,} ;;
	*) options="$options -E hash_seed=$IMAGE_SEED" ;;
	esac
	LD_PRELOAD=$FIXED_RANDOM mke2fs -q -F -t "$type" -U $IMAGE_UUID \
		$options "$file" >"$file.log" 2>&1 ||
		{ cat "$file.log"; return 1; }
	rm -f "$file.log"
	for late in no yes; do
		for word in $words; do
			[[ " ${image_late//[[:space:]]/ } " = *" $word "* ]] && is=yes ||
				is=no
			[ $is = $late ] || continue
			if [ -e "$IMAGE_SRC/$word" ]; then
				echo "write $IMAGE_SRC/$word /${word%%[0-9]*}" |
					image_debugfs "$file"
			else
				"image_do_$word" "$file"
			fi || return
		done
		[ $late = yes ] || image_settle "$file" || return
	done
}

# small_image NAME: a directory for this test in $dir, and a small filesystem in $image.
small_image()
{
	dir=$E2PF_TMP/$1 image=$E2PF_TMP/image
	mkdir "$dir"
	image_make ext4-1k "$image" || tap_bail "no image"
}
