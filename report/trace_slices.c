/* SPDX-License-Identifier: MIT */
/* trace_slices.c: see trace_slices.h. */
#include "report/trace_slices.h"

#include "report/grow.h"
#include "report/blas.h"
#include "report/scope_stacks.h"
#include "report/trace_events.h"
#include "report/trace_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 256, RANGES_MAX = 4096 };

/* A slice that stands already. */
struct fence {
	uint64_t begin_ns, end_ns;
	uint32_t process, tid;
};

struct fences {
	struct fence *fences;
	size_t count, room;
};

struct range {
	struct rvp_scope scope;
	uint32_t process;
};

struct rvp_trace_slices {
	struct rvp_scope_listener listener; /* first: the listener is the slices */
	struct rvp_trace *trace;
	struct rvp_scope_stacks stacks;
	struct fences fences[RVP_TRACE_FENCES];
	struct range *ranges; /* open ones, in no order */
	size_t range_count, range_room;
	uint64_t pair_count, bytes, cut_count;
	bool is_full;
};

/* ---- one event ---- */

static const char *copy(char to[TEXT_BYTES], struct rvp_text text)
{
	size_t length = text.length < TEXT_BYTES - 1 ? text.length : TEXT_BYTES - 1;

	if (length)
		memcpy(to, text.bytes, length);
	to[length] = '\0';
	return to;
}

static bool begin_event(struct rvp_trace_slices *slices, uint64_t ns)
{
	slices->is_full |= slices->bytes >= slices->trace->max_bytes / 2;
	if (slices->is_full)
		slices->cut_count++;
	return !slices->is_full && rvp_trace_begin_event(slices->trace, ns);
}

static void put_argument(struct rvp_trace *trace, const char *key, struct rvp_text text, const char **comma)
{
	char part[TEXT_BYTES];

	if (!text.length)
		return;
	rvp_trace_put(trace, "%s\"%s\":", *comma, key);
	rvp_trace_put_text(trace, copy(part, text));
	*comma = ",";
}

static bool is_framework_operator(const struct rvp_scope *scope)
{
	return scope->is_operator && scope->source == RVP_SOURCE_ADAPTER;
}

static void put_arguments(struct rvp_trace *trace, const struct rvp_scope *scope, bool is_open)
{
	const char *comma = "";

	rvp_trace_put(trace, ",\"args\":{");
	put_argument(trace, "category", scope->category, &comma);
	if (is_framework_operator(scope) && rvp_trace_put_shapes(trace, scope->args))
		comma = ",";
	else
		put_argument(trace, scope->source == RVP_SOURCE_NVTX ? "domain" : "args", scope->args, &comma);
	if (is_open)
		rvp_trace_put(trace, "%s\"open\":true", comma);
	rvp_trace_put(trace, "}}");
}

static const char *kind_of(const struct rvp_scope *scope)
{
	if (scope->is_row)
		return "python_function";
	if (is_framework_operator(scope))
		return "cpu_op";
	return scope->is_operator ? "operator" : "scope";
}

static const char *name_of(const struct rvp_trace *trace, const struct rvp_scope *scope, uint32_t process,
			   char name[RVP_ROW_NAME_BYTES])
{
	if (scope->is_row)
		return rvp_trace_python_name(&trace->run->processes[process], scope->code, name);
	return copy(name, scope->name);
}

static void put_slice(struct rvp_trace_slices *slices, const struct rvp_scope *scope, uint32_t process,
		      uint64_t end_ns, bool is_open)
{
	uint64_t before = slices->trace->bytes;
	char name[RVP_ROW_NAME_BYTES];

	if (!begin_event(slices, scope->begin_ns))
		return;
	rvp_trace_put_slice(slices->trace, process, scope->tid, scope->begin_ns, end_ns - scope->begin_ns,
			    kind_of(scope), name_of(slices->trace, scope, process, name));
	put_arguments(slices->trace, scope, is_open);
	slices->bytes += slices->trace->bytes - before;
}

static void put_end(struct rvp_trace_slices *slices, char ph, const char *kind, const char *name,
		    uint32_t process, uint32_t tid, uint64_t ns)
{
	struct rvp_trace *trace = slices->trace;

	rvp_trace_put(trace, "{\"ph\":\"%c\",\"cat\":\"%s\",\"id\":\"0x%" PRIx64 "\",\"name\":", ph, kind,
		      slices->pair_count);
	rvp_trace_put_text(trace, *name ? name : kind);
	rvp_trace_put(trace, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f", trace->run->processes[process].pid, tid,
		      rvp_trace_us(trace, ns));
}

/* Both or none: a cap between them would leave one. */
static void put_pair(struct rvp_trace_slices *slices, const struct rvp_scope *scope, const char *kind,
		     uint32_t process, uint32_t end_tid, uint64_t end_ns, bool is_open)
{
	uint64_t before = slices->trace->bytes;
	char name[RVP_ROW_NAME_BYTES];

	if (!begin_event(slices, scope->begin_ns))
		return;
	slices->pair_count++;
	put_end(slices, 'b', kind, name_of(slices->trace, scope, process, name), process, scope->tid, scope->begin_ns);
	put_arguments(slices->trace, scope, is_open);
	rvp_trace_put(slices->trace, ",\n");
	put_end(slices, 'e', kind, name, process, end_tid, end_ns);
	rvp_trace_put(slices->trace, "}");
	slices->bytes += slices->trace->bytes - before;
}

