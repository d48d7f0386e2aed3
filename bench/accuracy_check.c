/* SPDX-License-Identifier: MIT */
/* accuracy_check.c: holds what rvprof says of a program against what the program says of itself.
 *
 * Usage: accuracy_check BARS KIND PROGRAM TRUTH SUMMARY
 *   BARS     accuracy_bars.txt; KIND chooses its lines
 *   TRUTH    the program's own words: lines `truth at=peak weights=N kv_cache=N ..`, `truth at=end ..`,
 *            `truth at=max ..`, `truth steps=N`, `truth slack kv_cache=N` (its print is only that exact)
 *   SUMMARY  summary.json of the same run
 * Prints rows of Markdown: program, category, truth, ours, error, bar, met, evidence. Status: 0 every bar is
 * met, 1 one is missed, 2 wrong input.
 *
 * Rules
 *   1. A bar without a truth or without a figure of ours is missed; nothing is met by being absent, but for
 *      the rules `absent` and `within`, which say so.
 *   2. weights/copy stands outside: it is taken from weights and from the tracked bytes.
 *   3. A wrong name is what a group of categories has above its truth. Groups are matched by their sums, so
 *      two errors of the same size that undo each other would not be seen; programs avoid equal sums.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRUTHS = 128, NAME_BYTES = 64 };

struct truth {
	char at[NAME_BYTES], name[NAME_BYTES];
	double bytes;
};
static struct truth truths[MAX_TRUTHS];
static int truth_count;

static const char *program;
static json_t *summary, *categories;
static bool any_missed;

/* Bytes of these are resident, not live, and not counted as tracked. */
static const char *const untracked[] = {"file", "stack", "code", "context"};
/* What is compared as one. Programs do not tell the rest apart, which is any other purpose than these. */
static const char *const groups[][2] = {
    {"weights", NULL}, {"kv_cache", NULL}, {"activation", "temp"}, {"gradient", NULL}, {"optimizer", NULL}};
enum { GROUPS = sizeof groups / sizeof groups[0], OTHER = GROUPS, UNKNOWN, COLUMNS };
static const char *const column_names[COLUMNS] = {"weights",   "kv_cache", "activation+temp", "gradient",
						  "optimizer", "other",    "unknown"};

static void die(const char *what, const char *which)
{
	fprintf(stderr, "accuracy_check: %s: %s\n", what, which);
	exit(2);
}

/* ---- what the program says ---- */

static void keep_truth(const char *at, const char *word)
{
	const char *equals = strchr(word, '=');
	struct truth *truth = &truths[truth_count];
	char *end;

	if (!equals || truth_count == MAX_TRUTHS || equals - word >= NAME_BYTES)
		die("not a truth", word);
	snprintf(truth->at, sizeof truth->at, "%s", at);
	snprintf(truth->name, sizeof truth->name, "%.*s", (int)(equals - word), word);
	truth->bytes = strtod(equals + 1, &end);
	if (end == equals + 1 || *end || !isfinite(truth->bytes))
		die("not a truth", word);
	truth_count++;
}

static void read_truths(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];

	if (!file)
		die("cannot read", path);
	while (fgets(line, sizeof line, file)) {
		char at[NAME_BYTES] = "", *word = strtok(line, " \n");

		if (!word || strcmp(word, "truth") != 0)
			continue;
		while ((word = strtok(NULL, " \n")))
			if (strncmp(word, "at=", 3) == 0)
				snprintf(at, sizeof at, "%s", word + 3);
			else if (strcmp(word, "slack") == 0)
				snprintf(at, sizeof at, "slack");
			else
				keep_truth(at, word);
	}
	fclose(file);
}

static bool truth_of(const char *at, const char *name, double *bytes)
{
	for (int i = 0; i < truth_count; i++)
		if (strcmp(truths[i].at, at) == 0 && strcmp(truths[i].name, name) == 0) {
			*bytes = truths[i].bytes;
			return true;
		}
	return false;
}

