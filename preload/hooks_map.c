/* SPDX-License-Identifier: MIT */
/* hooks_map.c: mmap, munmap, mremap, brk and sbrk. See hooks_alloc.c for the rules.
 *
 * An allocator that maps memory inside a hooked malloc (jemalloc, tcmalloc, mimalloc) does so in phase REAL: rvp_enter
 * says NULL and the call is the allocator's own business. The real calls here run in phase OUTSIDE, so that a signal
 * handler that allocates meanwhile is recorded like any other code.
 */
#include "preload/maps.h"
#include "preload/operators.h"
#include "preload/real.h"
#include "preload/sys.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* what this file defines and exports.map names is the library's face */

/* Before the real ones are known: as libc would. */
static void *map_raw(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	long address = rvp_sys_mmap(at, bytes, protection, flags, fd, (uint64_t)offset);

	if (address < 0 && address > -4096) {
		errno = (int)-address;
		return MAP_FAILED;
	}
	return (void *)address;
}

static void *map_file_or_memory(void *at, size_t bytes, int protection, int flags, int fd, off_t offset,
				struct rvp_caller caller)
{
	struct rvp_thread *thread;
	void *address;
	int error;

	if (!rvp_real_ready())
		return map_raw(at, bytes, protection, flags, fd, offset);
	address = rvp_real.mmap(at, bytes, protection, flags, fd, offset);
	error = errno;

	if (address == MAP_FAILED)
		return address;
	thread = rvp_operators_running() ? NULL : rvp_enter();
	if (thread) {
		rvp_on_map(thread,
			   (struct rvp_mapping){.address = (uint64_t)address,
						.bytes = bytes,
						.protection = protection,
						.flags = flags,
						.fd = flags & MAP_ANONYMOUS ? -1 : fd,
						.offset = (uint64_t)offset},
			   caller);
		rvp_leave(thread);
	}
	errno = error;
	return address;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return map_file_or_memory(at, bytes, protection, flags, fd, offset, RVP_CALLER());
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return map_file_or_memory(at, bytes, protection, flags, fd, offset, RVP_CALLER());
}

int munmap(void *address, size_t bytes)
{
	struct rvp_thread *thread;
	int error = errno;

	if (!rvp_real_ready()) {
		errno = EINVAL;
		return -1;
	}
	/* What the kernel would refuse is not told. */
	thread = bytes && !((uintptr_t)address & 4095) && !rvp_operators_running() ? rvp_enter() : NULL;
	if (thread) {
		rvp_on_unmap(thread, (uint64_t)address, bytes);
		rvp_leave(thread);
	}
	errno = error;
	return rvp_real.munmap(address, bytes);
}

void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	struct rvp_thread *thread;
	void *at = NULL, *address;
	va_list more;
	int error;

	if (!rvp_real_ready()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	va_start(more, flags);
	if (flags & MREMAP_FIXED)
		at = va_arg(more, void *);
	va_end(more);
	address = rvp_real.mremap(old, old_bytes, bytes, flags, at);
	error = errno;
	if (address != MAP_FAILED && (thread = rvp_enter())) {
		rvp_on_remap(thread, (uint64_t)old, old_bytes, (uint64_t)address, bytes, RVP_CALLER());
		rvp_leave(thread);
	}
	errno = error;
	return address;
}

static void tell_break(uint64_t before, uint64_t after, struct rvp_caller caller)
{
	struct rvp_thread *thread = before != after ? rvp_enter() : NULL;

	if (!thread)
		return;
	rvp_on_break(thread, before, after, caller);
	rvp_leave(thread);
}

int brk(void *end)
{
	uint64_t before;
	int result, error;

	if (!rvp_real_ready()) {
		errno = ENOMEM;
		return -1;
	}
	before = (uint64_t)rvp_real.sbrk(0);
	result = rvp_real.brk(end);
	error = errno;
	if (result == 0)
		tell_break(before, (uint64_t)end, RVP_CALLER());
	errno = error;
	return result;
}

void *sbrk(intptr_t more)
{
	void *before;
	int error;

	if (!rvp_real_ready()) {
		errno = ENOMEM;
		return (void *)-1;
	}
	before = rvp_real.sbrk(more);
	error = errno;
	if (before != (void *)-1 && more)
		tell_break((uint64_t)before, (uint64_t)before + (uint64_t)more, RVP_CALLER());
	errno = error;
	return before;
}
