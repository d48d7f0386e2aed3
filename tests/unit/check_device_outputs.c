/* SPDX-License-Identifier: MIT */
/* check_device_outputs.c: what finalize says of devices: categories.csv, summary.json's device, its ledger,
 * what was refused, and the sentences. Each figure was added up by hand. */
#include "report/finalize.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MS = 1000000 };
static const int64_t MIB = 1048576;
#define US(stamp) ((MAKER_EPOCH_NS + (stamp)) / 1000)

static const uint64_t at = 0x7f0000000000, host = 0x7e0000000000;
static struct maker maker;
static struct maker_process *process;
static struct maker_thread *thread;
static json_t *summary;

static void begin(void)
{
	maker = maker_open();
	process = maker_add(&maker, 100);
	thread = &process->threads[0];
	MAKE(thread, DEVICE, 64, .stamp = 1200, .memory_bytes = 80ull << 30, .uuid = {"0123456789abcdef", 16},
	     .model = {"Model X", 7});
	MAKE(thread, DEVICE_CONTEXT, 0, .stamp = 1300, .context = 1);
}

static char *text_of(const char *name)
{
	static char text[1 << 18];
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", maker.folder, name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	text[fread(text, 1, sizeof text - 1, file)] = 0;
	fclose(file);
	return text;
}

static void finish(void)
{
	struct rvp_status status;
	json_error_t error;
	char line[600];

	maker_close(&maker);
	status = rvp_finalize(maker.folder);
	ck_assert_msg(!rvp_failed(status), "%s", rvp_status_line(&status, line, sizeof line));
	summary = json_loads(text_of("summary.json"), JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(summary != NULL, "line %d: %s", error.line, error.text);
}

static void end(void)
{
	json_decref(summary);
	maker_remove(&maker);
}

/* "device.0.ledger.1.driver_bytes"; NULL: there is none. */
static json_t *value_at(const char *path)
{
	char copy[200], *rest = copy;
	json_t *value = summary;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *word; value && (word = strsep(&rest, "."));)
		value = *word >= '0' && *word <= '9' ? json_array_get(value, (size_t)atoi(word))
						     : json_object_get(value, word);
	return value;
}

static int64_t number_at(const char *path)
{
	ck_assert_msg(json_is_integer(value_at(path)), "%s", path);
	return json_integer_value(value_at(path));
}

static const char *word_at(const char *path)
{
	ck_assert_msg(json_is_string(value_at(path)), "%s", path);
	return json_string_value(value_at(path));
}

/* Of a row of a ledger's entry; -1: there is no such row. */
static int64_t row(const char *entry, const char *name)
{
	char path[100];
	json_t *rows, *one;
	size_t i;

	snprintf(path, sizeof path, "%s.rows", entry);
	rows = value_at(path);
	json_array_foreach(rows, i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
			return json_integer_value(json_object_get(one, "bytes"));
	}
	return -1;
}

/* The text of the first sentence of this kind; NULL: there is none. */
static const char *sentence(const char *id)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(summary, "verdicts"), i, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "id")), id) == 0)
			return json_string_value(json_object_get(one, "text"));
	}
	return NULL;
}

static void alloc(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, DEVICE_ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .context = 1);
}

static void give_back(uint64_t stamp, uint64_t address)
{
	MAKE(thread, DEVICE_FREE, 0, .stamp = stamp, .address = address);
}

static void tensor(uint64_t stamp, uint64_t address, uint64_t bytes, const char *category)
{
	MAKE(thread, DEVICE_TENSOR, 0, .stamp = stamp, .address = address, .bytes = bytes);
	if (category)
		MAKE(thread, TAG, 32, .stamp = stamp + 1, .address = address,
		     .category = {category, strlen(category)});
}

static void nvml(uint64_t stamp, uint64_t process_bytes, uint64_t tracer_bytes,
		 enum rvp_device_occasion occasion)
{
	MAKE(thread, DEVICE_MEMORY, 0, .stamp = stamp, .total_bytes = 80ull << 30, .free_bytes = 1 << 30,
	     .process_bytes = process_bytes, .has_process = 1, .tracer_bytes = tracer_bytes,
	     .occasion = occasion);
}

