/* SPDX-License-Identifier: MIT */
/* nvtx_client.c: a program that uses NVTX, as NVIDIA's headers make one: tables of its own, and at its first
 * call the library that NVTX_INJECTION64_PATH names. The numbers are NVTX's, written here a second time so
 * that a wrong one of ours is seen. It prints what each call returned; -2 and 0 are what they return where no
 * tool is. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

typedef void (*function)(void);

static function core[16], core2[16];
static function *core_slots[16], *core2_slots[16];

struct event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static int module_table(int module, function ***table, unsigned *count)
{
	*table = module == 1 ? core_slots : core2_slots;
	*count = 16;
	return module == 1 || module == 5;
}

static const void *export_table(uint32_t number)
{
	static const struct {
		size_t bytes;
		int (*get)(int, function ***, unsigned *);
	} callbacks = {sizeof callbacks, module_table};

	return number == 1 ? &callbacks : NULL;
}

/* What NVTX puts into its tables before a tool has seen them, and takes out again afterwards. */
static void not_yet(void)
{
}

static void initialize(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*start)(const void *(*)(uint32_t)) =
	    library
		? (int (*)(const void *(*)(uint32_t)))(uintptr_t)dlsym(library, "InitializeInjectionNvtx2")
		: NULL;
	int started;

	for (int i = 1; i < 16; i++) {
		core_slots[i] = &core[i];
		core2_slots[i] = &core2[i];
		core[i] = core2[i] = not_yet;
	}
	started = start ? start(export_table) : 0;
	for (int i = 1; i < 16; i++) {
		core[i] = started && core[i] != not_yet ? core[i] : NULL;
		core2[i] = started && core2[i] != not_yet ? core2[i] : NULL;
	}
}

#define CALL(slot, type, none, ...) ((slot) ? ((type)(uintptr_t)(slot))(__VA_ARGS__) : (none))
typedef int (*push_text)(const char *);
typedef int (*push_wide)(const wchar_t *);
typedef int (*push_event)(const void *, const struct event *);
typedef int (*pop)(void);
typedef int (*domain_pop)(const void *);
typedef uint64_t (*start_text)(const char *);
typedef uint64_t (*start_event)(const void *, const struct event *);
typedef void (*end)(uint64_t);
typedef void (*domain_end)(const void *, uint64_t);
typedef void (*mark)(const char *);
typedef void (*name_category)(const void *, uint32_t, const char *);
typedef const void *(*create)(const char *);
typedef const void *(*register_text)(const void *, const char *);

int main(void)
{
	struct event event = {.version = 3, .size = sizeof event, .category = 5, .message_type = 3};
	const void *domain, *string;
	uint64_t first, second;

	initialize();
	domain = CALL(core2[12], create, NULL, "my.domain");
	string = CALL(core2[10], register_text, NULL, domain, "a registered name");
	event.message = string;
	if (core2[8])
		((name_category)(uintptr_t)core2[8])(domain, 5, "attention");
	printf("%d", CALL(core[9], push_text, -2, "plain"));
	printf(" %d", CALL(core[10], push_wide, -2, L"w\u00efde \U0001f600"));
	printf(" %d", CALL(core2[4], push_event, -2, domain, &event));
	free(memset(malloc(600 << 10), 1, 600 << 10));
	printf(" %d", CALL(core2[5], domain_pop, -2, domain));
	printf(" %d", CALL(core[11], pop, -2));
	printf(" %d\n", CALL(core[11], pop, -2));
	event.size = 16; /* older than we know: no text */
	printf("%d", CALL(core2[4], push_event, -2, domain, &event));
	printf(" %d\n", CALL(core2[5], domain_pop, -2, domain));
	first = CALL(core[5], start_text, 0, "first");
	event.size = sizeof event;
	second = CALL(core2[2], start_event, 0, domain, &event);
	if (core[7])
		((end)(uintptr_t)core[7])(first);
	if (core2[3])
		((domain_end)(uintptr_t)core2[3])(domain, second);
	if (core[2])
		((mark)(uintptr_t)core[2])("a mark");
	fprintf(stderr, "ids %s\n", first && first == second ? "equal" : "different or none");
	return 0;
}
