/* SPDX-License-Identifier: MIT */
/* nvtx.c: librvprof_nvtx.so. What a program says by NVTX goes to the profiler (rvprof.h's table), and on to
 * the tool that would have had it (RVPROF_NVTX_FORWARD).
 *
 *   push, pop      scope begin and end, of the calling thread
 *   start, end     range begin and end, by number; they may be of different threads
 *   mark           a label
 *   domains, registered strings, categories: nvtx_names.c; with scopes goes "domain" or "domain/category"
 *
 * Rules
 *   - The tool that was there is asked first, and what it put into a program's tables is called first; its
 * numbers of ranges, domains and strings are the ones that the program sees. Without one the program sees
 * what it would see without us, where that can be: push and pop say that nobody keeps track.
 *   - Nothing is allocated in the program's heap; no lock; no thread-local storage, which may allocate.
 *   - Without the profiler in this process this library declines, and is unloaded again.
 */
#include "rvprof.h"
#include "cupti/nvtx_abi.h"
#include "cupti/nvtx_names.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { TEXT_BYTES = RVPROF_TEXT_BYTES + 8 };

/* The tool's functions: one tool a process, so one function for each, whichever library's table it came by.
 */
static rvp_nvtx_function _Atomic next_core[RVP_NVTX_CORE_COUNT], next_core2[RVP_NVTX_CORE2_COUNT];
static _Atomic uint64_t last_range;

#define NEXT(table, id, type) ((type)atomic_load_explicit(&next_##table[id], memory_order_relaxed))

