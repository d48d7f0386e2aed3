/* SPDX-License-Identifier: MIT */
/* python_code.c: see python_code.h. Texts go out as UTF-8, from the interpreter's own memory where they are
 * ASCII. */
#include "preload/python_code.h"

#include "preload/emit.h"
#include "preload/own.h"
#include "preload/path_tree.h"

/* Offsets that all versions share. */
enum { TEXT_LENGTH = 16, TEXT_STATE = 32, BYTES_LENGTH = 16, BYTES_AT = 32 };

struct code {
	struct rvp_python *python;
	struct rvp_memory *memory;
	const struct rvp_python_code_words *words;
};

static bool emit_code(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
		      void *context);

/* The path that a number stands for is a hash of all that a code object is known by. The last table: 512 KiB,
 * 40,960 codes; `import torch` has 1,252. A program that goes on making others has them told again, each time it comes back
 * to one that was forgotten: to the log it is another code of the same name. */
static struct rvp_path_tree codes = {.emit = emit_code, .last_sets = 1 << 12};

static bool has_type(struct rvp_memory *memory, uint64_t object, uint64_t type)
{
	uint64_t found;

	return rvp_memory_word(memory, object + RVP_PYTHON_OBJECT_TYPE, &found) && found == type;
}

static char *put_utf8(char *to, uint32_t point)
{
	if (point < 0x80) {
		*to++ = (char)point;
	} else if (point < 0x800) {
		*to++ = (char)(0xc0 | point >> 6);
		*to++ = (char)(0x80 | (point & 0x3f));
	} else if (point < 0x10000) {
		*to++ = (char)(0xe0 | point >> 12);
		*to++ = (char)(0x80 | (point >> 6 & 0x3f));
		*to++ = (char)(0x80 | (point & 0x3f));
	} else {
		*to++ = (char)(0xf0 | point >> 18);
		*to++ = (char)(0x80 | (point >> 12 & 0x3f));
		*to++ = (char)(0x80 | (point >> 6 & 0x3f));
		*to++ = (char)(0x80 | (point & 0x3f));
	}
	return to;
}

/* Characters of `kind` bytes each as UTF-8 in `to`, as many as fit. */
static struct rvp_text convert(const uint8_t *from, uint64_t length, uint32_t kind, char *to)
{
	char *at = to, *end = to + RVP_TEXT_MAX_BYTES - 4;

	for (uint64_t i = 0; i < length && at <= end; i++) {
		uint32_t point = 0;

		memcpy(&point, from + i * kind, kind);
		at = put_utf8(at, point);
	}
	return (struct rvp_text){to, (uint64_t)(at - to)};
}

/* The text of a string; empty where it cannot be read. *buffer: own memory that it may lie in, or NULL. */
static struct rvp_text text_of(const struct code *code, uint64_t string, char **buffer)
{
	const struct rvp_python_layout *layout = &code->python->layout;
	struct rvp_text none = {NULL, 0};
	uint64_t length, at = string + layout->ascii_bytes;
	uint32_t state, kind;

	if (!has_type(code->memory, string, code->python->text_type) ||
	    !rvp_memory_word(code->memory, string + TEXT_LENGTH, &length) ||
	    !rvp_memory_bytes(code->memory, string + TEXT_STATE, &state, sizeof state) || !(state >> 5 & 1))
		return none;
	length = length < RVP_TEXT_MAX_BYTES ? length : RVP_TEXT_MAX_BYTES;
	if (state >> 6 & 1)
		return rvp_memory_is_readable(code->memory, at, length)
			   ? (struct rvp_text){(char *)at, length}
			   : none;
	at = string + layout->compact_bytes;
	kind = state >> 2 & 7;
	if ((kind != 1 && kind != 2 && kind != 4) || !rvp_memory_is_readable(code->memory, at, length * kind))
		return none;
	*buffer = rvp_own_map(RVP_TEXT_MAX_BYTES);
	return *buffer ? convert((const uint8_t *)at, length, kind, *buffer) : none;
}

