/* SPDX-License-Identifier: MIT */
/* scope_stacks.c: see scope_stacks.h. A stack a stream; a stream's later thread finds it empty. */
#include "report/scope_stacks.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

struct rvp_scope_stack {
	struct rvp_scope *scopes;
	uint32_t depth;
	size_t room;
	uint32_t process;
	uint64_t serial; /* of the thread */
	uint64_t beyond; /* open ones deeper than RVP_SCOPES_MAX */
	uint64_t last_ns; /* with rows: of the thread's last record that has a place in the rows */
};

bool rvp_scope_stacks_open(struct rvp_scope_stacks *stacks, const struct rvp_run *run,
			   struct rvp_purposes *purposes)
{
	*stacks = (struct rvp_scope_stacks){.run = run, .purposes = purposes};
	stacks->unbalanced = calloc(run->process_count + 1, sizeof *stacks->unbalanced);
	stacks->window_ns = calloc(run->process_count + 1, sizeof *stacks->window_ns);
	return stacks->unbalanced && stacks->window_ns;
}

void rvp_scope_stacks_free(struct rvp_scope_stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++)
		free(stacks->stacks[i].scopes);
	free(stacks->stacks);
	free(stacks->unbalanced);
	free(stacks->window_ns);
	*stacks = (struct rvp_scope_stacks){0};
}

static void count_unbalanced(struct rvp_scope_stacks *stacks, uint32_t process, uint64_t count)
{
	if (process < stacks->run->process_count)
		stacks->unbalanced[process] += count;
}

static bool make_room(struct rvp_scope_stacks *stacks, uint32_t stream)
{
	return stream < stacks->count ||
	       rvp_grow((void **)&stacks->stacks, &stacks->count, stream + 1, sizeof *stacks->stacks);
}

static bool has_inner(const struct rvp_scope_stack *stack, uint32_t number)
{
	while (++number < stack->depth)
		if (!stack->scopes[number].is_hidden)
			return true;
	return false;
}

static void tell(const struct rvp_scope_stacks *stacks, const struct rvp_scope_stack *stack, uint32_t number,
		 uint64_t ns, bool is_open)
{
	const struct rvp_scope_end end = {.ns = ns,
					  .process = stack->process,
					  .outer_count = number,
					  .is_open = is_open,
					  .is_crossed = has_inner(stack, number)};

	if (stacks->listener && !stack->scopes[number].is_hidden)
		stacks->listener->ended(stacks->listener, &stack->scopes[number], &end);
}

static void empty(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, uint64_t ns)
{
	for (; stack->depth; stack->depth--)
		tell(stacks, stack, stack->depth - 1, ns, true);
	stack->beyond = 0;
}

void rvp_scope_stacks_empty(struct rvp_scope_stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++)
		empty(stacks, &stacks->stacks[i], stacks->run->end_ns);
}

/* The stack of the moment's thread; a new thread's is empty. NULL without memory. */
static struct rvp_scope_stack *stack_for(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment)
{
	struct rvp_scope_stack *stack;

	if (!make_room(stacks, moment->stream))
		return NULL;
	stack = &stacks->stacks[moment->stream];
	if (stack->serial != moment->thread_serial || stack->process != moment->process) {
		count_unbalanced(stacks, stack->process, stack->depth + stack->beyond);
		empty(stacks, stack, moment->ns);
		stack->serial = moment->thread_serial;
		stack->process = moment->process;
		stack->last_ns = 0;
	}
	return stack;
}

static uint32_t classifier_at(const struct rvp_scope_stack *stack, uint32_t number)
{
	if (stack->scopes[number].purpose != RVP_PURPOSE_NONE)
		return number + 1;
	return number ? stack->scopes[number - 1].classifier : 0;
}

static uint16_t purpose_of(struct rvp_scope_stacks *stacks, const struct rvp_record_SCOPE *record)
{
	if (!record->category.length || !stacks->purposes)
		return RVP_PURPOSE_NONE;
	return rvp_purpose_said(stacks->purposes, record->category.bytes, record->category.length,
				&stacks->misnamed);
}

/* Innermost. False without memory; one too deep is counted and passed over. */
static bool push(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, const struct rvp_scope *scope)
{
	if (stack->depth == RVP_SCOPES_MAX) {
		stack->beyond++;
		stacks->too_deep++;
		return true;
	}
	if (!rvp_grow((void **)&stack->scopes, &stack->room, stack->depth + 1, sizeof *stack->scopes))
		return false;
	stack->scopes[stack->depth] = *scope;
	stack->scopes[stack->depth].classifier = classifier_at(stack, stack->depth);
	stack->depth++;
	return true;
}

static bool push_scope(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, const struct rvp_moment *moment)
{
	const struct rvp_record_SCOPE *record = &moment->record->SCOPE;
	/* A category that is no right word is counted by being read: not of one that is too deep. */
	uint16_t purpose = stack->depth < RVP_SCOPES_MAX ? purpose_of(stacks, record) : RVP_PURPOSE_NONE;

	return push(stacks, stack,
		    &(struct rvp_scope){
			.name = record->name,
			.args = record->args,
			.category = record->category,
			.begin_ns = moment->ns,
			.tid = moment->tid,
			.purpose = purpose,
			.source = (uint8_t)record->source,
			.is_operator = record->kind == RVP_SCOPE_OPERATOR_BEGIN,
		    });
}