/* A sum "a+b" is known when one of its parts is. */
static bool truth_sum(const char *at, const char *quantity, double *bytes)
{
	char words[NAME_BYTES * 2], *rest = NULL;
	bool known = false;

	*bytes = 0;
	snprintf(words, sizeof words, "%s", quantity);
	for (char *word = strtok_r(words, "+", &rest); word; word = strtok_r(NULL, "+", &rest)) {
		double part;

		if (!truth_of(at, word, &part))
			continue;
		*bytes += part;
		known = true;
	}
	return known;
}

/* ---- what we say ---- */

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static json_t *category_of(const char *name)
{
	char category[NAME_BYTES];
	const char *slash = strchr(name, '/');
	json_t *object;

	if (!slash)
		return json_object_get(categories, name);
	snprintf(category, sizeof category, "%.*s", (int)(slash - name), name);
	object = json_object_get(json_object_get(categories, category), "sub");
	category[0] = '\0';
	return json_object_get(object, slash + 1) ? json_object_get(object, slash + 1)
						  : json_object_get(object, name);
}

/* A sub-kind is a bare number where only its bytes at the peak are said. */
static double said(const char *name, const char *key)
{
	const json_t *object = category_of(name);

	if (json_is_number(object))
		return strcmp(key, "error_bytes") ? json_number_value(object) : 0;
	return number(object, key);
}

static double ours_of(const char *name, const char *key)
{
	double copy =
	    strcmp(name, "weights") == 0 && strcmp(key, "error_bytes") ? said("weights/copy", key) : 0;

	return said(name, key) - copy;
}

static double ours_sum(const char *quantity, const char *key)
{
	char words[NAME_BYTES * 2], *rest = NULL;
	double sum = 0;

	snprintf(words, sizeof words, "%s", quantity);
	for (char *word = strtok_r(words, "+", &rest); word; word = strtok_r(NULL, "+", &rest))
		sum += ours_of(word, key);
	return sum;
}

static bool is_tracked(const char *name)
{
	for (size_t i = 0; i < sizeof untracked / sizeof untracked[0]; i++)
		if (strcmp(name, untracked[i]) == 0)
			return false;
	return true;
}

static double tracked_at_peak(void)
{
	const char *name;
	json_t *object;
	double sum = 0;

	json_object_foreach(categories, name, object) if (is_tracked(name)) sum +=
	    ours_of(name, "at_peak_bytes");
	return sum;
}

/* The kinds of evidence of a category (of a sum: of all its parts), each with its share. */
static void print_evidence(const char *quantity)
{
	char words[NAME_BYTES * 2], *rest = NULL;
	json_t *sums = json_object(), *bytes;
	const char *name;
	double all = 0;
	int printed = 0;

	snprintf(words, sizeof words, "%s", quantity);
	for (char *word = strtok_r(words, "+", &rest); word; word = strtok_r(NULL, "+", &rest)) {
		word[strcspn(word, "/")] = '\0';
		json_object_foreach(json_object_get(json_object_get(categories, word), "evidence"), name,
				    bytes)
		{
			all += json_number_value(bytes);
			json_object_set_new(sums, name,
					    json_real(number(sums, name) + json_number_value(bytes)));
		}
	}
	json_object_foreach(sums, name, bytes) if (json_number_value(bytes) > 0)
	    printf("%s%s %.0f %%", printed++ ? ", " : "", name, 100 * json_number_value(bytes) / all);
	if (!printed)
		printf("-");
	json_decref(sums);
}

/* ---- rows ---- */

static void print_bytes(double bytes)
{
	char digits[64];
	int length = snprintf(digits, sizeof digits, "%.0f", fabs(bytes));

	printf(bytes < 0 ? "-" : "");
	for (int i = 0; i < length; i++)
		printf("%s%c", i && (length - i) % 3 == 0 ? "," : "", digits[i]);
}

static const char *verdict(bool is_met)
{
	any_missed |= !is_met;
	return is_met ? "met" : "**missed**";
}