static struct rvp_text bytes_of(const struct code *code)
{
	uint64_t length, at = code->words->lines + BYTES_AT;

	if (!has_type(code->memory, code->words->lines, code->python->bytes_type) ||
	    !rvp_memory_word(code->memory, code->words->lines + BYTES_LENGTH, &length))
		return (struct rvp_text){NULL, 0};
	length = length < RVP_TEXT_MAX_BYTES ? length : RVP_TEXT_MAX_BYTES;
	if (!rvp_memory_is_readable(code->memory, at, length))
		length = 0;
	return (struct rvp_text){(char *)at, length};
}

static bool emit_code(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
		      void *context)
{
	const struct code *code = context;
	char *buffers[2] = {NULL, NULL};
	struct rvp_text name = text_of(code, code->words->name, &buffers[0]),
			file = text_of(code, code->words->file, &buffers[1]);
	struct rvp_text lines = bytes_of(code);
	bool is_kept;

	(void)parent;
	(void)frame;
	is_kept = RVP_EMIT(thread, CODE, name.length + file.length + lines.length, .code = number,
			   .first_line = code->words->first_line, .version = code->python->layout.version,
			   .name = name, .file = file, .lines = lines);
	for (int i = 0; i < 2; i++)
		if (buffers[i])
			rvp_own_unmap(buffers[i], RVP_TEXT_MAX_BYTES);
	return is_kept;
}

bool rvp_python_code_read(const struct rvp_python *python, struct rvp_memory *memory,
			  struct rvp_python_code_words *words)
{
	const struct rvp_python_layout *layout = &python->layout;
	const char *at = (const char *)words->address;

	if (words->address & 7 || !rvp_memory_has(memory, words->address, layout->code_bytes) ||
	    *(const uint64_t *)(at + RVP_PYTHON_OBJECT_TYPE) != python->code_type)
		return false;
	words->name = *(const uint64_t *)(at + layout->code_name);
	words->file = *(const uint64_t *)(at + layout->code_file);
	words->lines = *(const uint64_t *)(at + layout->code_lines);
	words->first_line = *(const uint32_t *)(at + layout->code_line);
	return has_type(memory, words->name, python->text_type) &&
	       rvp_memory_word(memory, words->name + RVP_PYTHON_TEXT_HASH, &words->name_hash);
}

/* Numbers given before a fork are not the child's. */
static _Atomic uint64_t era = 1;

static bool is_seen(const struct rvp_python_seen *seen, const struct rvp_python_code_words *words, uint64_t now)
{
	return seen->number && seen->words.address == words->address && seen->words.name == words->name &&
	       seen->words.file == words->file && seen->words.lines == words->lines &&
	       seen->words.first_line == words->first_line && seen->words.name_hash == words->name_hash &&
	       seen->era == now;
}

static uint32_t number_of(struct rvp_thread *thread, struct code *code)
{
	const struct rvp_python_code_words *words = code->words;
	const uint64_t word[6] = {words->address, words->name,	     words->file,
				  words->lines,	  words->first_line, words->name_hash};
	uint64_t path = 0;

	for (int i = 0; i < 6; i++)
		path = rvp_path_below(path, word[i]);
	return rvp_path_tree_number(&codes, thread, path, 0, 0, code);
}

uint32_t rvp_python_code_number(struct rvp_python *python, struct rvp_thread *thread, struct rvp_memory *memory,
				struct rvp_python_seen *seen, const struct rvp_python_code_words *words)
{
	struct code code = {python, memory, words};
	uint64_t now = atomic_load_explicit(&era, memory_order_relaxed);

	seen += (words->address >> 4 ^ words->address >> 10) % RVP_PYTHON_SEEN;
	if (!is_seen(seen, words, now))
		*seen = (struct rvp_python_seen){*words, number_of(thread, &code), now};
	return seen->number;
}

void rvp_python_code_reset(void)
{
	atomic_fetch_add(&era, 1);
	rvp_path_tree_reset(&codes);
}
