/* SPDX-License-Identifier: MIT */
/* pass_moments.c: see pass.h: what was live at the moments that were asked for. */
#include "report/pass.h"

#include <stdlib.h>

void rvp_pass_take_moment(struct rvp_pass *pass, size_t number)
{
	size_t count = pass->sites->count;

	pass->moments[number] = calloc(count + 1, sizeof **pass->moments);
	if (!pass->moments[number]) {
		pass->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		pass->moments[number][i] = pass->sites->sites[i].live;
	pass->site_counts[number] = count;
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

bool rvp_pass_give_moments(struct rvp_pass *pass)
{
	size_t count = pass->question->moment_count, sites = pass->sites->count;

	if (!count)
		return true;
	struct rvp_amount *table = calloc(sites * count + 1, sizeof *table);

	if (!table)
		return false;
	for (size_t i = 0; i < sites; i++) {
		pass->sites->sites[i].at_moments = table + i * count;
		for (size_t k = 0; k < count; k++)
			if (i < pass->site_counts[k])
				table[i * count + k] = pass->moments[k][i];
	}
	pass->answer->moment_table = table;
	pass->answer->moment_count = count;
	return true;
}
