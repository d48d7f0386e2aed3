/* SPDX-License-Identifier: MIT */
/* status.h: how an error travels: what was being done, to which file, and why it failed.
 *
 * Functions of record, report and tools return one by value; nobody prints and nobody exits below `main`.
 * The library inside the program never uses it: there an error is a counter (loss.def).
 */
#ifndef RVP_STATUS_H
#define RVP_STATUS_H

enum { RVP_STATUS_PATH_BYTES = 256, RVP_STATUS_DETAIL_BYTES = 256 };

struct rvp_status {
	const char *step;                     /* NULL: success. A literal: "open", "read chunk", ... */
	int error;                            /* errno, or 0 when `detail` says it all */
	char path[RVP_STATUS_PATH_BYTES];     /* what it happened to; may be empty */
	char detail[RVP_STATUS_DETAIL_BYTES]; /* what is wrong and what to do; may be empty */
};

#define RVP_OK ((struct rvp_status){.step = 0})

static inline int rvp_failed(struct rvp_status status)
{
	return status.step != 0;
}

/* A failure at `step` on `path` (may be NULL) with errno `error`. Defined in status.c. */
struct rvp_status rvp_fail(const char *step, const char *path, int error);

/* The same with a sentence of its own in place of strerror: printf-like. */
struct rvp_status rvp_fail_with(const char *step, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One line without newline into `line`: "cannot <step> <path>: <reason>". Returns `line`. */
const char *rvp_status_line(const struct rvp_status *status, char *line, unsigned line_bytes);

#endif
