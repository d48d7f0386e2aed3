/* SPDX-License-Identifier: MIT */
/* make_seeds.c: writes the corpus's first inputs, one call for all targets, from known records of every kind.
 * Usage: make_seeds CORPUS_FOLDER. Needed only when the format changes; its results are kept in
 * tests/data/corpus. */
#include "record/event_encode.h"
#include "record/log_reader.h"
#include "record/packed_log.h"
#include "record/tree.h"
#include "tests/fuzz/folder_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 2, SLOT_BYTES = RVP_SLOT_PAYLOAD_AT + 2048 };

static const char *corpus;

static void put_file(const char *folder, const char *name, const void *bytes, size_t length)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", corpus, folder);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%s/%s", corpus, folder, name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
}

static uint64_t next(uint64_t *number)
{
	return (*number)++;
}

/* One record of every kind, with numbers that name their field. */
static uint8_t *put_all_kinds(uint8_t *at, uint64_t start)
{
	struct rvp_delta delta = {0};
	uint64_t number = start;

#define FILL_U(field)           .field = next(&number) % 5,
#define FILL_T(field)           .field = 1000000 + next(&number) * 1000,
#define FILL_A(field)           .field = 0x7f0000000000 + next(&number) * 4096,
#define FILL_S(field)           .field = 1,
#define FILL_P(field)           .field = 1,
#define FILL_X(field)           .field = {"seed", 4},
#define FILL_R(field)           .field = {"seed", 4},
#define FILL(kind, field, what) FILL_##kind(field)
#define RVP_RECORD(ID, id, name, what) \
	at = rvp_put_##ID(at, &delta, &(struct rvp_record_##ID){RVP_FIELDS_##ID(FILL)});
#include "record/schema.def"
	return at;
}

/* Compact events of every length, with other records among them. */
static uint8_t *put_events(uint8_t *at)
{
	struct rvp_delta delta = {0};
	uint64_t stamp = 1000, number = 1;

	for (unsigned i = 0; i < 64; i++, number = number * 3 + 1) {
		const uint64_t *given = i % 5 == 0 ? &stamp : NULL;
		uint64_t address = 0x7f0000000000 + (number >> i % 40) % 0x1000000 * (i % 7 ? 8 : 1);

		stamp += number % 0x10000 << i % 20;
		if (i % 9 == 8)
			at = rvp_put_NODE(at, &delta, &(struct rvp_record_NODE){.node = i, .pc = number});
		if (i % 2)
			at = rvp_put_event_free(at, &delta, given, address, i % RVP_FAMILY_COUNT, false);
		else
			at = rvp_put_event_alloc(at, &delta, given, address, number >> i % 60,
						 (uint32_t)(number >> i % 32), i % 3 ? 0 : (uint32_t)number,
						 i % RVP_FAMILY_COUNT, false);
	}
	return at;
}

#define PUT(ID, ...) \
	at = rvp_put_##ID(at, delta, &(struct rvp_record_##ID){.stamp = stamp += 1000, __VA_ARGS__})

/* A step: a cache that grows by one piece in it, activations in scopes, something read from a file, a result.
 */
static uint8_t *put_step(uint8_t *at, struct rvp_delta *delta, uint64_t step, uint64_t *clock)
{
	const uint64_t heap = 0x7f0000000000, cache = heap + step * 0x10000, scratch = heap + 0x900000, device = heap + 0xa0000000;
	uint64_t stamp = *clock;

	PUT(STEP, .kind = RVP_STEP_BEGIN, .phase = RVP_STEP_PHASE_DECODE, .seq_len = step,
	    .name = {"decode", 6});
	PUT(ALLOC, .address = cache, .bytes = 4096 * step, .stack = 2);
	PUT(TAG, .address = cache, .category = {"kv_cache/key", 12}, .name = {"k", 1});
	PUT(FREE, .address = cache - 0x10000);
	PUT(SCOPE, .kind = RVP_SCOPE_BEGIN, .category = {"activations", 11}, .name = {"layer", 5});
	PUT(ALLOC, .address = scratch, .bytes = 8192, .stack = 1);
	PUT(ALLOC, .address = scratch + 0x10000, .bytes = 512, .stack = 3);
	PUT(FILL, .address = scratch, .bytes = 8192, .device = 1, .inode = 2, .offset = 8192 * step);
	PUT(TENSOR, .address = scratch, .bytes = 8192);
	PUT(SCOPE, .kind = RVP_SCOPE_END);
	PUT(FREE, .address = scratch);
	PUT(TENSOR, .address = scratch, .is_free = 1);
	PUT(DEVICE_ALLOC, .address = device, .bytes = 1 << 21, .stack = 2);
	PUT(DEVICE_TENSOR, .address = device + 4096, .bytes = 8192, .stack = 3);
	PUT(DEVICE_TENSOR, .address = device + 4096, .is_free = 1, .bytes = 8192);
	PUT(DEVICE_FREE, .address = device);
	PUT(FREE, .address = scratch + 0x10000);
	PUT(STEP, .kind = RVP_STEP_END);
	*clock = stamp;
	return at;
}

