/* SPDX-License-Identifier: MIT */
/* output_files.c: see output_files.h. Streams over our own write, which knows all files and what each is worth. */
#include "report/output_files.h"

#include "report/json_writer.h"
#include "report/power.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STREAM_BYTES = 1 << 16 };

const char *const rvp_output_names[RVP_OUTPUT_COUNT] = {
    [RVP_OUTPUT_MEMORY] = "memory.csv",	  [RVP_OUTPUT_CATEGORIES] = "categories.csv",
    [RVP_OUTPUT_LATENCY] = "latency.csv", [RVP_OUTPUT_KERNELS] = "kernels.csv",
    [RVP_OUTPUT_POWER] = "power.csv",	  [RVP_OUTPUT_TRACE] = "trace.json",
    [RVP_OUTPUT_RUN] = "run.json",	  [RVP_OUTPUT_SUMMARY] = "summary.json"};

static void name_output(const struct rvp_outputs *outputs, int number, bool is_new, char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, is_new ? "%s/.%s.new" : "%s/%s", outputs->folder, outputs->files[number].name);
}

void rvp_output_to_owner(int fd, const char *folder)
{
	struct stat owner;

	if (geteuid() == 0 && stat(folder, &owner) == 0 && fchown(fd, owner.st_uid, owner.st_gid) != 0)
		errno = 0; /* it stays ours */
}

/* ---- what gives way ---- */

static bool may_be_missing(const struct rvp_output_file *file)
{
	return file == &file->of->files[RVP_OUTPUT_KERNELS] || file == &file->of->files[RVP_OUTPUT_TRACE];
}

static void give_up(struct rvp_output_file *file, int error)
{
	file->error = error;
	file->of->given_up++;
	while (ftruncate(file->fd, 0) != 0 && errno == EINTR)
		continue;
}

/* False: there is nothing more to be had. */
static bool make_room(struct rvp_outputs *outputs, int error)
{
	static const int by_worth[] = {RVP_OUTPUT_KERNELS, RVP_OUTPUT_TRACE};

	for (size_t i = 0; i < sizeof by_worth / sizeof *by_worth; i++) {
		struct rvp_output_file *file = &outputs->files[by_worth[i]];

		if (!file->stream || file->error)
			continue;
		give_up(file, error);
		return true;
	}
	return false;
}

static void take_failure(struct rvp_output_file *file, int error)
{
	if ((error == ENOSPC || error == EDQUOT) && make_room(file->of, error))
		return;
	if (may_be_missing(file))
		give_up(file, error);
	else
		file->error = error;
}

/* As fopencookie wants it. It never fails: the failure is the file's, and the end of it is seen to elsewhere. */
static ssize_t put(void *cookie, const char *bytes, size_t count)
{
	struct rvp_output_file *file = cookie;

	for (size_t done = 0; done < count && !file->error;) {
		ssize_t written = write(file->fd, bytes + done, count - done);

		if (written > 0)
			done += (size_t)written;
		else if (written == 0 || errno != EINTR)
			take_failure(file, written == 0 ? ENOSPC : errno);
	}
	return (ssize_t)count;
}

/* ---- open, settle, rename ---- */

static bool open_stream(struct rvp_output_file *file, const char *path, const char *folder)
{
	file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->fd < 0)
		return false;
	rvp_output_to_owner(file->fd, folder);
	file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = put});
	if (file->stream)
		setvbuf(file->stream, NULL, _IOFBF, STREAM_BYTES);
	else
		close(file->fd);
	return file->stream != NULL;
}

struct rvp_status rvp_outputs_open(struct rvp_outputs *outputs, const char *folder, bool has_devices)
{
	char path[4096];

	*outputs = (struct rvp_outputs){.folder = folder};
	for (int i = 0; i < RVP_OUTPUT_COUNT; i++) {
		outputs->files[i].of = outputs;
		if (!rvp_output_names[i])
			continue;
		snprintf(outputs->files[i].name, sizeof outputs->files[i].name, "%s", rvp_output_names[i]);
		name_output(outputs, i, true, path, sizeof path);
		unlink(path);
		if ((i == RVP_OUTPUT_KERNELS && !has_devices) || i == RVP_OUTPUT_POWER)
			continue;
		if (!open_stream(&outputs->files[i], path, folder))
			return rvp_fail("make", path, errno);
	}
	return RVP_OK;
}

struct rvp_status rvp_outputs_open_power(struct rvp_outputs *outputs, const struct rvp_power_list *list)
{
	char path[4096];

