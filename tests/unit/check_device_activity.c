/* SPDX-License-Identifier: MIT */
/* From CUPTI's buffers to records of the log: fields by version, times that can't be true, buffers that run out, numbers
 * of names that many threads ask for at once. */
#include "cupti/activity.h"
#include "cupti/buffers.h"
#include "cupti/device_time.h"
#include "cupti/interned.h"
#include "cupti/library.h"
#include "cupti/open_calls.h"
#include "tests/unit/device_double.h"
#include "tests/unit/run_suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *buffer;
static size_t length;

static void begin(uint32_t version)
{
	size_t bytes, most;

	double_begin(version);
	ck_assert(rvp_interned_start());
	rvp_device_time_tell();
	rvp_buffer_request(&buffer, &bytes, &most);
	ck_assert_ptr_nonnull(buffer);
	ck_assert_uint_eq(bytes, RVP_BUFFER_BYTES);
	length = 0;
}

#define PUT(...)                                                               \
	do {                                                                   \
		__auto_type record_ = (__VA_ARGS__);                           \
		length = double_put(buffer, length, &record_, sizeof record_); \
	} while (0)

static void hand_in(void)
{
	rvp_buffer_complete(NULL, 0, buffer, RVP_BUFFER_BYTES, length);
}

static const uint64_t now = 2000000000000;

static struct rvp_cupti_kernel kernel_at(uint64_t start, uint64_t end)
{
	return (struct rvp_cupti_kernel){.kind = RVP_CUPTI_CONCURRENT_KERNEL, .start = start, .end = end, .device = 1,
					 .context = 2, .stream = 7, .grid_x = 3, .grid_y = 4, .grid_z = 5, .block_x = 6,
					 .block_y = 8, .block_z = 9, .registers = 32, .static_shared = 10, .dynamic_shared = 11,
					 .local_total = 12, .local_total_wide = 1ull << 33, .correlation = 99, .name = "_Z3fooi",
					 .queued = start - 30, .submitted = start - 20, .graph = 5, .graph_node = 77};
}

START_TEST(a_kernel_in_each_version)
{
	static const uint32_t versions[] = {17, 18, 19, 28, 130001, 130300};

	for (unsigned i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		const struct rvp_record_KERNEL_SHAPE *shape;
		const struct rvp_record_KERNEL *kernel;

		begin(versions[i]);
		PUT(kernel_at(now, now + 500));
		PUT(kernel_at(now + 600, now + 700));
		hand_in();
		ck_assert_uint_eq(double_told_count(RVP_KERNEL), 2);
		kernel = &double_told(RVP_KERNEL, 0)->KERNEL;
		ck_assert_uint_eq(kernel->start_ns, now);
		ck_assert_uint_eq(kernel->duration_ns, 500);
		ck_assert_uint_eq(kernel->correlation, 99);
		ck_assert_uint_eq(kernel->stream, 7);
		ck_assert_uint_eq(kernel->graph, 5);
		ck_assert_uint_eq(kernel->node, 77);
		ck_assert_uint_eq(kernel->queued_ns, 30);
		ck_assert_uint_eq(kernel->submitted_ns, 20);
		ck_assert_uint_eq(kernel->flaw, 0);
		ck_assert_uint_eq(double_told_count(RVP_KERNEL_SHAPE), 1);
		shape = &double_told(RVP_KERNEL_SHAPE, 0)->KERNEL_SHAPE;
		ck_assert_uint_eq(kernel->shape, shape->shape);
		ck_assert_uint_eq(shape->grid_z, 5);
		ck_assert_uint_eq(shape->block_y, 8);
		ck_assert_uint_eq(shape->registers, 32);
		ck_assert_uint_eq(shape->dynamic_bytes, 11);
		/* The wide field came with 11.8. */
		ck_assert_uint_eq(shape->local_bytes, versions[i] >= 18 ? 1ull << 33 : 12);
		ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_UNREAD], 0);
	}
}
END_TEST