static void meminfo(uint64_t stamp, uint64_t used_bytes, uint64_t others_bytes)
{
	MAKE(thread, DEVICE_MEMORY, 0, .stamp = stamp, .total_bytes = 80ull << 30,
	     .free_bytes = (80ull << 30) - used_bytes, .others_bytes = others_bytes);
}

static void refuse(uint64_t stamp, uint64_t bytes)
{
	MAKE(thread, DEVICE_REFUSED, 0, .stamp = stamp, .bytes = bytes, .error = 2,
	     .total_bytes = 80ull << 30, .free_bytes = 100 * MIB);
}

START_TEST(rows_of_both_in_order_of_time)
{
	char expected[4000];

	begin();
	MAKE(thread, ALLOC, 0, .stamp = 20 * MS, .address = host, .bytes = 4 * MIB);
	alloc(30 * MS, at, 64 * MIB);
	tensor(40 * MS, at, 10 * MIB, "weights");      /* the sum does not move, but what is given out does */
	tensor(45 * MS, at + 40 * MIB, 1000, "input"); /* that is little */
	tensor(60 * MS, at + 16 * MIB, 20 * MIB, "kv_cache");
	alloc(70 * MS, at + 64 * MIB, 8 * MIB);
	MAKE(thread, FREE, 0, .stamp = 90 * MS, .address = host);
	give_back(100 * MS, at + 64 * MIB);
	finish();
	snprintf(expected, sizeof expected,
		 "timestamp_us,device,weights,kv_cache,activation,temp,gradient,optimizer,workspace,comm,"
		 "graph,context,"
		 "input,runtime,allocator,file,stack,code,unknown\n"
		 "%llu,host,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,0\n"
		 "%llu,host,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,4194304\n"
		 "%llu,cuda:0,0,0,0,0,0,0,0,0,0,0,0,0,67108864,,,,0\n"
		 "%llu,cuda:0,10485760,0,0,0,0,0,0,0,0,0,0,0,56623104,,,,0\n"
		 "%llu,cuda:0,10485760,20971520,0,0,0,0,0,0,0,0,1000,0,35650584,,,,0\n"
		 "%llu,cuda:0,10485760,20971520,0,0,0,0,0,0,0,0,1000,0,35650584,,,,8388608\n"
		 "%llu,host,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,0\n"
		 "%llu,cuda:0,10485760,20971520,0,0,0,0,0,0,0,0,1000,0,35650584,,,,0\n"
		 "%llu,host,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,0\n",
		 (unsigned long long)US(1000), (unsigned long long)US(20 * MS),
		 (unsigned long long)US(30 * MS), (unsigned long long)US(40 * MS),
		 (unsigned long long)US(60 * MS), (unsigned long long)US(70 * MS),
		 (unsigned long long)US(90 * MS), (unsigned long long)US(100 * MS),
		 (unsigned long long)US(MAKER_END_NS));
	ck_assert_str_eq(text_of("categories.csv"), expected);
	ck_assert_ptr_null(strstr(text_of("memory.csv"), "67108864"));
	end();
}
END_TEST

