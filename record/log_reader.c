/* SPDX-License-Identifier: MIT */
/* log_reader.c: see log_reader.h. The protocol that is undone here is told in slot.h.
 *
 * Rules: the input is hostile (cut, flipped, doubled, still growing). No size from a file is used before it is
 * compared with what is mapped. Damage is counted, never fatal.
 */
#include "record/log_reader.h"

#include "record/decode.h"
#include "record/packed_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct rvp_status rvp_file_header_check(const struct rvp_file_header *header, const char *magic, const char *path)
{
	if (memcmp(header->magic, magic, sizeof header->magic) != 0)
		return rvp_fail_with("read", path, "this is no file of rvprof's, or its first bytes are damaged");
	if (header->checksum != rvp_checksum(header, offsetof(struct rvp_file_header, checksum)))
		return rvp_fail_with("read", path, "its header is damaged");
	if (header->version != RVP_FORMAT_VERSION)
		return rvp_fail_with("read", path,
				     "its format is version %u, this rvprof reads version %u: use the rvprof that "
				     "recorded it",
				     header->version, RVP_FORMAT_VERSION);
	return RVP_OK;
}

static struct rvp_status add_chunk(struct rvp_log *log, size_t *room, struct rvp_chunk chunk)
{
	if (log->chunk_count == *room) {
		size_t more = *room ? *room * 2 : 256;
		struct rvp_chunk *bigger = realloc(log->chunks, more * sizeof *bigger);

		if (!bigger)
			return rvp_fail("list chunks", "", ENOMEM);
		log->chunks = bigger;
		*room = more;
	}
	log->chunks[log->chunk_count++] = chunk;
	return RVP_OK;
}

static bool is_zero(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	return length == 0 || (at[0] == 0 && memcmp(at, at + 1, length - 1) == 0);
}

/* Bytes from `at` to the next place where a chunk may begin; counts what is jumped over. */
static size_t step_over(struct rvp_log *log, const uint8_t *at, size_t left)
{
	size_t step = left < RVP_CHUNK_ALIGN_BYTES ? left : RVP_CHUNK_ALIGN_BYTES;

	if (!is_zero(at, step))
		log->skipped_bytes += step;
	return step;
}

static struct rvp_status find_in_log(struct rvp_log *log, size_t *room)
{
	const uint8_t *base = log->log_map;
	size_t at = sizeof(struct rvp_file_header), end = log->log_map_bytes;

	while (at < end) {
		struct rvp_chunk_header header;
		size_t left = end - at;

		if (left < sizeof header) {
			at += step_over(log, base + at, left);
			continue;
		}
		memcpy(&header, base + at, sizeof header);
		if (!rvp_chunk_header_is_good(&header)) {
			at += step_over(log, base + at, left);
			continue;
		}

		const uint8_t *payload = base + at + sizeof header;

		if (header.payload_bytes > left - sizeof header) {
			log->torn_chunks++; /* cut; what follows may be other chunks */
			at += RVP_CHUNK_ALIGN_BYTES;
			continue;
		}
		if (rvp_checksum(payload, header.payload_bytes) != header.payload_checksum) {
			log->torn_chunks++;
		} else {
			struct rvp_status status = add_chunk(log, room,
							     (struct rvp_chunk){
								 .payload = payload,
								 .payload_bytes = header.payload_bytes,
								 .slot = header.slot,
								 .tid = header.tid,
								 .thread_serial = header.thread_serial,
								 .sequence = header.sequence,
							     });
			if (rvp_failed(status))
				return status;
		}
		at += rvp_chunk_room(sizeof header + header.payload_bytes);
		rvp_log_let_go(log, payload - sizeof header, base + (at < end ? at : end));
	}
	return RVP_OK;
}

static struct rvp_status add_deferred(struct rvp_log *log, struct rvp_slot *slot)
{
	size_t count = atomic_load_explicit(&slot->deferred_count, memory_order_relaxed);

	if (count > RVP_DEFERRED_MAX)
		count = RVP_DEFERRED_MAX;
	if (!count)
		return RVP_OK;

	size_t sum = log->deferred_count + count;
	struct rvp_deferred *bigger = realloc(log->deferred, sum * sizeof *bigger);

	if (bigger)
		log->deferred = bigger;
	uint32_t *tids = realloc(log->deferred_tid, sum * sizeof *tids);

	if (tids)
		log->deferred_tid = tids;
	if (!bigger || !tids)
		return rvp_fail("list deferred events", "", ENOMEM);
	memcpy(bigger + log->deferred_count, slot->deferred, count * sizeof *bigger);
	for (size_t i = log->deferred_count; i < sum; i++)
		tids[i] = slot->tid;
	log->deferred_count = sum;
	return RVP_OK;
}