/* ---- what stands already ---- */

void rvp_trace_slices_beside(struct rvp_trace_slices *slices, enum rvp_trace_fence kind, uint32_t process,
			     uint32_t tid, uint64_t begin_ns, uint64_t end_ns)
{
	struct fences *fences = &slices->fences[kind];

	if (rvp_grow((void **)&fences->fences, &fences->room, fences->count + 1, sizeof *fences->fences))
		fences->fences[fences->count++] = (struct fence){begin_ns, end_ns, process, tid};
}

/* The last fence that begins at `ns` or before; NULL: none. */
static const struct fence *fence_at(const struct fences *fences, uint64_t ns)
{
	size_t low = 0, high = fences->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fences->fences[middle].begin_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &fences->fences[low - 1] : NULL;
}

static bool is_clear_of(const struct fence *fence, const struct rvp_scope *scope, uint32_t process,
			uint64_t end_ns)
{
	uint64_t begin_ns = scope->begin_ns;

	if (!fence || fence->process != process || fence->tid != scope->tid)
		return true;
	return end_ns < fence->begin_ns || begin_ns > fence->end_ns ||
	       (begin_ns >= fence->begin_ns && end_ns < fence->end_ns) ||
	       (begin_ns <= fence->begin_ns && end_ns > fence->end_ns) ||
	       (begin_ns == fence->begin_ns && end_ns == fence->end_ns);
}

static bool nests(const struct rvp_trace_slices *slices, const struct rvp_scope *scope, uint32_t process,
		  uint64_t end_ns)
{
	for (int i = 0; i < RVP_TRACE_FENCES; i++)
		if (!is_clear_of(fence_at(&slices->fences[i], scope->begin_ns), scope, process, end_ns) ||
		    !is_clear_of(fence_at(&slices->fences[i], end_ns), scope, process, end_ns))
			return false;
	return true;
}

static void ended(struct rvp_scope_listener *listener, const struct rvp_scope *scope,
		  const struct rvp_scope_end *end)
{
	struct rvp_trace_slices *slices = (struct rvp_trace_slices *)listener;
	uint64_t shorter_ns = 3 + end->outer_count;
	uint64_t end_ns = end->ns > scope->begin_ns + shorter_ns ? end->ns - shorter_ns : scope->begin_ns;

	if (!end->is_crossed && nests(slices, scope, end->process, end_ns))
		put_slice(slices, scope, end->process, end_ns, end->is_open);
	else
		put_pair(slices, scope, kind_of(scope), end->process, scope->tid,
			 end->ns > scope->begin_ns ? end->ns : scope->begin_ns, end->is_open);
}

/* ---- timers ---- */

/* A pair: slots run beside each other, and regions of one need not nest. */
static void put_timer(struct rvp_trace_slices *slices, const struct rvp_moment *moment)
{
	const struct rvp_record_TIMER *timer = &moment->record->TIMER;
	struct rvp_scope scope = {.name = timer->name,
				  .category = timer->category,
				  .begin_ns = timer->begin_ns,
				  .tid = moment->tid,
				  .source = RVP_SOURCE_API};
	char args[TEXT_BYTES];
	int length = snprintf(args, sizeof args, "%.*s%sslot=%llu", timer->args.length < 100 ? (int)timer->args.length : 100,
			      timer->args.length ? timer->args.bytes : "", timer->args.length ? ";" : "",
			      (unsigned long long)timer->slot);

	if (!timer->begin_ns || !timer->ns || timer->begin_ns + timer->ns < timer->begin_ns)
		return;
	scope.args = (struct rvp_text){args, (uint64_t)length};
	put_pair(slices, &scope, "timer", moment->process, moment->tid, timer->begin_ns + timer->ns, false);
}

/* ---- BLAS ---- */

/* A leaf: it began behind all that is open on its thread, and is over. */
static void put_blas(struct rvp_trace_slices *slices, const struct rvp_moment *moment)
{
	const struct rvp_record_BLAS_CALL *call = &moment->record->BLAS_CALL;
	const struct rvp_blas *function = rvp_blas_at(call->function);
	uint64_t before = slices->trace->bytes, ns = rvp_trace_ticks_ns(slices->trace->run, moment->process, call->ticks);
	uint64_t begin_ns = moment->ns > ns ? moment->ns - ns : 0, shorter_ns;
	struct rvp_scope scope = {.tid = moment->tid};
	size_t open;
	struct rvp_scope *scopes = rvp_scopes_of(&slices->stacks, moment, &open);

	if (open && scopes[open - 1].begin_ns > begin_ns)
		begin_ns = scopes[open - 1].begin_ns;
	shorter_ns = 3 + open;
	ns = moment->ns > begin_ns + shorter_ns ? moment->ns - begin_ns - shorter_ns : 0;
	scope.begin_ns = begin_ns;
	if (function)
		scope.name = (struct rvp_text){function->name, strlen(function->name)};
	if (!nests(slices, &scope, moment->process, begin_ns + ns)) {
		put_pair(slices, &scope, "operator", moment->process, moment->tid, moment->ns, false);
		return;
	}
	if (!begin_event(slices, begin_ns))
		return;
	rvp_trace_put_slice(slices->trace, moment->process, moment->tid, begin_ns, ns, "cpu_op",
			    function ? function->name : "BLAS");
	rvp_trace_put(slices->trace, ",\"args\":");
	rvp_trace_put_blas(slices->trace, call);
	rvp_trace_put(slices->trace, "}");
	slices->bytes += slices->trace->bytes - before;
}

