/* SPDX-License-Identifier: MIT */
/* peak_noise.h: how much of what samples say may decide which of two moments was the higher one.
 *
 * In sampled mode a small block that is met stands for half a MiB, one that is not met for nothing. Between
 * two moments the sampled part is apart by the samples that came in between and are still there, and by those
 * that went: samples that are live at both are the same on either side. So the noise of the difference is
 * that of those that came and went, the root of the sum of their variances (and of T^2, for what no sample
 * met), and only a difference beyond QUANTILE times that is one. QUANTILE is 3; of N samples seen it is
 * sqrt(2 ln N), where that is more: the highest of as many moments that are all alike would be about so much
 * above them.
 *
 * Each moment is compared with the peak so far. That alone would not see what sinks a little from peak to
 * peak, while what is recorded each rises: so there is a second moment to compare with, the base, which stays
 * where samples last told of a difference; what is below it beyond noise counts as that much below.
 *
 * Invariants
 *   (N1) A mark's variance is that of the samples live now that were not live at the mark, and of those live
 * then that are not now; mark.born[process] is the first part of it, of a process. (N2) rvp_peak_noise_level
 * changes with samples alone, and rvp_peak_noise_see_peak leaves it as it is.
 */
#ifndef RVP_REPORT_PEAK_NOISE_H
#define RVP_REPORT_PEAK_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_peak_born {
	double variance;
	uint64_t mark_number; /* that it is of; of another one it is 0 */
};

struct rvp_peak_mark { /* a moment that others are compared with */
	uint64_t ns, sampled_bytes;
	uint64_t number; /* counts how often it was moved */
	double variance;
	struct rvp_peak_born *born; /* by process */
};

struct rvp_peak_noise {
	uint64_t sample_bytes; /* T; 0: nothing is sampled */
	uint64_t sample_count; /* that came or went */
	struct rvp_peak_mark peak, base;
	int64_t level_at_peak_bytes;
	int64_t apart_bytes; /* from the peak, as far as it is no noise */
	bool is_apart_from_base;
	bool is_judged; /* these two are of now; else a sample came or went */
};

struct rvp_peak_sample {
	uint32_t process;
	uint64_t birth_ns;
	double variance;
	bool comes; /* else it goes */
};

bool rvp_peak_noise_open(struct rvp_peak_noise *noise, size_t process_count, uint64_t sample_bytes);
void rvp_peak_noise_free(struct rvp_peak_noise *noise);

void rvp_peak_noise_see_sample(struct rvp_peak_noise *noise, const struct rvp_peak_sample *sample);

/* All that is left of it goes; `variance`: of its live samples. */
void rvp_peak_noise_end_process(struct rvp_peak_noise *noise, uint32_t process, double variance);

void rvp_peak_noise_judge(struct rvp_peak_noise *noise, uint64_t sampled_bytes);
void rvp_peak_noise_see_peak(struct rvp_peak_noise *noise, uint64_t sampled_bytes, uint64_t ns);

static inline bool rvp_peak_noise_is_there(const struct rvp_peak_noise *noise)
{
	return noise->sample_bytes > 0;
}

/* What samples add to a moment that is compared with the peak: no measure of bytes by itself, and it may be
 * below 0. */
static inline int64_t rvp_peak_noise_level(struct rvp_peak_noise *noise, uint64_t sampled_bytes)
{
	if (!noise->is_judged)
		rvp_peak_noise_judge(noise, sampled_bytes);
	return noise->level_at_peak_bytes + noise->apart_bytes;
}

#endif
