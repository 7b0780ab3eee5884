/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles for inodes whose extents are all in the inode: most files have no
 * more than four.  e2fsck opens a handle for each file, walks over it and
 * closes it, for which libext2fs allocates and clears two pieces of memory.
 *
 * Our handle only keeps a position and moves.  For anything else it opens a
 * libext2fs handle at the same position, which takes over from then on.  So
 * every function that takes a handle has a stand-in, but none that changes an
 * extent is reimplemented.
 *
 * libext2fs looks inside the handles it opened, so only the program gets ours.
 *
 * Callers see the behaviour of libext2fs 1.46.2 to 1.47.4
 * (lib/ext2fs/extent.c), including its peculiarities.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ext2fs/ext2fs.h>
#include <ext2fs/ext3_extents.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "real.h"

/* No error table uses a code that ends in these bytes. */
#define HANDLE_MAGIC ((errcode_t)0x65327065)

/* Extents an inode has room for, and by how many its header may understate
 * it. */
#define ROOM 4u
#define ROOM_LEFT_OUT 2u

/* The fields that libext2fs reads when it opens a handle. */
struct opened {
	__u32 block[EXT2_N_BLOCKS];
	__u32 flags, size, size_high;
};

struct handle {
	errcode_t magic;		/* first, as in libext2fs's own */
	ext2_extent_handle_t own;	/* libext2fs's handle, once there is
					   one */
	ext2_filsys fs;
	ext2_ino_t ino;
	struct ext2_inode *inode;	/* the caller's */
	struct opened opened;
	int entries, most;		/* when the handle was opened */
	int left;			/* extents after the current one */
	bool moved;			/* since it was opened */
	char *at;			/* the current extent; NULL: none yet */
};

/* The program's code; size 0 until handles are ours. */
static uintptr_t code, code_size;

/* The program is always the first object, whatever its name. */
static int find_code(struct dl_phdr_info *info, size_t size, void *data)
{
	unsigned i;

	(void)size;
	(void)data;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X)) {
			code = (uintptr_t)(info->dlpi_addr + ph->p_vaddr);
			code_size = (uintptr_t)ph->p_memsz;
		}
	}
	return 1;
}

void extents_begin(void)
{
	dl_iterate_phdr(find_code, NULL);
}

/* NULL if the handle is libext2fs's. */
static inline struct handle *handle_of(ext2_extent_handle_t handle)
{
	struct handle *h = (struct handle *)handle;

	return h && h->magic == HANDLE_MAGIC ? h : NULL;
}

bool extents_are_ours(ext2_extent_handle_t handle)
{
	const struct handle *h = handle_of(handle);

	return h && !h->own;
}

static inline struct ext3_extent_header *header(const struct handle *h)
{
	return (struct ext3_extent_header *)(void *)h->inode->i_block;
}

/*
 * Opening libext2fs's own handle.
 */

static struct opened look_at(const struct ext2_inode *inode)
{
	struct opened o = {
		.flags = inode->i_flags, .size = inode->i_size,
		.size_high = inode->i_size_high
	};

	memcpy(o.block, inode->i_block, sizeof(o.block));
	return o;
}

static void put_back(struct ext2_inode *inode, const struct opened *o)
{
	inode->i_flags = o->flags;
	inode->i_size = o->size;
	inode->i_size_high = o->size_high;
	memcpy(inode->i_block, o->block, sizeof(o->block));
}

/* Move it to the position of ours.  The header's number of extents decides
 * which one LAST_SIB finds.  It is set so that this is where ours would end,
 * and from there the current extent is h->left steps back. */
static void move_there(const struct handle *h, ext2_extent_handle_t own)
{
	struct ext3_extent_header *eh = header(h);
	struct ext2fs_extent extent;
	int left;
	REAL(ext2fs_extent_get);

	if (!h->moved)
		return;
	if (!h->at) {
		/* No current extent: go to the end, then back to the root. */
		real(own, EXT2_EXTENT_LAST_SIB, &extent);
		real(own, EXT2_EXTENT_ROOT, &extent);
		return;
	}
	eh->eh_entries = ext2fs_cpu_to_le16((__u16)
		((h->at - (char *)EXT_FIRST_EXTENT(eh)) /
		 (ptrdiff_t)sizeof(struct ext3_extent) + h->left + 1));
	real(own, EXT2_EXTENT_LAST_SIB, &extent);
	for (left = h->left; left > 0; left--)
		real(own, EXT2_EXTENT_PREV_SIB, &extent);
}

/* Open the libext2fs handle that takes over from ours, on the fields as they
 * were when ours was opened. */
