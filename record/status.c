/* SPDX-License-Identifier: MIT */
/* status.c: see status.h. */
#include "record/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rvp_status rvp_fail(const char *step, const char *path, int error)
{
	struct rvp_status status = {.step = step, .error = error};

	snprintf(status.path, sizeof status.path, "%s", path ? path : "");
	return status;
}

struct rvp_status rvp_fail_with(const char *step, const char *path, const char *format, ...)
{
	struct rvp_status status = rvp_fail(step, path, 0);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(status.detail, sizeof status.detail, format, arguments);
	va_end(arguments);
	return status;
}

const char *rvp_status_line(const struct rvp_status *status, char *line, unsigned line_bytes)
{
	const char *reason = status->detail[0] ? status->detail : strerror(status->error);
	const char *space = status->path[0] ? " " : "";

	snprintf(line, line_bytes, "cannot %s%s%s: %s", status->step, space, status->path, reason);
	return line;
}
