/* SPDX-License-Identifier: MIT */
/* symbols.c: files and the cache of addresses. What DWARF says comes from the table of librvprof_symbols.so.
 *
 *   (Y1) A file is opened once; its texts live as long as the symbolizer, so frames may point to them.
 *   (Y2) A return address is looked up one byte earlier: it may stand behind the end of its function.
 *   (Y3) The cache is keyed by file, address and exactness; it is never emptied.
 */
#include "report/symbols.h"

#include "report/symbols_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 160 };

struct file {
	struct rvp_symbols_identity identity;
	struct rvp_symbols_file *open; /* NULL: not yet, or no module */
	enum rvp_symbols_state state;
	bool was_tried;
};
struct entry {
	uint64_t address, file; /* file: number * 2 + exact + 1; 0: free */
	struct rvp_frame *frames;
	size_t count;
};
struct rvp_symbols {
	struct rvp_symbols_library library;
	struct file *files;
	size_t file_count, file_room;
	struct entry *entries;
	size_t entry_count, entry_room; /* room is a power of two */
};

const char *rvp_symbols_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

struct rvp_symbols *rvp_symbols_open(const char *module_path)
{
	struct rvp_symbols *symbols = calloc(1, sizeof *symbols);

	if (symbols)
		rvp_symbols_library_open(&symbols->library, module_path);
	return symbols;
}

static void close_file(struct rvp_symbols *symbols, struct file *file)
{
	if (file->open)
		symbols->library.table->close(file->open);
	free((void *)file->identity.path);
	free((void *)file->identity.build_id);
}

static void free_entry(struct entry *entry)
{
	for (size_t i = 0; i < entry->count; i++)
		if (entry->frames[i].kind != RVP_FRAME_FUNCTION)
			free((void *)entry->frames[i].function);
	free(entry->frames);
}

void rvp_symbols_close(struct rvp_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->entry_room; i++)
		free_entry(&symbols->entries[i]);
	for (size_t i = 0; i < symbols->file_count; i++)
		close_file(symbols, &symbols->files[i]);
	rvp_symbols_library_close(&symbols->library);
	free(symbols->entries);
	free(symbols->files);
	free(symbols);
}

const char *rvp_symbols_complaint(const struct rvp_symbols *symbols)
{
	return symbols->library.table ? NULL : symbols->library.extension.complaint;
}

static bool same_identity(const struct rvp_symbols_identity *a, const struct rvp_symbols_identity *b)
{
	return a->build_id_bytes == b->build_id_bytes && a->file_bytes == b->file_bytes &&
	       a->modified_ns == b->modified_ns && strcmp(a->path, b->path) == 0 &&
	       (!a->build_id_bytes || memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0);
}

/* A copy that owns its texts; path is NULL without memory. */
static struct rvp_symbols_identity copy_of(const struct rvp_symbols_identity *identity)
{
	struct rvp_symbols_identity copy = *identity;
	uint8_t *build_id = malloc(identity->build_id_bytes + 1);

	copy.path = strdup(identity->path);
	copy.build_id = build_id;
	if (build_id && identity->build_id_bytes)
		memcpy(build_id, identity->build_id, identity->build_id_bytes);
	if (build_id && copy.path)
		return copy;
	free(build_id);
	free((void *)copy.path);
	return (struct rvp_symbols_identity){0};
}

size_t rvp_symbols_add_file(struct rvp_symbols *symbols, const struct rvp_symbols_identity *identity)
{
	struct file file = {.state = RVP_SYMBOLS_MISSING};

	for (size_t i = 0; i < symbols->file_count; i++)
		if (same_identity(&symbols->files[i].identity, identity))
			return i;
	if (symbols->file_count == symbols->file_room) {
		size_t room = symbols->file_room ? symbols->file_room * 2 : 32;
		struct file *grown = reallocarray(symbols->files, room, sizeof *grown);

		if (!grown)
			return SIZE_MAX;
		symbols->files = grown;
		symbols->file_room = room;
	}
	file.identity = copy_of(identity);
	if (!file.identity.path)
		return SIZE_MAX;
	symbols->files[symbols->file_count] = file;
	return symbols->file_count++;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
	return (hash ^ 0xff) * 0x9e3779b97f4a7c15u;
}

uint64_t rvp_frame_hash(const struct rvp_frame *frame)
{
	return hash_text(hash_text(frame->line + 1, frame->function), frame->file);
}