/* What the kinds of evidence, steps and the ledger look for, in an order in which a program says it. */
static uint8_t *put_story(uint8_t *at)
{
	struct rvp_delta story = {0}, *delta = &story;
	uint64_t stamp = 1000;

	PUT(PROCESS, .pid = 77, .mode = RVP_MODE_FULL, .exe = {"seed", 4});
	PUT(ANCHOR, .realtime_ns = 1000000, .monotonic_ns = stamp);
	for (uint64_t node = 1; node <= 3; node++)
		at = rvp_put_NODE(
		    at, delta,
		    &(struct rvp_record_NODE){.node = node, .parent = node == 3, .pc = 0x400000 + node * 16});
	at = rvp_put_FILE(
	    at, delta,
	    &(struct rvp_record_FILE){.device = 1, .inode = 2, .bytes = 1 << 20, .path = {"model.gguf", 10}});
	PUT(MAP, .address = 0x7e0000000000, .bytes = 1 << 20, .flags = 2, .device = 1, .inode = 2,
	    .stack = 1);
	PUT(WRITE_WINDOW, .number = 1, .beat = RVP_WRITE_BEAT_MARKS);
	for (uint64_t step = 1; step <= 6; step++)
		at = put_step(at, delta, step, &stamp);
	PUT(WRITTEN, .address = 0x7f0000060000, .bytes = 24576, .number = 1, .scans = 6, .active = 63,
	    .page_count = 6, .written_pages = 6, .early_pages = 3, .late_pages = 3, .runs = 6,
	    .least_pages = 1, .most_pages = 1, .sampled_pages = 6, .new_units = 9999);
	PUT(WRITE_WINDOW, .kind = RVP_WRITE_WINDOW_END, .number = 1, .scans = 6, .block_count = 1);
	PUT(SNAPSHOT, .rss_anon_bytes = 1 << 20, .live_usable_bytes = 24576, .live_count = 1);
	PUT(RESIDENT, .address = 0x7f0000000000, .bytes = 1 << 20, .resident_bytes = 1 << 19,
	    .kind = RVP_RANGE_ANON, .region = 0x7f0000000000, .looked_bytes = 1 << 20);
	PUT(OWN_RANGE, .address = 0x7f0000800000, .bytes = 65536);
	PUT(REMAP, .old_address = 0x7e0000000000, .old_bytes = 1 << 20, .address = 0x7d0000000000,
	    .bytes = 1 << 21);
	PUT(UNMAP, .address = 0x7d0000000000, .bytes = 1 << 20);
	PUT(ANCHOR, .realtime_ns = 1000000 + stamp, .monotonic_ns = stamp);
	return at;
}

struct files {
	uint8_t tree[RVP_TREE_HEADER_BYTES + 2 * RVP_TREE_ENTRY_BYTES];
	_Alignas(64) uint8_t log[65536];
	_Alignas(64) uint8_t buffers[RVP_BUFFER_HEADER_BYTES + SLOTS * SLOT_BYTES];
	size_t log_length;
};

static void make_tree(struct files *files)
{
	struct rvp_tree *tree = (struct rvp_tree *)files->tree;
	struct rvp_tree_entry *entry = rvp_tree_entry_at(tree, 0);

	tree->file = (struct rvp_file_header){.pid = 77, .start_ticks = 5, .begin_realtime_ns = 1};
	rvp_file_header_seal(&tree->file, RVP_TREE_MAGIC);
	tree->entry_count = 2;
	tree->next_entry = 1;
	tree->max_log_bytes = 1 << 30;
	strcpy(tree->exe, "seed");
	memcpy(tree->command, "seed\0arg", 9);
	tree->command_bytes = 9;
	*entry =
	    (struct rvp_tree_entry){.state = RVP_ENTRY_RUNNING, .pid = 77, .start_ticks = 5, .folder = 1};
	entry->counters.alloc_count = 3;
	strcpy(entry->exe, "seed");
}

