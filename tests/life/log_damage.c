/* SPDX-License-Identifier: MIT */
/* log_damage.c: what the log reader says of a damaged log: one that is cut at each byte, and 10,000 with
 * flipped bits.
 *
 * The log and the buffers of a process with three slots are made in memory, of known records. With intact
 * buffers (D1) every chunk that the reader gives is one that was written, record by record, once; (D2) every
 * chunk that it does not give is counted: torn_chunks + missing_chunks is their number; (D3) a log whose file
 * header is cut or changed is an error with a sentence, never a report. With flipped buffers (the open chunk
 * has no checksum: that is what a commit by one store costs) only what comes from the log is held to (D1).
 * The log alone, without buffers, is held to (D1) too.
 *
 * Usage: log_damage [SEED]. The sanitizers' build of this program is the other half of the test.
 */
#include "tests/life/known.h"

#include "record/decode.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SLOTS = 3,
	SLOT_BYTES = RVP_SLOT_PAYLOAD_AT + 512,
	RECORDS = 800,
	CHUNKS_MAX = 128,
	LOG_BYTES_MAX = 65536,
	BUFFERS_BYTES = RVP_BUFFER_HEADER_BYTES + SLOTS * SLOT_BYTES,
	FLIPS = 10000,
};

struct written {
	uint32_t slot;
	uint64_t sequence, first, count; /* records first, first + SLOTS, ... */
};

static struct written written[CHUNKS_MAX];
static size_t written_count;
static _Alignas(64) uint8_t log_bytes[LOG_BYTES_MAX], buffers_bytes[BUFFERS_BYTES];
static size_t log_length;
static int log_fd, buffers_fd;
static char log_path[64], buffers_path[64];
static unsigned failures;

static void complain(const char *what, const char *how, long long where)
{
	if (failures++ < 20)
		printf("not ok: %s %lld: %s\n", how, where, what);
}

/* ---- making them ---- */

static struct written *chunk_of(uint32_t slot, uint64_t sequence)
{
	for (size_t i = 0; i < written_count; i++)
		if (written[i].slot == slot && written[i].sequence == sequence)
			return &written[i];
	return NULL;
}

static void flush(struct rvp_buffers *buffers, uint32_t number, struct rvp_delta *delta)
{
	struct rvp_slot *slot = rvp_slot_at(buffers, number);
	size_t bytes = rvp_slot_seal(slot, number, delta->stamp);

	memcpy(log_bytes + log_length, rvp_slot_chunk(slot), bytes);
	log_length += rvp_chunk_room(bytes);
	rvp_slot_restart(slot);
	*delta = (struct rvp_delta){0};
}

static void append(struct rvp_buffers *buffers, uint64_t record, struct rvp_delta *delta)
{
	uint32_t number = (uint32_t)(record % SLOTS);
	struct rvp_slot *slot = rvp_slot_at(buffers, number);
	struct written *chunk;
	uint64_t sequence;
	uint8_t *room = rvp_slot_room(slot, SLOT_BYTES, KNOWN_MAX_BYTES);

	if (!room) {
		flush(buffers, number, delta);
		room = rvp_slot_room(slot, SLOT_BYTES, KNOWN_MAX_BYTES);
	}
	sequence = rvp_word_sequence(slot->word);
	chunk = chunk_of(number, sequence);
	if (!chunk) {
		chunk = &written[written_count++];
		*chunk = (struct written){.slot = number, .sequence = sequence, .first = record};
	}
	chunk->count++;
	rvp_slot_commit(slot, known_put(room, delta, record));
}

static void make_files(void)
{
	struct rvp_file_header header = {.pid = 1};
	struct rvp_buffers *buffers = (struct rvp_buffers *)buffers_bytes;
	struct rvp_delta delta[SLOTS] = {{0}};

	rvp_file_header_seal(&header, RVP_LOG_MAGIC);
	memcpy(log_bytes, &header, sizeof header);
	log_length = sizeof header;
	rvp_file_header_seal(&header, RVP_BUFFER_MAGIC);
	buffers->file = header;
	buffers->slot_bytes = SLOT_BYTES;
	buffers->slot_count = SLOTS;
	for (uint32_t i = 0; i < SLOTS; i++)
		rvp_slot_at(buffers, i)->word = rvp_word(1, 0);
	for (uint64_t record = 0; record < RECORDS; record++)
		append(buffers, record, &delta[record % SLOTS]);
	flush(buffers, 1, &delta[1]); /* a slot whose last chunk is in the log, with an empty one open */
	buffers->log_tail = log_length;
}

static int memory_file(const char *name, char *path, const void *bytes, size_t length)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, bytes, length, 0) != (ssize_t)length) {
		perror("memfd");
		exit(2);
	}
	sprintf(path, "/proc/self/fd/%d", fd);
	return fd;
}

/* ---- judging ---- */

/* (D1) for one chunk. */
static bool is_as_written(const struct rvp_chunk *chunk, const struct written *expected)
{
	struct rvp_decoder decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes);
	struct rvp_record record;
	uint64_t count = 0;

	for (; rvp_decode_next(&decoder, &record); count++)
		if (!known_is(&record, expected->first + count * SLOTS))
			return false;
	return !decoder.broken && count == expected->count;
}