static errcode_t make_own(struct handle *h)
{
	struct opened now;
	errcode_t err;
	REAL(ext2fs_extent_open2);

	if (h->own)
		return 0;
	now = look_at(h->inode);
	put_back(h->inode, &h->opened);
	err = real(h->fs, h->ino, h->inode, &h->own);
	if (!err)
		move_there(h, h->own);
	put_back(h->inode, &now);
	return err;
}

/*
 * Opening, moving, closing.
 */

static bool lies_in_inode(const struct ext2_inode *inode)
{
	const struct ext3_extent_header *eh =
		(const struct ext3_extent_header *)(const void *)inode->i_block;
	unsigned most = ext2fs_le16_to_cpu(eh->eh_max);

	return (inode->i_flags & EXT4_EXTENTS_FL) &&
	       ext2fs_le16_to_cpu(eh->eh_magic) == EXT3_EXT_MAGIC &&
	       !eh->eh_depth && most <= ROOM && most >= ROOM - ROOM_LEFT_OUT &&
	       ext2fs_le16_to_cpu(eh->eh_entries) <= most;
}

errcode_t extents_open(ext2_filsys fs, ext2_ino_t ino,
		       struct ext2_inode *inode, ext2_extent_handle_t *ret)
{
	struct handle *h;
	REAL(ext2fs_extent_open2);

	if (!fs || fs->magic != EXT2_ET_MAGIC_EXT2FS_FILSYS || !inode ||
	    !lies_in_inode(inode))
		return real(fs, ino, inode, ret);
	h = malloc(sizeof(*h));
	if (!h)
		return EXT2_ET_NO_MEMORY;
	h->magic = HANDLE_MAGIC;
	h->own = NULL;
	h->fs = fs;
	h->ino = ino;
	h->inode = inode;
	h->opened = look_at(inode);
	h->entries = ext2fs_le16_to_cpu(header(h)->eh_entries);
	h->most = ext2fs_le16_to_cpu(header(h)->eh_max);
	h->left = h->entries;
	h->moved = false;
	h->at = NULL;
	*ret = (ext2_extent_handle_t)h;
	return 0;
}

errcode_t ext2fs_extent_open2(ext2_filsys fs, ext2_ino_t ino,
			      struct ext2_inode *inode,
			      ext2_extent_handle_t *ret)
{
	uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	REAL(ext2fs_extent_open2);

	return (caller - code < code_size ? extents_open : real)(fs, ino,
								 inode, ret);
}

void ext2fs_extent_free(ext2_extent_handle_t handle)
{
	struct handle *h = handle_of(handle);
	REAL(ext2fs_extent_free);

	if (!h) {
		real(handle);
		return;
	}
	if (h->own)
		real(h->own);
	h->magic = 0;
	free(h);
}

static errcode_t next(struct handle *h)
{
	if (h->left <= 0)
		return EXT2_ET_EXTENT_NO_NEXT;
	h->at = h->at ? h->at + sizeof(struct ext3_extent) :
			(char *)EXT_FIRST_EXTENT(header(h));
	h->left--;
	h->moved = true;
	return 0;
}

static errcode_t previous(struct handle *h)
{
	if (!h->at || h->left + 1 >= h->entries)
		return EXT2_ET_EXTENT_NO_PREV;
	h->at -= sizeof(struct ext3_extent);
	h->left++;
	return 0;
}

static errcode_t move(struct handle *h, int way)
{
	switch (way) {
	case EXT2_EXTENT_CURRENT:
		return h->at ? 0 : EXT2_ET_NO_CURRENT_NODE;
	case EXT2_EXTENT_ROOT:
	case EXT2_EXTENT_FIRST_SIB:
		h->left = h->entries;
		h->at = NULL;
		return next(h);
	case EXT2_EXTENT_NEXT:
	case EXT2_EXTENT_NEXT_LEAF:
	case EXT2_EXTENT_NEXT_SIB:
		return next(h);
	case EXT2_EXTENT_PREV:
	case EXT2_EXTENT_PREV_LEAF:
	case EXT2_EXTENT_PREV_SIB:
		return previous(h);
	case EXT2_EXTENT_LAST_LEAF:
	case EXT2_EXTENT_LAST_SIB:
		/* The last of those that the header has now. */
		h->at = (char *)EXT_LAST_EXTENT(header(h));
		h->left = 0;
		h->moved = true;
		return 0;
	case EXT2_EXTENT_UP:
		return EXT2_ET_EXTENT_NO_UP;
	case EXT2_EXTENT_DOWN:
	case EXT2_EXTENT_DOWN_AND_LAST:
		return EXT2_ET_EXTENT_NO_DOWN;
	default:
		return EXT2_ET_OP_NOT_SUPPORTED;
	}
}