static void row(const char *quantity, const char *at, double truth, double ours, const char *bar, bool is_met)
{
	printf("| %s | %s%s%s | ", program, quantity, at[0] ? ", " : "", at);
	print_bytes(truth);
	printf(" | ");
	print_bytes(ours);
	if (truth > 0)
		printf(" | %+.2f %%", 100 * (ours - truth) / truth);
	else
		printf(" | %s", ours > 0 ? "all of it" : "0");
	printf(" | %s | %s | ", bar, verdict(is_met));
	print_evidence(quantity);
	printf(" |\n");
}

/* A row whose figures are words. */
static void row_of_words(const char *quantity, const char *truth, const char *ours, const char *bar,
			 bool is_met)
{
	printf("| %s | %s | %s | %s | | %s | %s | |\n", program, quantity, truth, ours, bar, verdict(is_met));
}

struct bar {
	char kind[NAME_BYTES], quantity[NAME_BYTES], rule[NAME_BYTES];
	double percent;
};

static bool is_near(const struct bar *bar, double truth, double ours, double error, double slack)
{
	double room = bar->percent / 100 * truth;

	return fabs(ours - truth) <= room + error + slack && error <= 2 * room;
}

static bool is_met_by(const struct bar *bar, double truth, double ours)
{
	double slack = 0, error = ours_sum(bar->quantity, "error_bytes");

	truth_of("slack", bar->quantity, &slack);
	if (strcmp(bar->rule, "near") == 0)
		return is_near(bar, truth, ours, error, slack);
	if (strcmp(bar->rule, "found") == 0)
		return ours >= truth * (1 - bar->percent / 100) - slack;
	return ours <= truth * (1 + bar->percent / 100) + error + slack;
}

/* At the peak, at the end, and the category's own highest, where the program knows them. All are checked; the
 * later ones have a row only where they say something else. */
static void check_bytes(const struct bar *bar)
{
	static const char *const ats[] = {"peak", "end", "max"};
	static const char *const keys[] = {"at_peak_bytes", "at_end_bytes", "max_bytes"};
	double first_truth = -1;
	bool first_met = false;
	char text[128];

	snprintf(text, sizeof text, "%s %g %%", bar->rule, bar->percent);
	for (int i = 0; i < 3; i++) {
		double truth, ours = ours_sum(bar->quantity, keys[i]);
		bool is_met;

		/* A sum of maxima is no maximum; results of a step have their bar at the peak. */
		if (!truth_sum(ats[i], bar->quantity, &truth) || (i && !strncmp(bar->quantity, "act", 3)))
			continue;
		is_met = is_met_by(bar, truth, ours);
		if (truth != first_truth || is_met != first_met)
			row(bar->quantity, ats[i], truth, ours, text, is_met);
		first_truth = truth;
		first_met = is_met;
	}
	if (first_truth < 0)
		row_of_words(bar->quantity, "not said", "-", bar->rule, false);
}

static void check_absent(const struct bar *bar)
{
	double most = ours_sum(bar->quantity, "max_bytes");

	row(bar->quantity, "max", 0, most, "absent", json_is_object(categories) && most == 0);
}

/* Bytes at the peak by group, ours and the program's, whose "other" is all that it does not speak of. */
static void fill_columns(double *truth, double *ours, double *error)
{
	double tracked = tracked_at_peak(), named = 0, told = 0;

	for (int i = 0; i < GROUPS; i++) {
		truth[i] = ours[i] = error[i] = 0;
		for (int j = 0; j < 2 && groups[i][j]; j++) {
			double bytes;

			truth[i] += truth_of("peak", groups[i][j], &bytes) ? bytes : 0;
			/* Where the program does not speak of temporaries they may well be such. */
			if (j && !truth_of("peak", groups[i][j], &bytes))
				continue;
			ours[i] += ours_of(groups[i][j], "at_peak_bytes");
			error[i] += ours_of(groups[i][j], "error_bytes");
		}
		/* ggml's buffers are said by their sub-kinds alone. */
		for (int j = 0; j < truth_count; j++)
			if (strcmp(truths[j].at, "peak") == 0 && strchr(truths[j].name, '/') &&
			    strncmp(truths[j].name, groups[i][0], strlen(groups[i][0])) == 0)
				truth[i] += truths[j].bytes;
		named += ours[i];
		told += truth[i];
	}
	truth[OTHER] = fmax(0, tracked - told);
	ours[UNKNOWN] = ours_of("unknown", "at_peak_bytes");
	ours[OTHER] = tracked - named - ours[UNKNOWN];
	error[OTHER] = error[UNKNOWN] = truth[UNKNOWN] = 0;
}