/* The owner counts a chunk's records when it has left its slot; those that are in it still are counted here. */
static void count_open_records(struct rvp_log *log, const uint8_t *payload, uint64_t length)
{
	struct rvp_decoder decoder = rvp_decoder_over(payload, length);
	struct rvp_record record;

	while (rvp_decode_next(&decoder, &record)) {
		log->counters.record_count++;
		log->counters.recorded_count +=
		    record.kind == RVP_ALLOC || record.kind == RVP_SAMPLE || record.kind == RVP_FREE;
	}
}

static struct rvp_status find_in_buffers(struct rvp_log *log, size_t *room)
{
	struct rvp_buffers *buffers = log->buffers_copy;
	uint32_t count = atomic_load_explicit(&buffers->slot_count, memory_order_relaxed);
	uint64_t fit = (log->buffers_bytes - RVP_BUFFER_HEADER_BYTES) / buffers->slot_bytes;

	for (uint32_t i = 0; i < count && i < fit; i++) {
		struct rvp_slot *slot = rvp_slot_at(buffers, i);
		uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
		struct rvp_status status = RVP_OK;

		rvp_counters_sum(&log->counters, &slot->counters);
		/* An empty open chunk is listed too: its number says how many must be in the log. */
		if (rvp_word_length(word) > buffers->slot_bytes - RVP_SLOT_PAYLOAD_AT)
			log->torn_chunks++;
		else if (rvp_word_sequence(word) > 0 &&
			 (rvp_word_sequence(word) > 1 || rvp_word_length(word) > 0)) {
			count_open_records(log, rvp_slot_payload(slot), rvp_word_length(word));
			status = add_chunk(log, room,
					   (struct rvp_chunk){
					       .payload = rvp_slot_payload(slot),
					       .payload_bytes = rvp_word_length(word),
					       .slot = i,
					       .tid = slot->tid,
					       .is_open = 1,
					       .thread_serial = slot->serial,
					       .sequence = rvp_word_sequence(word),
					   });
		}
		if (!rvp_failed(status))
			status = add_deferred(log, slot);
		if (rvp_failed(status))
			return status;
	}
	return RVP_OK;
}

/* By slot, then sequence; of one name the sealed chunk first: it is checked, and the longer one. */
static int compare_chunks(const void *left, const void *right)
{
	const struct rvp_chunk *a = left, *b = right;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return (int)a->is_open - (int)b->is_open;
}

/* Takes each name once and counts the names that are nowhere. */
static void sort_out(struct rvp_log *log)
{
	size_t kept = 0;

	if (log->chunk_count)
		qsort(log->chunks, log->chunk_count, sizeof *log->chunks, compare_chunks);
	for (size_t i = 0; i < log->chunk_count; i++) {
		const struct rvp_chunk *chunk = &log->chunks[i];
		const struct rvp_chunk *last = kept ? &log->chunks[kept - 1] : NULL;
		bool same_slot = last && last->slot == chunk->slot;

		if (same_slot && last->sequence == chunk->sequence) {
			log->doubled_chunks++;
			continue;
		}
		log->missing_chunks += chunk->sequence - (same_slot ? last->sequence : 0) - 1;
		log->chunks[kept++] = *chunk;
	}
	log->chunk_count = kept;
	/* A torn chunk whose name is nowhere was counted twice; one that a buffer still had is not lost. */
	if (log->torn_chunks > log->missing_chunks)
		log->torn_chunks = log->missing_chunks;
	log->missing_chunks -= log->torn_chunks;
}

static struct rvp_status read_whole(int fd, char *to, size_t *length)
{
	size_t done = 0;

