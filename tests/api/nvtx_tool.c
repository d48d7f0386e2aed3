/* SPDX-License-Identifier: MIT */
/* nvtx_tool.c: another tool for NVTX: it says on stdout what it is told, and returns numbers of its own. */
#include <stdint.h>
#include <stdio.h>

typedef void (*function)(void);

static int push(const char *name)
{
	printf("[tool push %s]", name);
	return 5;
}

static int pop(void)
{
	printf("[tool pop]");
	return 5;
}

static const void *create(const char *name)
{
	printf("[tool domain %s]", name);
	return (const void *)0x1230;
}

static const void *register_text(const void *domain, const char *name)
{
	printf("[tool string %s of %p]", name, domain);
	return (const void *)0x4560;
}

static uint64_t start(const char *name)
{
	printf("[tool start %s]", name);
	return 77;
}

static void end(uint64_t id)
{
	printf("[tool end %u]", (unsigned)id);
}

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t));

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t))
{
	const struct {
		size_t bytes;
		int (*get)(int, function ***, unsigned *);
	} *callbacks = export_table(1);
	function **table;
	unsigned count;

	callbacks->get(1, &table, &count);
	*table[9] = (function)(uintptr_t)push;
	*table[11] = (function)(uintptr_t)pop;
	*table[5] = (function)(uintptr_t)start;
	*table[7] = (function)(uintptr_t)end;
	callbacks->get(5, &table, &count);
	*table[12] = (function)(uintptr_t)create;
	*table[10] = (function)(uintptr_t)register_text;
	return 1;
}