/* `rounds` 0: the story. */
static void make_log(struct files *files, unsigned rounds)
{
	struct rvp_file_header header = {.pid = 77, .start_ticks = 5};
	struct rvp_buffers *buffers = (struct rvp_buffers *)files->buffers;

	rvp_file_header_seal(&header, RVP_LOG_MAGIC);
	memcpy(files->log, &header, sizeof header);
	files->log_length = sizeof header;
	rvp_file_header_seal(&header, RVP_BUFFER_MAGIC);
	buffers->file = header;
	buffers->slot_bytes = SLOT_BYTES;
	buffers->slot_count = SLOTS;
	if (!rounds) {
		rvp_slot_at(buffers, 0)->word = rvp_word(1, 0);
		rvp_slot_at(buffers, 0)->serial = rvp_slot_at(buffers, 0)->tid = 77;
		rvp_slot_commit(rvp_slot_at(buffers, 0),
				put_story(rvp_slot_payload(rvp_slot_at(buffers, 0))));
	}
	for (unsigned round = 0; round < rounds * SLOTS; round++) {
		struct rvp_slot *slot = rvp_slot_at(buffers, round % SLOTS);

		if (round < SLOTS)
			slot->word = rvp_word(1, 0);
		slot->serial = slot->tid = 77 + round % SLOTS;
		rvp_slot_commit(slot, put_all_kinds(rvp_slot_payload(slot), round));
		if (round + 1 < rounds * SLOTS) {
			size_t bytes = rvp_slot_seal(slot, round % SLOTS, 0);

			memcpy(files->log + files->log_length, rvp_slot_chunk(slot), bytes);
			files->log_length += rvp_chunk_room(bytes);
			rvp_slot_restart(slot);
		}
	}
}

static void put_length(uint8_t *at, size_t length)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(length >> 8 * i);
}

static void put_input(const char *folder, const char *name, const struct files *files, uint8_t flags,
		      bool with_tree)
{
	static uint8_t input[FOLDER_HEAD_BYTES + sizeof *files];
	size_t tree_length = with_tree ? sizeof files->tree : 0;
	uint8_t *at = input + FOLDER_HEAD_BYTES;

	input[0] = flags;
	put_length(input + 1, tree_length);
	put_length(input + 5, files->log_length);
	put_length(input + 9, sizeof files->buffers);
	memcpy(at, files->tree, tree_length);
	memcpy(at + tree_length, files->log, files->log_length);
	memcpy(at + tree_length + files->log_length, files->buffers, sizeof files->buffers);
	put_file(folder, name, input,
		 FOLDER_HEAD_BYTES + tree_length + files->log_length + sizeof files->buffers);
}

/* A log, packed as it is; `cut` bytes are left off. */
static void put_packed(const char *name, const struct files *files, bool is_sealed, size_t cut)
{
	char folder[] = "/tmp/rvprof-seeds-XXXXXX", path[64];
	static uint8_t input[65536];
	size_t length;
	FILE *file;

	if (!mkdtemp(folder))
		exit(1);
	snprintf(path, sizeof path, "%s/" RVP_LOG_FILE, folder);
	file = fopen(path, "wb");
	if (!file || fwrite(files->log, 1, files->log_length, file) != files->log_length || fclose(file) != 0 ||
	    rvp_failed(rvp_pack_log(folder, 1, NULL)))
		exit(1);
	snprintf(path, sizeof path, "%s/" RVP_PACKED_FILE, folder);
	file = fopen(path, "rb");
	input[0] = is_sealed;
	length = file ? 1 + fread(input + 1, 1, sizeof input - 1, file) : 0;
	if (length <= cut || fclose(file) != 0 || unlink(path) != 0 || rmdir(folder) != 0)
		exit(1);
	put_file("packed", name, input, length - cut);
}

int main(int count, char **words)
{
	static struct files files, longer, story;
	static const char options[] =
	    "RVPROF_OPTIONS=mode=full,max-log=64MiB\nRVPROF_ONLY=py*,ab?\nRVPROF_PYTHON=off\n"
	    "RVPROF_EXIT_WAIT=3\nRVPROF_MODE=sampled\nmode=fulll\nmax-log=18446744073709551616\n"
	    "RVPROF_MAX_LOGG=1\nno-follow=\nHOME=/root";
	uint8_t payload[8192];

	if (count != 2)
		return 2;
	corpus = words[1];
	put_file("decode", "all-kinds", payload, (size_t)(put_all_kinds(payload, 0) - payload));
	put_file("decode", "empty", payload, 0);
	put_file("decode", "events", payload, (size_t)(put_events(payload) - payload));
	put_file("decode", "long-number", "\x0d\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11);
	put_file("decode", "text-past-end", "\x03\x00\xff\xff\x03seed", 9);
	make_tree(&files);
	make_log(&files, 1);
	make_tree(&longer);
	make_log(&longer, 4);
	put_input("log", "one-round", &files, FOLDER_SEAL, false);
	put_input("log", "four-rounds", &longer, FOLDER_SEAL, false);
	put_input("log", "unsealed", &longer, 0, false);
	put_input("log", "no-buffers", &longer, FOLDER_SEAL | FOLDER_NO_BUFFERS, false);
	put_input("run", "one-round", &files, FOLDER_SEAL, true);
	put_input("run", "four-rounds", &longer, FOLDER_SEAL, true);
	make_tree(&story);
	make_log(&story, 0);
	put_input("run", "story", &story, FOLDER_SEAL, true);
	put_packed("story", &story, true, 0);
	put_packed("four-rounds", &longer, false, 0);
	put_packed("cut", &longer, true, 700);
	put_file("options", "usual", options, sizeof options - 1);
	return 0;
}
