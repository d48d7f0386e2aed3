/* SPDX-License-Identifier: MIT */
/* figures.c: see figures.h. Data goes into the script as gnuplot's own blocks, one a line; names stand in
 * double quotes with what means something to gnuplot taken out. */
#include "sweep/figures.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_BYTES = RVP_SETTING_NAME_BYTES + 8 };

struct figure {
	const struct rvp_sweep *sweep;
	const struct rvp_outcomes *outcomes;
	char folder[PATH_MAX];
	FILE *out; /* the script at hand */
	char name[NAME_BYTES];
	bool has_gnuplot;
};

/* ---- a script, and drawing it ---- */

static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(strchr("\"\\\n'`{}@^_$", *name) ? *name == '_' ? ' ' : '.' : *name, out);
}

static struct rvp_status begin(struct figure *figure, const char *kind, const char *name)
{
	char path[PATH_MAX];

	snprintf(figure->name, sizeof figure->name, "%s%s", kind, name);
	if (snprintf(path, sizeof path, "%s/%s.gp", figure->folder, figure->name) >= PATH_MAX)
		return rvp_fail("make", figure->folder, ENAMETOOLONG);
	figure->out = fopen(path, "we");
	if (!figure->out)
		return rvp_fail("make", path, errno);
	fprintf(figure->out,
		"# gnuplot %s.gp\nset terminal svg size 900,480 dynamic font 'sans-serif,13' background rgb "
		"'white'\n"
		"set output '%s.svg'\nset grid lc rgb '#dddddd'\nset key below\nset style fill solid "
		"0.4\n",
		figure->name, figure->name);
	return RVP_OK;
}

