/* SPDX-License-Identifier: MIT */
/* file_content.h: what kind of bytes a file holds that has no model's magic: could they be weights?
 *
 * Pieces spread over the file are looked at. Weights are numbers around zero, of either sign; text, archives,
 * pictures, databases, programs are known by their looks; token ids, labels and pixels are numbers that are
 * never negative.
 */
#ifndef RVP_REPORT_FILE_CONTENT_H
#define RVP_REPORT_FILE_CONTENT_H

#include "report/model_cursor.h"

enum rvp_content {
	RVP_CONTENT_UNREAD,   /* gone, or not readable */
	RVP_CONTENT_OTHER,    /* surely no weights */
	RVP_CONTENT_COUNTING, /* numbers that are never negative */
	RVP_CONTENT_FLOATS,   /* float or half numbers around zero */
	RVP_CONTENT_OPAQUE,   /* anything else */
};

/* Leaves the cursor anywhere. */
enum rvp_content rvp_content_of(struct rvp_cursor *cursor);

#endif
