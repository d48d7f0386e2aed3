/* SPDX-License-Identifier: MIT */
/* maps.c: see maps.h. Mappings are rare and matter: they are recorded in both modes from a page on in full mode, from
 * the threshold on in sampled mode; smaller ones are counted alone. */
#include "preload/maps.h"

#include "preload/count.h"
#include "preload/emit.h"
#include "preload/folder.h"
#include "preload/recorder.h"
#include "preload/snapshot.h"
#include "preload/sys.h"
#include "preload/told_files.h"
#include "preload/walk.h"
#include "preload/writes.h"
#include "preload/writes_pages.h"
#include "preload/writes_places.h"

#include <sys/mman.h>

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + 4095) & ~4095ull;
}

static bool is_recorded(struct rvp_thread *thread, uint64_t bytes)
{
	if (rvp_process.options.mode != RVP_MODE_FULL && bytes < rvp_process.threshold_bytes)
		return false;
	return !atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed) && rvp_folder_give_slot(thread);
}

/* What those who follow writes may look at: the program's own memory, in no file, with no other process. */
static bool is_followed(const struct rvp_mapping *mapping)
{
	static const int wanted = MAP_PRIVATE | MAP_ANONYMOUS, other = MAP_NORESERVE | MAP_STACK | MAP_HUGETLB;

	return (mapping->flags & (wanted | other)) == wanted && mapping->protection & PROT_WRITE;
}

static void follow(const struct rvp_mapping *mapping, uint64_t bytes)
{
	if (mapping->flags & MAP_FIXED)
		rvp_places_take_range(mapping->address, bytes, rvp_followed_gone);
	if (bytes >= rvp_writes_floor && is_followed(mapping))
		rvp_places_put((struct rvp_written_place){mapping->address, bytes, 0});
}

void rvp_on_map(struct rvp_thread *thread, struct rvp_mapping mapping, struct rvp_caller caller)
{
	struct stat file = {0};
	struct rvp_path path;
	uint64_t stamp, bytes = whole_pages(mapping.bytes);

	RVP_COUNT(map_count, 1);
	RVP_COUNT(map_bytes, bytes);
	if (!is_recorded(thread, bytes))
		return;
	if (rvp_writes_floor != UINT64_MAX)
		follow(&mapping, bytes);
	stamp = rvp_event_stamp(thread);
	path = rvp_event_path(thread, caller);
	if (mapping.fd >= 0 && !atomic_load(&rvp_process.locked) && rvp_sys_fstat(mapping.fd, &file) == 0)
		rvp_tell_file(thread, mapping.fd, &file);
	RVP_EMIT(thread, MAP, 0, .stamp = stamp, .address = mapping.address, .bytes = bytes,
		 .protection = (uint64_t)mapping.protection, .flags = (uint64_t)mapping.flags,
		 .offset = mapping.offset, .device = file.st_dev, .inode = file.st_ino, .stack = path.stack,
		 .python = path.python);
	rvp_snapshot_look(thread);
}

void rvp_on_unmap(struct rvp_thread *thread, uint64_t address, uint64_t bytes)
{
	bytes = whole_pages(bytes);
	if (bytes >= RVP_FALL_BYTES)
		rvp_snapshot_before_fall(thread, bytes);
	RVP_COUNT(unmap_count, 1);
	RVP_COUNT(unmap_bytes, bytes);
	if (rvp_writes_floor != UINT64_MAX)
		rvp_places_take_range(address, bytes, rvp_followed_gone);
	if (!is_recorded(thread, bytes))
		return;
	RVP_EMIT(thread, UNMAP, 0, .stamp = rvp_event_stamp(thread), .address = address, .bytes = bytes);
}

static void count_change(uint64_t before, uint64_t after)
{
	if (after > before) {
		RVP_COUNT(map_count, 1);
		RVP_COUNT(map_bytes, after - before);
	} else if (after < before) {
		RVP_COUNT(unmap_count, 1);
		RVP_COUNT(unmap_bytes, before - after);
	}
}

static void follow_remapped(uint64_t old, uint64_t address, uint64_t bytes)
{
	struct rvp_written_place place = rvp_places_take(old);

	if (!place.address)
		return;
	place.address = address;
	place.bytes = bytes;
	if (place.number)
		rvp_followed_moved(place.number - 1, address, bytes);
	rvp_places_put(place);
}

void rvp_on_remap(struct rvp_thread *thread, uint64_t old, uint64_t old_bytes, uint64_t address, uint64_t bytes,
		  struct rvp_caller caller)
{
	struct rvp_path path;
	uint64_t stamp;

	old_bytes = whole_pages(old_bytes);
	bytes = whole_pages(bytes);
	count_change(old_bytes, bytes);
	if (rvp_writes_floor != UINT64_MAX)
		follow_remapped(old, address, bytes);
	if (!is_recorded(thread, old_bytes > bytes ? old_bytes : bytes))
		return;
	stamp = rvp_event_stamp(thread);
	path = rvp_event_path(thread, caller);
	RVP_EMIT(thread, REMAP, 0, .stamp = stamp, .old_address = old, .old_bytes = old_bytes, .address = address,
		 .bytes = bytes, .stack = path.stack, .python = path.python);
}

void rvp_on_break(struct rvp_thread *thread, uint64_t before, uint64_t after, struct rvp_caller caller)
{
	struct rvp_path path;
	uint64_t stamp;

	count_change(whole_pages(before), whole_pages(after));
	if (!is_recorded(thread, after > before ? after - before : before - after))
		return;
	stamp = rvp_event_stamp(thread);
	path = rvp_event_path(thread, caller);
	RVP_EMIT(thread, BREAK, 0, .stamp = stamp, .old_end = before, .end = after, .stack = path.stack);
}
