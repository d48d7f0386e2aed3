/* SPDX-License-Identifier: MIT */
/* write_power.c: see write_power.h. */
#include "report/write_power.h"

#include "report/shortest.h"
#include "report/trace_events.h"

#include <inttypes.h>
#include <math.h>

enum { TRACE_PAUSE_NS = 1000000000 }; /* between two counters that say nearly the same */

static void put_row(FILE *out, uint64_t ns, double watts)
{
	struct rvp_shortest shortest = rvp_shortest_double(watts);
	char text[RVP_SHORTEST_TEXT_BYTES];

	if (out && !isnan(watts))
		fprintf(out, "%" PRIu64 ",%s\n", ns / 1000, rvp_shortest_plain(&shortest, text));
}

static bool is_news(const struct rvp_power_writer *writer, uint64_t ns, const double *watts)
{
	bool has_moved = false;

	for (unsigned i = 0; i < writer->list->source_count; i++)
		has_moved |= isnan(watts[i]) != isnan(writer->trace_watts[i]) ||
			     fabs(watts[i] - writer->trace_watts[i]) > 0.01 * fabs(writer->trace_watts[i]);
	return has_moved || !writer->trace_ns || ns - writer->trace_ns >= TRACE_PAUSE_NS;
}

static void put_counter(struct rvp_power_writer *writer, uint64_t ns, const double *watts)
{
	struct rvp_trace *trace = writer->trace;
	const struct rvp_run *run = trace->run;
	const char *comma = "";

	if (run->root == RVP_NO_PROCESS || !rvp_trace_begin_event(trace, ns))
		return;
	rvp_trace_put(trace, "{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%u,\"ts\":%.3f,\"args\":{",
		      rvp_power_is_mock(writer->list) ? "power, W (mock)" : "power, W", run->processes[run->root].pid,
		      rvp_trace_us(trace, ns));
	for (unsigned i = 0; i < writer->list->source_count; i++) {
		writer->trace_watts[i] = watts[i];
		if (isnan(watts[i]))
			continue;
		rvp_trace_put(trace, "%s\"%s%s\":%.6g", comma, writer->list->sources[i].name,
			      writer->list->sources[i].kind == RVP_POWER_MOCK ? " (mock)" : "", watts[i]);
		comma = ",";
	}
	rvp_trace_put(trace, "}}");
	writer->trace_ns = ns;
}

static void take(struct rvp_power_sink *sink, uint64_t ns, const double *watts, double sum)
{
	struct rvp_power_writer *writer = (struct rvp_power_writer *)sink;

	put_row(writer->sum, ns, sum);
	for (unsigned i = 0; i < writer->list->source_count; i++)
		put_row(writer->sources[i], ns, watts[i]);
	if (writer->trace && is_news(writer, ns, watts))
		put_counter(writer, ns, watts);
}

void rvp_power_writer_open(struct rvp_power_writer *writer, const struct rvp_power_list *list, FILE *sum,
			   FILE *const *sources, struct rvp_trace *trace)
{
	static const char header[] = "timestamp_us,watts\n";

	*writer = (struct rvp_power_writer){.sink.take = take, .list = list, .sum = sum, .trace = trace};
	if (sum)
		fputs(header, sum);
	for (unsigned i = 0; i < list->source_count; i++) {
		writer->sources[i] = sources ? sources[i] : NULL;
		if (writer->sources[i])
			fputs(header, writer->sources[i]);
	}
}

void rvp_power_trace(struct rvp_trace *trace)
{
	struct rvp_power_writer writer;
	struct rvp_power_answer answer;

	if (!trace->run->power)
		return;
	rvp_power_writer_open(&writer, trace->run->power, NULL, NULL, trace);
	rvp_power_read(&answer, trace->run, NULL, &writer.sink);
}