static uint64_t hash_of(uint64_t file, uint64_t address)
{
	uint64_t hash = (address ^ file * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	return hash ^ hash >> 32;
}

/* Where the key is or belongs. There is always a free place. */
static struct entry *place_of(struct entry *entries, size_t room, uint64_t file, uint64_t address)
{
	size_t at = hash_of(file, address) & (room - 1);

	while (entries[at].file && (entries[at].file != file || entries[at].address != address))
		at = (at + 1) & (room - 1);
	return &entries[at];
}

static bool make_room(struct rvp_symbols *symbols)
{
	size_t room = symbols->entry_room ? symbols->entry_room * 2 : 1024;
	struct entry *grown;

	if (symbols->entry_count * 2 < symbols->entry_room)
		return true;
	grown = calloc(room, sizeof *grown);
	if (!grown)
		return false;
	for (size_t i = 0; i < symbols->entry_room; i++)
		if (symbols->entries[i].file)
			*place_of(grown, room, symbols->entries[i].file, symbols->entries[i].address) =
			    symbols->entries[i];
	free(symbols->entries);
	symbols->entries = grown;
	symbols->entry_room = room;
	return true;
}

/* Frames of one address while they are found. */
struct gathering {
	struct rvp_frame frames[FRAMES_MAX];
	size_t count;
	const char *module;
	uint64_t offset;
};

static void gather(void *context, const struct rvp_symbols_hit *hit)
{
	struct gathering *gathering = context;

	if (gathering->count < FRAMES_MAX)
		gathering->frames[gathering->count++] = (struct rvp_frame){
		    .function = hit->function,
		    .file = hit->file,
		    .line = hit->line,
		    .module = gathering->module,
		    .offset = gathering->offset,
		    .kind = RVP_FRAME_FUNCTION,
		    .is_inline = hit->is_inline,
		};
}

static void open_file(struct rvp_symbols *symbols, struct file *file)
{
	if (file->was_tried)
		return;
	file->was_tried = true;
	if (symbols->library.table)
		file->open = symbols->library.table->open(&file->identity, &file->state);
}

/* "[libfoo.so+0x12]", with the reason where it is one that the reader can do something about. */
static char *name_of_nameless(const struct rvp_symbols *symbols, const struct file *file, uint64_t offset)
{
	bool is_replaced = symbols->library.table && file->state == RVP_SYMBOLS_REPLACED;
	const char *path = file->identity.path;
	char *name;

	if (asprintf(&name, "[%s+0x%" PRIx64 "%s]", *path ? rvp_symbols_base_name(path) : "program", offset,
		     is_replaced ? ", binary replaced since" : "") < 0)
		return NULL;
	return name;
}

/* Moves what was gathered into `entry`. */
static struct rvp_frame_list keep(struct rvp_symbols *symbols, struct entry *entry,
				  const struct gathering *gathering)
{
	entry->frames = calloc(gathering->count, sizeof *entry->frames);
	if (!entry->frames)
		return (struct rvp_frame_list){0};
	memcpy(entry->frames, gathering->frames, gathering->count * sizeof *entry->frames);
	for (size_t i = 0; i < gathering->count; i++)
		entry->frames[i].hash = rvp_frame_hash(&entry->frames[i]);
	entry->count = gathering->count;
	symbols->entry_count++;
	return (struct rvp_frame_list){entry->frames, entry->count};
}

struct rvp_frame_list rvp_symbols_find(struct rvp_symbols *symbols, size_t number, uint64_t bias, uint64_t pc,
				       bool is_exact)
{
	uint64_t address = pc - bias, key = (uint64_t)number * 2 + is_exact + 1;
	struct gathering gathering = {.offset = address};
	struct entry *entry;
	struct file *file;

	if (number >= symbols->file_count)
		return rvp_symbols_find_nowhere(symbols, pc);
	if (!make_room(symbols))
		return (struct rvp_frame_list){0};
	entry = place_of(symbols->entries, symbols->entry_room, key, address);
	if (entry->file)
		return (struct rvp_frame_list){entry->frames, entry->count};
	file = &symbols->files[number];
	open_file(symbols, file);
	gathering.module = file->identity.path;
	if (file->open && address)
		symbols->library.table->lookup(file->open, is_exact ? address : address - 1, gather,
					       &gathering);
	if (!gathering.count)
		gathering.frames[gathering.count++] = (struct rvp_frame){
		    .function = name_of_nameless(symbols, file, address),
		    .module = gathering.module,
		    .offset = address,
		    .kind = RVP_FRAME_NAMELESS,
		};
	if (!gathering.frames[0].function)
		return (struct rvp_frame_list){0};
	entry->file = key;
	entry->address = address;
	return keep(symbols, entry, &gathering);
}

const char *rvp_symbols_name_at(struct rvp_symbols *symbols, size_t number, uint64_t address)
{
	struct file *file = number < symbols->file_count ? &symbols->files[number] : NULL;

	if (!file)
		return NULL;
	open_file(symbols, file);
	return file->open ? symbols->library.table->name(file->open, address) : NULL;
}

bool rvp_symbols_has_names(struct rvp_symbols *symbols, size_t number)
{
	struct file *file = number < symbols->file_count ? &symbols->files[number] : NULL;

	if (!file)
		return false;
	open_file(symbols, file);
	return file->open && symbols->library.table->has_names(file->open);
}

struct rvp_frame_list rvp_symbols_find_nowhere(struct rvp_symbols *symbols, uint64_t pc)
{
	uint64_t key = UINT64_MAX;
	struct gathering gathering = {.count = 1};
	struct entry *entry;
	char *name;

	if (!make_room(symbols))
		return (struct rvp_frame_list){0};
	entry = place_of(symbols->entries, symbols->entry_room, key, pc);
	if (entry->file)
		return (struct rvp_frame_list){entry->frames, entry->count};
	if (asprintf(&name, "[unknown 0x%" PRIx64 "]", pc) < 0)
		return (struct rvp_frame_list){0};
	gathering.frames[0] = (struct rvp_frame){.function = name, .offset = pc, .kind = RVP_FRAME_UNKNOWN};
	entry->file = key;
	entry->address = pc;
	return keep(symbols, entry, &gathering);
}

size_t rvp_symbols_files_in_state(const struct rvp_symbols *symbols, enum rvp_symbols_state state,
				  const char **paths, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; symbols->library.table && i < symbols->file_count; i++) {
		const struct file *file = &symbols->files[i];

		if (!file->was_tried || file->state != state)
			continue;
		if (count < room)
			paths[count] = file->identity.path;
		count++;
	}
	return count;
}

char *rvp_symbols_readable_name(const struct rvp_symbols *symbols, const char *name)
{
	return symbols->library.table ? symbols->library.table->demangle(name) : NULL;
}
