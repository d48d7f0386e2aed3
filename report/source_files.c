/* SPDX-License-Identifier: MIT */
/* source_files.c: see source_files.h. */
#include "report/source_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t home(const struct rvp_source_files *files, uint64_t device, uint64_t inode)
{
	return (device * 0x9e3779b97f4a7c15u ^ inode * 0xd6e8feb86659fd93u) >> 20 & files->mask;
}

static struct rvp_source_file *find(const struct rvp_source_files *files, uint64_t device, uint64_t inode)
{
	struct rvp_source_file *file = files->places[home(files, device, inode)];

	while (file && (file->device != device || file->inode != inode))
		file = file->next;
	return file;
}

static struct rvp_source_file *make(struct rvp_source_files *files, uint64_t device, uint64_t inode)
{
	struct rvp_source_file *file = calloc(1, sizeof *file),
			       **place = &files->places[home(files, device, inode)];

	if (!file)
		return NULL;
	file->device = device;
	file->inode = inode;
	file->path = "";
	strcpy(file->name, "a file whose name is not known");
	file->next = *place;
	*place = file;
	files->count++;
	return file;
}

struct rvp_source_file *rvp_source_file(struct rvp_source_files *files, uint64_t device, uint64_t inode)
{
	struct rvp_source_file *file = find(files, device, inode);

	return file ? file : make(files, device, inode);
}

/* Models are often all called model.safetensors: the folder tells them apart. */
static void set_name(struct rvp_source_file *file, const char *path)
{
	const char *name = path + strlen(path);

	file->path = path;
	for (int words = 0; name > path; name--)
		if (name[-1] == '/' && ++words == 2)
			break;
	snprintf(file->name, sizeof file->name, "%s", name);
}

static bool take_file(struct rvp_source_files *files, const struct rvp_known_file *known)
{
	struct rvp_source_file *file = rvp_source_file(files, known->device, known->inode);

	if (!file)
		return false;
	file->bytes = known->bytes;
	set_name(file, known->path);
	return true;
}

bool rvp_source_files_open(struct rvp_source_files *files, const struct rvp_run *run)
{
	size_t count = 64;

	for (size_t i = 0; i < run->process_count; i++)
		while (count < run->processes[i].file_count && count < (size_t)1 << 24)
			count *= 2;
	*files = (struct rvp_source_files){.places = calloc(count, sizeof *files->places), .mask = count - 1};
	if (!files->places)
		return false;
	for (size_t i = 0; i < run->process_count; i++)
		for (size_t k = 0; k < run->processes[i].file_count; k++)
			if (!take_file(files, &run->processes[i].files[k])) {
				rvp_source_files_free(files);
				return false;
			}
	return true;
}

static bool is_same(const struct rvp_source_file *file, const struct stat *now)
{
	return S_ISREG(now->st_mode) && now->st_dev == file->device && now->st_ino == file->inode &&
	       (uint64_t)now->st_size == file->bytes;
}

/* -1: not there any more, or another one. A path of a log can be any: what is no regular file is not even
 * opened. */
static int open_same(const struct rvp_source_file *file)
{
	struct stat now;
	int fd;

	if (file->path[0] != '/' || stat(file->path, &now) != 0 || !is_same(file, &now))
		return -1;
	fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &now) == 0 && is_same(file, &now)))
		return fd;
	close(fd);
	return -1;
}

static void find_data(struct rvp_source_file *file)
{
	const struct rvp_model *model = &file->model;

	for (size_t i = 0; model->has_header && i < model->tensor_count; i++)
		if (i == 0 || model->tensors[i].offset < file->data_begin)
			file->data_begin = model->tensors[i].offset;
}

bool rvp_source_file_look(struct rvp_source_file *file)
{
	struct rvp_cursor *cursor;
	bool done = false;
	int fd;

	if (file->was_looked_at)
		return true;
	file->was_looked_at = true;
	fd = open_same(file);
	if (fd < 0) {
		file->model.kind = rvp_model_kind_by_name(file->name);
		return true;
	}
	file->is_there = true;
	cursor = malloc(sizeof *cursor);
	if (cursor) {
		rvp_cursor_over_file(cursor, fd, file->bytes);
		done = rvp_model_read(&file->model, cursor, file->name);
		find_data(file);
	}
	free(cursor);
	close(fd);
	return done;
}

enum rvp_content rvp_source_file_content(struct rvp_source_file *file)
{
	struct rvp_cursor *cursor;
	int fd;

	if (file->was_sampled)
		return file->content;
	file->was_sampled = true;
	fd = open_same(file);
	if (fd < 0)
		return file->content;
	cursor = malloc(sizeof *cursor);
	if (cursor) {
		rvp_cursor_over_file(cursor, fd, file->bytes);
		file->content = rvp_content_of(cursor);
	}
	free(cursor);
	close(fd);
	return file->content;
}

void rvp_source_files_free(struct rvp_source_files *files)
{
	for (size_t i = 0; files->places && i <= files->mask; i++)
		for (struct rvp_source_file *file = files->places[i], *next; file; file = next) {
			next = file->next;
			rvp_model_free(&file->model);
			free(file);
		}
	free(files->places);
	memset(files, 0, sizeof *files);
}
