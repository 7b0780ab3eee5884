/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic section of an ELF file of this machine's own word size and byte
 * order: one of another kind could not load our module either.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* `len` bytes at a file offset, or NULL when they are not all there. */
static const void *at(const struct image *im, uint64_t offset, uint64_t len)
{
	if (offset > im->size || len > im->size - offset)
		return NULL;
	return im->bytes + offset;
}

static const ElfW(Phdr) *segment(const struct image *im,
				 const ElfW(Ehdr) *eh, unsigned i)
{
	return at(im, eh->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr)),
		  sizeof(ElfW(Phdr)));
}

/* File offset of a virtual address; UINT64_MAX when no segment holds it. */
static uint64_t file_offset(const struct image *im, const ElfW(Ehdr) *eh,
			    uint64_t addr)
{
	unsigned i;

	for (i = 0; i < eh->e_phnum; i++) {
		const ElfW(Phdr) *ph = segment(im, eh, i);

		if (ph && ph->p_type == PT_LOAD && addr >= ph->p_vaddr &&
		    addr - ph->p_vaddr < ph->p_filesz)
			return ph->p_offset + (addr - ph->p_vaddr);
	}
	return UINT64_MAX;
}

static bool has_needed(const struct image *im, const ElfW(Ehdr) *eh,
		       const ElfW(Phdr) *ph, const char *library)
{
	size_t n = ph->p_filesz / sizeof(ElfW(Dyn)), i, len = strlen(library);
	const ElfW(Dyn) *dyn = at(im, ph->p_offset, ph->p_filesz);
	uint64_t strings = UINT64_MAX;

	for (i = 0; dyn && i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			strings = file_offset(im, eh, dyn[i].d_un.d_ptr);
	if (!dyn || strings == UINT64_MAX)
		return false;
	for (i = 0; i < n && dyn[i].d_tag != DT_NULL; i++) {
		const char *name;

		if (dyn[i].d_tag != DT_NEEDED)
			continue;
		name = at(im, strings + dyn[i].d_un.d_val, len);
		if (name && !memcmp(name, library, len))
			return true;
	}
	return false;
}

static bool image_loads(const struct image *im, const char *library)
{
	const ElfW(Ehdr) *eh = at(im, 0, sizeof(*eh));
	unsigned i;

	if (!eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 :
							    ELFCLASS32) ||
	    eh->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	for (i = 0; i < eh->e_phnum; i++) {
		const ElfW(Phdr) *ph = segment(im, eh, i);

		if (ph && ph->p_type == PT_DYNAMIC)
			return has_needed(im, eh, ph, library);
	}
	return false;
}

bool program_loads(const char *path, const char *library)
{
	struct image im = { NULL, 0 };
	bool loads = false;
	struct stat st;
	void *map;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
			   fd, 0);
		if (map != MAP_FAILED) {
			im.bytes = map;
			im.size = (size_t)st.st_size;
			loads = image_loads(&im, library);
			munmap(map, im.size);
		}
	}
	close(fd);
	return loads;
}