/* ---- ranges ---- */

static struct rvp_scope scope_of(const struct rvp_moment *moment)
{
	const struct rvp_record_SCOPE *record = &moment->record->SCOPE;

	return (struct rvp_scope){.name = record->name,
				  .category = record->category,
				  .args = record->args,
				  .begin_ns = moment->ns,
				  .tid = moment->tid,
				  .source = (uint8_t)record->source};
}

static void begin_range(struct rvp_trace_slices *slices, const struct rvp_moment *moment)
{
	if (slices->range_count == RANGES_MAX || !rvp_grow((void **)&slices->ranges, &slices->range_room,
							   slices->range_count + 1, sizeof *slices->ranges)) {
		slices->cut_count++;
		return;
	}
	slices->ranges[slices->range_count++] = (struct range){scope_of(moment), moment->process};
}

static void put_range(struct rvp_trace_slices *slices, struct range *range, uint32_t tid, uint64_t ns,
		      bool is_open)
{
	range->scope.args.length = 0; /* its number: the pair has one of its own */
	put_pair(slices, &range->scope, "range", range->process, tid, ns, is_open);
	*range = slices->ranges[--slices->range_count];
}

static bool is_same_text(struct rvp_text left, struct rvp_text right)
{
	return left.length == right.length &&
	       (!left.length || memcmp(left.bytes, right.bytes, left.length) == 0);
}

static void end_range(struct rvp_trace_slices *slices, const struct rvp_moment *moment)
{
	const struct rvp_record_SCOPE *record = &moment->record->SCOPE;

	for (size_t i = slices->range_count; i-- > 0;) {
		struct range *range = &slices->ranges[i];

		if (range->process != moment->process || range->scope.source != record->source ||
		    !is_same_text(range->scope.args, record->args))
			continue;
		put_range(slices, range, moment->tid, moment->ns, false);
		return;
	}
}

static void end_ranges_of(struct rvp_trace_slices *slices, uint32_t process, uint64_t ns)
{
	for (size_t i = slices->range_count; i-- > 0;)
		if (process == RVP_NO_PROCESS || slices->ranges[i].process == process)
			put_range(slices, &slices->ranges[i], slices->ranges[i].scope.tid, ns, true);
}

/* ---- the pass ---- */

void rvp_trace_slices_see(struct rvp_trace_slices *slices, const struct rvp_event *event)
{
	const struct rvp_moment *moment = event->moment;

	if (!rvp_scope_stacks_see(&slices->stacks, event))
		slices->cut_count++;
	if (event->kind == RVP_EVENT_END)
		end_ranges_of(slices, moment->process, moment->ns);
	if (event->kind != RVP_EVENT_RECORD || moment->process == RVP_NO_PROCESS)
		return;
	if (moment->record->kind == RVP_BLAS_CALL)
		put_blas(slices, moment);
	if (moment->record->kind == RVP_TIMER)
		put_timer(slices, moment);
	if (moment->record->kind != RVP_SCOPE)
		return;
	if (moment->record->SCOPE.kind == RVP_SCOPE_RANGE_BEGIN)
		begin_range(slices, moment);
	else if (moment->record->SCOPE.kind == RVP_SCOPE_RANGE_END)
		end_range(slices, moment);
}

uint64_t rvp_trace_slices_finish(struct rvp_trace_slices *slices)
{
	rvp_scope_stacks_empty(&slices->stacks);
	end_ranges_of(slices, RVP_NO_PROCESS, slices->trace->run->end_ns);
	return slices->cut_count + slices->stacks.too_deep;
}

struct rvp_trace_slices *rvp_trace_slices_open(struct rvp_trace *trace)
{
	struct rvp_trace_slices *slices = calloc(1, sizeof *slices);

	if (!slices)
		return NULL;
	slices->listener.ended = ended;
	slices->trace = trace;
	if (!rvp_scope_stacks_open(&slices->stacks, trace->run, NULL)) {
		free(slices);
		return NULL;
	}
	slices->stacks.listener = &slices->listener;
	slices->stacks.has_rows = true;
	return slices;
}

void rvp_trace_slices_close(struct rvp_trace_slices *slices)
{
	if (!slices)
		return;
	rvp_scope_stacks_free(&slices->stacks);
	for (int i = 0; i < RVP_TRACE_FENCES; i++)
		free(slices->fences[i].fences);
	free(slices->ranges);
	free(slices);
}