START_TEST(categories_of_a_device)
{
	begin();
	MAKE(thread, ALLOC, 0, .stamp = 2 * MS, .address = host, .bytes = 5 * MIB);
	alloc(3 * MS, at, 64 * MIB);
	tensor(4 * MS, at, 10 * MIB, "weights");
	tensor(5 * MS, at + 16 * MIB, 20 * MIB, "kv_cache");
	MAKE(thread, DEVICE_TENSOR, 0, .stamp = 6 * MS, .address = at, .bytes = 10 * MIB, .is_free = 1,
	     .allocated_bytes = 20 * MIB, .reserved_bytes = 64 * MIB);
	finish();
	ck_assert_uint_eq(json_array_size(json_object_get(summary, "device")), 1);
	ck_assert_str_eq(word_at("device.0.name"), "cuda:0");
	ck_assert_str_eq(word_at("device.0.model"), "Model X");
	ck_assert_int_eq(number_at("device.0.peak_held_bytes"), 64 * MIB);
	ck_assert_int_eq(number_at("device.0.peak_live_bytes"), 30 * MIB);
	ck_assert_int_eq(number_at("device.0.peak_unix_us"), (int64_t)US(5 * MS));
	ck_assert_int_eq(number_at("device.0.categories.weights.at_peak_bytes"), 10 * MIB);
	ck_assert_int_eq(number_at("device.0.categories.weights.at_end_bytes"), 0);
	ck_assert_int_eq(number_at("device.0.categories.weights.evidence.tag"), 10 * MIB);
	ck_assert_int_eq(number_at("device.0.categories.kv_cache.at_peak_bytes"), 20 * MIB);
	ck_assert_int_eq(number_at("device.0.categories.kv_cache.alloc_count"), 1);
	ck_assert_int_eq(number_at("device.0.categories.allocator.at_peak_bytes"), 34 * MIB);
	ck_assert_int_eq(number_at("device.0.categories.allocator.at_end_bytes"), 44 * MIB);
	ck_assert_int_eq(number_at("device.0.categories.allocator.max_bytes"), 64 * MIB);
	ck_assert_int_eq(number_at("device.0.categories.allocator.evidence.counted"), 34 * MIB);
	ck_assert_int_eq(number_at("device.0.allocator_at_end.reserved_bytes"), 64 * MIB);
	ck_assert_int_eq(number_at("device.0.allocator_at_end.allocated_bytes"), 20 * MIB);
	ck_assert_int_eq(number_at("device.0.allocator_at_end.largest_free_bytes"), 28 * MIB);
	ck_assert_int_eq(number_at("device.0.allocator_at_end.told_allocated_bytes"), 20 * MIB);
	ck_assert_int_eq(number_at("device.0.allocator_at_end.told_reserved_bytes"), 64 * MIB);
	/* The host's are as if there were no device. */
	ck_assert_int_eq(number_at("host.categories.unknown.at_peak_bytes"), 5 * MIB);
	ck_assert_ptr_null(value_at("host.categories.weights"));
	ck_assert_int_eq(number_at("totals.alloc_count"), 1);
	ck_assert_str_eq(
	    sentence("device_peak"),
	    "memory of cuda:0 was highest at 64.0 MiB: allocator 53.1 %, kv_cache 31.2 %, weights 15.6 %");
	end();
}
END_TEST

/* A run without a device has no such key. */
START_TEST(nothing_without_a_device)
{
	maker = maker_open();
	thread = &maker_add(&maker, 100)->threads[0];
	MAKE(thread, ALLOC, 0, .stamp = 2 * MS, .address = host, .bytes = 5 * MIB);
	finish();
	ck_assert_ptr_null(json_object_get(summary, "device"));
	end();
}
END_TEST

START_TEST(nvml_closes_the_ledger)
{
	begin();
	alloc(2 * MS, at, 1000 * MIB);
	nvml(3 * MS, 1350 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_START);
	alloc(4 * MS, at + (1ull << 32), 500 * MIB);
	tensor(5 * MS, at, 600 * MIB, "weights");
	MAKE(thread, MARK, 16, .stamp = 6 * MS, .kind = RVP_MARK_LABEL, .label = {"loaded", 6});
	nvml(6 * MS, 1850 * MIB + 7, 50 * MIB, RVP_DEVICE_OCCASION_MARK);
	give_back(7 * MS, at + (1ull << 32));
	nvml(8 * MS, 1352 * MIB, 60 * MIB, RVP_DEVICE_OCCASION_END);
	finish();
	ck_assert_str_eq(word_at("device.0.ledger.0.at"), "peak");
	ck_assert_str_eq(word_at("device.0.ledger.0.figure"), "nvml");
	ck_assert_int_eq(number_at("device.0.ledger.0.process_bytes"), 1850 * MIB + 7);
	ck_assert_int_eq(row("device.0.ledger.0", "weights"), 600 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "allocator"), 400 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "unknown"), 500 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "context"), 300 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "rvprof"), 50 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "others"), -1);
	ck_assert_int_eq(number_at("device.0.ledger.0.unexplained_bytes"), 7);
	ck_assert_int_eq(number_at("device.0.ledger.0.largest_free_bytes"), 400 * MIB);
	ck_assert_str_eq(word_at("device.0.ledger.1.at"), "end");
	ck_assert_int_eq(row("device.0.ledger.1", "unknown"), -1);
	ck_assert_int_eq(number_at("device.0.ledger.1.unexplained_bytes"), -8 * MIB);
	ck_assert_str_eq(word_at("device.0.ledger.2.at"), "loaded");
	ck_assert_int_eq(number_at("device.0.ledger.2.unexplained_bytes"), 7);
	end();
}
END_TEST

