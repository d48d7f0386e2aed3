/* SPDX-License-Identifier: MIT */
/* modules.c: see modules.h. */
#include "preload/modules.h"

#include "preload/elf_image.h"
#include "preload/emit.h"
#include "preload/framework.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/python_frames.h"
#include "preload/sys.h"
#include "preload/unwind_rule.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

enum { MODULES_MAX = 4096, PATH_MAX_BYTES = 4096 };

/* All zero: free. A thread takes a place by storing `link_map` into it by compare-and-swap; every thread that
 * meets the object then stores what it knows, the same for all. */
struct module {
	_Atomic uint64_t link_map;
	_Atomic uint64_t start, end, identity;
	_Atomic uint32_t number;
	_Atomic uint32_t is_emitted;
	_Atomic uint32_t generation; /* of the rules, when it was last seen to be the same module */
};

static struct module modules[MODULES_MAX];
static _Atomic uint32_t place_count; /* places ever taken */
static _Atomic uint32_t last_number;
static char program_path[PATH_MAX_BYTES];

void rvp_modules_start(void)
{
	long length = rvp_sys_readlink("/proc/self/exe", program_path, sizeof program_path - 1);

	if (length < 0)
		length = 0;
	program_path[length] = 0;
}

uint32_t rvp_modules_era(void)
{
	return atomic_load_explicit(&last_number, memory_order_acquire) >> 16;
}

uint32_t rvp_modules_count(void)
{
	return atomic_load_explicit(&last_number, memory_order_acquire);
}

struct rvp_text rvp_module_build_id(const struct rvp_object *object)
{
	return rvp_elf_build_id(object);
}

static struct rvp_text path_of(const struct rvp_object *object)
{
	const struct link_map *map = object->link_map;
	const char *path = map && map->l_name && *map->l_name ? map->l_name : program_path;

	return (struct rvp_text){path, strnlen(path, PATH_MAX_BYTES)};
}

/* Tells a module from another that was mapped to the same place and whose link map is at the same address. */
static uint64_t identity_of(const struct rvp_object *object)
{
	struct rvp_text path = path_of(object), build_id = rvp_elf_build_id(object);

	return rvp_checksum(path.bytes, path.length) * 3 + rvp_checksum(build_id.bytes, build_id.length);
}

static bool is_vdso(const struct rvp_object *object)
{
	return object->start == getauxval(AT_SYSINFO_EHDR);
}

/* A relative path (dlopen("./x.so")) made absolute in `buffer` of PATH_MAX_BYTES. */
static struct rvp_text absolute(struct rvp_text path, char *buffer)
{
	long length;

	if (*path.bytes == '/' || !memchr(path.bytes, '/', path.length) || !buffer)
		return path;
	length = rvp_syscall6(SYS_getcwd, (long)buffer, PATH_MAX_BYTES, 0, 0, 0, 0);
	if (length <= 1 || *buffer != '/' || (uint64_t)length + path.length > PATH_MAX_BYTES)
		return path;
	buffer[length - 1] = '/';
	memcpy(buffer + length, path.bytes, path.length);
	return (struct rvp_text){buffer, (uint64_t)length + path.length};
}

static bool emit_load(struct rvp_thread *thread, const struct rvp_object *object, uint32_t number)
{
	struct rvp_text path = path_of(object), build_id = rvp_elf_build_id(object);
	const struct link_map *map = object->link_map;
	struct stat file = {0};
	bool is_locked = atomic_load_explicit(&rvp_process.locked, memory_order_relaxed),
	     is_file = !is_vdso(object);
	char *buffer = is_file && !is_locked && *path.bytes != '/' ? rvp_own_map(PATH_MAX_BYTES) : NULL;
	bool is_kept;

	if (is_locked ||
	    (is_file && rvp_syscall6(SYS_newfstatat, AT_FDCWD, (long)path.bytes, (long)&file, 0, 0, 0) < 0))
		rvp_lose(RVP_LOSS_MODULE, 1);
	path = absolute(path, buffer);
	is_kept = RVP_EMIT(
	    thread, MODULE_LOAD, path.length + build_id.length, .stamp = rvp_last_stamp(thread), .module = number,
	    .bias = map ? map->l_addr : object->start, .start = object->start, .end = object->end,
	    .device = file.st_dev, .inode = file.st_ino, .file_bytes = (uint64_t)file.st_size,
	    .modified_ns = (uint64_t)file.st_mtim.tv_sec * 1000000000u + (uint64_t)file.st_mtim.tv_nsec,
	    .build_id = build_id, .path = path);
	if (buffer)
		rvp_own_unmap(buffer, PATH_MAX_BYTES);
	return is_kept;
}

/* The place of an object's link map, taken now if there is none; NULL: the table is full. */
static struct module *place_of(const struct rvp_object *object)
{
	uint64_t key = (uint64_t)object->link_map;
	uint32_t count = atomic_load_explicit(&place_count, memory_order_acquire);

