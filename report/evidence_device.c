/* SPDX-License-Identifier: MIT */
/* evidence_device.c: what allocators hold of a device and have not given out is `allocator`.
 *
 *   - A holding of the driver's that a tensor was ever in is a caching allocator's segment: for its whole
 * life, since it was asked for to be cut up. What it counts is what no tensor is in (device_blocks.h).
 *   - What a pool of the driver's keeps is `allocator/pool`.
 */
#include "report/evidence.h"
#include "report/purpose.h"

#include <stdlib.h>

struct device {
	struct rvp_evidence_source source; /* first */
	struct rvp_verdict segment, pool;  /* reason 0: not made yet */
};

static struct rvp_verdict verdict_of(struct rvp_evidence_source *source, const char *purpose, size_t length,
				     const char *reason)
{
	return (struct rvp_verdict){
	    .purpose = rvp_purpose_number(rvp_attribution_purposes(source->attribution), purpose, length),
	    .evidence = RVP_EVIDENCE_COUNTED,
	    .confidence = 100,
	    .reason = rvp_reason(source->attribution, "%s", reason)};
}

static void survey(struct rvp_evidence_source *source, const struct rvp_event *event,
		   const struct rvp_state *state)
{
	struct device *device = (struct device *)source;

	(void)state;
	if (event->kind != RVP_EVENT_RESIZED || !(event->block.flags & RVP_BLOCK_SEGMENT) ||
	    event->weight.amount.bytes >= event->before_bytes)
		return;
	if (!device->segment.reason)
		device->segment =
		    verdict_of(source, "allocator", 9, "a caching allocator holds it for tensors");
	rvp_claim_block(source->attribution, rvp_key_of(event), device->segment, 0);
}

static bool judge(struct rvp_evidence_source *source, const struct rvp_event *birth,
		  struct rvp_verdict *verdict)
{
	struct device *device = (struct device *)source;

	if (!(birth->block.flags & RVP_BLOCK_POOL))
		return false;
	if (!device->pool.reason)
		device->pool = verdict_of(source, "allocator/pool", 14, "a pool of the driver's keeps it");
	*verdict = device->pool;
	return true;
}

static void close_device(struct rvp_evidence_source *source)
{
	free(source);
}

struct rvp_evidence_source *rvp_evidence_device(struct rvp_attribution *attribution)
{
	struct device *device = calloc(1, sizeof *device);

	if (!device)
		return NULL;
	device->source = (struct rvp_evidence_source){
	    .survey = survey, .judge = judge, .close = close_device, .attribution = attribution};
	return &device->source;
}