/* The context was met at the end of the first alloc, and its sample stands behind it: however soon the next alloc
 * comes, what is not explained later is not taken for the context's. */
START_TEST(the_first_sample_counts_however_close_the_next_alloc_is)
{
	begin();
	alloc(2 * MS, at, 1000 * MIB);
	nvml(2 * MS + 100, 1350 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_START);
	alloc(2 * MS + 200, at + (1ull << 32), 500 * MIB);
	nvml(6 * MS, 1857 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_MOVED);
	give_back(7 * MS, at + (1ull << 32));
	nvml(8 * MS, 1351 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_END);
	finish();
	ck_assert_int_eq(row("device.0.ledger.0", "context"), 300 * MIB);
	ck_assert_int_eq(number_at("device.0.ledger.0.unexplained_bytes"), 7 * MIB);
	ck_assert_int_eq(number_at("device.0.ledger.1.unexplained_bytes"), MIB);
	end();
}
END_TEST

/* What a pool holds is told right behind the sample. */
/* A second context of the process, then the end of the first: the row follows, and what nobody explains stays unexplained. */
START_TEST(contexts_come_and_go)
{
	begin();
	alloc(2 * MS, at, 1000 * MIB);
	nvml(2 * MS + 100, 1350 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_START);
	nvml(3 * MS, 1357 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_MOVED);
	MAKE(thread, DEVICE_CONTEXT, 0, .stamp = 4 * MS, .context = 2);
	nvml(5 * MS, 1557 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_START);
	MAKE(thread, MARK, 16, .stamp = 6 * MS, .kind = RVP_MARK_LABEL, .label = {"two", 3});
	nvml(6 * MS, 1558 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_MARK);
	MAKE(thread, DEVICE_CONTEXT, 0, .stamp = 7 * MS, .context = 2, .is_end = 1);
	nvml(8 * MS, 1308 * MIB, 50 * MIB, RVP_DEVICE_OCCASION_END);
	finish();
	ck_assert_str_eq(word_at("device.0.ledger.2.at"), "two");
	ck_assert_int_eq(row("device.0.ledger.2", "context"), 500 * MIB);
	ck_assert_int_eq(number_at("device.0.ledger.2.unexplained_bytes"), 8 * MIB);
	ck_assert_int_eq(row("device.0.ledger.1", "context"), 250 * MIB);
	ck_assert_int_eq(number_at("device.0.ledger.1.unexplained_bytes"), 8 * MIB);
	end();
}
END_TEST

/* Each process's allocator has its own last word. */
START_TEST(words_of_two_processes_add_up)
{
	struct maker_thread *other;

	begin();
	alloc(3 * MS, at, 64 * MIB);
	tensor(4 * MS, at, 10 * MIB, "weights");
	MAKE(thread, DEVICE_TENSOR, 0, .stamp = 5 * MS, .address = at + 32 * MIB, .bytes = MIB, .allocated_bytes = 11 * MIB,
	     .reserved_bytes = 64 * MIB);
	other = &maker_add(&maker, 200)->threads[0];
	MAKE(other, DEVICE, 32, .stamp = 1000, .memory_bytes = 16384 * MIB, .model = {"Model X", 7});
	MAKE(other, DEVICE_TENSOR, 0, .stamp = 6 * MS, .address = at, .bytes = 2 * MIB, .allocated_bytes = 2 * MIB,
	     .reserved_bytes = 32 * MIB);
	finish();
	ck_assert_int_eq(number_at("device.0.allocator_at_end.told_reserved_bytes"), 96 * MIB);
	ck_assert_int_eq(number_at("device.0.allocator_at_end.told_allocated_bytes"), 13 * MIB);
	end();
}
END_TEST

