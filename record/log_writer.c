/* SPDX-License-Identifier: MIT */
/* log_writer.c: see log_writer.h. */
#include "record/log_writer.h"

#include "record/clock_ns.h"
#include "record/log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct rvp_status write_all(int fd, const char *from, size_t length, uint64_t at, const char *path)
{
	while (length) {
		ssize_t put = pwrite(fd, from, length, (off_t)at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return rvp_fail("write", path, put < 0 ? errno : ENOSPC);
		from += put;
		at += (uint64_t)put;
		length -= (size_t)put;
	}
	return RVP_OK;
}

struct rvp_status rvp_log_writer_open(struct rvp_log_writer *writer, const char *path, uint64_t pid,
				      uint64_t start_ticks)
{
	struct rvp_file_header header = {
	    .pid = pid, .start_ticks = start_ticks, .begin_realtime_ns = rvp_clock_ns(CLOCK_REALTIME)};

	memset(writer, 0, sizeof *writer);
	snprintf(writer->path, sizeof writer->path, "%s", path);
	writer->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (writer->fd < 0)
		return rvp_fail("make", path, errno);
	writer->slot = calloc(1, RVP_SLOT_BYTES);
	if (!writer->slot) {
		close(writer->fd);
		return rvp_fail("make", path, ENOMEM);
	}
	writer->slot->serial = 1;
	writer->slot->tid = (uint32_t)pid;
	atomic_store(&writer->slot->word, rvp_word(1, 0));
	writer->tail = sizeof header;
	rvp_file_header_seal(&header, RVP_LOG_MAGIC);
	return write_all(writer->fd, (const char *)&header, sizeof header, 0, path);
}

struct rvp_status rvp_log_writer_flush(struct rvp_log_writer *writer)
{
	if (rvp_slot_length(writer->slot) == 0)
		return writer->status;

	size_t bytes = rvp_slot_seal(writer->slot, 0, writer->delta.stamp);

	if (!rvp_failed(writer->status))
		writer->status = write_all(writer->fd, (const char *)rvp_slot_chunk(writer->slot), bytes,
					   writer->tail, writer->path);
	if (rvp_failed(writer->status)) {
		rvp_slot_drop(writer->slot);
	} else {
		writer->tail += rvp_chunk_room(bytes);
		rvp_slot_restart(writer->slot);
	}
	writer->delta = (struct rvp_delta){0};
	return writer->status;
}

uint8_t *rvp_log_writer_room(struct rvp_log_writer *writer, uint64_t bytes)
{
	uint8_t *room = rvp_slot_room(writer->slot, RVP_SLOT_BYTES, bytes);

	if (room)
		return room;
	rvp_log_writer_flush(writer);
	return rvp_slot_room(writer->slot, RVP_SLOT_BYTES, bytes);
}

struct rvp_status rvp_log_writer_close(struct rvp_log_writer *writer)
{
	struct rvp_status status = rvp_log_writer_flush(writer);

	close(writer->fd);
	free(writer->slot);
	writer->slot = NULL;
	return status;
}