	for (unsigned i = 0; list && i <= list->source_count; i++) {
		struct rvp_output_file *file = &outputs->files[RVP_OUTPUT_POWER + i];

		if (i)
			snprintf(file->name, sizeof file->name, "power.%s.csv", list->sources[i - 1].name);
		name_output(outputs, (int)(RVP_OUTPUT_POWER + i), true, path, sizeof path);
		unlink(path);
		if (!open_stream(file, path, outputs->folder))
			return rvp_fail("make", path, errno);
	}
	return RVP_OK;
}

static struct rvp_status settle(struct rvp_outputs *outputs, int number)
{
	struct rvp_output_file *file = &outputs->files[number];
	char path[4096];

	name_output(outputs, number, false, path, sizeof path);
	if (file->stream && fflush(file->stream) != 0 && !file->error)
		file->error = errno ? errno : EIO;
	return file->error && !may_be_missing(file) ? rvp_fail("write", path, file->error) : RVP_OK;
}

struct rvp_status rvp_outputs_settle(struct rvp_outputs *outputs)
{
	struct rvp_status status = RVP_OK;

	for (int i = 0; i < RVP_OUTPUT_SUMMARY && !rvp_failed(status); i++)
		status = settle(outputs, i);
	return status;
}

struct rvp_status rvp_outputs_settle_last(struct rvp_outputs *outputs, bool *again)
{
	struct rvp_output_file *file = &outputs->files[RVP_OUTPUT_SUMMARY];
	unsigned given_up = outputs->given_up;
	struct rvp_status status = settle(outputs, RVP_OUTPUT_SUMMARY);

	*again = !rvp_failed(status) && outputs->given_up != given_up;
	if (*again && (ftruncate(file->fd, 0) != 0 || lseek(file->fd, 0, SEEK_SET) != 0))
		return rvp_fail("write", rvp_output_names[RVP_OUTPUT_SUMMARY], errno);
	return status;
}

static struct rvp_status rename_one(struct rvp_outputs *outputs, int number)
{
	struct rvp_output_file *file = &outputs->files[number];
	char path[4096], new_path[4096];
	int error = file->error;

	name_output(outputs, number, false, path, sizeof path);
	name_output(outputs, number, true, new_path, sizeof new_path);
	fclose(file->stream);
	file->stream = NULL;
	if (close(file->fd) != 0 && !error)
		error = errno;
	if (!error && rename(new_path, path) != 0)
		return rvp_fail("rename", new_path, errno);
	if (error)
		unlink(new_path);
	return error && !may_be_missing(file) ? rvp_fail("write", path, error) : RVP_OK;
}

struct rvp_status rvp_outputs_rename(struct rvp_outputs *outputs)
{
	struct rvp_status status = RVP_OK;

	for (int i = 0; i < RVP_OUTPUT_COUNT && !rvp_failed(status); i++)
		if (outputs->files[i].stream)
			status = rename_one(outputs, i);
	return status;
}

void rvp_outputs_drop(struct rvp_outputs *outputs)
{
	char path[4096];

	for (int i = 0; i < RVP_OUTPUT_COUNT; i++) {
		struct rvp_output_file *file = &outputs->files[i];

		if (!file->stream)
			continue;
		fclose(file->stream);
		close(file->fd);
		file->stream = NULL;
		name_output(outputs, i, true, path, sizeof path);
		unlink(path);
	}
}

/* ---- what is missing ---- */

void rvp_outputs_write_missing(struct rvp_json *json, const struct rvp_outputs *outputs)
{
	if (!outputs->given_up)
		return;
	rvp_json_open(json, "not_written", '[');
	for (int i = 0; i < RVP_OUTPUT_COUNT; i++) {
		if (!outputs->files[i].error)
			continue;
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "name", outputs->files[i].name);
		rvp_json_string(json, "why", strerror(outputs->files[i].error));
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

struct rvp_status rvp_outputs_missing(const struct rvp_outputs *outputs)
{
	const struct rvp_output_file *kernels = &outputs->files[RVP_OUTPUT_KERNELS];
	const struct rvp_output_file *trace = &outputs->files[RVP_OUTPUT_TRACE];
	const char *name = rvp_output_names[kernels->error ? RVP_OUTPUT_KERNELS : RVP_OUTPUT_TRACE];

	if (!kernels->error && !trace->error)
		return RVP_OK;
	return rvp_fail_with("write", kernels->error && trace->error ? "kernels.csv and trace.json" : name,
			     "%s; the other outputs are written", strerror(kernels->error ? kernels->error : trace->error));
}
