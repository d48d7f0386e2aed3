/* SPDX-License-Identifier: MIT */
/* show_watch.c: what a watch.rvl says, as NAME=VALUE lines for a shell; or, with --regions SMAPS, what the
 * reader of smaps makes of that file. */
#include "record/decode.h"
#include "record/log_reader.h"
#include "record/names.h"
#include "tools/watch_regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIDS_MAX = 64 };

struct shown {
	uint64_t kinds[RVP_KIND_COUNT];
	enum rvp_kind first, second, last;
	uint64_t records, peak_bytes, last_bytes, pids[PIDS_MAX], pid_count;
	uint64_t begin, end, backward, cost_ns, how, status;
	uint64_t region_stamp, region_bytes, snapshots, worst_permille, watch_bytes_before;
	uint64_t clock;
};

static void add_pid(struct shown *shown, uint64_t pid)
{
	for (uint64_t i = 0; i < shown->pid_count; i++)
		if (shown->pids[i] == pid)
			return;
	if (shown->pid_count < PIDS_MAX)
		shown->pids[shown->pid_count++] = pid;
}

/* How far the sum of one smaps is from the WATCH right before it. */
static void end_snapshot(struct shown *shown)
{
	uint64_t a = shown->region_bytes, b = shown->watch_bytes_before, apart = a > b ? a - b : b - a;

	if (shown->region_stamp && b && apart * 1000 / b > shown->worst_permille)
		shown->worst_permille = apart * 1000 / b;
	shown->region_stamp = shown->region_bytes = 0;
}

static void take_region(struct shown *shown, const struct rvp_record_REGION *region)
{
	if (region->stamp != shown->region_stamp) {
		end_snapshot(shown);
		shown->region_stamp = region->stamp;
		shown->snapshots++;
	}
	shown->region_bytes += region->rss_bytes;
}

static void take_watch(struct shown *shown, const struct rvp_record_WATCH *watch)
{
	uint64_t bytes = watch->rss_anon_bytes + watch->rss_file_bytes + watch->rss_shmem_bytes;

	end_snapshot(shown);
	add_pid(shown, watch->pid);
	shown->backward += watch->stamp < shown->end;
	shown->end = watch->stamp;
	shown->last_bytes = shown->watch_bytes_before = bytes;
	if (bytes > shown->peak_bytes)
		shown->peak_bytes = bytes;
	if (watch->peak_rss_bytes > shown->peak_bytes)
		shown->peak_bytes = watch->peak_rss_bytes;
}

static void take(struct shown *shown, const struct rvp_record *record)
{
	if (shown->records == 0)
		shown->first = record->kind;
	if (shown->records == 1)
		shown->second = record->kind;
	shown->last = record->kind;
	shown->records++;
	shown->kinds[record->kind]++;
	if (record->kind == RVP_PROCESS)
		shown->clock = record->PROCESS.clock;
	if (record->kind == RVP_ANCHOR && !shown->begin)
		shown->begin = record->ANCHOR.stamp;
	if (record->kind == RVP_WATCH)
		take_watch(shown, &record->WATCH);
	if (record->kind == RVP_REGION)
		take_region(shown, &record->REGION);
	if (record->kind == RVP_WATCH_CHILD) {
		shown->cost_ns = record->WATCH_CHILD.watch_cost_ns;
		shown->how = record->WATCH_CHILD.how;
		shown->status = record->WATCH_CHILD.status;
		shown->end = record->WATCH_CHILD.stamp;
	}
}

static int fail(struct rvp_status status)
{
	char line[512];

	fprintf(stderr, "%s\n", rvp_status_line(&status, line, sizeof line));
	return 2;
}

static int show(const char *path)
{
	static struct shown shown;
	struct rvp_log log;
	struct rvp_status status = rvp_log_open(&log, path, NULL);

	if (rvp_failed(status))
		return fail(status);
	for (size_t i = 0; i < log.chunk_count; i++) {
		struct rvp_decoder decoder =
		    rvp_decoder_over(log.chunks[i].payload, log.chunks[i].payload_bytes);
		struct rvp_record record;

		while (rvp_decode_next(&decoder, &record))
			take(&shown, &record);
		if (decoder.broken)
			return 2;
	}
	end_snapshot(&shown);
	printf("first=%s second=%s last=%s clock=%" PRIu64 "\n", rvp_schemas[shown.first].name,
	       rvp_schemas[shown.second].name, rvp_schemas[shown.last].name, shown.clock);
	printf("samples=%" PRIu64 " processes=%" PRIu64 " backward=%" PRIu64 " cgroup=%" PRIu64 "\n",
	       shown.kinds[RVP_WATCH], shown.pid_count, shown.backward, shown.kinds[RVP_CGROUP]);
	printf("peak_mib=%" PRIu64 " last_mib=%" PRIu64 "\n", shown.peak_bytes >> 20, shown.last_bytes >> 20);
	printf("snapshots=%" PRIu64 " worst_permille=%" PRIu64 "\n", shown.snapshots, shown.worst_permille);
	printf("elapsed_us=%" PRIu64 " cost_us=%" PRIu64 "\n", (shown.end - shown.begin) / 1000,
	       shown.cost_ns / 1000);
	printf("how=%" PRIu64 " status=%" PRIu64 "\n", shown.how, shown.status);
	rvp_log_close(&log);
	return 0;
}

static int show_regions(const char *smaps)
{
	struct rvp_log_writer writer;
	struct rvp_status status = rvp_log_writer_open(&writer, "regions.rvl", 1, 1);
	struct rvp_decoder decoder;
	struct rvp_record record;

	if (rvp_failed(status))
		return fail(status);
	if (!rvp_regions_write(&writer, 1, smaps, 1))
		return 1;
	decoder = rvp_decoder_over(rvp_slot_payload(writer.slot), rvp_slot_length(writer.slot));
	while (rvp_decode_next(&decoder, &record))
		printf("%s %.*s start=%" PRIx64 " mapped=%" PRIu64 " rss=%" PRIu64 " pss=%" PRIu64
		       " swap=%" PRIu64 "\n",
		       rvp_category_names[record.REGION.category], (int)record.REGION.name.length,
		       record.REGION.name.bytes, record.REGION.start, record.REGION.mapped_bytes >> 10,
		       record.REGION.rss_bytes >> 10, record.REGION.pss_bytes >> 10,
		       record.REGION.swap_bytes >> 10);
	rvp_log_writer_close(&writer);
	return unlink("regions.rvl");
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--regions"))
		return show_regions(argv[2]);
	return argc == 2 ? show(argv[1]) : 2;
}
