/* SPDX-License-Identifier: MIT */
/* life_summary.c: holds a finished run's summary.json against what its programs counted themselves
 * (shadow.h).
 *
 * (S1) alloc_count, free_count, alloc_bytes: the programs' sums; of an image without a shadow (a shell) its
 *      counters. free_bytes and end_live_bytes where each image has a shadow: in full mode these sums, in
 *      sampled mode within four times the 95 % error that is told (of a normal distribution one in 10^14 lies
 *      outside, of blocks that no sample met one in 10^5).
 * (S2) `exact` names what the mode can have exact, no more and no less: in full mode all, unless a thread was
 *      killed inside an event (the programs' sums are then a range), a free was of a block that came from
 *      elsewhere, or something was lost.
 * (S3) lost.records and lost.reasons are those of the raw files; none in an `exact` case, some in a `lossy`.
 * (S4) complete, nothing alive, and as many processes as the table has.
 *
 * What summary.json gives no bound for (records are missing, or the log was folded) is not judged; in an
 * `exact` case all has one. Where a child was made behind the hooks (_Fork, clone), the reader knows when it
 * called us first and not when it was made: which blocks it inherited may be unknown, so (S2) and
 * unknown_free are not judged.
 *
 * Usage: life_summary exact|counted|lossy SHADOW RUN_FOLDER
 */
#include "tests/life/shadow_read.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bounds {
	uint64_t least, most;
};

struct expected {
	struct bounds allocs, frees, alloc_bytes, free_bytes, end_live_bytes;
	struct bounds unknown_frees;
	bool knows_bytes; /* each image that did something has a shadow record */
	bool is_full;
	bool has_untold_forks;
	uint64_t lost;
};

static const char *expectation;
static unsigned failures;

static void fail(const char *what, const char *wanted, const char *said)
{
	failures++;
	printf("not ok: summary.json: %s: %s wanted, it says %s\n", what, wanted, said);
}

static void check(const char *what, struct bounds wanted, uint64_t said)
{
	char range[64], number[32];

	if (said >= wanted.least && said <= wanted.most)
		return;
	snprintf(range, sizeof range, "%" PRIu64 " to %" PRIu64, wanted.least, wanted.most);
	snprintf(number, sizeof number, "%" PRIu64, said);
	fail(what, range, number);
}

static void check_equal(const char *what, uint64_t wanted, uint64_t said)
{
	check(what, (struct bounds){wanted, wanted}, said);
}

/* ---- what is to be expected ---- */

static void add(struct bounds *sum, uint64_t least, uint64_t most)
{
	sum->least += least;
	sum->most += most;
}

static void add_record(struct expected *expected, const struct shadow_record *record)
{
	const struct shadow_counts *done = &record->done, *begun = &record->begun;

	add(&expected->allocs, done->allocs, begun->allocs);
	add(&expected->frees, done->frees, begun->frees);
	add(&expected->alloc_bytes, done->alloc_bytes, begun->alloc_bytes);
	add(&expected->free_bytes, done->free_bytes, begun->free_bytes);
	add(&expected->unknown_frees, done->unknown_frees, begun->unknown_frees);
	add(&expected->end_live_bytes, done->alloc_bytes - begun->own_free_bytes,
	    begun->alloc_bytes - done->own_free_bytes);
}

static void add_counters(struct expected *expected, const struct rvp_counters *counters)
{
	add(&expected->allocs, counters->alloc_count, counters->alloc_count);
	add(&expected->frees, counters->free_count, counters->free_count);
	add(&expected->alloc_bytes, counters->alloc_bytes, counters->alloc_bytes);
	expected->knows_bytes &= !counters->alloc_count && !counters->free_count;
}

static void add_losses(struct expected *expected, const struct ledger *ledger)
{
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		expected->lost += rvp_loss_is_whole[i] ? ledger->loss[i] : 0;
	for (size_t i = 0; i < ledger->count; i++)
		expected->lost += ledger->processes[i].lost_records;
}