static size_t domain_length(struct rvp_text args)
{
	const char *slash = args.length ? memchr(args.bytes, '/', args.length) : NULL;

	return slash ? (size_t)(slash - args.bytes) : args.length;
}

static bool is_same_speaker(const struct rvp_scope *scope, const struct rvp_record_SCOPE *end)
{
	size_t length = domain_length(end->args);

	if (scope->source != end->source)
		return false;
	return end->source != RVP_SOURCE_NVTX || (domain_length(scope->args) == length &&
						  memcmp(scope->args.bytes, end->args.bytes, length) == 0);
}

static void take_out(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, uint32_t number, uint64_t ns,
		     bool is_open)
{
	tell(stacks, stack, number, ns, is_open);
	memmove(&stack->scopes[number], &stack->scopes[number + 1],
		(stack->depth - number - 1) * sizeof *stack->scopes);
	stack->depth--;
	for (; number < stack->depth; number++)
		stack->scopes[number].classifier = classifier_at(stack, number);
}

/* What the end is of: the innermost of its kind and speaker; -1: there is none. */
static int64_t begin_of(const struct rvp_scope_stack *stack, const struct rvp_record_SCOPE *end)
{
	bool is_operator = end->kind == RVP_SCOPE_OPERATOR_END;

	for (uint32_t number = stack->depth; number-- > 0;)
		if (stack->scopes[number].is_operator == is_operator &&
		    is_same_speaker(&stack->scopes[number], end))
			return number;
	return -1;
}

static void end(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, const struct rvp_moment *moment)
{
	const struct rvp_record_SCOPE *record = &moment->record->SCOPE;
	int64_t begin;

	if (stack->beyond) {
		stack->beyond--;
		return;
	}
	begin = begin_of(stack, record);
	if (begin < 0) {
		if (stack->process >= stacks->run->process_count ||
		    !stacks->run->processes[stack->process].is_fork)
			count_unbalanced(stacks, stack->process, 1);
		return;
	}
	for (uint32_t number = stack->depth - 1; number > begin; number--)
		if (is_same_speaker(&stack->scopes[number], record)) {
			take_out(stacks, stack, number, moment->ns, false);
			count_unbalanced(stacks, stack->process, 1);
		}
	take_out(stacks, stack, (uint32_t)begin, moment->ns, false);
}

/* ---- rows ---- */

/* A speaker that says nothing by SCOPE records. */
enum { ROW_SOURCE = RVP_SOURCE_COUNT };

static bool is_file(const struct rvp_code *code, const char *name)
{
	size_t length = strlen(name), all = strlen(code->file);

	return all >= length && !strcmp(code->file + all - length, name) &&
	       (all == length || code->file[all - length - 1] == '/');
}

static bool is_ours(const struct rvp_code *code)
{
	static const char text[] = "<rvprof>/";

	return code && (!strncmp(code->file, text, sizeof text - 1) || is_file(code, "rvprof.py"));
}

/* PyTorch's record_function begins an operator in a function that calls others to do so; it calls nobody else's. */
static bool hides_inner(const struct rvp_code *code)
{
	return code && is_file(code, "torch/autograd/profiler.py");
}

static bool is_in_hiding(const struct rvp_scope_stack *stack)
{
	for (uint32_t number = stack->depth; number-- > 0;)
		if (stack->scopes[number].is_row)
			return stack->scopes[number].hides_inner;
	return false;
}

/* What was entered before is drawn from the window's begin, but behind what the thread has shown in it already. */
static uint64_t row_begin_ns(const struct rvp_scope_stacks *stacks, const struct rvp_scope_stack *stack,
			     const struct rvp_moment *moment)
{
	uint64_t ns = stacks->window_ns[moment->process];

	if (moment->record->PYTHON_CALL.kind != RVP_PYTHON_CALL_OPEN)
		return moment->ns;
	return stack->last_ns > ns ? stack->last_ns : ns;
}

static bool push_row(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, const struct rvp_moment *moment)
{
	uint64_t number = moment->record->PYTHON_CALL.code;
	const struct rvp_code *code = rvp_code_at(&stacks->run->processes[moment->process], number);
	bool hides = hides_inner(code) || is_in_hiding(stack);

	return push(stacks, stack,
		    &(struct rvp_scope){
			.begin_ns = row_begin_ns(stacks, stack, moment),
			.tid = moment->tid,
			.purpose = RVP_PURPOSE_NONE,
			.source = ROW_SOURCE,
			.is_row = true,
			.is_hidden = hides || is_ours(code),
			.hides_inner = hides,
			.code = (uint32_t)number,
		    });
}

