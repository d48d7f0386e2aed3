/* SPDX-License-Identifier: MIT */
/* hand_over_check.c: the records of programs/hand_over.c in the order that their stamps give them, as
 * docs/format.md says: streams merged by stamp, a record without one of its own, or with an older one,
 * counted as of the one before it.
 *
 *   (V1) an address is given out when it is not live and given back when it is: 0 inversions
 *   (V2) the blocks of a thread that were handed on are given back as they were made, and all of them: 0
 * mismatched (V3) there are events without a stamp, or the test would show little
 *
 * Usage: hand_over_check RUN_FOLDER THREADS BLOCKS. Prints one line; status 1 where one of these does not
 * hold.
 */
#include "tests/life/hand_over.h"

#include "record/event_decode.h"
#include "record/log_reader.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

enum { STREAMS_MAX = 64, LIVE_ROOM = 1 << 16 };

struct stream {
	const struct rvp_chunk *chunk, *end;
	struct rvp_decoder decoder;
	struct rvp_record record;
	uint64_t stamp;
};

static struct stream streams[STREAMS_MAX];
static int stream_count;
static struct {
	uint64_t address, bytes;
} live[LIVE_ROOM];
static uint64_t given_back[HAND_OVER_THREADS], events, stamped, inversions, mismatched;

static bool is_event(const struct rvp_record *record)
{
	return record->kind == RVP_ALLOC || record->kind == RVP_FREE;
}

/* The next event of the stream into its record. */
static bool advance(struct stream *stream)
{
	for (;;) {
		const uint8_t *at = stream->decoder.at;

		if (!rvp_decode_next(&stream->decoder, &stream->record)) {
			if (++stream->chunk >= stream->end)
				return false;
			stream->decoder =
			    rvp_decoder_over(stream->chunk->payload, stream->chunk->payload_bytes);
			continue;
		}
		if (rvp_schemas[stream->record.kind].fields[0].kind == 'T' &&
		    stream->record.ALLOC.stamp > stream->stamp)
			stream->stamp = stream->record.ALLOC.stamp;
		if (is_event(&stream->record)) {
			stamped += *at < RVP_COMPACT_MARK || *at & RVP_COMPACT_STAMP;
			return true;
		}
	}
}

static void add_streams(const struct rvp_log *log)
{
	for (size_t i = 0, next; i < log->chunk_count; i = next) {
		struct stream *stream = &streams[stream_count];

		for (next = i; next < log->chunk_count && log->chunks[next].slot == log->chunks[i].slot;)
			next++;
		*stream = (struct stream){.chunk = &log->chunks[i], .end = &log->chunks[next]};
		stream->decoder = rvp_decoder_over(stream->chunk->payload, stream->chunk->payload_bytes);
		if (stream_count < STREAMS_MAX - 1)
			stream_count += advance(stream);
	}
}

/* Where the address is, or the empty place for it. */
static size_t place_of(uint64_t address)
{
	size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 48);

	while (live[at].address && live[at].address != address)
		at = (at + 1) % LIVE_ROOM;
	return at;
}

static void take_alloc(uint64_t address, uint64_t bytes)
{
	size_t at = place_of(address);

	inversions += live[at].bytes != 0;
	live[at].address = address;
	live[at].bytes = bytes + 1; /* 0: not live */
}

static void take_free(uint64_t address)
{
	size_t at = place_of(address);
	uint64_t bytes = live[at].bytes - 1, thread = bytes % 16 / 2;

	if (!live[at].bytes) {
		inversions++;
		return;
	}
	live[at].bytes = 0;
	if (bytes < HAND_OVER_LEAST || bytes >= HAND_OVER_LEAST + 16 * HAND_OVER_CYCLE || bytes % 2 ||
	    thread >= HAND_OVER_THREADS)
		return;
	mismatched += (bytes - HAND_OVER_LEAST) / 16 != given_back[thread]++ % HAND_OVER_CYCLE;
}

static void merge(void)
{
	while (stream_count) {
		int first = 0;

		for (int i = 1; i < stream_count; i++)
			if (streams[i].stamp < streams[first].stamp)
				first = i;
		const struct rvp_record *record = &streams[first].record;

		events++;
		if (record->kind == RVP_ALLOC)
			take_alloc(record->ALLOC.address, record->ALLOC.bytes);
		else
			take_free(record->FREE.address);
		if (!advance(&streams[first]))
			streams[first] = streams[--stream_count];
	}
}

int main(int count, char **words)
{
	uint64_t threads = count == 4 ? strtoull(words[2], NULL, 10) : 0,
		 blocks = threads ? strtoull(words[3], NULL, 10) : 0;
	char pattern[4096];
	struct rvp_log log;
	glob_t found;

	if (!blocks)
		return 2;
	snprintf(pattern, sizeof pattern, "%s/proc.*", words[1]);
	if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc != 1 ||
	    rvp_failed(rvp_log_open_folder(&log, found.gl_pathv[0])))
		return 2;
	add_streams(&log);
	merge();
	for (uint64_t i = 0; i < threads; i++)
		mismatched += given_back[i] > blocks ? given_back[i] - blocks : blocks - given_back[i];
	printf("%lu events, %lu with a stamp, %lu inversions, %lu mismatched\n", events, stamped, inversions,
	       mismatched);
	rvp_log_close(&log);
	globfree(&found);
	return inversions || mismatched || stamped * 100 > events * 99;
}
