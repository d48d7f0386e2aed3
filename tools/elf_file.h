/* SPDX-License-Identifier: MIT */
/* elf_file.h: what an executable's file says about itself: machine, loader, libraries, symbols it defines.
 *
 * The file is mapped and every offset is checked against its size: a damaged file gives less, never a fault
 * (but for a file that is cut while we read it).
 */
#ifndef RVP_ELF_FILE_H
#define RVP_ELF_FILE_H

#include "record/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_elf_shape { RVP_ELF_NONE, RVP_ELF_64, RVP_ELF_32 };

struct rvp_elf {
	const uint8_t *bytes;
	size_t size;
	enum rvp_elf_shape shape; /* NONE: no ELF file, a script or something else */
	uint16_t machine;
	const void *segments;    /* Elf64_Phdr[], or NULL: damaged */
	const char *interpreter; /* of PT_INTERP, or NULL: static */
	const char *script;      /* of a #! line: program and argument, not terminated; NULL without */
	size_t script_length;
	const char *dynamic_names; /* DT_STRTAB */
	size_t dynamic_names_bytes;
	const void *dynamic; /* Elf64_Dyn[] */
	size_t dynamic_count;
};

struct rvp_status rvp_elf_open(struct rvp_elf *elf, const char *path);
void rvp_elf_close(struct rvp_elf *elf);

/* The `number`th DT_NEEDED name, or NULL behind the last. */
const char *rvp_elf_needed(const struct rvp_elf *elf, size_t number);

/* The DT_NEEDED name that begins with `prefix`, or NULL. */
const char *rvp_elf_needs(const struct rvp_elf *elf, const char *prefix);

/* Whether a symbol of this name is defined in the file (.dynsym or .symtab). */
bool rvp_elf_defines(const struct rvp_elf *elf, const char *name);

/* Whether it is asked for from other files (.dynsym, undefined). */
bool rvp_elf_imports(const struct rvp_elf *elf, const char *name);

#endif
