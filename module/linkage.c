/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Reads the relocations of the program.  They need no validation: the dynamic
 * linker has already processed them.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "linkage.h"

struct question {
	const char *name;
	bool found;
};

/* The program's dynamic section. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) *symbols;
	const char *strings;
	uintptr_t table[2];		/* relocations: data, functions */
	size_t size[2];
	bool with_addend;		/* the entries are Rela, not Rel */
};

/* glibc relocates the addresses in most dynamic sections it loads; musl, and
 * glibc on some machines, leave them as they are in the file. */
static uintptr_t loaded_at(const struct object *o, ElfW(Addr) value)
{
	return value < o->base ? o->base + value : value;
}

static void read_dynamic(struct object *o, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		ElfW(Addr) value = dyn->d_un.d_ptr;

		switch (dyn->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const void *)loaded_at(o, value);
			break;
		case DT_STRTAB:
			o->strings = (const void *)loaded_at(o, value);
			break;
		case DT_RELA:
		case DT_REL:
			o->table[0] = loaded_at(o, value);
			o->with_addend = dyn->d_tag == DT_RELA;
			break;
		case DT_RELASZ:
		case DT_RELSZ:
			o->size[0] = value;
			break;
		case DT_JMPREL:
			o->table[1] = loaded_at(o, value);
			break;
		case DT_PLTRELSZ:
			o->size[1] = value;
			break;
		case DT_PLTREL:
			o->with_addend = value == DT_RELA;
			break;
		default:
			break;
		}
	}
}

static void note_symbol(struct question *q, const struct object *o,
			size_t index)
{
	/* 0 refers to no symbol. */
	if (index && !strcmp(o->strings + o->symbols[index].st_name, q->name))
		q->found = true;
}

static size_t symbol_of(ElfW(Xword) info)
{
	return sizeof(void *) == 8 ? (size_t)ELF64_R_SYM(info) :
				     (size_t)ELF32_R_SYM(info);
}

static void read_relocations(struct question *q, const struct object *o)
{
	/* Each machine uses only one kind of entry, for data and functions. */
	size_t step = o->with_addend ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
	size_t t, at;

	for (t = 0; t < 2; t++)
		for (at = 0; o->table[t] && at + step <= o->size[t];
		     at += step) {
			/* r_info is at the same place in Rel and Rela. */
			const ElfW(Rel) *r =
				(const void *)(o->table[t] + at);

			note_symbol(q, o, symbol_of(r->r_info));
		}
}

static struct object read_object(const struct dl_phdr_info *info)
{
	struct object o = { .base = info->dlpi_addr };
	unsigned i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(&o, (const void *)(info->dlpi_addr +
					info->dlpi_phdr[i].p_vaddr));
	return o;
}

/* The first object that is reported is the program itself. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object o = read_object(info);

	(void)size;
	if (o.symbols && o.strings)
		read_relocations(data, &o);
	return 1;
}

bool linkage_program_refers(const char *name)
{
	struct question q = { .name = name };

	dl_iterate_phdr(look_at_program, &q);
	return q.found;
}

bool linkage_program_has_threads(void)
{
	return linkage_program_refers("pthread_create") ||
	       linkage_program_refers("thrd_create");
}
