/* SPDX-License-Identifier: MIT */
/* pass_moments.c: see pass.h: what was live at the moments that were asked for. Most of a framework's call
 * paths have the same at all of them: what is kept is where it is another than at the moment before. */
#include "report/grow.h"
#include "report/pass.h"

#include <stdlib.h>

static bool is_same(const struct rvp_amount *a, const struct rvp_amount *b)
{
	return a->bytes == b->bytes && a->count == b->count;
}

static bool hold(struct rvp_pass *pass, struct rvp_site *site, size_t moment)
{
	static const struct rvp_amount nothing;
	struct rvp_analysis *answer = pass->answer;
	size_t last = site->last_held;

	if (is_same(&site->live, last ? &answer->held[last - 1].amount : &nothing))
		return true;
	if (answer->held_count == UINT32_MAX ||
	    !rvp_grow((void **)&answer->held, &pass->held_room, answer->held_count + 1, sizeof *answer->held))
		return false;
	answer->held[answer->held_count] =
	    (struct rvp_held){.moment = (uint32_t)moment,
			      .before = last ? (uint32_t)(answer->held_count + 1 - last) : 0,
			      .amount = site->live};
	site->last_held = (uint32_t)++answer->held_count;
	return true;
}

void rvp_pass_take_moment(struct rvp_pass *pass, size_t number)
{
	for (size_t i = 0; i < pass->sites->count; i++)
		pass->no_memory |= !hold(pass, &pass->sites->sites[i], number);
	pass->answer->moment_live_bytes[number] = pass->state.tracked.amount.bytes;
}

/* A moment is over when something happens behind it. */
void rvp_pass_take_moments_before(struct rvp_pass *pass, uint64_t ns)
{
	const struct rvp_question *question = pass->question;

	while (pass->next_moment < question->moment_count && question->moments_ns[pass->next_moment] < ns) {
		if (question->attribution)
			rvp_pass_recast_before(pass, question->moments_ns[pass->next_moment] + 1);
		rvp_pass_take_moment(pass, pass->next_moment++);
	}
}

void rvp_pass_give_moments(struct rvp_pass *pass)
{
	struct rvp_analysis *answer = pass->answer;

	for (size_t i = 0; i < pass->sites->count; i++)
		if (pass->sites->sites[i].last_held)
			pass->sites->sites[i].held = &answer->held[pass->sites->sites[i].last_held - 1];
	answer->moment_count = pass->question->moment_count;
}