static double wrong_bytes(const double *truth, const double *ours, const double *error)
{
	double wrong = 0;

	for (int i = 0; i <= OTHER; i++)
		wrong += fmax(0, ours[i] - truth[i] - error[i]);
	return wrong;
}

static void check_wrong(const struct bar *bar)
{
	double truth[COLUMNS], ours[COLUMNS], error[COLUMNS], tracked = tracked_at_peak(), wrong;
	char text[64], said_text[64], of[64];

	fill_columns(truth, ours, error);
	wrong = wrong_bytes(truth, ours, error);
	snprintf(text, sizeof text, "<= %g %%", bar->percent);
	snprintf(of, sizeof of, "of %.0f", tracked);
	snprintf(said_text, sizeof said_text, "%.0f (%.2f %%)", wrong,
		 tracked > 0 ? 100 * wrong / tracked : 0);
	row_of_words("under a wrong name, peak", of, said_text, text,
		     tracked > 0 && wrong <= bar->percent / 100 * tracked);
}

static void check_unknown(const struct bar *bar)
{
	double tracked = tracked_at_peak(), unknown = ours_of("unknown", "at_peak_bytes");
	char text[64], said_text[64], of[64];

	snprintf(text, sizeof text, "<= %g %%", bar->percent);
	snprintf(of, sizeof of, "of %.0f", tracked);
	snprintf(said_text, sizeof said_text, "%.0f (%.2f %%)", unknown,
		 tracked > 0 ? 100 * unknown / tracked : 0);
	row_of_words("unknown, peak", of, said_text, text,
		     tracked > 0 && unknown <= bar->percent / 100 * tracked);
}

/* `exact`: every one, none invented. `steps`: within percent, or none. */
static void check_steps(const struct bar *bar)
{
	const json_t *steps = json_object_get(summary, "steps");
	const char *source = json_string_value(json_object_get(steps, "source"));
	double count = number(steps, "count"), truth = 0;
	char truth_text[64], ours_text[128], bar_text[64];
	bool known = truth_of("", "steps", &truth), is_none = source && strcmp(source, "none") == 0, is_met;

	if (strcmp(bar->rule, "exact") == 0)
		is_met = known && source && count == truth;
	else
		is_met = known && source &&
			 (is_none ? count == 0 : fabs(count - truth) <= bar->percent / 100 * truth);
	snprintf(truth_text, sizeof truth_text, known ? "%.0f" : "not said", truth);
	snprintf(ours_text, sizeof ours_text, "%.0f, %s", count, source ? source : "not said");
	snprintf(bar_text, sizeof bar_text, bar->rule[0] == 'e' ? "exact" : "%g %% or none", bar->percent);
	row_of_words("steps", truth_text, ours_text, bar_text, is_met);
}

