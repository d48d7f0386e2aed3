/* SPDX-License-Identifier: MIT */
/* metrics.c: see metrics.h. Stamps of all processes of a run are of one clock, so the later stamp is the
 * later word. */
#include "report/metrics.h"

#include "report/arena.h"
#include "report/json_writer.h"

#include <math.h>
#include <string.h>

struct rvp_metric {
	const char *name;
	double value;
	uint64_t stamp;
};

static bool is_called(const struct rvp_metric *metric, struct rvp_text name)
{
	return strlen(metric->name) == name.length && memcmp(metric->name, name.bytes, name.length) == 0;
}

static struct rvp_metric *metric_of(struct rvp_metrics *metrics, struct rvp_arena *arena,
				    struct rvp_text name)
{
	for (size_t i = 0; i < metrics->count; i++)
		if (is_called(&metrics->metrics[i], name))
			return &metrics->metrics[i];
	if (!metrics->metrics)
		metrics->metrics = rvp_arena_get(arena, RVP_METRICS_MAX * sizeof *metrics->metrics);
	if (!metrics->metrics || metrics->count == RVP_METRICS_MAX)
		return NULL;
	metrics->metrics[metrics->count].name = rvp_arena_copy(arena, name);
	return &metrics->metrics[metrics->count++];
}

bool rvp_metrics_take(struct rvp_metrics *metrics, struct rvp_arena *arena,
		      const struct rvp_record_MARK *record)
{
	struct rvp_metric *metric;
	double value;

	memcpy(&value, &record->value, sizeof value);
	if (!isfinite(value))
		return true;
	metric = metric_of(metrics, arena, record->label);
	if (!metric)
		return metrics->metrics != NULL;
	if (record->stamp >= metric->stamp) {
		metric->value = value;
		metric->stamp = record->stamp;
	}
	return true;
}

void rvp_metrics_write_json(const struct rvp_metrics *metrics, struct rvp_json *json)
{
	if (!metrics->count)
		return;
	rvp_json_open(json, "metrics", '{');
	for (size_t i = 0; i < metrics->count; i++)
		rvp_json_figure(json, metrics->metrics[i].name, metrics->metrics[i].value);
	rvp_json_close(json, '}');
}
