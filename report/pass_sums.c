/* SPDX-License-Identifier: MIT */
/* pass_sums.c: see pass.h: what is live, by site, purpose and category, and in which site a block is summed.
 */
#include "report/grow.h"
#include "report/pass.h"

enum rvp_category rvp_pass_find_category(struct rvp_pass *pass, uint16_t purpose)
{
	enum rvp_category category =
	    purpose < RVP_CATEGORY_COUNT || !pass->question->attribution
		? (enum rvp_category)purpose
		: rvp_purpose_category(rvp_attribution_purposes(pass->question->attribution), purpose);

	pass->categories[purpose] = (uint8_t)(category + 1);
	return category;
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
	leave_estimate(&pass->state.by_category[rvp_pass_category(pass, site->purpose)], site);
	site->live_sampled_bytes = 0;
	site->live_variance = 0;
}

/* What was judged now holds for more blocks of the call path, or not. */
static void remember(struct rvp_pass *pass, const struct rvp_event *birth, uint32_t number)
{
	struct rvp_lasting lasting = {.split = number + 1};

	if (!rvp_grow((void **)&pass->lasting, &pass->lasting_count, (size_t)birth->block.site + 1,
		      sizeof *pass->lasting))
		pass->no_memory = true;
	else if (rvp_attribution_lasts(pass->question->attribution, birth, &lasting))
		pass->lasting[birth->block.site] = lasting;
}

/* In which site a block is summed: asked at its birth. A file's mapping is resident memory of category file
 * unless evidence says what it is. */
uint32_t rvp_pass_classify(void *context, const struct rvp_event *birth)
{
	struct rvp_pass *pass = context;
	struct rvp_verdict verdict;
	uint32_t number;

	if (pass->question->attribution && rvp_block_device(&birth->block) != pass->question->device)
		return RVP_NOT_COUNTED; /* another pass's */
	if (!pass->question->attribution)
		return birth->block.flags & RVP_BLOCK_FILE ? RVP_NOT_COUNTED : birth->block.site;
	verdict = rvp_attribution_judge(pass->question->attribution, birth);
	if (verdict.purpose == RVP_CATEGORY_UNKNOWN && birth->block.flags & RVP_BLOCK_FILE)
		return RVP_NOT_COUNTED;
	number = rvp_site_with_purpose(pass->sites, &pass->base.keys[birth->block.site], verdict.purpose,
				       verdict.evidence, verdict.confidence, verdict.reason);
	if (number != UINT32_MAX)
		remember(pass, birth, number);
	pass->no_memory |= number == UINT32_MAX;
	return number;
}

static bool is_called(const struct rvp_block *block, const struct rvp_block_key *key)
{
	return block->birth_ns == key->birth_ns && block->birth == key->birth;
}

/* The block of a key, and what it counts. */
static struct rvp_block *device_block_of(struct rvp_pass *pass, const struct rvp_block_key *key,
					 struct rvp_weight *weight)
{
	struct rvp_block *block =
	    rvp_device_block_born(&pass->devices, key->process, key->address, key->birth, &weight->amount.bytes);

	weight->amount.count = 1;
	return block && block->birth_ns == key->birth_ns &&
		       rvp_block_device(block) == pass->question->device
		   ? block
		   : NULL;
}

static struct rvp_block *host_block_of(struct rvp_pass *pass, const struct rvp_block_key *key,
				       struct rvp_weight *weight)
{
	struct rvp_block *block = rvp_matched_block(pass->matcher, key->process, key->address);

	if (!block || !is_called(block, key))
		block = rvp_mapped_block(&pass->maps, key->process, key->address);
	if (!block || !is_called(block, key))
		return NULL;
	*weight = rvp_weight_of(block, pass->run->processes[key->process].sample_bytes);
	return block;
}

/* A block changes its purpose in the middle of its life. */
static void change(struct rvp_pass *pass, const struct rvp_recast *to)
{
	struct rvp_weight weight = {0};
	struct rvp_block *block = pass->question->device ? device_block_of(pass, &to->key, &weight)
							 : host_block_of(pass, &to->key, &weight);
	uint32_t number;

	if (!block)
		return;
	number = rvp_site_with_purpose(pass->sites, &pass->base.keys[block->site], to->verdict.purpose,
				       to->verdict.evidence, to->verdict.confidence, to->verdict.reason);
	if (number == UINT32_MAX) {
		pass->no_memory = true;
		return;
	}
	/* NULL: a file's mapping that nobody spoke for until now. */
	struct rvp_site *old = block->split != RVP_NOT_COUNTED ? &pass->sites->sites[block->split] : NULL;
	struct rvp_site *site = &pass->sites->sites[number];

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

uint64_t rvp_pass_next_recast_ns(const struct rvp_pass *pass)
{
	size_t count;
	const struct rvp_recast *changes = rvp_attribution_recasts(pass->question->attribution, &count);

	return pass->next_change < count ? changes[pass->next_change].ns : RVP_NEVER;
}
