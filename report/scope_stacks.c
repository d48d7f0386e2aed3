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
};

bool rvp_scope_stacks_open(struct rvp_scope_stacks *stacks, const struct rvp_run *run,
			   struct rvp_purposes *purposes)
{
	*stacks = (struct rvp_scope_stacks){.run = run, .purposes = purposes};
	stacks->unbalanced = calloc(run->process_count + 1, sizeof *stacks->unbalanced);
	return stacks->unbalanced != NULL;
}

void rvp_scope_stacks_free(struct rvp_scope_stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++)
		free(stacks->stacks[i].scopes);
	free(stacks->stacks);
	free(stacks->unbalanced);
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

static void tell(const struct rvp_scope_stacks *stacks, const struct rvp_scope_stack *stack, uint32_t number,
		 uint64_t ns, bool is_open)
{
	const struct rvp_scope_end end = {.ns = ns,
					  .process = stack->process,
					  .outer_count = number,
					  .is_open = is_open,
					  .is_crossed = number + 1 < stack->depth};

	if (stacks->listener)
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

static bool push(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack,
		 const struct rvp_moment *moment)
{
	const struct rvp_record_SCOPE *record = &moment->record->SCOPE;

	if (stack->depth == RVP_SCOPES_MAX) {
		stack->beyond++;
		return true;
	}
	if (!rvp_grow((void **)&stack->scopes, &stack->room, stack->depth + 1, sizeof *stack->scopes))
		return false;
	stack->scopes[stack->depth] = (struct rvp_scope){
	    .name = record->name,
	    .args = record->args,
	    .category = record->category,
	    .begin_ns = moment->ns,
	    .tid = moment->tid,
	    .purpose = purpose_of(stacks, record),
	    .source = (uint8_t)record->source,
	    .is_operator = record->kind == RVP_SCOPE_OPERATOR_BEGIN,
	};
	stack->scopes[stack->depth].classifier = classifier_at(stack, stack->depth);
	stack->depth++;
	return true;
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

static void take_out(struct rvp_scope_stacks *stacks, struct rvp_scope_stack *stack, uint32_t number, uint64_t ns)
{
	tell(stacks, stack, number, ns, false);
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
			take_out(stacks, stack, number, moment->ns);
			count_unbalanced(stacks, stack->process, 1);
		}
	take_out(stacks, stack, (uint32_t)begin, moment->ns);
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
	if (event->kind != RVP_EVENT_RECORD || moment->record->kind != RVP_SCOPE ||
	    moment->record->SCOPE.kind > RVP_SCOPE_OPERATOR_END)
		return true;
	stack = stack_for(stacks, moment);
	if (!stack)
		return false;
	if (moment->record->SCOPE.kind == RVP_SCOPE_BEGIN ||
	    moment->record->SCOPE.kind == RVP_SCOPE_OPERATOR_BEGIN)
		return push(stacks, stack, moment);
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