static void check_ledger_at(const struct bar *bar, const char *at)
{
	json_t *ledger = json_object_get(json_object_get(summary, "host"), "ledger"), *entry;
	char name[64], rss[64], ours[64], text[64];
	size_t i;

	snprintf(name, sizeof name, "ledger unexplained, %s", at);
	snprintf(text, sizeof text, "%g %% + 1 MiB", bar->percent);
	json_array_foreach(ledger, i, entry)
	{
		const char *where = json_string_value(json_object_get(entry, "at"));
		double left = number(entry, "unexplained_bytes"), all = number(entry, "rss_bytes");

		if (!where || strcmp(where, at) != 0 || !json_object_get(entry, "unexplained_bytes"))
			continue;
		snprintf(rss, sizeof rss, "of RSS %.0f", all);
		snprintf(ours, sizeof ours, "%.0f (%.2f %%)", left, all > 0 ? 100 * left / all : 0);
		row_of_words(name, rss, ours, text,
			     all > 0 && fabs(left) <= bar->percent / 100 * all + (1 << 20));
		return;
	}
	row_of_words(name, "-", "not said", text, false);
}

static void check_ledger(const struct bar *bar)
{
	check_ledger_at(bar, "peak");
	check_ledger_at(bar, "end");
}

static const struct {
	const char *rule;
	void (*check)(const struct bar *bar);
} rules[] = {{"near", check_bytes},  {"found", check_bytes},     {"within", check_bytes},
	     {"wrong", check_wrong}, {"unknown", check_unknown}, {"absent", check_absent},
	     {"exact", check_steps}, {"steps", check_steps},     {"ledger", check_ledger}};

static void check(const struct bar *bar)
{
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (strcmp(rules[i].rule, bar->rule) == 0) {
			rules[i].check(bar);
			return;
		}
	die("no such rule", bar->rule);
}

static void check_bars(const char *path, const char *kind)
{
	FILE *file = fopen(path, "r");
	char line[256];
	int count = 0;

	if (!file)
		die("cannot read", path);
	while (fgets(line, sizeof line, file)) {
		struct bar bar;

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%63s %63s %63s %lf", bar.kind, bar.quantity, bar.rule, &bar.percent) != 4)
			die("not a bar", line);
		if (strcmp(bar.kind, kind) != 0)
			continue;
		check(&bar);
		count++;
	}
	fclose(file);
	if (!count)
		die("no bar for the kind", kind);
}

/* ---- the confusion matrix ----
 * A line of a program: `confusion TRUTH OURS BYTES`, to be summed over programs. What a group has in common
 * with its truth is right; what is missing there went to unknown, as far as there is any that belongs to
 * nobody, and else to the groups that have too much. */
static void give(double *from, double *to, int truth_column, int ours_column)
{
	double bytes = fmin(*from, *to);

	if (bytes <= 0)
		return;
	*from -= bytes;
	*to -= bytes;
	fprintf(stderr, "confusion %s %s %.0f\n", column_names[truth_column], column_names[ours_column],
		bytes);
}

static void print_confusion(void)
{
	double truth[COLUMNS], ours[COLUMNS], error[COLUMNS];

	fill_columns(truth, ours, error);
	for (int i = 0; i <= OTHER; i++)
		give(&truth[i], &ours[i], i, i);
	for (int i = 0; i <= OTHER; i++)
		give(&truth[i], &ours[UNKNOWN], i, UNKNOWN);
	for (int i = 0; i <= OTHER; i++)
		for (int j = 0; j <= OTHER; j++)
			give(&truth[i], &ours[j], i, j);
}

/* Figures of a log with holes prove nothing. */
static void check_whole(void)
{
	double lost = number(json_object_get(summary, "lost"), "records");
	char text[64];

	snprintf(text, sizeof text, "%.0f", lost);
	if (lost > 0)
		row_of_words("records lost", "0", text, "none", false);
}

int main(int argc, char **argv)
{
	json_error_t error;

	if (argc != 6)
		die("usage", "accuracy_check BARS KIND PROGRAM TRUTH SUMMARY");
	program = argv[3];
	read_truths(argv[4]);
	summary = json_load_file(argv[5], 0, &error);
	categories = json_object_get(json_object_get(summary, "host"), "categories");
	if (!json_is_object(categories))
		die("no categories in", argv[5]);
	check_whole();
	check_bars(argv[1], argv[2]);
	print_confusion();
	json_decref(summary);
	return any_missed;
}