START_TEST(what_a_version_has_not_is_not_read)
{
	begin(19);
	PUT((struct rvp_cupti_sync){.kind = RVP_CUPTI_SYNCHRONIZATION, .type = 3, .start = now, .end = now + 1, .context = 2,
				    .stream = UINT32_MAX, .event = UINT32_MAX, .result = 5});
	PUT((struct rvp_cupti_overhead){.kind = RVP_CUPTI_OVERHEAD, .overhead_kind = RVP_CUPTI_OVERHEAD_FLUSH,
					.object_kind = RVP_CUPTI_OBJECT_THREAD, .thread = 1234, .start = now, .end = now + 2,
					.correlation = 6, .data = (void *)1});
	hand_in();
	ck_assert_uint_eq(double_told(RVP_DEVICE_SYNC, 0)->DEVICE_SYNC.result, 0);
	ck_assert_uint_eq(double_told(RVP_DEVICE_SYNC, 0)->DEVICE_SYNC.stream, 0);
	ck_assert_uint_eq(double_told(RVP_DEVICE_SYNC, 0)->DEVICE_SYNC.event, 0);
	ck_assert_uint_eq(double_told(RVP_DEVICE_OVERHEAD, 0)->DEVICE_OVERHEAD.correlation, 0);
	ck_assert_uint_eq(double_told(RVP_DEVICE_OVERHEAD, 0)->DEVICE_OVERHEAD.tid, 1234);
	begin(130001);
	PUT((struct rvp_cupti_sync){.kind = RVP_CUPTI_SYNCHRONIZATION, .type = 3, .start = now, .end = now + 1, .stream = 9,
				    .result = 5});
	/* What hangs on it is freed: a sanitizer's build sees it. */
	PUT((struct rvp_cupti_overhead){.kind = RVP_CUPTI_OVERHEAD, .start = now, .end = now + 2, .correlation = 6,
					.data = malloc(100)});
	hand_in();
	ck_assert_uint_eq(double_told(RVP_DEVICE_SYNC, 0)->DEVICE_SYNC.result, 5);
	ck_assert_uint_eq(double_told(RVP_DEVICE_SYNC, 0)->DEVICE_SYNC.stream, 9);
	ck_assert_uint_eq(double_told(RVP_DEVICE_OVERHEAD, 0)->DEVICE_OVERHEAD.correlation, 6);
}
END_TEST

START_TEST(copies_and_sets)
{
	begin(130001);
	PUT((struct rvp_cupti_copy){.kind = RVP_CUPTI_MEMCPY, .copy_kind = 1, .source_kind = 2, .target_kind = 3, .bytes = 4096,
				    .start = now, .end = now + 7, .device = 1, .context = 2, .stream = 8, .correlation = 3});
	PUT((struct rvp_cupti_copy_peer){.kind = RVP_CUPTI_MEMCPY_PEER, .copy_kind = 10, .bytes = 5, .start = now, .end = now + 7,
					 .source_device = 0, .target_device = 3, .graph = 4, .graph_node = 5});
	PUT((struct rvp_cupti_set){.kind = RVP_CUPTI_MEMSET, .value = 255, .bytes = 6, .start = now, .end = now + 7,
				   .memory_kind = 3});
	PUT((struct rvp_cupti_graph_run){.kind = RVP_CUPTI_GRAPH_TRACE, .correlation = 2, .start = now, .end = now + 9,
					 .device = INT32_MAX, .graph = 8, .end_device = 2});
	PUT((struct rvp_cupti_stream){.kind = RVP_CUPTI_STREAM, .context = 1, .stream = 13, .priority = (uint32_t)-5,
				      .flag = RVP_CUPTI_STREAM_NON_BLOCKING});
	hand_in();
	ck_assert_uint_eq(double_told(RVP_DEVICE_COPY, 0)->DEVICE_COPY.source_kind, 2);
	ck_assert_uint_eq(double_told(RVP_DEVICE_COPY, 0)->DEVICE_COPY.from_device, 0);
	ck_assert_uint_eq(double_told(RVP_DEVICE_COPY, 1)->DEVICE_COPY.from_device, 1);
	ck_assert_uint_eq(double_told(RVP_DEVICE_COPY, 1)->DEVICE_COPY.to_device, 4);
	ck_assert_uint_eq(double_told(RVP_DEVICE_COPY, 1)->DEVICE_COPY.node, 5);
	ck_assert_uint_eq(double_told(RVP_DEVICE_SET, 0)->DEVICE_SET.value, 255);
	ck_assert_uint_eq(double_told(RVP_GRAPH_RUN, 0)->GRAPH_RUN.device, 2);
	ck_assert_int_eq((int64_t)double_told(RVP_DEVICE_STREAM, 0)->DEVICE_STREAM.priority, -5);
}
END_TEST

