/* SPDX-License-Identifier: MIT */
/* text_numbers.c: see text_numbers.h. */
#include "report/text_numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

const char *rvp_text_bytes(uint64_t bytes, char *text)
{
	uint64_t tenths;
	unsigned unit = 0;

	while (unit < 6 && bytes >> (10 * (unit + 1)))
		unit++;
	if (unit == 0) {
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 " B", bytes);
		return text;
	}
	/* Rounded to a tenth, and down where that would read as 1024.0. */
	tenths = (bytes >> (10 * unit)) * 10 + (((bytes >> (10 * (unit - 1))) & 1023) * 10 + 512) / 1024;
	if (tenths > 10239)
		tenths = 10239;
	snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
		 units[unit]);
	return text;
}

const char *rvp_text_change(int64_t bytes, char *text)
{
	uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;

	rvp_text_bytes(size, text + 1);
	if (bytes == 0)
		memmove(text, text + 1, strlen(text + 1) + 1);
	else
		*text = bytes < 0 ? '-' : '+';
	return text;
}

const char *rvp_text_count(uint64_t count, char *text)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, count), at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = 0;
	return text;
}

const char *rvp_text_share(uint64_t part, uint64_t whole, char *text)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	if (!whole)
		strcpy(text, "-");
	else if (part && share < 0.05)
		strcpy(text, "<0.1 %");
	else
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%.1f %%", share);
	return text;
}

const char *rvp_text_duration(uint64_t ns, char *text)
{
	uint64_t ms = ns / 1000000, s = ms / 1000;

	if (ms < 1000)
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 " ms", ms);
	else if (s < 60)
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 ".%03" PRIu64 " s", s, ms % 1000);
	else if (s < 3600)
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64 " h %02" PRIu64 " min %02" PRIu64 " s",
			 s / 3600, s / 60 % 60, s % 60);
	return text;
}

static const char *text_time(uint64_t unix_ns, const char *format, char *text)
{
	time_t seconds = (time_t)(unix_ns / 1000000000u);
	struct tm local;

	if (!localtime_r(&seconds, &local) || !strftime(text, RVP_NUMBER_TEXT_BYTES, format, &local))
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%" PRIu64, unix_ns / 1000000000u);
	return text;
}

const char *rvp_text_clock(uint64_t unix_ns, char *text)
{
	return text_time(unix_ns, "%H:%M:%S", text);
}

const char *rvp_text_date(uint64_t unix_ns, char *text)
{
	return text_time(unix_ns, "%Y-%m-%d %H:%M:%S", text);
}

const char *rvp_text_us(double us, char *text)
{
	if (us >= 1e6)
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%.3f s", us / 1e6);
	else if (us >= 1e3)
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%.2f ms", us / 1e3);
	else
		snprintf(text, RVP_NUMBER_TEXT_BYTES, "%.0f us", us);
	return text;
}
