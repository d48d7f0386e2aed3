/* SPDX-License-Identifier: MIT */
/* text_stack.c: a call stack in a few lines: function left, file and line right.
 *
 * Lists are read for "who wanted this memory", so plumbing (allocators' wrappers, insides of containers, the
 * interpreter itself where there are Python frames) and what every stack ends in are skipped where others are
 * left. Of a run of native frames that Python called, which may be twenty deep in PyTorch, the innermost and
 * the outermost are shown: who asked, and what Python called. Parameters of long C++ names are left out; JSON
 * has all of both. */
#include "report/text_report.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_NAME = 60 };
enum { INDENT = 6, FUNCTION_COLUMNS = 40, GAP = 2, PLACE_BYTES = 4200 };

static bool has_python(const struct rvp_frame_list *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].kind == RVP_FRAME_PYTHON)
			return true;
	return false;
}

/* Code of the interpreter itself: python3.11, libpython3.11.so.1.0. */
static bool is_interpreter(const struct rvp_frame *frame)
{
	const char *name;

	if (!frame->module)
		return false;
	name = rvp_symbols_base_name(frame->module);
	return !strncmp(name, "python", 6) || !strncmp(name, "libpython", 9);
}

/* A nameless frame behind one of the same library says nothing more. */
static bool is_repetition(const struct rvp_frame_list *stack, size_t number)
{
	const struct rvp_frame *frame = &stack->frames[number], *before = number ? frame - 1 : NULL;

	return before && frame->kind == RVP_FRAME_NAMELESS && before->kind == RVP_FRAME_NAMELESS &&
	       !strcmp(frame->module, before->module);
}

/* The outermost frames in libc without a name are what calls main, or a thread's function: the names of those
 * lie where libc's debug symbols are installed, and are left out there by name. */
static bool is_nameless_start(const struct rvp_frame_list *stack, size_t number)
{
	for (size_t i = number; i < stack->count; i++) {
		const struct rvp_frame *frame = &stack->frames[i];

		if (!frame->module || strncmp(rvp_symbols_base_name(frame->module), "libc.so", 7) != 0 ||
		    (frame->kind != RVP_FRAME_NAMELESS && !rvp_function_is_entry(frame->function)))
			return rvp_function_is_entry(frame->function) && i > number;
	}
	return number > 0;
}

static bool is_shown(const struct rvp_frame_list *stack, size_t number, bool is_python)
{
	const struct rvp_frame *frame = &stack->frames[number];

	if (frame->kind == RVP_FRAME_PYTHON)
		return true;
	return !rvp_function_is_plumbing(frame->function) && !rvp_function_is_entry(frame->function) &&
	       !is_repetition(stack, number) && !is_nameless_start(stack, number) &&
	       !(is_python && is_interpreter(frame));
}

/* `path` as one would type it here. */
static const char *short_path(const struct rvp_view *view, const char *path, char *tidy, size_t tidy_bytes)
{
	size_t length = strlen(view->here);

	rvp_path_tidy(path, tidy, tidy_bytes);
	if (length > 1 && !strncmp(tidy, view->here, length) && tidy[length] == '/')
		return tidy + length + 1;
	return tidy;
}

/* Where it is, "file:line" or "[library]"; NULL when the function's text says all. */
static const char *place_of(const struct rvp_view *view, const struct rvp_frame *frame, char *text,
			    size_t text_bytes)
{
	char tidy[PLACE_BYTES - 16];
	const char *path = frame->file ? short_path(view, frame->file, tidy, sizeof tidy) : NULL;

	if (path && frame->line)
		snprintf(text, text_bytes, "%s:%u", path, frame->line);
	else if (path)
		snprintf(text, text_bytes, "%s", path);
	else if (frame->module && frame->kind == RVP_FRAME_FUNCTION)
		snprintf(text, text_bytes, "[%s]", rvp_symbols_base_name(frame->module));
	else
		return NULL;
	return text;
}

static void print_spaces(FILE *out, unsigned count)
{
	fprintf(out, "%*s", (int)count, "");
}

/* Columns for the function when the place wants `place_columns`; 0: no limit. */
static unsigned function_room(unsigned width, unsigned column, unsigned place_columns)
{
	if (!width || !place_columns)
		return width;
	return width > place_columns + GAP + column ? width - place_columns - GAP : column;
}

/* Where the parameters of a long name begin; its length where it is short or has none. */
static size_t name_length(const char *function)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t length = strlen(function), depth = 0;

	for (size_t i = 0; length > LONG_NAME && function[i]; i++) {
		if (!strncmp(function + i, anonymous, sizeof anonymous - 1)) {
			i += sizeof anonymous - 2;
			continue;
		}
		depth += function[i] == '<';
		depth -= function[i] == '>' && depth > 0;
		if (function[i] == '(' && !depth && i)
			return i;
	}
	return length;
}

/* The name into `text`, with "(...)" for what is left out. */
static const char *short_name(const char *function, char *text, size_t text_bytes)
{
	size_t length = name_length(function);

	if (!function[length] || length + 8 > text_bytes)
		return function;
	memcpy(text, function, length);
	strcpy(text + length, "(...)");
	return text;
}

