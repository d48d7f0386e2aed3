/* SPDX-License-Identifier: MIT */
/* evidence_scopes.c: a block is for what the innermost scope with a category says that was open on its thread
 * when it was asked for (rvprof_scope_begin, rvprof_op_begin, scope() of rvprof.py, a module seen by an
 * adapter).
 *
 * Rules
 *   - Only words that are categories count. NVTX ranges carry none: what their names mean is said by rules.
 *   - A scope of category "unknown" says that nothing is known inside it; it does not let the outer one
 * speak.
 *   - Both passes walk the same stacks; what is not balanced is counted in the survey (loss
 * "unbalanced_scope").
 */
#include "report/evidence.h"
#include "report/scope_stacks.h"

#include <stdlib.h>

struct scopes {
	struct rvp_evidence_source source; /* first: the source is the evidence */
	struct rvp_scope_stacks stacks;
};

static void follow(struct scopes *scopes, const struct rvp_event *event)
{
	if (!rvp_scope_stacks_see(&scopes->stacks, event))
		rvp_evidence_note(scopes->source.attribution,
				  "no memory for open scopes: some were not followed");
}

static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	(void)state;
	follow((struct scopes *)source, event);
}

static void survey_end(struct rvp_evidence_source *source, const struct rvp_state *state)
{
	struct scopes *scopes = (struct scopes *)source;

	for (uint32_t i = 0; i < state->run->process_count; i++)
		rvp_evidence_loss(source->attribution, i, RVP_LOSS_UNBALANCED_SCOPE,
				  scopes->stacks.unbalanced[i]);
	if (scopes->stacks.misnamed.count)
		rvp_evidence_note(
		    source->attribution, "%llu scopes have a category that is none (\"%s\"): see rvprof.h",
		    (unsigned long long)scopes->stacks.misnamed.count, scopes->stacks.misnamed.first);
}

static void begin_pass(struct rvp_evidence_source *source)
{
	rvp_scope_stacks_empty(&((struct scopes *)source)->stacks);
}

static void see(struct rvp_evidence_source *source, const struct rvp_event *event)
{
	follow((struct scopes *)source, event);
}

static const char *speaker(uint8_t source)
{
	return source == RVP_SOURCE_PYTHON    ? "Python scope"
	       : source == RVP_SOURCE_ADAPTER ? "module"
					      : "scope";
}

static bool judge(struct rvp_evidence_source *source, const struct rvp_event *birth,
		  struct rvp_verdict *verdict)
{
	struct scopes *scopes = (struct scopes *)source;
	struct rvp_scope *scope = rvp_scope_classifier(&scopes->stacks, birth->moment);

	if (!scope || scope->purpose == RVP_CATEGORY_UNKNOWN)
		return false;
	if (!scope->reason)
		scope->reason =
		    rvp_reason(source->attribution, "%s '%.*s'", speaker(scope->source),
			       (int)scope->name.length, scope->name.bytes ? scope->name.bytes : "");
	*verdict = (struct rvp_verdict){.purpose = scope->purpose,
					.evidence = RVP_EVIDENCE_SCOPE,
					.confidence = 95,
					.reason = scope->reason};
	return true;
}

static void close_scopes(struct rvp_evidence_source *source)
{
	struct scopes *scopes = (struct scopes *)source;

	rvp_scope_stacks_free(&scopes->stacks);
	free(scopes);
}

struct rvp_evidence_source *rvp_evidence_scopes(struct rvp_attribution *attribution)
{
	struct scopes *scopes = calloc(1, sizeof *scopes);

	if (!scopes)
		return NULL;
	scopes->source = (struct rvp_evidence_source){.survey = survey,
						      .survey_end = survey_end,
						      .begin_pass = begin_pass,
						      .see = see,
						      .judge = judge,
						      .close = close_scopes,
						      .attribution = attribution};
	if (!rvp_scope_stacks_open(&scopes->stacks, rvp_attribution_run(attribution),
				   rvp_attribution_purposes(attribution))) {
		free(scopes);
		return NULL;
	}
	return &scopes->source;
}
