/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the dynamic section of an ELF file of this machine's own word size and
 * byte order.  A file of another kind could not load our module either.
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

#include "elf_needs.h"

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* Copy `len` bytes from a file offset, which may have any alignment.  False if
 * the file ends before that. */
static bool get(const struct image *im, uint64_t offset, void *to, size_t len)
{
	if (offset > im->size || len > im->size - offset)
		return false;
	memcpy(to, im->bytes + offset, len);
	return true;
}

static bool segment(const struct image *im, const ElfW(Ehdr) *eh, unsigned i,
		    ElfW(Phdr) *ph)
{
	return get(im, eh->e_phoff + (uint64_t)i * sizeof(*ph), ph,
		   sizeof(*ph));
}

/* File offset of a virtual address; UINT64_MAX if it is in no segment. */
static uint64_t file_offset(const struct image *im, const ElfW(Ehdr) *eh,
			    uint64_t addr)
{
	ElfW(Phdr) ph;
	unsigned i;

	for (i = 0; i < eh->e_phnum; i++)
		if (segment(im, eh, i, &ph) && ph.p_type == PT_LOAD &&
		    addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz)
			return ph.p_offset + (addr - ph.p_vaddr);
	return UINT64_MAX;
}

/* Entry `i` of the dynamic section; false after the last one. */
static bool entry(const struct image *im, const ElfW(Phdr) *ph, size_t i,
		  ElfW(Dyn) *dyn)
{
	return i < ph->p_filesz / sizeof(*dyn) &&
	       get(im, ph->p_offset + (uint64_t)i * sizeof(*dyn), dyn,
		   sizeof(*dyn)) &&
	       dyn->d_tag != DT_NULL;
}

static bool begins(const struct image *im, uint64_t offset, const char *start)
{
	size_t len = strlen(start);

	return offset <= im->size && len <= im->size - offset &&
	       !memcmp(im->bytes + offset, start, len);
}

static bool has_needed(const struct image *im, const ElfW(Ehdr) *eh,
		       const ElfW(Phdr) *ph, const char *library)
{
	uint64_t strings = UINT64_MAX;
	ElfW(Dyn) dyn;
	size_t i;

	for (i = 0; entry(im, ph, i, &dyn); i++)
		if (dyn.d_tag == DT_STRTAB)
			strings = dyn.d_un.d_ptr;
	if (strings != UINT64_MAX)
		strings = file_offset(im, eh, strings);
	if (strings == UINT64_MAX)
		return false;
	for (i = 0; entry(im, ph, i, &dyn); i++)
		if (dyn.d_tag == DT_NEEDED &&
		    begins(im, strings + dyn.d_un.d_val, library))
			return true;
	return false;
}

static bool image_loads(const struct image *im, const char *library)
{
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph;
	unsigned i;

	if (!get(im, 0, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 :
							   ELFCLASS32) ||
	    eh.e_phentsize != sizeof(ph))
		return false;
	for (i = 0; i < eh.e_phnum; i++)
		if (segment(im, &eh, i, &ph) && ph.p_type == PT_DYNAMIC)
			return has_needed(im, &eh, &ph, library);
	return false;
}

bool elf_bytes_need(const void *bytes, size_t size, const char *library)
{
	const struct image im = { bytes, size };

	return image_loads(&im, library);
}

bool elf_needs(const char *path, const char *library)
{
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
			loads = elf_bytes_need(map, (size_t)st.st_size,
						   library);
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return loads;
}
