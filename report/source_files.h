/* SPDX-License-Identifier: MIT */
/* source_files.h: the files that a run mapped or read, by device and inode, and what is in them: looked at
 * when it is first asked, at report time, where the path still leads to the same file of the same size; else
 * the name is all there is.
 */
#ifndef RVP_REPORT_SOURCE_FILES_H
#define RVP_REPORT_SOURCE_FILES_H

#include "report/file_content.h"
#include "report/model_file.h"
#include "report/run.h"

struct rvp_source_file {
	uint64_t device, inode, bytes;
	const char *path; /* "" when the log has none */
	char name[96];    /* the last two words of the path */
	bool was_looked_at, is_there, was_sampled;
	struct rvp_model model;   /* kind NONE: no model */
	uint64_t data_begin;      /* of a model with a header: where the first tensor lies; 0: not known */
	enum rvp_content content; /* of what is no model */
	uint64_t read_bytes;      /* into blocks, each of their bytes once */
	struct rvp_source_file *next;
};

struct rvp_source_files {
	struct rvp_source_file **places;
	size_t mask, count;
};

/* Of all processes. False without memory. */
bool rvp_source_files_open(struct rvp_source_files *files, const struct rvp_run *run);

/* One that the log does not name is made without a path. NULL without memory. */
struct rvp_source_file *rvp_source_file(struct rvp_source_files *files, uint64_t device, uint64_t inode);

/* Opens it and reads the header, once. False without memory. */
bool rvp_source_file_look(struct rvp_source_file *file);

/* Of what is no model, once; UNREAD also without memory. */
enum rvp_content rvp_source_file_content(struct rvp_source_file *file);

void rvp_source_files_free(struct rvp_source_files *files);

#endif
