/* SPDX-License-Identifier: MIT */
/* pass_sums.c: see pass.h: what is live, by site, purpose and category, and in which site a block is summed.
 */
#include "report/attribution.h"
#include "report/pass.h"

void rvp_pass_settle_peak(const struct rvp_pass *pass, struct rvp_site *site)
{
	if (site->peak_seen == pass->peak_number)
		return;
	site->at_peak = site->live;
	site->peak_sampled_bytes = site->live_sampled_bytes;
	site->peak_variance = site->live_variance;
	site->peak_seen = pass->peak_number;
}

void rvp_live_add(struct rvp_live *live, const struct rvp_weight *weight)
{
	live->amount.bytes += weight->amount.bytes;
	live->amount.count += weight->amount.count;
	if (weight->variance > 0) {
		live->sampled_bytes += weight->amount.bytes;
		live->variance += weight->variance;
	}
}

void rvp_live_subtract(struct rvp_live *live, const struct rvp_weight *weight)
{
	live->amount.bytes -= weight->amount.bytes;
	live->amount.count -= weight->amount.count;
	if (weight->variance > 0) {
		live->sampled_bytes -= weight->amount.bytes;
		live->variance -= weight->variance;
	}
}

static void see_maximum(struct rvp_maximum *maximum, const struct rvp_live *live, uint64_t ns)
{
	if (live->amount.bytes > maximum->bytes)
		*maximum = (struct rvp_maximum){live->amount.bytes, ns};
}

static enum rvp_category category_of(const struct rvp_pass *pass, uint16_t purpose)
{
	if (purpose < RVP_CATEGORY_COUNT || !pass->question->attribution)
		return (enum rvp_category)purpose;
	return rvp_purpose_category(rvp_attribution_purposes(pass->question->attribution), purpose);
}

/* Into a site, its purpose and what is tracked; not yet into the sums of blocks alone. */
void rvp_pass_enter(struct rvp_pass *pass, struct rvp_site *site, const struct rvp_weight *weight,
		    uint64_t ns)
{
	enum rvp_category category = category_of(pass, site->purpose);

	site->live.bytes += weight->amount.bytes;
	site->live.count += weight->amount.count;
	if (weight->variance > 0) {
		site->live_sampled_bytes += weight->amount.bytes;
		site->live_variance += weight->variance;
	}
	rvp_live_add(&pass->state.tracked, weight);
	rvp_live_add(&pass->state.by_purpose[site->purpose], weight);
	rvp_live_add(&pass->state.by_category[category], weight);
	see_maximum(&pass->answer->max_by_purpose[site->purpose], &pass->state.by_purpose[site->purpose], ns);
	see_maximum(&pass->answer->max_by_category[category], &pass->state.by_category[category], ns);
}

void rvp_pass_take_out(struct rvp_pass *pass, struct rvp_site *site, const struct rvp_weight *weight)
{
	site->live.bytes -= weight->amount.bytes;
	site->live.count -= weight->amount.count;
	if (weight->variance > 0) {
		site->live_sampled_bytes -= weight->amount.bytes;
		site->live_variance -= weight->variance;
	}
	rvp_live_subtract(&pass->state.tracked, weight);
	rvp_live_subtract(&pass->state.by_purpose[site->purpose], weight);
	rvp_live_subtract(&pass->state.by_category[category_of(pass, site->purpose)], weight);
}

static void leave_estimate(struct rvp_live *live, const struct rvp_site *site)
{
	live->sampled_bytes -= site->live_sampled_bytes;
	live->variance -= site->live_variance;
}

void rvp_pass_leave_estimates(struct rvp_pass *pass, struct rvp_site *site)
{
	leave_estimate(&pass->state.tracked, site);
	leave_estimate(&pass->state.by_purpose[site->purpose], site);
	leave_estimate(&pass->state.by_category[category_of(pass, site->purpose)], site);
	site->live_sampled_bytes = 0;
	site->live_variance = 0;
}

/* In which site a block is summed: asked at its birth. A file's mapping is resident memory of category file
 * unless evidence says what it is. */
uint32_t rvp_pass_classify(void *context, const struct rvp_event *birth)
{
	struct rvp_pass *pass = context;
	struct rvp_verdict verdict;
	uint32_t number;

	if (!pass->question->attribution)
		return birth->block.flags & RVP_BLOCK_FILE ? RVP_NOT_COUNTED : birth->block.site;
	verdict = rvp_attribution_judge(pass->question->attribution, birth);
	if (verdict.purpose == RVP_CATEGORY_UNKNOWN && birth->block.flags & RVP_BLOCK_FILE)
		return RVP_NOT_COUNTED;
	number = rvp_site_with_purpose(pass->sites, &pass->base.sites[birth->block.site], verdict.purpose,
				       verdict.evidence, verdict.confidence, verdict.reason);
	pass->no_memory |= number == UINT32_MAX;
	return number;
}

static struct rvp_block *block_of(struct rvp_pass *pass, const struct rvp_block_key *key)
{
	struct rvp_block *block = rvp_matched_block(pass->matcher, key->process, key->address);

	if (!block || block->birth_ns != key->birth_ns)
		block = rvp_mapped_block(&pass->maps, key->process, key->address);
	return block && block->birth_ns == key->birth_ns ? block : NULL;
}

/* A block changes its purpose in the middle of its life. */
static void change(struct rvp_pass *pass, const struct rvp_recast *to)
{
	struct rvp_block *block = block_of(pass, &to->key);
	struct rvp_weight weight;
	uint32_t number;

	if (!block)
		return;
	number = rvp_site_with_purpose(pass->sites, &pass->base.sites[block->site], to->verdict.purpose,
				       to->verdict.evidence, to->verdict.confidence, to->verdict.reason);
	if (number == UINT32_MAX) {
		pass->no_memory = true;
		return;
	}
	/* NULL: a file's mapping that nobody spoke for until now. */
	struct rvp_site *old = block->split != RVP_NOT_COUNTED ? &pass->sites->sites[block->split] : NULL;
	struct rvp_site *site = &pass->sites->sites[number];

	weight = rvp_weight_of(block, pass->run->processes[to->key.process].sample_bytes);
	rvp_pass_settle_peak(pass, site);
	if (old) {
		rvp_pass_settle_peak(pass, old);
		rvp_pass_take_out(pass, old, &weight);
	}
	rvp_pass_enter(pass, site, &weight, to->ns);
	if (!site->first_ns)
		site->first_ns = site->last_ns = to->ns;
	block->split = number;
	pass->state.change_count++;
}

void rvp_pass_recast_before(struct rvp_pass *pass, uint64_t ns)
{
	size_t count;
	const struct rvp_recast *changes = rvp_attribution_recasts(pass->question->attribution, &count);

	for (; pass->next_change < count && changes[pass->next_change].ns < ns; pass->next_change++)
		change(pass, &changes[pass->next_change]);
}