START_TEST(times_that_cannot_be_true)
{
	static const struct {
		uint64_t start, end;
		enum rvp_device_flaw flaw;
	} rows[] = {
	    {now, now + 5, RVP_DEVICE_FLAW_NONE},
	    {0, 0, RVP_DEVICE_FLAW_ZERO_TIME},
	    {now, 0, RVP_DEVICE_FLAW_ZERO_TIME},
	    {now + 5, now, RVP_DEVICE_FLAW_BACKWARD},
	    {now - 2000000000, now, RVP_DEVICE_FLAW_OUT_OF_WINDOW},
	    {now, now + 999999999, RVP_DEVICE_FLAW_NONE},
	    {now, now + 2000000000, RVP_DEVICE_FLAW_OUT_OF_WINDOW},
	    {now + 1, now + 5, RVP_DEVICE_FLAW_NONE},
	};
	enum { ROWS = sizeof rows / sizeof rows[0] };

	begin(130001);
	for (int i = 0; i < ROWS; i++)
		PUT(kernel_at(rows[i].start, rows[i].end));
	hand_in();
	for (unsigned i = 0; i < ROWS; i++)
		ck_assert_uint_eq(double_told(RVP_KERNEL, i)->KERNEL.flaw, rows[i].flaw);
	ck_assert_uint_eq(double_told(RVP_KERNEL, 3)->KERNEL.duration_ns, 0);
	ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_FLAW], 5);
}
END_TEST

/* Each second's records are as new as the clock: none of them is ahead of it. */
START_TEST(the_clock_is_asked_again)
{
	begin(130001);
	for (int i = 0; i < 10; i++)
		PUT(kernel_at(now + (uint64_t)i * 900000000, now + (uint64_t)i * 900000000 + 5));
	hand_in();
	ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_FLAW], 8);
	double_clock_ns = now + 9000000000;
	begin(130001);
	double_clock_ns = now + 9000000000;
	for (int i = 0; i < 10; i++)
		PUT(kernel_at(now + (uint64_t)i * 900000000, now + (uint64_t)i * 900000000 + 5));
	hand_in();
	ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_FLAW], 0);
}
END_TEST

START_TEST(a_kind_that_nobody_knows_hides_the_rest)
{
	begin(130001);
	PUT(kernel_at(now, now + 5));
	memcpy(buffer + length, &(uint32_t){200}, 4);
	length += 8;
	length = double_put(buffer, length, &(struct rvp_cupti_set){.kind = RVP_CUPTI_MEMSET, .start = now, .end = now + 1},
			    sizeof(struct rvp_cupti_set));
	hand_in();
	ck_assert_uint_eq(double_told_count(RVP_KERNEL), 1);
	ck_assert_uint_eq(double_told_count(RVP_DEVICE_SET), 0);
	ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_UNREAD], 1);
}
END_TEST

START_TEST(a_buffer_is_handed_out_as_zeros)
{
	size_t bytes, most;

	begin(130001);
	for (int i = 0; i < 1000; i++)
		PUT(kernel_at(now, now + 5));
	ck_assert_uint_eq(rvp_buffers_unreturned(), 1);
	hand_in();
	ck_assert_uint_eq(rvp_buffers_unreturned(), 0);
	rvp_buffer_request(&buffer, &bytes, &most);
	for (size_t i = 0; i < length; i++)
		ck_assert_uint_eq(buffer[i], 0);
	rvp_buffer_complete(NULL, 0, buffer, RVP_BUFFER_BYTES, 0);
	ck_assert_uint_eq(double_told_count(RVP_KERNEL), 1000);
}
END_TEST

static void run_out_under(uint32_t version, uint8_t **last)
{
	static uint8_t *all[RVP_BUFFERS_MAX + 8];
	size_t bytes, most;
	unsigned count = 0;

	double_begin(version);
	do {
		rvp_buffer_request(&all[count], &bytes, &most);
		count++;
	} while (!double_losses[RVP_LOSS_DEVICE_BUFFER] && count < RVP_BUFFERS_MAX + 8);
	ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_BUFFER], 1);
	*last = all[count - 1];
	for (unsigned i = 0; i + 1 < count; i++)
		rvp_buffer_complete(NULL, 0, all[i], RVP_BUFFER_BYTES, 0);
}

