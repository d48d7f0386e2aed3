/* SPDX-License-Identifier: MIT */
/* overhead_table.c: the table of bench/overhead as Markdown, with a verdict for each bar.
 *
 *     overhead_table ROWS SAMPLES BARS
 *
 * ROWS     a line a row: SECTION TAB ROW TAB TITLE TAB STYLE TAB UNIT; STYLE is factor, added or value: what
 * stands beside the figure of each variant, over that of `none` SAMPLES  a line a run: ROW VARIANT ROUND
 * VALUE PROCESSOR_TIME; what has no processor time says 0 BARS     see overhead_bars.txt
 *
 * Status 0: no bar is missed; 1: one is; 2: bad input.
 */
#include "report/pairs.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 200, BARS_MAX = 200, VARIANTS_MAX = 16, ROUNDS_MAX = 512, WORD = 64, LINE = 512 };

struct cell {
	double value[ROUNDS_MAX], cpu[ROUNDS_MAX]; /* by round; NAN: did not run */
};

struct row {
	char section[LINE], name[WORD], title[LINE], style[WORD], unit[WORD];
	struct cell *cells[VARIANTS_MAX];
};

struct bar {
	char row[WORD], variant[WORD], kind[WORD], base[WORD];
	double number;
	bool is_aim;
};

/* What a bar's row says of it. */
struct judged {
	double figure, factor;
	enum rvp_bar_verdict verdict;
};

static struct row rows[ROWS_MAX];
static int row_count;
static struct bar bars[BARS_MAX];
static int bar_count;
static int verdict_counts[3], aim_counts[3];
static char not_resolved[64 * 1024], missed[64 * 1024];

/* In the order of the columns. */
static struct {
	const char *name, *title;
} variants[] = {
    {"none", "no profiler"},
    {"again", "the same again (A/A)"},
    {"pass", "pass-through"},
    {"adapter", "with the adapter"},
    {"default", "default"},
    {"full", "full"},
    {"default-nopy", "default, --python=off"},
    {"full-nopy", "full, --python=off"},
    {"outputs", "default, with outputs"},
    {"heaptrack", "heaptrack"},
    {"heaptrack-raw", "heaptrack --raw"},
    {"jemalloc", "jemalloc"},
    {"jemalloc-prof", "jemalloc, prof:true"},
};
enum { VARIANT_COUNT = sizeof variants / sizeof *variants };

static int variant_of(const char *name)
{
	for (int i = 0; i < VARIANT_COUNT; i++)
		if (!strcmp(variants[i].name, name))
			return i;
	return -1;
}