	while (done < *length) {
		ssize_t got = pread(fd, to + done, *length - done, (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return rvp_fail("read", "", errno);
		if (got == 0)
			break;
		done += (size_t)got;
	}
	*length = done;
	return RVP_OK;
}

/* Log space that was reserved and never written (a full disk). */
static bool has_hole(int fd, off_t length)
{
	off_t hole = lseek(fd, 0, SEEK_HOLE);

	return hole >= 0 && hole < length;
}

/* A log with a hole is not mapped: on a tmpfs that is full, touching the hole is a SIGBUS. */
static void *copy_log(int fd, size_t length)
{
	void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rvp_status status = RVP_OK;

	if (copy != MAP_FAILED)
		status = read_whole(fd, copy, &length);
	errno = rvp_failed(status) ? status.error : errno;
	return rvp_failed(status) ? MAP_FAILED : copy;
}

/* Packed, it is beside where the log was. ENOENT: neither is there. */
static struct rvp_status map_packed(struct rvp_log *log, const char *path)
{
	char folder[4096];
	size_t length = strlen(path), name = strlen("/" RVP_LOG_FILE);
	struct rvp_unpacked unpacked;
	struct rvp_status status;

	if (length < name || length - name >= sizeof folder || strcmp(path + length - name, "/" RVP_LOG_FILE) != 0)
		return rvp_fail("open", path, ENOENT);
	snprintf(folder, sizeof folder, "%.*s", (int)(length - name), path);
	status = rvp_unpack_log(folder, &unpacked);
	if (rvp_failed(status))
		return status.error == ENOENT ? rvp_fail("open", path, ENOENT) : status;
	log->log_map = unpacked.map;
	log->log_map_bytes = log->log_bytes = unpacked.bytes;
	log->packed_bytes = unpacked.packed_bytes;
	log->is_of_file = unpacked.is_of_file;
	log->damaged_pieces = unpacked.damaged_pieces;
	memcpy(&log->file, log->log_map, sizeof log->file);
	return RVP_OK;
}

static struct rvp_status map_log(struct rvp_log *log, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 && errno == ENOENT)
		return map_packed(log, path);
	if (fd < 0)
		return rvp_fail("open", path, errno);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return rvp_fail_with("read", path, "it is not a regular file");
	}
	if ((size_t)status.st_size < sizeof(struct rvp_file_header)) {
		close(fd);
		return rvp_fail_with("read", path, "it is too short to be a log (%lld bytes)",
				     (long long)status.st_size);
	}
	log->log_map_bytes = (size_t)status.st_size;
	log->is_of_file = !has_hole(fd, status.st_size);
	log->log_map = !log->is_of_file ? copy_log(fd, log->log_map_bytes)
					: mmap(NULL, log->log_map_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	int error = errno;

	close(fd);
	if (log->log_map == MAP_FAILED) {
		log->log_map = NULL;
		return rvp_fail("map", path, error);
	}
	log->log_bytes = log->log_map_bytes;
	memcpy(&log->file, log->log_map, sizeof log->file);
	return rvp_file_header_check(&log->file, RVP_LOG_MAGIC, path);
}

/* Its counters are those of the first copy, its records those of a second: a living owner commits a record before it
 * counts it, so what was counted is then among what was copied, wherever between two bytes we were put aside. */
static void recopy_behind_counters(const struct rvp_buffers *copy, struct rvp_slot *slot, int fd, off_t at)
{
	char counters[sizeof slot->counters];

	memcpy(counters, &slot->counters, sizeof counters);
	if (pread(fd, slot, copy->slot_bytes, at) <= 0)
		return;
	memcpy(&slot->counters, counters, sizeof counters);
}

/* A slot whose owner went on meanwhile is copied once more, behind its counters; and again while the owner restarts
 * it: its sequence must be the same on both sides. A slot at rest is read once. */
static void recopy_moving_slots(struct rvp_buffers *copy, size_t bytes, int fd)
{
	uint64_t fit = (bytes - RVP_BUFFER_HEADER_BYTES) / copy->slot_bytes;

	for (uint32_t i = 0; i < fit; i++) {
		struct rvp_slot *slot = rvp_slot_at(copy, i);
		off_t at = (char *)slot - (char *)copy;

		for (int tries = 0; tries < 100; tries++) {
			uint64_t now = 0, seen = atomic_load_explicit(&slot->word, memory_order_relaxed);

			if (pread(fd, &now, sizeof now, at + (off_t)offsetof(struct rvp_slot, word)) != sizeof now ||
			    (tries ? rvp_word_sequence(now) == rvp_word_sequence(seen) : now == seen))
				break;
			recopy_behind_counters(copy, slot, fd, at);
		}
	}
}

static struct rvp_status check_buffers(struct rvp_log *log, const char *path)
{
	struct rvp_buffers *buffers = log->buffers_copy;
	struct rvp_status status;

	if (log->buffers_bytes < RVP_BUFFER_HEADER_BYTES)
		return rvp_fail_with("read", path, "it is too short to be a buffer file (%zu bytes)",
				     log->buffers_bytes);
	status = rvp_file_header_check(&buffers->file, RVP_BUFFER_MAGIC, path);
	if (rvp_failed(status))
		return status;
	if (buffers->slot_bytes <= RVP_SLOT_PAYLOAD_AT || buffers->slot_bytes % 64 != 0 ||
	    buffers->slot_bytes > (1u << 24))
		return rvp_fail_with("read", path, "its slot size is damaged");
	return RVP_OK;
}

static struct rvp_status copy_buffers(struct rvp_log *log, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat file;
	struct rvp_status status;

	if (fd < 0)
		return rvp_fail("open", path, errno);
	if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
		close(fd);
		return rvp_fail_with("read", path, "it is not a regular file");
	}
	log->buffers_bytes = (size_t)file.st_size;
	log->buffers_copy = malloc(log->buffers_bytes ? log->buffers_bytes : 1);
	if (!log->buffers_copy) {
		close(fd);
		return rvp_fail("read", path, ENOMEM);
	}
	status = read_whole(fd, log->buffers_copy, &log->buffers_bytes);
	if (!rvp_failed(status))
		status = check_buffers(log, path);
	if (!rvp_failed(status))
		recopy_moving_slots(log->buffers_copy, log->buffers_bytes, fd);
	close(fd);
	return status;
}