static void decode(const char *at, struct ext2fs_extent *extent)
{
	struct ext3_extent ex;

	memcpy(&ex, at, sizeof(ex));
	extent->e_pblk = ext2fs_le32_to_cpu(ex.ee_start) +
			 ((__u64)ext2fs_le16_to_cpu(ex.ee_start_hi) << 32);
	extent->e_lblk = ext2fs_le32_to_cpu(ex.ee_block);
	extent->e_len = ext2fs_le16_to_cpu(ex.ee_len);
	extent->e_flags = EXT2_EXTENT_FLAGS_LEAF;
	if (extent->e_len > EXT_INIT_MAX_LEN) {
		extent->e_len -= EXT_INIT_MAX_LEN;
		extent->e_flags |= EXT2_EXTENT_FLAGS_UNINIT;
	}
}

errcode_t ext2fs_extent_get(ext2_extent_handle_t handle, int flags,
			    struct ext2fs_extent *extent)
{
	struct handle *h = handle_of(handle);
	errcode_t err;
	REAL(ext2fs_extent_get);

	if (!h || h->own)
		return real(h ? h->own : handle, flags, extent);
	err = move(h, flags & EXT2_EXTENT_MOVE_MASK);
	if (err)
		return err;
	decode(h->at, extent);
	return 0;
}

errcode_t ext2fs_extent_get_info(ext2_extent_handle_t handle,
				 struct ext2_extent_info *info)
{
	struct handle *h = handle_of(handle);
	REAL(ext2fs_extent_get_info);

	if (!h || h->own)
		return real(h ? h->own : handle, info);
	memset(info, 0, sizeof(*info));
	/* Counted from 1, since the header is as long as an extent.  The
	 * division is unsigned, as in libext2fs, also for a position before the
	 * header, which is possible if the header has changed. */
	if (h->at)
		info->curr_entry = (int)((size_t)(h->at - (char *)header(h)) /
					 sizeof(struct ext3_extent));
	info->num_entries = h->entries;
	info->max_entries = h->most;
	info->bytes_avail = (h->most - h->entries) *
			    (int)sizeof(struct ext3_extent);
	info->max_lblk = EXT_MAX_EXTENT_LBLK;
	info->max_pblk = EXT_MAX_EXTENT_PBLK;
	info->max_len = EXT_INIT_MAX_LEN;
	info->max_uninit_len = EXT_UNINIT_MAX_LEN;
	return 0;
}

static unsigned log2_of(uint64_t n)
{
	return 63u - (unsigned)__builtin_clzll(n);
}

/* How deep a tree may become; e2fsck asks for each file. */
size_t ext2fs_max_extent_depth(ext2_extent_handle_t handle)
{
	const struct handle *h = handle_of(handle);
	REAL(ext2fs_max_extent_depth);

	if (!h || h->own)
		return real(h ? h->own : handle);
	return 1 + (log2_of(EXT_MAX_EXTENT_LBLK) - log2_of(ROOM)) /
		   log2_of((h->fs->blocksize -
			    sizeof(struct ext3_extent_header)) /
			   sizeof(struct ext3_extent));
}

/*
 * libext2fs does everything else.
 */

/* Call the real function with libext2fs's own handle. */
#define ON_OWN(name, ...) do { \
	struct handle *h = handle_of(handle); \
	errcode_t err = h ? make_own(h) : 0; \
	REAL(name); \
\
	return err ? err : real(h ? h->own : handle, ##__VA_ARGS__); \
} while (0)

errcode_t ext2fs_extent_node_split(ext2_extent_handle_t handle)
{
	ON_OWN(ext2fs_extent_node_split);
}

errcode_t ext2fs_extent_replace(ext2_extent_handle_t handle, int flags,
				struct ext2fs_extent *extent)
{
	ON_OWN(ext2fs_extent_replace, flags, extent);
}

errcode_t ext2fs_extent_insert(ext2_extent_handle_t handle, int flags,
			       struct ext2fs_extent *extent)
{
	ON_OWN(ext2fs_extent_insert, flags, extent);
}

errcode_t ext2fs_extent_set_bmap(ext2_extent_handle_t handle, blk64_t logical,
				 blk64_t physical, int flags)
{
	ON_OWN(ext2fs_extent_set_bmap, logical, physical, flags);
}

errcode_t ext2fs_extent_delete(ext2_extent_handle_t handle, int flags)
{
	ON_OWN(ext2fs_extent_delete, flags);
}

errcode_t ext2fs_extent_goto(ext2_extent_handle_t handle, blk64_t block)
{
	ON_OWN(ext2fs_extent_goto, block);
}

errcode_t ext2fs_extent_goto2(ext2_extent_handle_t handle, int leaf_level,
			      blk64_t block)
{
	ON_OWN(ext2fs_extent_goto2, leaf_level, block);
}

errcode_t ext2fs_extent_fix_parents(ext2_extent_handle_t handle)
{
	ON_OWN(ext2fs_extent_fix_parents);
}