/* More children by fork than FORK records. */
static bool has_untold_forks(const struct ledger *ledger)
{
	uint64_t told = 0, children = 0;

	for (size_t i = 0; i < ledger->count; i++) {
		told += ledger->processes[i].events.forks;
		children += ledger->processes[i].is_fork;
	}
	return children > told;
}

static struct expected expect(const struct ledger *ledger, const struct shadow_file *shadow)
{
	struct expected expected = {.knows_bytes = true, .is_full = ledger->mode == RVP_MODE_FULL};
	bool *taken = calloc(ledger->count + 1, sizeof *taken);

	if (!taken)
		abort();
	for (uint32_t i = 0; i < shadow_count(shadow); i++)
		if (shadow_process(ledger, &shadow->records[i], taken))
			add_record(&expected, &shadow->records[i]);
	for (size_t i = 0; i < ledger->count; i++)
		if (!taken[i])
			add_counters(&expected, &ledger->processes[i].counters);
	expected.has_untold_forks = has_untold_forks(ledger);
	add_losses(&expected, ledger);
	free(taken);
	return expected;
}

/* ---- what is said ---- */

static json_t *value_at(json_t *root, const char *path)
{
	char words[128];
	char *rest = words;

	snprintf(words, sizeof words, "%s", path);
	for (char *word; root && (word = strsep(&rest, "."));)
		root = json_object_get(root, word);
	return root;
}

static uint64_t number_at(json_t *root, const char *path)
{
	json_t *value = value_at(root, path);

	if (!json_is_integer(value))
		fail(path, "a number", "none");
	return (uint64_t)json_integer_value(value);
}

static bool is_exact(json_t *root, const char *key)
{
	json_t *item, *list = value_at(root, "totals.exact");
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (!strcmp(json_string_value(item), key))
			return true;
	}
	return false;
}

/* ---- the two held against each other ---- */

static bool has_bound(json_t *root, const char *key)
{
	return is_exact(root, key) || json_object_get(value_at(root, "totals.error_bytes"), key);
}

static void check_estimate(json_t *root, const char *key, struct bounds truth)
{
	char path[64], error_path[64];

	snprintf(path, sizeof path, "totals.%s", key);
	snprintf(error_path, sizeof error_path, "totals.error_bytes.%s", key);
	if (!is_exact(root, key)) {
		uint64_t room = 4 * number_at(root, error_path);

		truth.least = truth.least > room ? truth.least - room : 0;
		truth.most += room;
	}
	check(path, truth, number_at(root, path));
}

static bool is_folded(json_t *root)
{
	const char *log = json_string_value(value_at(root, "run.log"));

	return log && !strcmp(log, "folded");
}

/* Seen now and then on a busy machine where a program exits beside busy threads: which of its reasons it has. */
static void fail_without_bound(json_t *root)
{
	char said[128];
	size_t exact = json_array_size(value_at(root, "totals.exact"));

	snprintf(said, sizeof said, "none, with %llu lost records and %zu exact keys",
		 (unsigned long long)number_at(root, "lost.records"), exact);
	fail("totals.error_bytes", "a bound", said);
}

static void check_totals(json_t *root, const struct expected *expected)
{
	check("totals.alloc_count", expected->allocs, number_at(root, "totals.alloc_count"));
	check("totals.free_count", expected->frees, number_at(root, "totals.free_count"));
	check("totals.alloc_bytes", expected->alloc_bytes, number_at(root, "totals.alloc_bytes"));
	if (!has_bound(root, "free_bytes") || !has_bound(root, "end_live_bytes")) {
		if (!expected->is_full && !strcmp(expectation, "exact") && !is_folded(root))
			fail_without_bound(root);
	} else if (expected->knows_bytes) {
		check_estimate(root, "free_bytes", expected->free_bytes);
		check_estimate(root, "end_live_bytes", expected->end_live_bytes);
	}
}