/* A code object that was forgotten in between has another number. */
static bool is_code(const struct rvp_scope_stacks *stacks, const struct rvp_scope_stack *stack, uint64_t number,
		    const struct rvp_scope *row)
{
	const struct rvp_process *process = &stacks->run->processes[stack->process];
	const struct rvp_code *left, *right;

	if (!number || !row->code || row->code == number)
		return true;
	left = rvp_code_at(process, number);
	right = rvp_code_at(process, row->code);
	return left && right && left->first_line == right->first_line && !strcmp(left->name, right->name) &&
	       !strcmp(left->file, right->file);
}

/* The innermost of that code; one that is not there began before the window, or was lost. */
static void end_row(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, uint64_t code, uint64_t ns)
{
	if (stack->beyond) {
		stack->beyond--;
		return;
	}
	for (uint32_t number = stack->depth; number-- > 0;)
		if (stack->scopes[number].is_row && is_code(stacks, stack, code, &stack->scopes[number])) {
			take_out(stacks, stack, number, ns, false);
			return;
		}
}

static void end_rows_of(struct rvp_scope_stacks *stacks, uint32_t process, uint64_t ns)
{
	for (size_t i = 0; i < stacks->count; i++) {
		struct rvp_scope_stack *stack = &stacks->stacks[i];

		for (uint32_t number = stack->process == process ? stack->depth : 0; number-- > 0;)
			if (stack->scopes[number].is_row)
				take_out(stacks, stack, number, ns, true);
	}
}

static void see_window(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment)
{
	bool has_python = moment->record->ROWS.kinds & RVP_ROWS_PYTHON;

	end_rows_of(stacks, moment->process, moment->ns);
	stacks->window_ns[moment->process] = has_python ? moment->ns : 0;
}

static bool see_call(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, const struct rvp_moment *moment)
{
	if (!stacks->window_ns[moment->process])
		return true;
	if (moment->record->PYTHON_CALL.kind != RVP_PYTHON_CALL_END)
		return push_row(stacks, stack, moment);
	end_row(stacks, stack, moment->record->PYTHON_CALL.code, moment->ns);
	return true;
}

static bool is_of_rows(enum rvp_kind kind)
{
	return kind == RVP_ROWS || kind == RVP_PYTHON_CALL || kind == RVP_BLAS_CALL;
}

static bool see_row(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment)
{
	const struct rvp_record *record = moment->record;
	struct rvp_scope_stack *stack;
	bool is_good = true;

	if (moment->process >= stacks->run->process_count)
		return true;
	if (record->kind == RVP_ROWS)
		see_window(stacks, moment);
	stack = stack_for(stacks, moment);
	if (!stack)
		return false;
	if (record->kind == RVP_PYTHON_CALL)
		is_good = see_call(stacks, stack, moment);
	if (record->kind != RVP_PYTHON_CALL || record->PYTHON_CALL.kind != RVP_PYTHON_CALL_OPEN)
		stack->last_ns = moment->ns;
	return is_good;
}

static void forget_process(struct rvp_scope_stacks *stacks, uint32_t process, uint64_t ns)
{
	for (size_t i = 0; i < stacks->count; i++)
		if (stacks->stacks[i].process == process)
			empty(stacks, &stacks->stacks[i], ns);
}

bool rvp_scope_stacks_see(struct rvp_scope_stacks *stacks, const struct rvp_event *event)
{
	const struct rvp_moment *moment = event->moment;
	struct rvp_scope_stack *stack;

	if (event->kind == RVP_EVENT_BEGIN || event->kind == RVP_EVENT_END)
		forget_process(stacks, moment->process, moment->ns);
	if (stacks->has_rows && event->kind == RVP_EVENT_RECORD && is_of_rows(moment->record->kind))
		return see_row(stacks, moment);
	if (event->kind != RVP_EVENT_RECORD || moment->record->kind != RVP_SCOPE ||
	    moment->record->SCOPE.kind > RVP_SCOPE_OPERATOR_END)
		return true;
	stack = stack_for(stacks, moment);
	if (!stack)
		return false;
	stack->last_ns = moment->ns;
	if (moment->record->SCOPE.kind == RVP_SCOPE_BEGIN ||
	    moment->record->SCOPE.kind == RVP_SCOPE_OPERATOR_BEGIN)
		return push_scope(stacks, stack, moment);
	end(stacks, stack, moment);
	return true;
}

struct rvp_scope *rvp_scopes_of(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment,
				size_t *count)
{
	struct rvp_scope_stack *stack =
	    moment->stream < stacks->count ? &stacks->stacks[moment->stream] : NULL;

	*count = 0;
	if (!stack || stack->serial != moment->thread_serial || stack->process != moment->process)
		return NULL;
	*count = stack->depth;
	return stack->scopes;
}

struct rvp_scope *rvp_scope_classifier(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment)
{
	size_t count;
	struct rvp_scope *scopes = rvp_scopes_of(stacks, moment, &count);
	uint32_t number = count ? scopes[count - 1].classifier : 0;

	return number ? &scopes[number - 1] : NULL;
}