START_TEST(buffers_run_out)
{
	uint8_t *last;

	run_out_under(130001, &last);
	ck_assert_ptr_null(last);
	/* An older library must not be told so; what it writes there is counted and not recorded. */
	run_out_under(26, &last);
	ck_assert_ptr_nonnull(last);
	buffer = last;
	length = 0;
	PUT(kernel_at(now, now + 5));
	PUT(kernel_at(now, now + 5));
	hand_in();
	ck_assert_uint_eq(double_losses[RVP_LOSS_DEVICE_BUFFER], 3);
	ck_assert_uint_eq(double_told_count(RVP_KERNEL), 0);
}
END_TEST

enum { NAMES = 3000, THREADS = 4 };

static void *ask(void *numbers)
{
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "kernel_%d", i);
		((uint64_t *)numbers)[i] = rvp_interned_name(name);
	}
	return NULL;
}

static const char *text_of(uint64_t number)
{
	for (uint64_t i = 0; i < double_count; i++)
		if (double_records[i].record.kind == RVP_DEVICE_NAME && double_records[i].record.DEVICE_NAME.number == number)
			return double_records[i].text;
	return "";
}

START_TEST(a_number_means_one_text_whoever_asks)
{
	static uint64_t numbers[THREADS][NAMES];
	pthread_t threads[THREADS];
	char name[32];

	double_begin(130001);
	ck_assert(rvp_interned_start());
	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, ask, numbers[t]);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < NAMES; i += 37) {
			snprintf(name, sizeof name, "kernel_%d", i);
			ck_assert_str_eq(text_of(numbers[t][i]), name);
		}
	/* What is met again is found. */
	ask(numbers[0]);
	ask(numbers[1]);
	ck_assert_int_eq(memcmp(numbers[0], numbers[1], sizeof numbers[0]), 0);
}
END_TEST

START_TEST(more_names_than_places_keep_their_meaning)
{
	static uint64_t numbers[40000];
	char name[32];

	double_begin(130001);
	ck_assert(rvp_interned_start());
	for (int i = 0; i < 40000; i++) {
		snprintf(name, sizeof name, "n%d", i);
		numbers[i] = rvp_interned_name(name);
	}
	for (int i = 0; i < 40000; i++) {
		snprintf(name, sizeof name, "n%d", i);
		ck_assert_str_eq(double_records[i].text, name);
		ck_assert_uint_eq(double_records[i].record.DEVICE_NAME.number, numbers[i]);
	}
	ck_assert_str_eq(text_of(rvp_interned_name(NULL)), "(unknown)");
}
END_TEST

START_TEST(a_call_is_open_once)
{
	static struct rvp_open_calls calls;

	ck_assert(rvp_open_begin(&calls, 5));
	ck_assert(!rvp_open_begin(&calls, 5));
	ck_assert(rvp_open_begin(&calls, 6));
	rvp_open_end(&calls, 5);
	ck_assert(rvp_open_begin(&calls, 5));
	ck_assert(rvp_open_begin(&calls, 0));
	ck_assert(rvp_open_begin(&calls, 0));
}
END_TEST

START_TEST(at_the_end_what_has_not_ended_is_unfinished)
{
	begin(130001);
	rvp_buffers_last(true);
	PUT(kernel_at(now, 0));
	hand_in();
	ck_assert_uint_eq(double_told(RVP_KERNEL, 0)->KERNEL.flaw, RVP_DEVICE_FLAW_UNFINISHED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_activity");
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, a_kernel_in_each_version);
	tcase_add_test(cases, what_a_version_has_not_is_not_read);
	tcase_add_test(cases, copies_and_sets);
	tcase_add_test(cases, times_that_cannot_be_true);
	tcase_add_test(cases, the_clock_is_asked_again);
	tcase_add_test(cases, a_kind_that_nobody_knows_hides_the_rest);
	tcase_add_test(cases, a_buffer_is_handed_out_as_zeros);
	tcase_add_test(cases, buffers_run_out);
	tcase_add_test(cases, a_number_means_one_text_whoever_asks);
	tcase_add_test(cases, more_names_than_places_keep_their_meaning);
	tcase_add_test(cases, a_call_is_open_once);
	tcase_add_test(cases, at_the_end_what_has_not_ended_is_unfinished);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