	for (uint32_t i = 0; i < count; i++)
		if (atomic_load_explicit(&modules[i].link_map, memory_order_acquire) == key)
			return &modules[i];
	for (uint32_t i = 0; i < MODULES_MAX; i++) {
		uint64_t found = 0;

		if (!atomic_compare_exchange_strong(&modules[i].link_map, &found, key) && found != key)
			continue;
		while (count <= i && !atomic_compare_exchange_weak(&place_count, &count, i + 1))
			;
		return &modules[i];
	}
	return NULL;
}

static uint32_t number_of(struct module *module)
{
	uint32_t number = atomic_load_explicit(&module->number, memory_order_acquire), fresh;

	if (number)
		return number;
	fresh = atomic_fetch_add(&last_number, 1) + 1;
	return atomic_compare_exchange_strong(&module->number, &number, fresh) ? fresh : number;
}

static bool is_same(const struct module *module, const struct rvp_object *object)
{
	return (uint64_t)object->link_map == module->link_map && object->start == module->start &&
	       object->end == module->end && identity_of(object) == module->identity;
}

static void unload(struct rvp_thread *thread, struct module *module)
{
	uint32_t emitted = 1;

	if (!atomic_compare_exchange_strong(&module->is_emitted, &emitted, 2))
		return; /* another thread's */
	RVP_EMIT(thread, MODULE_UNLOAD, 0, .stamp = thread->last_stamp, .module = module->number);
	rvp_python_lose(module->start, module->end);
	module->number = 0;
	module->start = module->end = module->identity = 0;
	atomic_store(&module->is_emitted, 0);
	atomic_store_explicit(&module->link_map, 0, memory_order_release);
}

static void note(const struct rvp_object *object, struct module *module)
{
	atomic_store(&module->start, object->start);
	atomic_store(&module->end, object->end);
	atomic_store(&module->identity, identity_of(object));
}

static void meet(struct rvp_thread *thread, const struct rvp_object *object, struct module *module,
		 uint32_t number)
{
	note(object, module);
	if (emit_load(thread, object, number))
		atomic_store_explicit(&module->is_emitted, 1, memory_order_release);
	rvp_python_meet(object);
	rvp_framework_meet(thread, object);
}

/* The object's module; one that was unloaded without our being told, and has left its place to this, is told
 * now. */
static struct module *current_place_of(struct rvp_thread *thread, const struct rvp_object *object)
{
	uint32_t now = atomic_load_explicit(&rvp_rule_generation, memory_order_acquire);
	struct module *module = place_of(object);

	if (!module || atomic_load_explicit(&module->is_emitted, memory_order_acquire) != 1 ||
	    atomic_load_explicit(&module->generation, memory_order_relaxed) == now)
		return module;
	if (!is_same(module, object)) {
		unload(thread, module);
		module = place_of(object);
	}
	if (module)
		atomic_store_explicit(&module->generation, now, memory_order_relaxed);
	return module;
}

uint16_t rvp_module_of(struct rvp_thread *thread, const struct rvp_object *object)
{
	struct module *module = current_place_of(thread, object);
	uint32_t number;

	if (!module) {
		rvp_lose(RVP_LOSS_MODULE, 1);
		return 0;
	}
	number = number_of(module);
	if (!atomic_load_explicit(&module->is_emitted, memory_order_acquire))
		meet(thread, object, module, number);
	return (uint16_t)number;
}

static bool is_still_there(const struct module *module)
{
	struct rvp_object object;

	return rvp_object_find(module->start, &object) && is_same(module, &object);
}

void rvp_modules_unload_gone(struct rvp_thread *thread)
{
	uint32_t count = atomic_load_explicit(&place_count, memory_order_acquire);

	thread->last_stamp = rvp_stamp();
	for (uint32_t i = 0; i < count; i++)
		if (modules[i].is_emitted == 1 && !is_still_there(&modules[i]))
			unload(thread, &modules[i]);
}

/* The loader's list only says where objects are; what they are rvp_object_find says, as in a walk. */
void rvp_modules_meet_rest(struct rvp_thread *thread)
{
	struct rvp_object_list list = {.count = 0};
	struct rvp_object object;
	uint64_t address;

	while (list.count < MODULES_MAX && rvp_object_next(&list, &address)) {
		struct module *module = rvp_object_find(address, &object) ? place_of(&object) : NULL;
		uint32_t number = module ? number_of(module) : 0;

		if (!module || atomic_load_explicit(&module->is_emitted, memory_order_acquire))
			continue;
		note(&object, module);
		if (emit_load(thread, &object, number))
			atomic_store_explicit(&module->is_emitted, 1, memory_order_release);
	}
}

void rvp_modules_reset(void)
{
	memset(modules, 0, atomic_load(&place_count) * sizeof *modules);
	atomic_store(&place_count, 0);
	atomic_store(&last_number, 0);
}
