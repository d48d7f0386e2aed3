/* SPDX-License-Identifier: MIT */
/* operators.c: see operators.h.
 *
 * The real operator may throw: it is called in phase OUTSIDE, with nothing of ours to undo on the way out,
 * and its block is told afterwards. All operators new take at most (size, alignment, nothrow) in registers,
 * all operators delete (block, size or alignment, alignment, nothrow): one front of that shape serves each.
 */
#include "preload/operators.h"

#include "preload/fronts.h"
#include "preload/real.h"
#include "preload/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

enum { RUNNING = 1 };

typedef void *new_function(size_t bytes, uintptr_t second, uintptr_t third);
typedef void delete_function(void *block, uintptr_t second, uintptr_t third, uintptr_t fourth);

static struct {
#define RVP_NEW(name)    new_function *name;
#define RVP_DELETE(name) delete_function *name;
#include "preload/operators.def"
} real;

static bool found;

static inline void tell_new(void *block, size_t bytes, struct rvp_caller caller)
{
	struct rvp_thread *thread = block ? rvp_enter() : NULL;
	int error = errno;

	if (thread) {
		rvp_on_alloc(thread, block, bytes, RVP_FAMILY_NEW, caller);
		rvp_leave(thread);
	} else if (block) {
		rvp_beside_alloc(block, bytes, RVP_FAMILY_NEW, caller.pc);
	}
	errno = error;
}

#define RVP_NEW(name)                                                                                   \
	static void *front##name(size_t bytes, uintptr_t second, uintptr_t third)                       \
	{                                                                                               \
		rvp_local.state = RUNNING; /* a throw leaves it set; the next operator new clears it */ \
		void *block = real.name(bytes, second, third);                                          \
		rvp_local.state = 0;                                                                    \
		tell_new(block, bytes, RVP_CALLER());                                                   \
		return block;                                                                           \
	}
/* It cannot throw, so it runs in phase REAL: it may well call `free`, which is then the allocator's own
 * business. */
static inline void give_back(delete_function *delete, void *block, uintptr_t second, uintptr_t third,
			     uintptr_t fourth, uint64_t pc)
{
	struct rvp_thread *thread = block ? rvp_enter() : NULL;
	int error = errno;

	if (!thread && block)
		rvp_beside_free(block, rvp_real.malloc_usable_size(block), RVP_FAMILY_DELETE, pc);
	if (thread)
		rvp_on_free(thread, block, rvp_real.malloc_usable_size(block), RVP_FAMILY_DELETE);
	errno = error;
	if (thread)
		rvp_local.phase = RVP_REAL;
	delete (block, second, third, fourth);
	if (thread) {
		error = errno;
		rvp_local.phase = RVP_OURS;
		rvp_leave(thread);
		errno = error;
	}
}

#define RVP_DELETE(name)                                                                                   \
	static void front##name(void *block, uintptr_t second, uintptr_t third, uintptr_t fourth)          \
	{                                                                                                  \
		give_back(real.name, block, second, third, fourth, (uint64_t)__builtin_return_address(0)); \
	}
#include "preload/operators.def"

static const struct {
	const char *name;
	void *front;
	size_t offset;
} rows[] = {
#define RVP_NEW(name)    {#name, (void *)front##name, offsetof(__typeof__(real), name)},
#define RVP_DELETE(name) {#name, (void *)front##name, offsetof(__typeof__(real), name)},
#include "preload/operators.def"
};

/* libc has no operators, and libstdc++'s call its malloc. */
static bool is_libc(uintptr_t code)
{
	return code >= rvp_real.allocator_low && code < rvp_real.allocator_high;
}

void rvp_operators_find(void)
{
	if (rvp_real.is_in_program || is_libc((uintptr_t)getauxval))
		return;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uintptr_t code = (uintptr_t)dlsym(RTLD_DEFAULT, rows[i].name);

		if (code < rvp_real.allocator_low || code >= rvp_real.allocator_high)
			continue;
		*(uintptr_t *)((char *)&real + rows[i].offset) = code;
		found = true;
	}
	/* A name that nobody has leaves an error for the program's own dlerror: the first call takes it, the
	 * second frees it. */
	(void)dlerror();
	(void)dlerror();
}

bool rvp_operators_are_beside_malloc(void)
{
	return found || rvp_real.is_shadowed;
}

/* The hooks of the malloc family by addresses of our own, whoever else defines the name before us. */
static const struct {
	const char *name;
	void *front;
} family[] = {
#define RVP_FRONT(name) {#name, (void *)rvp_front_##name},
    RVP_FRONTS(RVP_FRONT)
#undef RVP_FRONT
};

static void *front_of_family(const char *name)
{
	for (unsigned i = 0; i < sizeof family / sizeof family[0]; i++)
		if (strcmp(family[i].name, name) == 0)
			return family[i].front;
	return NULL;
}

void *rvp_operators_front(const char *name)
{
	void *front = rvp_real.is_shadowed ? front_of_family(name) : NULL;

	if (front)
		return front;
	if (name[0] != '_' || name[1] != 'Z' || (name[2] != 'n' && name[2] != 'd'))
		return NULL;
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].name, name) == 0)
			return *(void **)((char *)&real + rows[i].offset) ? rows[i].front : NULL;
	return NULL;
}

bool rvp_operators_running(void)
{
	return rvp_local.state == RUNNING;
}