static void check_exact(json_t *root, const struct expected *expected)
{
	static const char *const counted[] = {
	    "alloc_count", "free_count", "alloc_bytes", "alloc_usable_bytes", "free_usable_bytes",
	    "map_count",   "map_bytes",  "unmap_count", "unmap_bytes",        "early_count"};
	static const char *const replayed[] = {"free_bytes", "peak_live_bytes", "end_live_bytes"};
	bool is_quiet = !expected->has_untold_forks && expected->frees.least == expected->frees.most &&
			expected->allocs.least == expected->allocs.most &&
			expected->alloc_bytes.least == expected->alloc_bytes.most;
	bool wanted = expected->is_full && !expected->lost && !expected->unknown_frees.most;

	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
		if (!is_exact(root, counted[i]))
			fail(counted[i], "exact", "not exact");
	for (size_t i = 0; i < sizeof replayed / sizeof *replayed; i++)
		if (is_exact(root, replayed[i]) != wanted && (!wanted || is_quiet))
			fail(replayed[i], wanted ? "exact" : "not exact", wanted ? "not exact" : "exact");
}

static uint64_t count_of(json_t *root, enum rvp_loss reason)
{
	json_t *count = json_object_get(value_at(root, "lost.reasons"), rvp_loss_names[reason]);

	return (uint64_t)json_integer_value(count);
}

static uint64_t whole_reasons(json_t *root)
{
	json_t *count, *reasons = value_at(root, "lost.reasons");
	uint64_t sum = 0;
	const char *name;

	json_object_foreach(reasons, name, count)
	{
		int reason = 0;

		while (reason < RVP_LOSS_COUNT && strcmp(rvp_loss_names[reason], name) != 0)
			reason++;
		if (reason == RVP_LOSS_COUNT)
			fail(name, "a known reason", "another");
		else if (rvp_loss_is_whole[reason])
			sum += (uint64_t)json_integer_value(count);
	}
	return sum;
}

static void check_losses(json_t *root, const struct expected *expected)
{
	uint64_t said = number_at(root, "lost.records");

	check("lost.records", (struct bounds){expected->lost, UINT64_MAX}, said);
	check("the sum of lost.reasons", (struct bounds){expected->lost, said}, whole_reasons(root));
	if (!strcmp(expectation, "exact"))
		check_equal("lost.records", 0, said);
	if (!strcmp(expectation, "exact") && expected->is_full && expected->knows_bytes &&
	    !expected->has_untold_forks)
		check("lost.reasons.unknown_free", expected->unknown_frees,
		      count_of(root, RVP_LOSS_UNKNOWN_FREE));
	if (!strcmp(expectation, "lossy"))
		check("lost.records", (struct bounds){1, UINT64_MAX}, said);
}

static void check_all(json_t *root, const struct ledger *ledger, const struct expected *expected)
{
	check_totals(root, expected);
	check_exact(root, expected);
	check_losses(root, expected);
	if (!json_is_true(value_at(root, "run.complete")))
		fail("run.complete", "true", "false");
	check_equal("run.processes_alive", 0, number_at(root, "run.processes_alive"));
	check_equal("run.processes", ledger->count, number_at(root, "run.processes"));
	check_equal("run.unfollowed", ledger->unfollowed, number_at(root, "run.unfollowed"));
}

static json_t *load(const char *folder)
{
	char path[4096];
	json_error_t error;
	json_t *root;

	snprintf(path, sizeof path, "%s/summary.json", folder);
	root = json_load_file(path, 0, &error);
	if (!root) {
		printf("not ok: %s: %s\n", path, error.text);
		exit(1);
	}
	return root;
}

int main(int count, char **words)
{
	struct expected expected;
	struct rvp_status status;
	struct ledger ledger;
	char line[512];
	json_t *root;

	if (count != 4) {
		fprintf(stderr, "usage: life_summary exact|counted|lossy SHADOW RUN_FOLDER\n");
		return 2;
	}
	expectation = words[1];
	status = ledger_read(&ledger, words[3]);
	if (rvp_failed(status)) {
		printf("not ok: %s\n", rvp_status_line(&status, line, sizeof line));
		return 1;
	}
	root = load(words[3]);
	expected = expect(&ledger, shadow_open(words[2]));
	check_all(root, &ledger, &expected);
	printf("%s: processes %zu%s\n", failures ? "not ok" : "ok", ledger.count,
	       expected.knows_bytes ? ", bytes known" : "");
	json_decref(root);
	ledger_free(&ledger);
	return failures ? 1 : 0;
}