static void print_frame(const struct rvp_view *view, const struct rvp_frame *frame)
{
	char text[PLACE_BYTES], name[PLACE_BYTES];
	const char *place = place_of(view, frame, text, sizeof text);
	unsigned width = view->style.width ? view->style.width - INDENT : 0;
	unsigned column =
	    width && (width - GAP) / 2 < FUNCTION_COLUMNS ? (width - GAP) / 2 : FUNCTION_COLUMNS;
	unsigned room = function_room(width, column, place ? rvp_text_columns(place) : 0), columns;
	enum rvp_ink ink = frame->kind == RVP_FRAME_PYTHON ? RVP_INK_PYTHON : RVP_INK_PLAIN;

	print_spaces(view->out, INDENT);
	fputs(rvp_style_on(&view->style, ink), view->out);
	columns = rvp_print_safely(view->out, short_name(frame->function, name, sizeof name), room);
	fputs(rvp_style_off(&view->style, ink), view->out);
	if (place) {
		print_spaces(view->out, columns < column ? column - columns + GAP : GAP);
		columns = columns < column ? column : columns;
		fputs(rvp_style_on(&view->style, RVP_INK_DIM), view->out);
		rvp_print_safely_end(view->out, place, width ? width - columns - GAP : 0);
		fputs(rvp_style_off(&view->style, RVP_INK_DIM), view->out);
	}
	fputc('\n', view->out);
}

static void print_left(const struct rvp_view *view, const char *before, size_t left, const char *behind)
{
	print_spaces(view->out, INDENT);
	fprintf(view->out, "%s... %s%zu %s%s\n", rvp_style_on(&view->style, RVP_INK_DIM), before, left,
		behind, rvp_style_off(&view->style, RVP_INK_DIM));
}

/* Native frames between `number` and the next Python one that are marked, the last of them left out; 0: no
 * Python frame follows. */
static size_t native_between(const struct rvp_frame_list *stack, const bool *shown, size_t number)
{
	size_t count = 0;

	for (size_t i = number; i < stack->count; i++) {
		if (stack->frames[i].kind == RVP_FRAME_PYTHON)
			return count > 1 ? count - 1 : 0;
		count += shown[i];
	}
	return 0;
}

/* What lies between the innermost native frame of a run and the outermost is skipped, and counted. */
static size_t skip_native(const struct rvp_view *view, const struct rvp_frame_list *stack, const bool *shown,
			  size_t *number)
{
	size_t between =
	    stack->frames[*number].kind == RVP_FRAME_PYTHON ? 0 : native_between(stack, shown, *number + 1);

	if (between < 2)
		return 0;
	print_left(view, "", between, "native frames");
	for (size_t left = between; left;)
		left -= shown[++*number];
	return between;
}

/* Where the native frames from `number` to the next Python one begin and end; how many are marked and have a
 * name. */
static size_t named_in_run(const struct rvp_frame_list *stack, const bool *shown, size_t number, size_t *end)
{
	size_t named = 0;

	for (*end = number; *end < stack->count && stack->frames[*end].kind != RVP_FRAME_PYTHON; ++*end)
		named += shown[*end] && stack->frames[*end].kind != RVP_FRAME_NAMELESS;
	return *end < stack->count ? named : 0;
}

/* Of native frames that Python called, those without a name say nothing beside those with one. */
static size_t hide_nameless(const struct rvp_frame_list *stack, bool *shown)
{
	size_t hidden = 0, end;

	for (size_t i = 0; i < stack->count; i = end + 1) {
		size_t named = named_in_run(stack, shown, i, &end);

		for (size_t k = i; named && k < end; k++) {
			bool hides = shown[k] && stack->frames[k].kind == RVP_FRAME_NAMELESS;

			hidden += hides;
			shown[k] &= !hides;
		}
	}
	return hidden;
}

/* Marks what is shown; how many. Where nothing would be, everything is. */
static size_t choose(const struct rvp_frame_list *stack, bool *shown)
{
	bool is_python = has_python(stack);
	size_t count = 0;

	for (size_t i = 0; i < stack->count; i++)
		count += shown[i] = is_shown(stack, i, is_python);
	for (size_t i = 0; !count && i < stack->count; i++)
		shown[i] = true;
	if (count && is_python)
		count -= hide_nameless(stack, shown);
	return count ? count : stack->count;
}

size_t rvp_text_shown_frames(const struct rvp_frame_list *stack, const struct rvp_frame **frames, size_t most)
{
	bool is_python = has_python(stack);
	size_t count = 0;

	for (size_t i = 0; i < stack->count && count < most; i++)
		if (is_shown(stack, i, is_python))
			frames[count++] = &stack->frames[i];
	if (!count && stack->count && most)
		frames[count++] = &stack->frames[0];
	return count;
}

void rvp_text_stack(const struct rvp_view *view, const struct rvp_frame_list *stack)
{
	bool *shown = calloc(stack->count + 1, sizeof *shown);
	size_t all = shown ? choose(stack, shown) : 0, printed = 0;

	if (!stack->count) {
		print_spaces(view->out, INDENT);
		fputs("[no call stack was recorded]\n", view->out);
	}
	for (size_t i = 0; shown && i < stack->count && printed < view->frame_count; i++)
		if (shown[i]) {
			print_frame(view, &stack->frames[i]);
			printed++;
			all -= skip_native(view, stack, shown, &i);
		}
	if (all > printed)
		print_left(view, "and ", all - printed, "more");
	free(shown);
}