static volatile uint64_t read_sum;

/* Decodes whatever is there, for the sanitizers. */
static void read_through(const struct rvp_chunk *chunk)
{
	struct rvp_decoder decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes);
	struct rvp_record record;

	while (rvp_decode_next(&decoder, &record))
		read_sum += record.kind == RVP_THREAD_NAME && record.THREAD_NAME.name.length
				? (uint64_t)record.THREAD_NAME.name.bytes[record.THREAD_NAME.name.length - 1]
				: 1;
}

static void judge_log(const struct rvp_log *log, bool buffers_are_whole, const char *how, long long where)
{
	size_t good = 0;

	for (size_t i = 0; i < log->chunk_count; i++) {
		const struct rvp_chunk *chunk = &log->chunks[i];
		const struct written *expected = chunk_of(chunk->slot, chunk->sequence);

		read_through(chunk);
		if (chunk->is_open && (!buffers_are_whole || chunk->payload_bytes == 0))
			continue;
		if (!expected || !is_as_written(chunk, expected))
			complain("a chunk that nobody wrote", how, where);
		else
			good++;
	}
	if (buffers_are_whole && log->has_buffers &&
	    good + log->torn_chunks + log->missing_chunks != written_count)
		complain("lost chunks are not counted right", how, where);
}

static void judge(const char *buffers, bool buffers_are_whole, bool expect_error, const char *how,
		  long long where)
{
	struct rvp_log log;
	struct rvp_status status = rvp_log_open(&log, log_path, buffers);

	if (!rvp_failed(status)) {
		judge_log(&log, buffers_are_whole, how, where);
		rvp_log_close(&log);
	} else if (!status.error && !status.detail[0]) {
		complain("an error that says nothing", how, where);
	}
	if (expect_error && !rvp_failed(status))
		complain("a damaged file header was taken", how, where);
	if (!expect_error && buffers_are_whole && rvp_failed(status))
		complain("a log with a good file header was refused", how, where);
}

/* ---- damaging ---- */

static void cut_everywhere(void)
{
	for (size_t length = log_length + 1; length-- > 0;) {
		bool cut_header = length < sizeof(struct rvp_file_header);

		if (ftruncate(log_fd, (off_t)length) != 0)
			perror("ftruncate");
		judge(buffers_path, true, cut_header, "cut at", (long long)length);
		judge(NULL, true, cut_header, "alone, cut at", (long long)length);
	}
	if (pwrite(log_fd, log_bytes, log_length, 0) != (ssize_t)log_length)
		perror("pwrite");
}

static void cut_buffers_everywhere(void)
{
	for (size_t length = BUFFERS_BYTES; length-- > 0;) {
		if (ftruncate(buffers_fd, (off_t)length) != 0)
			perror("ftruncate");
		judge(buffers_path, false, length < RVP_BUFFER_HEADER_BYTES, "buffers cut at",
		      (long long)length);
	}
	if (pwrite(buffers_fd, buffers_bytes, BUFFERS_BYTES, 0) != BUFFERS_BYTES)
		perror("pwrite");
}

static void flip_one(int fd, const uint8_t *bytes, size_t length, bool is_log)
{
	size_t at = (size_t)random() % length, width = 1 + (size_t)random() % 8;
	uint8_t changed[8];

	if (width > length - at)
		width = length - at;
	memcpy(changed, bytes + at, width);
	for (size_t i = 0; i < width; i++)
		changed[i] ^= i == 0 ? (uint8_t)(1 + random() % 255) : (uint8_t)random();
	if (pwrite(fd, changed, width, (off_t)at) != (ssize_t)width)
		perror("pwrite");
	judge(buffers_path, is_log, at < sizeof(struct rvp_file_header),
	      is_log ? "flip at" : "flip of buffers at", (long long)at);
	if (pwrite(fd, bytes + at, width, (off_t)at) != (ssize_t)width)
		perror("pwrite");
}

int main(int count, char **words)
{
	unsigned seed = count > 1 ? (unsigned)atoi(words[1]) : 1;

	srandom(seed);
	make_files();
	log_fd = memory_file("log", log_path, log_bytes, log_length);
	buffers_fd = memory_file("buffers", buffers_path, buffers_bytes, BUFFERS_BYTES);
	judge(buffers_path, true, false, "whole", 0);
	cut_everywhere();
	cut_buffers_everywhere();
	for (int i = 0; i < FLIPS; i++) {
		flip_one(log_fd, log_bytes, log_length, true);
		flip_one(buffers_fd, buffers_bytes, BUFFERS_BYTES, false);
	}
	judge(buffers_path, true, false, "whole again", 0);
	printf("%s: %zu chunks, %zu bytes cut at each, %d flips in each file, seed %u\n",
	       failures ? "not ok" : "ok", written_count, log_length, FLIPS, seed);
	return failures ? 1 : 0;
}