START_TEST(pools_belong_to_the_sample_before_them)
{
	begin();
	MAKE(thread, DEVICE_ALLOC, 0, .stamp = 2 * MS, .address = at, .bytes = 10 * MIB,
	     .kind = RVP_DEVICE_MEMORY_ORDERED, .pool = 5, .context = 1);
	nvml(3 * MS, 410 * MIB, 0, RVP_DEVICE_OCCASION_MOVED);
	MAKE(thread, DEVICE_POOL, 0, .stamp = 3 * MS + 1, .pool = 5, .change = RVP_DEVICE_POOL_SEEN,
	     .reserved_bytes = 32 * MIB, .used_bytes = 10 * MIB);
	MAKE(thread, DEVICE_FREE, 0, .stamp = 4 * MS, .address = at, .kind = RVP_DEVICE_MEMORY_ORDERED);
	nvml(5 * MS, 378 * MIB, 0, RVP_DEVICE_OCCASION_END);
	MAKE(thread, DEVICE_POOL, 0, .stamp = 5 * MS + 1, .pool = 5, .change = RVP_DEVICE_POOL_SEEN);
	finish();
	ck_assert_int_eq(row("device.0.ledger.0", "allocator/pool"), 22 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "context"), 378 * MIB);
	ck_assert_int_eq(row("device.0.ledger.1", "allocator/pool"), -1);
	ck_assert_int_eq(number_at("device.0.ledger.1.unexplained_bytes"), 0);
	end();
}
END_TEST

START_TEST(meminfo_names_the_others)
{
	begin();
	alloc(2 * MS, at, 1000 * MIB);
	meminfo(3 * MS, 3300 * MIB, 2000 * MIB);
	alloc(4 * MS, at + (1ull << 32), 500 * MIB);
	meminfo(5 * MS, 4000 * MIB, 2100 * MIB);
	finish();
	ck_assert_str_eq(word_at("device.0.ledger.0.figure"), "cuMemGetInfo");
	ck_assert_int_eq(number_at("device.0.ledger.0.used_bytes"), 4000 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "context"), 300 * MIB);
	ck_assert_int_eq(row("device.0.ledger.0", "others"), 2100 * MIB);
	ck_assert_int_eq(number_at("device.0.ledger.0.unexplained_bytes"), 100 * MIB);
	end();
}
END_TEST

START_TEST(no_figure_no_sum)
{
	begin();
	alloc(2 * MS, at, 1000 * MIB);
	MAKE(thread, DEVICE_MEMORY, 0, .stamp = 3 * MS);
	finish();
	ck_assert_str_eq(word_at("device.0.ledger.0.figure"), "none");
	ck_assert_ptr_null(value_at("device.0.ledger.0.used_bytes"));
	ck_assert_ptr_null(value_at("device.0.ledger.0.unexplained_bytes"));
	ck_assert_int_eq(row("device.0.ledger.0", "unknown"), 1000 * MIB);
	end();
}
END_TEST

/* A thousand times the device is full, the cache is emptied, and as much is asked for again. */
START_TEST(routine_refusals_are_no_alarm)
{
	enum { TIMES = 1000 };

	begin();
	for (uint64_t i = 0; i < TIMES; i++) {
		uint64_t stamp = (i + 1) * 4 * MS;

		alloc(stamp, at, 20 * MIB);
		refuse(stamp + 1000, 40 * MIB);
		refuse(stamp + 2000, 40 * MIB);
		give_back(stamp + 3000, at);
		alloc(stamp + 4000, at + (1ull << 32), 40 * MIB);
		give_back(stamp + 5000, at + (1ull << 32));
	}
	finish();
	ck_assert_int_eq(number_at("device.0.refused.count"), 2 * TIMES);
	ck_assert_int_eq(number_at("device.0.refused.routine_count"), TIMES);
	ck_assert_int_eq(number_at("device.0.refused.survived_count"), 0);
	ck_assert_int_eq(number_at("device.0.refused.fatal_count"), 0);
	ck_assert_uint_eq(json_array_size(value_at("device.0.refused.snapshots")), 0);
	ck_assert_ptr_null(sentence("device_oom"));
	end();
}
END_TEST

static void until_it_is_full(void)
{
	begin();
	alloc(2 * MS, at, 60 * MIB);
	tensor(3 * MS, at, 10 * MIB, "weights");
	tensor(4 * MS, at + 15 * MIB, 30 * MIB, "kv_cache");
	alloc(5 * MS, at + (1ull << 32), 20 * MIB);
	refuse(6 * MS, 50 * MIB);
}

static void check_picture(void)
{
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.requested_bytes"), 50 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.free_bytes"), 100 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.largest_free_bytes"), 15 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.live_bytes"), 80 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.categories.weights"), 10 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.categories.kv_cache"), 30 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.categories.allocator"), 20 * MIB);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.categories.unknown"), 20 * MIB);
	ck_assert_uint_eq(json_array_size(value_at("device.0.refused.snapshots.0.last_events")), 4);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.last_events.3.bytes"), 20 * MIB);
}

