/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a program can take the module, judging by its file: tested on this
 * program, which needs libext2fs, and on copies with one thing wrong.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <ext2fs/ext2fs.h>

#include "elf_needs.h"

#define SELF "/proc/self/exe"
#define LIBRARY "libext2fs.so."

static unsigned char *whole, *bytes;	/* the original; a copy to change */
static size_t size;

static int read_self(void **state)
{
	int fd = open(SELF, O_RDONLY | O_CLOEXEC);
	struct stat st;

	(void)state;
	if (fd < 0 || fstat(fd, &st))
		return -1;
	size = (size_t)st.st_size;
	whole = malloc(size);
	bytes = malloc(size);
	if (!whole || !bytes || read(fd, whole, size) != (ssize_t)size)
		return -1;
	close(fd);
	/* So that the linker does not drop the library. */
	initialize_ext2_error_table();
	return 0;
}

static int free_self(void **state)
{
	(void)state;
	free(whole);
	free(bytes);
	return 0;
}

static bool loads(void)
{
	return elf_bytes_need(bytes, size, LIBRARY);
}

static ElfW(Ehdr) *fresh(void)
{
	memcpy(bytes, whole, size);
	return (void *)bytes;
}

/* The n-th program header of a type, or NULL. */
static ElfW(Phdr) *find_header(unsigned type, unsigned n)
{
	ElfW(Ehdr) *eh = (void *)bytes;
	ElfW(Phdr) *ph = (void *)(bytes + eh->e_phoff);
	unsigned i;

	for (i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == type && !n--)
			return &ph[i];
	return NULL;
}

/* The first one, which must exist. */
static ElfW(Phdr) *header(unsigned type)
{
	ElfW(Phdr) *ph = find_header(type, 0);

	if (!ph)
		abort();
	return ph;
}

static ElfW(Dyn) *dynamic(ElfW(Sxword) tag)
{
	ElfW(Dyn) *dyn = (void *)(bytes + header(PT_DYNAMIC)->p_offset);

	while (dyn->d_tag != tag && dyn->d_tag != DT_NULL)
		dyn++;
	assert_int_equal(dyn->d_tag, tag);
	return dyn;
}

static void as_it_is(void **state)
{
	(void)state;
	fresh();
	assert_true(loads());
	assert_true(elf_needs(SELF, LIBRARY));
	assert_false(elf_bytes_need(bytes, size, "libnowhere.so."));
	assert_false(elf_needs(SELF, "libnowhere.so."));
}

static void no_program(void **state)
{
	(void)state;
	assert_false(elf_needs("/nowhere/at/all", LIBRARY));
	assert_false(elf_needs("/tmp", LIBRARY));
	assert_false(elf_needs("/dev/null", LIBRARY));
	assert_false(elf_needs("/proc/self/status", LIBRARY));
}

static void header_that_is_wrong(void **state)
{
	(void)state;
	fresh()->e_ident[EI_MAG0] = 0;
	assert_false(loads());
	fresh()->e_ident[EI_CLASS] = ELFCLASSNONE;
	assert_false(loads());
	fresh()->e_phentsize++;
	assert_false(loads());
	fresh()->e_phnum = 0;
	assert_false(loads());
	fresh()->e_phoff = size - 1;
	assert_false(loads());
	fresh()->e_phoff = (ElfW(Off))-1;
	assert_false(loads());
}

/* A statically linked program has no such section. */
static void no_dynamic_section(void **state)
{
	(void)state;
	fresh();
	header(PT_DYNAMIC)->p_type = PT_NULL;
	assert_false(loads());
	fresh();
	header(PT_DYNAMIC)->p_filesz = 0;
	assert_false(loads());
	fresh();
	header(PT_DYNAMIC)->p_offset = size - sizeof(ElfW(Dyn)) + 1;
	assert_false(loads());
}

static void strings_that_are_nowhere(void **state)
{
	ElfW(Dyn) *dyn;
	ElfW(Phdr) *ph;
	unsigned n;

	(void)state;
	fresh();
	dynamic(DT_STRTAB)->d_tag = DT_DEBUG;
	assert_false(loads());
	fresh();
	dynamic(DT_STRTAB)->d_un.d_ptr = (ElfW(Addr))-1;
	assert_false(loads());
	/* Beyond the end of the file. */
	fresh();
	for (n = 0; (ph = find_header(PT_LOAD, n)); n++)
		ph->p_offset += size;
	assert_false(loads());
	/* Only the names of the needed libraries. */
	fresh();
	for (dyn = dynamic(DT_NEEDED); dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_NEEDED)
			dyn->d_un.d_val = size;
	assert_false(loads());
}

/* A truncated file is not read beyond its end; what is left may be
 * sufficient. */
static void cut_off(void **state)
{
	size_t full = size, cut;
	unsigned char *part;

	(void)state;
	for (cut = 0; cut < full; cut += cut < 4096 ? 1 : 509) {
		/* A separate allocation, for the address sanitizer. */
		part = malloc(cut + !cut);
		assert_non_null(part);
		memcpy(part, whole, cut);
		if (cut < sizeof(ElfW(Ehdr)))
			assert_false(elf_bytes_need(part, cut, LIBRARY));
		else
			elf_bytes_need(part, cut, LIBRARY);
		free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_it_is),
		cmocka_unit_test(no_program),
		cmocka_unit_test(header_that_is_wrong),
		cmocka_unit_test(no_dynamic_section),
		cmocka_unit_test(strings_that_are_nowhere),
		cmocka_unit_test(cut_off),
	};

	return cmocka_run_group_tests(tests, read_self, free_self);
}
