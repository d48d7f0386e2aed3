/* SPDX-License-Identifier: MIT */
/* symbols_names.c: names as people write them, and the texts that live as long as a file is open.
 *
 * libiberty reads C++ and both schemes of Rust. Only names that begin like a mangled one are given to it: it
 * would make "int" of a C function called `i`. */
#include "report/symbols_dwarf.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 32768 }; /* a longer one is not worth a demangler's time */

static bool looks_mangled(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 || strncmp(name, "___Z", 4) == 0;
}

char *rvp_symbols_demangle(const char *name)
{
	if (!looks_mangled(name) || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}

char *rvp_symbols_keep(struct rvp_symbols_texts *texts, char *text)
{
	if (text && texts->count == texts->room) {
		size_t room = texts->room ? texts->room * 2 : 64;
		char **grown = reallocarray(texts->texts, room, sizeof *grown);

		if (!grown) {
			free(text);
			return NULL;
		}
		texts->texts = grown;
		texts->room = room;
	}
	if (text)
		texts->texts[texts->count++] = text;
	return text;
}

void rvp_symbols_texts_free(struct rvp_symbols_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->texts[i]);
	free(texts->texts);
	*texts = (struct rvp_symbols_texts){0};
}

const char *rvp_symbols_readable(struct rvp_symbols_texts *texts, const char *name)
{
	char *readable = rvp_symbols_keep(texts, rvp_symbols_demangle(name));

	return readable ? readable : name;
}