START_TEST(a_process_that_ends_of_it)
{
	until_it_is_full();
	give_back(7 * MS, at + (1ull << 32));
	refuse(8 * MS, 50 * MIB);
	process->entry.exit_status = 1;
	MAKE(thread, EXIT, 0, .stamp = 9 * MS, .how = RVP_ENDING_EXIT, .status = 1);
	finish();
	ck_assert_int_eq(number_at("device.0.refused.fatal_count"), 1);
	ck_assert_int_eq(number_at("device.0.refused.snapshots.0.tries"), 2);
	ck_assert_str_eq(word_at("device.0.refused.snapshots.0.fate"), "fatal");
	check_picture();
	ck_assert_str_eq(
	    sentence("device_oom"),
	    "cuda:0 had no 50.0 MiB, and the program ended of it: 100.0 MiB were free, the caching "
	    "allocator's "
	    "largest free block 15.0 MiB; live: kv_cache 37.5 %, allocator 25.0 %, unknown 25.0 %");
	end();
}
END_TEST

/* It was told that there is no memory, and asked for less. */
START_TEST(a_process_that_goes_on)
{
	until_it_is_full();
	alloc(7 * MS, at + (1ull << 33), 25 * MIB);
	process->entry.exit_status = 1; /* of something else */
	MAKE(thread, EXIT, 0, .stamp = 9 * MS, .how = RVP_ENDING_EXIT, .status = 1);
	finish();
	ck_assert_int_eq(number_at("device.0.refused.survived_count"), 1);
	ck_assert_int_eq(number_at("device.0.refused.fatal_count"), 0);
	check_picture();
	ck_assert_ptr_nonnull(strstr(sentence("device_oom"), "and the program went on"));
	end();
}
END_TEST

/* As much was got a second later, or without anything being given back: that is no routine. */
START_TEST(late_luck_is_no_routine)
{
	until_it_is_full();
	give_back(7 * MS, at + (1ull << 32));
	alloc(1200 * MS, at + (1ull << 33), 50 * MIB);
	refuse(1300 * MS, 70 * MIB);
	alloc(1301 * MS, at + (1ull << 34), 70 * MIB);
	finish();
	ck_assert_int_eq(number_at("device.0.refused.routine_count"), 0);
	ck_assert_int_eq(number_at("device.0.refused.survived_count"), 2);
	ck_assert_ptr_nonnull(strstr(sentence("device_oom"), "70.0 MiB (the worst of 2)"));
	end();
}
END_TEST

START_TEST(growth_of_a_device_is_named)
{
	begin();
	for (uint64_t i = 0; i < 20; i++) {
		MAKE(thread, STEP, 0, .stamp = (i + 1) * 10 * MS, .kind = RVP_STEP_NEXT);
		alloc((i + 1) * 10 * MS + 1000, at + (i << 32), 3 * MIB + i); /* uneven: no cache */
		MAKE(thread, TAG, 32, .stamp = (i + 1) * 10 * MS + 1001, .address = at + (i << 32),
		     .category = {"activation", 10});
	}
	finish();
	ck_assert_ptr_nonnull(strstr(sentence("growth"), "memory of cuda:0 grows by 3.0"));
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_outputs");
	TCase *all = tcase_create("device_outputs");

	tcase_add_test(all, rows_of_both_in_order_of_time);
	tcase_add_test(all, categories_of_a_device);
	tcase_add_test(all, nothing_without_a_device);
	tcase_add_test(all, nvml_closes_the_ledger);
	tcase_add_test(all, the_first_sample_counts_however_close_the_next_alloc_is);
	tcase_add_test(all, contexts_come_and_go);
	tcase_add_test(all, words_of_two_processes_add_up);
	tcase_add_test(all, pools_belong_to_the_sample_before_them);
	tcase_add_test(all, meminfo_names_the_others);
	tcase_add_test(all, no_figure_no_sum);
	tcase_add_test(all, routine_refusals_are_no_alarm);
	tcase_add_test(all, a_process_that_ends_of_it);
	tcase_add_test(all, a_process_that_goes_on);
	tcase_add_test(all, late_luck_is_no_routine);
	tcase_add_test(all, growth_of_a_device_is_named);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