/* In the folder of the figures, so that the script's own words are short. The exit status; 127: there is no gnuplot. */
static int draw(const struct figure *figure)
{
	char script[NAME_BYTES + 8], *words[] = {"gnuplot", script, NULL};
	int status = -1;
	pid_t child = fork();

	snprintf(script, sizeof script, "%s.gp", figure->name);
	if (child == 0) {
		int nothing = open("/dev/null", O_RDWR);

		if (chdir(figure->folder) == 0 && nothing >= 0 && dup2(nothing, 0) == 0 &&
		    dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2)
			execvp(words[0], words);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static struct rvp_status end(struct figure *figure)
{
	char picture[PATH_MAX + NAME_BYTES + 8];
	int drawn;

	if (fclose(figure->out) != 0)
		return rvp_fail("write", figure->folder, errno);
	drawn = draw(figure);
	figure->has_gnuplot = drawn != 127;
	snprintf(picture, sizeof picture, "%s/%s.svg", figure->folder, figure->name);
	if (drawn) /* gnuplot makes the file before it looks at the data */
		unlink(picture);
	return RVP_OK;
}

/* ---- against an axis ---- */

/* The first setting of its line: every axis but this one as here, this one at its first value. */
static size_t first_of_line(const struct rvp_plan *plan, size_t setting, size_t axis)
{
	size_t stride = 1, place;

	for (size_t i = plan->axis_count; i-- > axis + 1;)
		stride *= plan->axes[i].count;
	place = setting / stride % plan->axes[axis].count;
	return setting - place * stride;
}

static void put_line_title(FILE *out, const struct rvp_plan *plan, size_t setting, size_t axis)
{
	bool is_first = true;

	for (size_t i = 0; i < plan->axis_count; i++) {
		if (i == axis)
			continue;
		fprintf(out, "%s", is_first ? "" : ", ");
		put_name(out, plan->axes[i].name);
		fputc(' ', out);
		put_name(out, rvp_plan_value(plan, setting, i));
		is_first = false;
	}
	if (is_first)
		fputs("all", out);
}

static const struct rvp_outcome *outcome_of(const struct figure *figure, size_t setting)
{
	return &figure->outcomes->rows[setting + (figure->sweep->plan->baseline != NULL)];
}

/* Values that are numbers are where they are; others stand side by side. */
static bool is_number(const struct rvp_axis *axis)
{
	for (size_t i = 0; i < axis->count; i++) {
		char *end;

		strtod(axis->values[i], &end);
		if (*end || end == axis->values[i])
			return false;
	}
	return true;
}

static size_t put_lines(struct figure *figure, size_t axis)
{
	const struct rvp_plan *plan = figure->sweep->plan;
	bool numbers = is_number(&plan->axes[axis]);
	size_t lines = 0;

	for (size_t first = 0; first < figure->sweep->setting_count; first++) {
		if (first_of_line(plan, first, axis) != first)
			continue;
		fprintf(figure->out, "$line%zu << END\n", lines++);
		for (size_t i = first; i < figure->sweep->setting_count; i++) {
			const struct rvp_outcome *outcome = outcome_of(figure, i);

			if (first_of_line(plan, i, axis) != first || !outcome->is_recorded)
				continue;
			fprintf(figure->out, "%s\"", numbers ? "" : "0 ");
			put_name(figure->out, rvp_plan_value(plan, i, axis));
			fprintf(figure->out, "\" %.17g %.17g\n", outcome->peak_bytes / 1048576,
				outcome->p95_us);
		}
		fputs("END\n", figure->out);
	}
	return lines;
}

/* At the axis's values and nowhere else. */
static void put_tics(FILE *out, const struct rvp_axis *axis)
{
	fputs("set xtics (", out);
	for (size_t i = 0; i < axis->count; i++) {
		fputs(i ? ", \"" : "\"", out);
		put_name(out, axis->values[i]);
		fprintf(out, "\" %.17g", strtod(axis->values[i], NULL));
	}
	fputs(")\n", out);
}

static void put_panel(struct figure *figure, size_t axis, size_t lines, unsigned column, const char *label)
{
	const struct rvp_plan *plan = figure->sweep->plan;
	bool numbers = is_number(&plan->axes[axis]);
	size_t line = 0;

	fprintf(figure->out, "set ylabel '%s'\nset xlabel \"", label);
	put_name(figure->out, plan->axes[axis].name);
	fputs("\"\nset offsets graph 0.05, graph 0.05, 0, 0\n", figure->out);
	if (numbers)
		put_tics(figure->out, &plan->axes[axis]);
	fputs("plot ", figure->out);
	for (size_t first = 0; first < figure->sweep->setting_count && line < lines; first++) {
		if (first_of_line(plan, first, axis) != first)
			continue;
		if (numbers)
			fprintf(figure->out, "%s$line%zu using (strcol(1)+0):%u", line ? ", " : "", line,
				column);
		else
			fprintf(figure->out, "%s$line%zu using 0:%u:xtic(2)", line ? ", " : "", line,
				column + 1);
		fputs(" with linespoints pt 7 title \"", figure->out);
		put_line_title(figure->out, plan, first, axis);
		fputc('"', figure->out);
		line++;
	}
	fputc('\n', figure->out);
}

static struct rvp_status write_axis(struct figure *figure, size_t axis)
{
	struct rvp_status status = begin(figure, "axis-", figure->sweep->plan->axes[axis].name);
	size_t lines;

	if (rvp_failed(status))
		return status;
	lines = put_lines(figure, axis);
	fputs("set multiplot layout 1,2\nset yrange [0:*]\n", figure->out);
	put_panel(figure, axis, lines, 2, "mean peak memory, MiB");
	put_panel(figure, axis, lines, 3, "p95 of a sample, us");
	fputs("unset multiplot\n", figure->out);
	return end(figure);
}

/* ---- Pareto ---- */

struct point {
	double saved, quality;
};

static struct point point_of(const struct rvp_outcome *outcome)
{
	return (struct point){.saved = isfinite(outcome->kv_cache_reduction) ? outcome->kv_cache_reduction
									     : outcome->peak_reduction,
			      .quality =
				  isfinite(outcome->accuracy) ? outcome->accuracy : outcome->coherence_delta};
}

static bool is_beaten(const struct figure *figure, const struct point *point)
{
	for (size_t i = 0; i < figure->outcomes->count; i++) {
		struct point other = point_of(&figure->outcomes->rows[i]);

		if (other.saved >= point->saved && other.quality >= point->quality &&
		    (other.saved > point->saved || other.quality > point->quality))
			return true;
	}
	return false;
}

static int by_saved(const void *a, const void *b)
{
	const struct point *one = a, *other = b;

	return (one->saved > other->saved) - (one->saved < other->saved);
}

/* The settings that nothing beats, from the least saving one on. */
static void put_front(struct figure *figure)
{
	struct point *front = calloc(figure->outcomes->count + 1, sizeof *front);
	size_t count = 0;

	for (size_t i = 0; front && i < figure->outcomes->count; i++) {
		struct point point = point_of(&figure->outcomes->rows[i]);

		if (isfinite(point.saved) && isfinite(point.quality) && !is_beaten(figure, &point))
			front[count++] = point;
	}
	if (front)
		qsort(front, count, sizeof *front, by_saved);
	fputs("$front << END\n", figure->out);
	for (size_t i = 0; i < count; i++)
		fprintf(figure->out, "%.17g %.17g\n", 100 * front[i].saved, front[i].quality);
	fputs("END\n", figure->out);
	free(front);
}

/* A point a block, so that each has its own mark in the key; how many. */
static size_t put_points(struct figure *figure)
{
	size_t count = 0;

	for (size_t i = 0; i < figure->outcomes->count; i++) {
		struct point point = point_of(&figure->outcomes->rows[i]);

		if (isfinite(point.saved) && isfinite(point.quality))
			fprintf(figure->out, "$point%zu << END\n%.17g %.17g\nEND\n", count++,
				100 * point.saved, point.quality);
	}
	return count;
}

static void plot_points(struct figure *figure)
{
	size_t count = 0;

	fputs("plot $front with lines lc rgb '#888888' title 'nothing is better in both'", figure->out);
	for (size_t i = 0; i < figure->outcomes->count; i++) {
		struct point point = point_of(&figure->outcomes->rows[i]);

		if (!isfinite(point.saved) || !isfinite(point.quality))
			continue;
		fprintf(figure->out, ", \\\n  $point%zu with points pt %zu ps 1.2 title \"", count,
			4 + count % 10);
		put_name(figure->out, figure->outcomes->rows[i].name);
		fputc('"', figure->out);
		count++;
	}
	fputc('\n', figure->out);
}

static struct rvp_status write_pareto(struct figure *figure)
{
	struct rvp_status status = begin(figure, "pareto", "");
	char path[PATH_MAX + NAME_BYTES];

	if (rvp_failed(status))
		return status;
	if (!put_points(figure)) {
		fclose(figure->out);
		snprintf(path, sizeof path, "%s/pareto.gp", figure->folder);
		unlink(path);
		return RVP_OK;
	}
	put_front(figure);
	fprintf(figure->out,
		"set xlabel '%s saved, %%'\nset ylabel '%s'\nset offsets graph 0.1, graph 0.1, graph 0.1, "
		"graph 0.1\n",
		isfinite(figure->outcomes->rows[0].kv_cache_reduction) ? "KV cache" : "peak memory",
		isfinite(figure->outcomes->rows[0].accuracy) ? "accuracy" : "coherence");
	plot_points(figure);
	return end(figure);
}

/* ---- times ---- */

static bool is_any_recorded(const struct rvp_outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++)
		if (outcomes->rows[i].is_recorded)
			return true;
	return false;
}

/* The files of the settings themselves hold the data: "sample_id,seq_len,wall_time_us,..". */
static struct rvp_status write_times(struct figure *figure)
{
	struct rvp_status status = begin(figure, "times", "");
	bool is_first = true;

	if (rvp_failed(status))
		return status;
	fputs("set datafile separator ','\nset style boxplot outliers pointtype 7\nset style data "
	      "boxplot\nset pointsize 0.2\n"
	      "unset key\nset ylabel 'time of a sample, us'\nset logscale y\n",
	      figure->out);
	/* Settings of one sample each give gnuplot no range. */
	fprintf(figure->out, "set xrange [-0.5:%zu.5]\nset xtics rotate by -30 (", figure->outcomes->count - 1);
	for (size_t i = 0; i < figure->outcomes->count; i++) {
		fputs(i ? ", \"" : "\"", figure->out);
		put_name(figure->out, figure->outcomes->rows[i].name);
		fprintf(figure->out, "\" %zu", i);
	}
	fputs(")\nplot ", figure->out);
	for (size_t i = 0; i < figure->outcomes->count; i++) {
		if (!figure->outcomes->rows[i].is_recorded)
			continue;
		fprintf(figure->out, "%s'../csv/%s.csv' every ::1 using (%zu):3", is_first ? "" : ", ",
			figure->outcomes->rows[i].name, i);
		is_first = false;
	}
	fputc('\n', figure->out);
	return end(figure);
}

struct rvp_status rvp_figures_write(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				    bool *has_gnuplot)
{
	struct figure figure = {.sweep = sweep, .outcomes = outcomes, .has_gnuplot = true};
	struct rvp_status status = RVP_OK;

	if (snprintf(figure.folder, PATH_MAX, "%s/figs", sweep->place.out) >= PATH_MAX)
		return rvp_fail("make", sweep->place.out, ENAMETOOLONG);
	if (mkdir(figure.folder, 0777) != 0 && errno != EEXIST)
		return rvp_fail("make", figure.folder, errno);
	for (size_t i = 0; i < sweep->plan->axis_count && !rvp_failed(status); i++)
		status = write_axis(&figure, i);
	if (!rvp_failed(status))
		status = write_pareto(&figure);
	if (!rvp_failed(status) && sweep->rounds && is_any_recorded(outcomes))
		status = write_times(&figure);
	*has_gnuplot = figure.has_gnuplot;
	return status;
}
