// SPDX-License-Identifier: MIT
// operators_library.cc: an allocator of the kind of jemalloc: malloc and its kin beside operators new and delete that do
// not go through malloc. A block has its size in front of it and comes back to the list of its size class.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>

namespace {
struct Head {
	size_t room;
	void *start;
};
struct Free {
	Free *next;
};

constexpr size_t region_bytes = size_t(256) << 20;
std::mutex lock;
char *region, *at;
Free *lists[64];

unsigned class_of(size_t bytes)
{
	return bytes <= 16 ? 4 : 64 - unsigned(__builtin_clzll(bytes - 1));
}

void *take(size_t alignment, size_t bytes)
{
	std::lock_guard<std::mutex> guard(lock);
	unsigned number = class_of(bytes + alignment + sizeof(Head));
	size_t room = size_t(1) << number;
	char *start;

	if (!region)
		region = at = static_cast<char *>(mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE,
						       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	if (lists[number]) {
		start = reinterpret_cast<char *>(lists[number]);
		lists[number] = lists[number]->next;
	} else if (room <= size_t(region + region_bytes - at)) {
		start = at;
		at += room;
	} else {
		return nullptr;
	}
	char *block = reinterpret_cast<char *>((uintptr_t(start) + sizeof(Head) + alignment - 1) & ~(alignment - 1));
	Head head = {size_t(start + room - block), start};
	memcpy(block - sizeof head, &head, sizeof head);
	return block;
}

Head head_of(void *block)
{
	Head head;

	memcpy(&head, static_cast<char *>(block) - sizeof head, sizeof head);
	return head;
}

void give(void *block)
{
	if (!block)
		return;
	std::lock_guard<std::mutex> guard(lock);
	Head head = head_of(block);
	unsigned number = class_of(size_t(static_cast<char *>(block) - static_cast<char *>(head.start)) + head.room);
	Free *free = static_cast<Free *>(head.start);

	free->next = lists[number];
	lists[number] = free;
}

void *take_or_throw(size_t alignment, size_t bytes)
{
	void *block = take(alignment, bytes);

	if (!block)
		throw std::bad_alloc();
	return block;
}
} // namespace

extern "C" {
int own_has(void *block)
{
	return region && block >= region && block < region + region_bytes;
}
void *malloc(size_t bytes)
{
	return take(16, bytes);
}
void free(void *block)
{
	give(block);
}
void *calloc(size_t count, size_t each)
{
	void *block = take(16, count * each);

	return block ? memset(block, 0, count * each) : block;
}
void *realloc(void *block, size_t bytes)
{
	void *to = take(16, bytes);

	if (block && to) {
		memcpy(to, block, head_of(block).room < bytes ? head_of(block).room : bytes);
		give(block);
	}
	return to;
}
void *aligned_alloc(size_t alignment, size_t bytes)
{
	return take(alignment < 16 ? 16 : alignment, bytes);
}
void *memalign(size_t alignment, size_t bytes)
{
	return aligned_alloc(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	*out = aligned_alloc(alignment, bytes);
	return *out ? 0 : ENOMEM;
}
size_t malloc_usable_size(void *block)
{
	return block ? head_of(block).room : 0;
}
}

using std::align_val_t;
using std::nothrow_t;

void *operator new(size_t bytes)
{
	return take_or_throw(16, bytes);
}
void *operator new[](size_t bytes)
{
	return take_or_throw(16, bytes);
}
void *operator new(size_t bytes, const nothrow_t &) noexcept
{
	return take(16, bytes);
}
void *operator new[](size_t bytes, const nothrow_t &) noexcept
{
	return take(16, bytes);
}
void *operator new(size_t bytes, align_val_t alignment)
{
	return take_or_throw(size_t(alignment), bytes);
}
void *operator new[](size_t bytes, align_val_t alignment)
{
	return take_or_throw(size_t(alignment), bytes);
}
void operator delete(void *block) noexcept
{
	give(block);
}
void operator delete[](void *block) noexcept
{
	give(block);
}
void operator delete(void *block, size_t) noexcept
{
	give(block);
}
void operator delete[](void *block, size_t) noexcept
{
	give(block);
}
void operator delete(void *block, align_val_t) noexcept
{
	give(block);
}
void operator delete[](void *block, align_val_t) noexcept
{
	give(block);
}
void operator delete(void *block, size_t, align_val_t) noexcept
{
	give(block);
}
void operator delete[](void *block, size_t, align_val_t) noexcept
{
	give(block);
}
