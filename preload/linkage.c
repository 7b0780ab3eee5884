/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Reads the relocations of the program.  They need no validation: the dynamic
 * linker has already processed them.
 */
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "interpose.h"

/* The program's dynamic section: the value of each tag, 0 if it is not there. */
struct program {
	ElfW(Addr) base;
	ElfW(Addr) value[DT_NUM];
};

static void read_dynamic(struct program *p, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag > 0 && dyn->d_tag < DT_NUM)
			p->value[dyn->d_tag] = dyn->d_un.d_ptr;
}

/* The first object that is reported is the program itself. */
static int read_program(struct dl_phdr_info *info, size_t size, void *data)
{
	struct program *p = data;
	unsigned i;

	(void)size;
	p->base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(p, (const void *)(info->dlpi_addr +
					info->dlpi_phdr[i].p_vaddr));
	return 1;
}

/* glibc relocates the addresses in most dynamic sections it loads; musl, and
 * glibc on some machines, leave them as they are in the file. */
static const char *loaded_at(const struct program *p, ElfW(Addr) value)
{
	return (const char *)(value < p->base ? p->base + value : value);
}

static size_t symbol_of(ElfW(Xword) info)
{
	return sizeof(void *) == 8 ? (size_t)ELF64_R_SYM(info) :
				     (size_t)ELF32_R_SYM(info);
}

/* Does an entry of this table, whose entries have `step` bytes each, refer to
 * the name? */
static bool table_refers(const struct program *p, int table, int size,
			 size_t step, const char *name)
{
	const ElfW(Sym) *symbols =
		(const void *)loaded_at(p, p->value[DT_SYMTAB]);
	const char *strings = loaded_at(p, p->value[DT_STRTAB]);
	const char *entry = loaded_at(p, p->value[table]);
	size_t left, symbol;

	for (left = p->value[size]; left >= step; left -= step, entry += step) {
		/* r_info is at the same offset in Rel and Rela. */
		symbol = symbol_of(((const ElfW(Rel) *)(const void *)entry)->r_info);
		if (symbol && !strcmp(strings + symbols[symbol].st_name, name))
			return true;
	}
	return false;
}

bool preload_program_refers(const char *name)
{
	const size_t rela = sizeof(ElfW(Rela)), rel = sizeof(ElfW(Rel));
	struct program p = { .base = 0 };

	dl_iterate_phdr(read_program, &p);
	return table_refers(&p, DT_RELA, DT_RELASZ, rela, name) ||
	       table_refers(&p, DT_REL, DT_RELSZ, rel, name) ||
	       table_refers(&p, DT_JMPREL, DT_PLTRELSZ,
			    p.value[DT_PLTREL] == DT_RELA ? rela : rel, name);
}