static size_t put_character(char *at, uint32_t c)
{
	if (c < 0x80) {
		at[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		at[0] = (char)(0xc0 | c >> 6);
		at[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		at[0] = (char)(0xe0 | c >> 12);
		at[1] = (char)(0x80 | (c >> 6 & 63));
		at[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	at[0] = (char)(0xf0 | (c >> 18 & 7));
	at[1] = (char)(0x80 | (c >> 12 & 63));
	at[2] = (char)(0x80 | (c >> 6 & 63));
	at[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* As UTF-8. One that is too long fills `text` beyond RVPROF_TEXT_BYTES, so that it is cut, and counted, as
 * any other. */
static const char *narrow(const wchar_t *wide, char text[TEXT_BYTES])
{
	size_t length = 0;

	if (!wide)
		return NULL;
	while (*wide && length <= RVPROF_TEXT_BYTES)
		length += put_character(text + length, (uint32_t)*wide++);
	text[length] = '\0';
	return text;
}

static const char *domain_name(const void *domain)
{
	return domain ? rvp_nvtx_names_find(RVP_NVTX_DOMAIN, domain, 0) : NULL;
}

/* What the event is called, and of what. An old program's event may be shorter than ours: then it has no
 * text. */
struct event {
	const char *name, *of;
};

static const char *message_text(const struct rvp_nvtx_event *event, char text[TEXT_BYTES])
{
	switch (event->message_type) {
	case RVP_NVTX_MESSAGE_ASCII: return event->message;
	case RVP_NVTX_MESSAGE_UNICODE: return narrow(event->message, text);
	case RVP_NVTX_MESSAGE_REGISTERED: return rvp_nvtx_names_find(RVP_NVTX_STRING, event->message, 0);
	default: return NULL;
	}
}

static struct event read_event(const void *domain, const struct rvp_nvtx_event *event, char text[TEXT_BYTES])
{
	struct event read = {.of = domain_name(domain)};
	const char *category;

	if (!event || event->size < sizeof *event)
		return read;
	read.name = message_text(event, text);
	category = event->category ? rvp_nvtx_names_find(RVP_NVTX_CATEGORY, domain, event->category) : NULL;
	if (category)
		read.of = category;
	return read;
}

static void tell(int kind, const char *name, const char *of)
{
	if (rvprof_found_api)
		rvprof_found_api->scope(kind, RVPROF_SOURCE_NVTX, NULL, name, of);
}

static void tell_mark(const char *name)
{
	if (rvprof_found_api)
		rvprof_found_api->label(RVPROF_SOURCE_NVTX, name);
}

static uint64_t tell_start(uint64_t tool_id, const char *name)
{
	uint64_t id = tool_id ? tool_id : atomic_fetch_add(&last_range, 1) + 1;

	if (rvprof_found_api)
		rvprof_found_api->range_begin(RVPROF_SOURCE_NVTX, id, NULL, name);
	return id;
}

static void tell_end(uint64_t id)
{
	if (rvprof_found_api)
		rvprof_found_api->range_end(RVPROF_SOURCE_NVTX, id);
}

typedef void (*mark_event)(const struct rvp_nvtx_event *);
typedef void (*mark_text)(const char *);
typedef void (*mark_wide)(const wchar_t *);
typedef uint64_t (*start_event)(const struct rvp_nvtx_event *);
typedef uint64_t (*start_text)(const char *);
typedef uint64_t (*start_wide)(const wchar_t *);
typedef void (*end_range)(uint64_t);
typedef int (*push_event)(const struct rvp_nvtx_event *);
typedef int (*push_text)(const char *);
typedef int (*push_wide)(const wchar_t *);
typedef int (*pop_range)(void);
typedef void (*category_text)(uint32_t, const char *);
typedef void (*category_wide)(uint32_t, const wchar_t *);
typedef void (*domain_mark)(const void *, const struct rvp_nvtx_event *);
typedef uint64_t (*domain_start)(const void *, const struct rvp_nvtx_event *);
typedef void (*domain_end)(const void *, uint64_t);
typedef int (*domain_push)(const void *, const struct rvp_nvtx_event *);
typedef int (*domain_pop)(const void *);
typedef void (*domain_category_text)(const void *, uint32_t, const char *);
typedef void (*domain_category_wide)(const void *, uint32_t, const wchar_t *);
typedef const void *(*register_text)(const void *, const char *);
typedef const void *(*register_wide)(const void *, const wchar_t *);
typedef const void *(*create_text)(const char *);
typedef const void *(*create_wide)(const wchar_t *);

static void on_mark_event(const struct rvp_nvtx_event *event)
{
	mark_event next = NEXT(core, RVP_NVTX_MARK_EX, mark_event);
	char text[TEXT_BYTES];

	if (next)
		next(event);
	tell_mark(read_event(NULL, event, text).name);
}

static void on_mark_text(const char *name)
{
	mark_text next = NEXT(core, RVP_NVTX_MARK_A, mark_text);

	if (next)
		next(name);
	tell_mark(name);
}

static void on_mark_wide(const wchar_t *name)
{
	mark_wide next = NEXT(core, RVP_NVTX_MARK_W, mark_wide);
	char text[TEXT_BYTES];

	if (next)
		next(name);
	tell_mark(narrow(name, text));
}

static uint64_t on_start_event(const struct rvp_nvtx_event *event)
{
	start_event next = NEXT(core, RVP_NVTX_RANGE_START_EX, start_event);
	char text[TEXT_BYTES];

	return tell_start(next ? next(event) : 0, read_event(NULL, event, text).name);
}

static uint64_t on_start_text(const char *name)
{
	start_text next = NEXT(core, RVP_NVTX_RANGE_START_A, start_text);

	return tell_start(next ? next(name) : 0, name);
}

static uint64_t on_start_wide(const wchar_t *name)
{
	start_wide next = NEXT(core, RVP_NVTX_RANGE_START_W, start_wide);
	char text[TEXT_BYTES];

	return tell_start(next ? next(name) : 0, narrow(name, text));
}

static void on_end(uint64_t id)
{
	end_range next = NEXT(core, RVP_NVTX_RANGE_END, end_range);

	if (next)
		next(id);
	tell_end(id);
}

static int on_push_event(const struct rvp_nvtx_event *event)
{
	push_event next = NEXT(core, RVP_NVTX_RANGE_PUSH_EX, push_event);
	int level = next ? next(event) : RVP_NVTX_NO_TRACKING;
	char text[TEXT_BYTES];
	struct event read = read_event(NULL, event, text);

	tell(RVPROF_SCOPE_BEGIN, read.name, read.of);
	return level;
}

static int on_push_text(const char *name)
{
	push_text next = NEXT(core, RVP_NVTX_RANGE_PUSH_A, push_text);
	int level = next ? next(name) : RVP_NVTX_NO_TRACKING;

	tell(RVPROF_SCOPE_BEGIN, name, NULL);
	return level;
}

static int on_push_wide(const wchar_t *name)
{
	push_wide next = NEXT(core, RVP_NVTX_RANGE_PUSH_W, push_wide);
	int level = next ? next(name) : RVP_NVTX_NO_TRACKING;
	char text[TEXT_BYTES];

	tell(RVPROF_SCOPE_BEGIN, narrow(name, text), NULL);
	return level;
}

static int on_pop(void)
{
	pop_range next = NEXT(core, RVP_NVTX_RANGE_POP, pop_range);
	int level = next ? next() : RVP_NVTX_NO_TRACKING;

	tell(RVPROF_SCOPE_END, NULL, NULL);
	return level;
}

static void name_category(const void *domain, uint32_t category, const char *name)
{
	const char *of = domain_name(domain);

	if (name)
		rvp_nvtx_names_put(RVP_NVTX_CATEGORY, domain, category, of ? of : "", name);
}

static void on_category_text(uint32_t category, const char *name)
{
	category_text next = NEXT(core, RVP_NVTX_NAME_CATEGORY_A, category_text);

	if (next)
		next(category, name);
	name_category(NULL, category, name);
}

static void on_category_wide(uint32_t category, const wchar_t *name)
{
	category_wide next = NEXT(core, RVP_NVTX_NAME_CATEGORY_W, category_wide);
	char text[TEXT_BYTES];

	if (next)
		next(category, name);
	name_category(NULL, category, narrow(name, text));
}

static void on_domain_mark(const void *domain, const struct rvp_nvtx_event *event)
{
	domain_mark next = NEXT(core2, RVP_NVTX_DOMAIN_MARK_EX, domain_mark);
	char text[TEXT_BYTES];

	if (next)
		next(domain, event);
	tell_mark(read_event(domain, event, text).name);
}

static uint64_t on_domain_start(const void *domain, const struct rvp_nvtx_event *event)
{
	domain_start next = NEXT(core2, RVP_NVTX_DOMAIN_RANGE_START_EX, domain_start);
	char text[TEXT_BYTES];

	return tell_start(next ? next(domain, event) : 0, read_event(domain, event, text).name);
}

static void on_domain_end(const void *domain, uint64_t id)
{
	domain_end next = NEXT(core2, RVP_NVTX_DOMAIN_RANGE_END, domain_end);

	if (next)
		next(domain, id);
	tell_end(id);
}

static int on_domain_push(const void *domain, const struct rvp_nvtx_event *event)
{
	domain_push next = NEXT(core2, RVP_NVTX_DOMAIN_RANGE_PUSH_EX, domain_push);
	int level = next ? next(domain, event) : RVP_NVTX_NO_TRACKING;
	char text[TEXT_BYTES];
	struct event read = read_event(domain, event, text);

	tell(RVPROF_SCOPE_BEGIN, read.name, read.of);
	return level;
}

static int on_domain_pop(const void *domain)
{
	domain_pop next = NEXT(core2, RVP_NVTX_DOMAIN_RANGE_POP, domain_pop);
	int level = next ? next(domain) : RVP_NVTX_NO_TRACKING;

	tell(RVPROF_SCOPE_END, NULL, domain_name(domain));
	return level;
}

static void on_domain_category_text(const void *domain, uint32_t category, const char *name)
{
	domain_category_text next = NEXT(core2, RVP_NVTX_DOMAIN_NAME_CATEGORY_A, domain_category_text);

	if (next)
		next(domain, category, name);
	name_category(domain, category, name);
}

static void on_domain_category_wide(const void *domain, uint32_t category, const wchar_t *name)
{
	domain_category_wide next = NEXT(core2, RVP_NVTX_DOMAIN_NAME_CATEGORY_W, domain_category_wide);
	char text[TEXT_BYTES];

	if (next)
		next(domain, category, name);
	name_category(domain, category, narrow(name, text));
}

static const void *put(enum rvp_nvtx_named kind, const void *tool_handle, const char *name)
{
	const void *handle = rvp_nvtx_names_put(kind, tool_handle, 0, name ? name : "", NULL);

	return tool_handle ? tool_handle : handle;
}

static const void *on_register_text(const void *domain, const char *name)
{
	register_text next = NEXT(core2, RVP_NVTX_DOMAIN_REGISTER_STRING_A, register_text);

	return put(RVP_NVTX_STRING, next ? next(domain, name) : NULL, name);
}

static const void *on_register_wide(const void *domain, const wchar_t *name)
{
	register_wide next = NEXT(core2, RVP_NVTX_DOMAIN_REGISTER_STRING_W, register_wide);
	char text[TEXT_BYTES];

	return put(RVP_NVTX_STRING, next ? next(domain, name) : NULL, narrow(name, text));
}

static const void *on_create_text(const char *name)
{
	create_text next = NEXT(core2, RVP_NVTX_DOMAIN_CREATE_A, create_text);

	return put(RVP_NVTX_DOMAIN, next ? next(name) : NULL, name);
}

static const void *on_create_wide(const wchar_t *name)
{
	create_wide next = NEXT(core2, RVP_NVTX_DOMAIN_CREATE_W, create_wide);
	char text[TEXT_BYTES];

	return put(RVP_NVTX_DOMAIN, next ? next(name) : NULL, narrow(name, text));
}

#define OURS(id, function) [id] = (rvp_nvtx_function)(uintptr_t)(function)
static const rvp_nvtx_function our_core[RVP_NVTX_CORE_COUNT] = {
    OURS(RVP_NVTX_MARK_EX, on_mark_event),
    OURS(RVP_NVTX_MARK_A, on_mark_text),
    OURS(RVP_NVTX_MARK_W, on_mark_wide),
    OURS(RVP_NVTX_RANGE_START_EX, on_start_event),
    OURS(RVP_NVTX_RANGE_START_A, on_start_text),
    OURS(RVP_NVTX_RANGE_START_W, on_start_wide),
    OURS(RVP_NVTX_RANGE_END, on_end),
    OURS(RVP_NVTX_RANGE_PUSH_EX, on_push_event),
    OURS(RVP_NVTX_RANGE_PUSH_A, on_push_text),
    OURS(RVP_NVTX_RANGE_PUSH_W, on_push_wide),
    OURS(RVP_NVTX_RANGE_POP, on_pop),
    OURS(RVP_NVTX_NAME_CATEGORY_A, on_category_text),
    OURS(RVP_NVTX_NAME_CATEGORY_W, on_category_wide),
};
static const rvp_nvtx_function our_core2[RVP_NVTX_CORE2_COUNT] = {
    OURS(RVP_NVTX_DOMAIN_MARK_EX, on_domain_mark),
    OURS(RVP_NVTX_DOMAIN_RANGE_START_EX, on_domain_start),
    OURS(RVP_NVTX_DOMAIN_RANGE_END, on_domain_end),
    OURS(RVP_NVTX_DOMAIN_RANGE_PUSH_EX, on_domain_push),
    OURS(RVP_NVTX_DOMAIN_RANGE_POP, on_domain_pop),
    OURS(RVP_NVTX_DOMAIN_NAME_CATEGORY_A, on_domain_category_text),
    OURS(RVP_NVTX_DOMAIN_NAME_CATEGORY_W, on_domain_category_wide),
    OURS(RVP_NVTX_DOMAIN_REGISTER_STRING_A, on_register_text),
    OURS(RVP_NVTX_DOMAIN_REGISTER_STRING_W, on_register_wide),
    OURS(RVP_NVTX_DOMAIN_CREATE_A, on_create_text),
    OURS(RVP_NVTX_DOMAIN_CREATE_W, on_create_wide),
};

/* A table of one library that uses NVTX, and what was in it before the other tool saw it. */
struct table {
	rvp_nvtx_function **slots;
	unsigned count;
	rvp_nvtx_function before[RVP_NVTX_CORE_COUNT];
};

static void open_table(const struct rvp_nvtx_callbacks *callbacks, int module, struct table *table)
{
	unsigned count = 0;

	*table = (struct table){0};
	if (!callbacks->module_table(module, &table->slots, &count) || !table->slots)
		return;
	table->count = count < RVP_NVTX_CORE_COUNT ? count : RVP_NVTX_CORE_COUNT;
	for (unsigned id = 1; id < table->count; id++)
		table->before[id] = table->slots[id] ? *table->slots[id] : NULL;
}

static void fill(const struct table *table, const rvp_nvtx_function *ours, rvp_nvtx_function _Atomic *next,
		 bool has_tool)
{
	for (unsigned id = 1; id < table->count; id++) {
		if (!ours[id] || !table->slots[id])
			continue;
		if (has_tool && *table->slots[id] != table->before[id] && *table->slots[id] != ours[id])
			atomic_store(&next[id], *table->slots[id]);
		*table->slots[id] = ours[id];
	}
}

/* The tool that the user named. NVTX itself would not complain either if it can't be had. */
static bool start_tool(rvp_nvtx_export export)
{
	const char *path = getenv("RVPROF_NVTX_FORWARD");
	void *tool = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	rvp_nvtx_initialize initialize = NULL;

	if (tool)
		initialize = (rvp_nvtx_initialize)(uintptr_t)dlsym(tool, "InitializeInjectionNvtx2");
	if (initialize && initialize(export))
		return true;
	if (tool)
		dlclose(tool);
	(void)dlerror();
	return false;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(rvp_nvtx_export export);

int InitializeInjectionNvtx2(rvp_nvtx_export export)
{
	const struct rvp_nvtx_callbacks *callbacks = export(RVP_NVTX_EXPORT_CALLBACKS);
	struct table core, core2;
	bool has_tool;

	if (!callbacks || callbacks->struct_bytes < sizeof *callbacks)
		return start_tool(export);
	open_table(callbacks, RVP_NVTX_MODULE_CORE, &core);
	open_table(callbacks, RVP_NVTX_MODULE_CORE2, &core2);
	has_tool = start_tool(export);
	if (!rvprof_found_api || !rvp_nvtx_names_open())
		return has_tool;
	fill(&core, our_core, next_core, has_tool);
	fill(&core2, our_core2, next_core2, has_tool);
	return 1;
}
