/* SPDX-License-Identifier: MIT */
/* torch_tape.c: a tape of every tensor storage that PyTorch asks for on the CPU, and the truth that follows
 * from it.
 *
 * Preloaded into a run of its own, never beside rvprof: the program runs once with the tape, and once to be
 * measured. libc10 calls its report of memory through the PLT, so the one defined here is what it finds. The
 * program says which storages are weights, cache, gradients, optimizer state or saved for backward
 * (tape_name); a name holds for the whole life of the storage, also before it was said. What has no name is
 * temp. At exit: bytes by purpose at the moment when all storages together were largest, at the end, and the
 * highest of each purpose.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PURPOSES = 6, MAX_EVENTS = 1 << 23, TABLE = 1 << 16 };
static const char *const names[PURPOSES] = {"temp",       "weights",  "kv_cache",
					    "activation", "gradient", "optimizer"};

struct storage {
	int64_t bytes;
	uint32_t purpose;
};
/* Even: born, odd: gone; the rest is the number of a storage. Untouched memory costs nothing. */
static uint32_t events[MAX_EVENTS];
static struct storage storages[MAX_EVENTS / 2];
static uint32_t event_count, storage_count;
static bool is_full;

/* Live storages by address: open addressing, 0 is empty, 1 was used. */
static uintptr_t addresses[TABLE];
static uint32_t numbers[TABLE];

struct device {
	int8_t type, index;
};
void tape_report(void *block, int64_t bytes, size_t total, size_t reserved,
		 struct device device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE");
bool tape_enabled(void) __asm__("_ZN3c1022memoryProfilingEnabledEv");

static uint32_t place_of(uintptr_t address, bool to_insert)
{
	uint32_t at = (uint32_t)(address >> 6) * 2654435761u % TABLE, tries = 0;

	while (addresses[at] && addresses[at] != address && tries++ < TABLE) {
		if (to_insert && addresses[at] == 1)
			break;
		at = (at + 1) % TABLE;
	}
	return at;
}

bool tape_enabled(void)
{
	return true;
}

void tape_report(void *block, int64_t bytes, size_t total, size_t reserved, struct device device)
{
	uint32_t at = place_of((uintptr_t)block, bytes > 0);

	(void)total, (void)reserved, (void)device;
	if (event_count == MAX_EVENTS || storage_count == MAX_EVENTS / 2) {
		is_full = true;
		return;
	}
	if (bytes > 0) {
		addresses[at] = (uintptr_t)block;
		numbers[at] = storage_count;
		storages[storage_count].bytes = bytes;
		events[event_count++] = storage_count++ * 2;
	} else if (addresses[at] == (uintptr_t)block) {
		events[event_count++] = numbers[at] * 2 + 1;
		addresses[at] = 1;
	}
}

/* The live storage at `block` is for that purpose; 0: there is no such storage. */
int tape_name(const void *block, const char *purpose)
{
	uint32_t at = place_of((uintptr_t)block, false);

	if (addresses[at] != (uintptr_t)block)
		return 0;
	for (uint32_t i = 0; i < PURPOSES; i++)
		if (strcmp(names[i], purpose) == 0)
			storages[numbers[at]].purpose = i;
	return 1;
}

static void line(const char *at, const int64_t *bytes)
{
	printf("truth at=%s", at);
	for (int i = 0; i < PURPOSES; i++)
		printf(" %s=%lld", names[i], (long long)bytes[i]);
	printf("\n");
}

/* Called by the program when all that it does is done. */
int tape_print(void)
{
	int64_t now[PURPOSES] = {0}, peak[PURPOSES] = {0}, most[PURPOSES] = {0}, total = 0, highest = 0;

	for (uint32_t i = 0; i < event_count; i++) {
		const struct storage *storage = &storages[events[i] / 2];
		int64_t bytes = events[i] % 2 ? -storage->bytes : storage->bytes;

		now[storage->purpose] += bytes;
		total += bytes;
		if (now[storage->purpose] > most[storage->purpose])
			most[storage->purpose] = now[storage->purpose];
		if (total > highest) {
			highest = total;
			memcpy(peak, now, sizeof peak);
		}
	}
	line("peak", peak);
	line("max", most);
	fflush(stdout);
	return !is_full;
}
