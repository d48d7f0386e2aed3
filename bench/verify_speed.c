/* SPDX-License-Identifier: MIT */
/* verify_speed.c: how fast `rvprof verify` reads. A bundle over 100 MB of witness lines of 2,500 bytes is
 * made in a scratch folder and checked; printed is the best and the median of ROUNDS, in MB (1e6 bytes) of
 * checked files a second. Usage: verify_speed [LINE_BYTES]      (ninja -C build bench/verify_speed &&
 * build/bench/verify_speed) */
#include "prove/bundle.h"
#include "prove/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TOTAL_BYTES = 100000000, ROUNDS = 7 };

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void write_lines(const char *path, size_t line_bytes)
{
	char *line = malloc(line_bytes + 1);
	FILE *out = fopen(path, "w");

	if (!line || !out)
		exit(2);
	for (size_t i = 0; i < TOTAL_BYTES / line_bytes; i++) {
		for (size_t k = 0; k < line_bytes; k++)
			line[k] = (char)('a' + (i * 31 + k * 7) % 26);
		line[line_bytes - 1] = '\n';
		fwrite(line, 1, line_bytes, out);
	}
	fclose(out);
	free(line);
}

static int by_size(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double check(const struct rvp_digests *digests, const char *path)
{
	struct rvp_verified verified;
	double begin_s = now_s(), took_s;
	struct rvp_status status = rvp_verify_file(digests, path, NULL, &verified);

	took_s = now_s() - begin_s;
	if (rvp_failed(status) || verified.findings.broken_count || verified.checked_bytes < TOTAL_BYTES)
		exit(1);
	rvp_findings_free(&verified.findings);
	return (double)verified.checked_bytes / 1e6 / took_s;
}

int main(int count, char **words)
{
	static const char *const witness[] = {"a.jsonl", NULL}, *const files[] = {NULL};
	char folder[] = "/tmp/verify_speed.XXXXXX", path[64], bundle[64];
	struct rvp_bundle_plan plan = {
	    .folder = folder, .path = "w.rvf", .witness_files = witness, .files = files};
	struct rvp_digests digests;
	double rates[ROUNDS];
	uint64_t decisions;

	if (!mkdtemp(folder) || rvp_failed(rvp_digests_open(&digests)))
		return 2;
	snprintf(path, sizeof path, "%s/a.jsonl", folder);
	snprintf(bundle, sizeof bundle, "%s/w.rvf", folder);
	write_lines(path, count > 1 ? strtoul(words[1], NULL, 10) : 2500);
	if (rvp_failed(rvp_bundle_write(&digests, &plan, &decisions)))
		return 2;
	for (int i = 0; i < ROUNDS; i++)
		rates[i] = check(&digests, bundle);
	qsort(rates, ROUNDS, sizeof *rates, by_size);
	printf("%.0f MB/s at best, %.0f in the middle of %d\n", rates[ROUNDS - 1], rates[ROUNDS / 2], ROUNDS);
	rvp_digests_close(&digests);
	unlink(path);
	unlink(bundle);
	rmdir(folder);
	return 0;
}