static struct row *row_of(const char *name)
{
	for (int i = 0; i < row_count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static _Noreturn void die(const char *file, const char *line)
{
	fprintf(stderr, "overhead_table: %s: %s\n", file, line);
	exit(2);
}

static void read_row(const char *file, char *line)
{
	struct row *row = &rows[row_count];

	if (row_count == ROWS_MAX || sscanf(line, "%511[^\t]\t%63[^\t]\t%511[^\t]\t%63[^\t]\t%63[^\t\n]",
					    row->section, row->name, row->title, row->style, row->unit) != 5)
		die(file, line);
	row_count++;
}

static struct cell *cell_of(struct row *row, int variant)
{
	struct cell *cell = row->cells[variant];

	if (cell)
		return cell;
	cell = row->cells[variant] = malloc(sizeof *cell);
	for (int i = 0; cell && i < ROUNDS_MAX; i++)
		cell->value[i] = cell->cpu[i] = NAN;
	return cell;
}

static void read_sample(const char *file, char *line)
{
	char name[WORD], variant[WORD];
	struct cell *cell;
	double value, cpu;
	struct row *row;
	int round;

	if (sscanf(line, "%63s %63s %d %lf %lf", name, variant, &round, &value, &cpu) != 5)
		die(file, line);
	row = row_of(name);
	if (!row || variant_of(variant) < 0 || round < 0 || round >= ROUNDS_MAX)
		die(file, line);
	cell = cell_of(row, variant_of(variant));
	if (!cell)
		exit(2);
	cell->value[round] = value;
	cell->cpu[round] = cpu;
}

/* `title VARIANT WORDS`: what stands above a column of this table. */
static bool read_title(const char *file, const char *line)
{
	char name[WORD], title[LINE];

	if (sscanf(line, "title %63s %511[^\n]", name, title) != 2)
		return false;
	if (variant_of(name) < 0)
		die(file, line);
	variants[variant_of(name)].title = strdup(title);
	return true;
}

static void read_bar(const char *file, char *line)
{
	struct bar *bar = &bars[bar_count];
	char aim[WORD] = "";

	if (line[0] == '#' || strspn(line, " \t\n") == strlen(line) || read_title(file, line))
		return;
	if (bar_count == BARS_MAX || sscanf(line, "%63s %63s %63s %63s %lf %63s", bar->row, bar->variant,
					    bar->kind, bar->base, &bar->number, aim) < 5)
		die(file, line);
	bar->is_aim = !strcmp(aim, "aim");
	bar_count++;
}

static void read_lines(const char *path, void (*take)(const char *file, char *line))
{
	FILE *file = fopen(path, "r");
	char line[LINE * 3];

	if (!file)
		die(path, "cannot be read");
	while (fgets(line, sizeof line, file))
		take(path, line);
	fclose(file);
}

static const double *values_of(const struct row *row, const char *variant, bool of_cpu)
{
	int column = variant_of(variant);
	const struct cell *cell = column < 0 ? NULL : row->cells[column];

	return !cell ? NULL : of_cpu ? cell->cpu : cell->value;
}

static double ratio_of(double a, double b)
{
	return a / b;
}
static double difference_of(double a, double b)
{
	return a - b;
}
static double first_of(double a, double b)
{
	(void)b;
	return a;
}

/* What the pairs of two variants give, how many; a round in which one did not run is none. */
static size_t paired(const double *a, const double *b, double (*of)(double, double), double *to)
{
	size_t count = 0;

	for (int i = 0; a && b && i < ROUNDS_MAX; i++)
		if (!isnan(a[i]) && !isnan(b[i]))
			to[count++] = of(a[i], b[i]);
	return count;
}

static double median_of(const struct row *row, const char *variant, const char *base,
			double (*of)(double, double), bool of_cpu)
{
	double values[ROUNDS_MAX];

	return rvp_pairs_median(
	    values, paired(values_of(row, variant, of_cpu), values_of(row, base, of_cpu), of, values));
}

static double plain_median(const struct row *row, const char *variant)
{
	return median_of(row, variant, variant, first_of, false);
}

static struct rvp_band band_of(const struct row *row, size_t *pairs)
{
	double values[ROUNDS_MAX];

	*pairs = paired(values_of(row, "again", false), values_of(row, "none", false), ratio_of, values);
	return rvp_equal_band(values, *pairs);
}

static struct judged judge_plain(double figure, double bar, bool is_least)
{
	bool is_met = is_least ? figure >= bar : figure <= bar;

	return (struct judged){figure, NAN,
			       isnan(figure) ? RVP_BAR_NOT_RESOLVED
			       : is_met      ? RVP_BAR_MET
					     : RVP_BAR_MISSED};
}

static struct judged judge(const struct row *row, const struct bar *bar)
{
	struct judged judged = {NAN, NAN, RVP_BAR_NOT_RESOLVED};
	size_t pairs;
	struct rvp_band band = band_of(row, &pairs);

	if (!strcmp(bar->kind, "value") || !strcmp(bar->kind, "least"))
		return judge_plain(plain_median(row, bar->variant), bar->number, bar->kind[0] == 'l');
	if (!strcmp(bar->kind, "extra"))
		return judge_plain(plain_median(row, bar->variant) - plain_median(row, bar->base),
				   bar->number, false);
	if (!strcmp(bar->kind, "factor")) {
		judged.figure = median_of(row, bar->variant, bar->base, ratio_of, false);
		judged.factor = bar->number;
	} else if (!strcmp(bar->kind, "added")) {
		judged.figure = median_of(row, bar->variant, bar->base, difference_of, false);
		judged.factor = 1 + bar->number / plain_median(row, bar->base);
	} else if (!strcmp(bar->kind, "share")) {
		double whole = median_of(row, bar->base, "none", difference_of, false);

		judged.figure = median_of(row, bar->variant, "none", difference_of, false) / whole;
		judged.factor = 1 + bar->number * whole / plain_median(row, "none");
	} else {
		die("bars", bar->kind);
	}
	judged.verdict = rvp_bar_judge(judged.figure, bar->number, judged.factor, band, pairs);
	return judged;
}

static void print_number(double value)
{
	printf(fabs(value) >= 100 ? "%.0f" : fabs(value) >= 10 ? "%.1f" : "%.2f", value);
}

/* The column of equal pairs shows the band instead. */
static void print_beside(const struct row *row, const char *variant)
{
	size_t pairs;
	struct rvp_band band = band_of(row, &pairs);

	if (!strcmp(variant, "none") || !strcmp(row->style, "value"))
		return;
	if (!strcmp(variant, "again"))
		printf(" [%.3f, %.3f]", band.low, band.high);
	else if (!strcmp(row->style, "factor"))
		printf(" (%.3fx)", median_of(row, variant, "none", ratio_of, false));
	else
		printf(" (%+.1f)", median_of(row, variant, "none", difference_of, false));
}

static void append(char *to, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *to, size_t room, const char *format, ...)
{
	size_t used = strlen(to);
	__builtin_va_list arguments;

	__builtin_va_start(arguments, format);
	vsnprintf(to + used, room - used, format, arguments);
	__builtin_va_end(arguments);
}

static void describe(char *to, size_t room, const struct bar *bar)
{
	const char *base = bar->base;

	if (!strcmp(bar->kind, "factor"))
		append(to, room, "%s <= %g x %s", bar->variant, bar->number, base);
	else if (!strcmp(bar->kind, "share"))
		append(to, room, "%s adds <= %g of %s", bar->variant, bar->number, base);
	else if (!strcmp(bar->kind, "least"))
		append(to, room, "%s >= %g", bar->variant, bar->number);
	else if (!strcmp(bar->kind, "value"))
		append(to, room, "%s <= %g", bar->variant, bar->number);
	else
		append(to, room, "%s <= %s + %g", bar->variant, base, bar->number);
	if (bar->is_aim)
		append(to, room, " (aim)");
}

static void list_unresolved(const struct row *row, const struct bar *bar, const struct judged *judged)
{
	size_t pairs;
	struct rvp_band band = band_of(row, &pairs);
	char text[LINE] = "";

	describe(text, sizeof text, bar);
	append(not_resolved, sizeof not_resolved,
	       "- %s: %s: %.3f; the bar is %.3f away from 1 as a factor, the band of %zu pairs is %.3f wide; "
	       "user+sys: "
	       "%.3f x %s, again %.3f x\n",
	       row->title, text, judged->figure, fabs(judged->factor - 1), pairs, band.high - band.low,
	       median_of(row, bar->variant, "none", ratio_of, true), variants[0].title,
	       median_of(row, "again", "none", ratio_of, true));
}

static void print_verdict(const struct row *row, const struct bar *bar, const char *between)
{
	static const char *const words[] = {"met", "**MISSED**", "not resolved here"};
	struct judged judged = judge(row, bar);
	char text[LINE] = "";

	describe(text, sizeof text, bar);
	printf("%s%s: ", between, text);
	print_number(judged.figure);
	printf(" %s", words[judged.verdict]);
	(bar->is_aim ? aim_counts : verdict_counts)[judged.verdict]++;
	if (judged.verdict == RVP_BAR_NOT_RESOLVED)
		list_unresolved(row, bar, &judged);
	else if (judged.verdict == RVP_BAR_MISSED && !bar->is_aim)
		append(missed, sizeof missed, "- %s: %s: %.3f\n", row->title, text, judged.figure);
}

static void print_verdicts(const struct row *row)
{
	const char *between = " ";

	for (int i = 0; i < bar_count; i++) {
		if (fnmatch(bars[i].row, row->name, 0) != 0 || !values_of(row, bars[i].variant, false))
			continue;
		print_verdict(row, &bars[i], between);
		between = "; ";
	}
}

static bool has_column(const char *section, int variant)
{
	for (int i = 0; i < row_count; i++)
		if (!strcmp(rows[i].section, section) && rows[i].cells[variant])
			return true;
	return false;
}

static void print_header(const char *section)
{
	printf("\n### %s\n\n| |", section);
	for (int v = 0; v < VARIANT_COUNT; v++)
		if (has_column(section, v))
			printf(" %s |", variants[v].title);
	printf(" bars |\n| --- |");
	for (int v = 0; v <= VARIANT_COUNT; v++)
		if (v == VARIANT_COUNT || has_column(section, v))
			printf(" --- |");
	printf("\n");
}

static void print_row(const struct row *row)
{
	printf("| %s, %s |", row->title, row->unit);
	for (int v = 0; v < VARIANT_COUNT; v++) {
		if (!has_column(row->section, v))
			continue;
		printf(" ");
		if (row->cells[v]) {
			print_number(plain_median(row, variants[v].name));
			print_beside(row, variants[v].name);
		} else {
			printf("-");
		}
		printf(" |");
	}
	print_verdicts(row);
	printf(" |\n");
}

static bool has_samples(const struct row *row)
{
	for (int v = 0; v < VARIANT_COUNT; v++)
		if (row->cells[v])
			return true;
	return false;
}

static void print_sections(void)
{
	for (int i = 0; i < row_count; i++) {
		if (!has_samples(&rows[i]))
			continue;
		if (i == 0 || strcmp(rows[i].section, rows[i - 1].section) != 0)
			print_header(rows[i].section);
		print_row(&rows[i]);
	}
}

static void print_end(void)
{
	printf(
	    "\n%d bars met, %d missed, %d not resolved here; %d aims met, %d missed, %d not resolved here.\n",
	    verdict_counts[RVP_BAR_MET], verdict_counts[RVP_BAR_MISSED],
	    verdict_counts[RVP_BAR_NOT_RESOLVED], aim_counts[RVP_BAR_MET], aim_counts[RVP_BAR_MISSED],
	    aim_counts[RVP_BAR_NOT_RESOLVED]);
	if (*missed)
		printf("\nMissed:\n\n%s", missed);
	if (*not_resolved)
		printf(
		    "\nNot resolved here: neither met nor missed, since equal pairs differ too much:\n\n%s",
		    not_resolved);
}

int main(int count, char **words)
{
	if (count != 4)
		die("usage", "overhead_table ROWS SAMPLES BARS");
	read_lines(words[1], read_row);
	read_lines(words[2], read_sample);
	read_lines(words[3], read_bar);
	print_sections();
	print_end();
	return verdict_counts[RVP_BAR_MISSED] != 0;
}