static void take_buffers_header(struct rvp_log *log)
{
	const struct rvp_buffers *buffers = log->buffers_copy;

	log->has_buffers = 1;
	log->tree_entry = buffers->tree_entry;
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		log->loss[i] = atomic_load_explicit(&buffers->loss[i], memory_order_relaxed);
	log->own_bytes = atomic_load_explicit(&buffers->own_bytes, memory_order_relaxed);
	log->node_count = atomic_load_explicit(&buffers->node_count, memory_order_relaxed);
	log->python_node_count = atomic_load_explicit(&buffers->python_node_count, memory_order_relaxed);
	log->recorded_blocks = atomic_load_explicit(&buffers->recorded_blocks, memory_order_relaxed);
	if (!log->log_map)
		log->file = buffers->file;
}

struct rvp_status rvp_log_open(struct rvp_log *log, const char *log_path, const char *buffers_path)
{
	struct rvp_status status = RVP_OK;
	size_t room = 0;

	memset(log, 0, sizeof *log);
	if (buffers_path)
		status = copy_buffers(log, buffers_path);
	if (!rvp_failed(status)) {
		status = map_log(log, log_path);
		if (rvp_failed(status) && status.error == ENOENT && log->buffers_copy)
			status = RVP_OK;
	}
	if (!rvp_failed(status) && log->log_map)
		status = find_in_log(log, &room);
	if (!rvp_failed(status) && log->buffers_copy) {
		take_buffers_header(log);
		status = find_in_buffers(log, &room);
	}
	if (rvp_failed(status)) {
		rvp_log_close(log);
		return status;
	}
	sort_out(log);
	return RVP_OK;
}

/* The sums of a folded log: entries in use, the one without a key (0) first if it has anything. */
static struct rvp_status read_folds(struct rvp_log *log, const char *path)
{
	struct rvp_fold_table *table;
	size_t length = sizeof *table;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct rvp_status status;

	if (fd < 0)
		return errno == ENOENT ? RVP_OK : rvp_fail("open", path, errno);
	table = calloc(1, length);
	log->folds = table ? malloc(sizeof table->entry) : NULL;
	if (!log->folds) {
		free(table);
		close(fd);
		return rvp_fail("read", path, ENOMEM);
	}
	status = read_whole(fd, (char *)table, &length);
	close(fd);
	if (rvp_failed(status) || rvp_failed(rvp_file_header_check(&table->file, RVP_FOLD_MAGIC, path)))
		log->folds_damaged = 1;
	for (size_t i = 0; i < RVP_FOLD_ENTRIES && !log->folds_damaged; i++)
		if (atomic_load_explicit(&table->entry[i].alloc_count, memory_order_relaxed))
			memcpy(&log->folds[log->fold_count++], &table->entry[i], sizeof(struct rvp_fold));
	free(table);
	return RVP_OK;
}

struct rvp_status rvp_log_open_folder(struct rvp_log *log, const char *folder)
{
	char log_path[4096], buffers_path[4096], folds_path[4096];
	struct rvp_status status;

	snprintf(log_path, sizeof log_path, "%s/" RVP_LOG_FILE, folder);
	snprintf(buffers_path, sizeof buffers_path, "%s/" RVP_BUFFER_FILE, folder);
	snprintf(folds_path, sizeof folds_path, "%s/" RVP_FOLD_FILE, folder);
	status = rvp_log_open(log, log_path, buffers_path);
	if (!rvp_failed(status))
		status = read_folds(log, folds_path);
	return status;
}

/* Of a large log: what is small is soon read again, and mapping it again costs time. */
static bool is_let_go(const struct rvp_log *log)
{
	return log->is_of_file && log->log_map_bytes >= RVP_LET_GO_LEAST_BYTES;
}

void rvp_log_let_go(const struct rvp_log *log, const uint8_t *begin, const uint8_t *end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)begin & -page;

	if (is_let_go(log) && (uintptr_t)end - first >= page)
		madvise((void *)first, ((uintptr_t)end & -page) - first, MADV_DONTNEED);
}

void rvp_log_close(struct rvp_log *log)
{
	if (log->log_map)
		munmap(log->log_map, log->log_map_bytes);
	free(log->buffers_copy);
	free(log->chunks);
	free(log->deferred);
	free(log->deferred_tid);
	free(log->folds);
	memset(log, 0, sizeof *log);
}
