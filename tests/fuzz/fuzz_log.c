/* SPDX-License-Identifier: MIT */
/* fuzz_log.c: any bytes as a process's log and buffers (folder_input.h), through the log reader and the
 * decoder.
 *
 *   (F4) A failure says what is wrong; a success lists each (slot, sequence) once, in order, inside what was
 * read.
 */
#include "record/decode.h"
#include "record/log_reader.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_with(const struct folder_piece *piece, char *path)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, piece->bytes, piece->length) != (ssize_t)piece->length)
		abort();
	sprintf(path, "/proc/self/fd/%d", fd);
	return fd;
}

static void check_order(const struct rvp_chunk *last, const struct rvp_chunk *chunk)
{
	if (last->slot > chunk->slot || (last->slot == chunk->slot && last->sequence >= chunk->sequence))
		abort();
}

static void read_chunks(const struct rvp_log *log)
{
	for (size_t i = 0; i < log->chunk_count; i++) {
		const struct rvp_chunk *chunk = &log->chunks[i];
		struct rvp_decoder decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes);
		struct rvp_record record;

		if (i)
			check_order(chunk - 1, chunk);
		while (rvp_decode_next(&decoder, &record))
			;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char log_path[64], buffers_path[64];
	struct folder_input input;
	struct rvp_status status;
	struct rvp_log log;
	int log_fd, buffers_fd;

	if (!folder_input_read(&input, bytes, length))
		return 0;
	log_fd = file_with(&input.log, log_path);
	buffers_fd = file_with(&input.buffers, buffers_path);
	status = rvp_log_open(&log, input.flags & FOLDER_NO_LOG ? "/nonexistent/log" : log_path,
			      input.flags & FOLDER_NO_BUFFERS ? NULL : buffers_path);
	if (!rvp_failed(status)) {
		read_chunks(&log);
		rvp_log_close(&log);
	} else if (!status.error && !status.detail[0]) {
		abort();
	}
	close(log_fd);
	close(buffers_fd);
	folder_input_free(&input);
	return 0;
}
