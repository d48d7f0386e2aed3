/* SPDX-License-Identifier: MIT */
/* peak_noise.c: see peak_noise.h. */
#include "report/peak_noise.h"

#include <math.h>
#include <stdlib.h>

enum { QUANTILE_SQUARE = 9 };

bool rvp_peak_noise_open(struct rvp_peak_noise *noise, size_t process_count, uint64_t sample_bytes)
{
	*noise = (struct rvp_peak_noise){.sample_bytes = sample_bytes, .is_judged = true};
	if (!sample_bytes)
		return true;
	noise->peak.born = calloc(process_count, sizeof *noise->peak.born);
	noise->base.born = calloc(process_count, sizeof *noise->base.born);
	return noise->peak.born && noise->base.born;
}

void rvp_peak_noise_free(struct rvp_peak_noise *noise)
{
	free(noise->peak.born);
	free(noise->base.born);
}

static double *born_of(struct rvp_peak_mark *mark, uint32_t process)
{
	struct rvp_peak_born *born = &mark->born[process];

	if (born->mark_number != mark->number)
		*born = (struct rvp_peak_born){.mark_number = mark->number};
	return &born->variance;
}

static void mark_sample(struct rvp_peak_mark *mark, const struct rvp_peak_sample *sample)
{
	bool is_of_then = sample->birth_ns <= mark->ns && !(sample->comes && sample->birth_ns == mark->ns);

	mark->variance += sample->comes == is_of_then ? -sample->variance : sample->variance;
	if (!is_of_then)
		*born_of(mark, sample->process) += sample->comes ? sample->variance : -sample->variance;
}

void rvp_peak_noise_see_sample(struct rvp_peak_noise *noise, const struct rvp_peak_sample *sample)
{
	if (!noise->sample_bytes)
		return;
	mark_sample(&noise->peak, sample);
	mark_sample(&noise->base, sample);
	noise->sample_count++;
	noise->is_judged = false;
}

static void mark_end(struct rvp_peak_mark *mark, uint32_t process, double variance)
{
	double *born = born_of(mark, process);

	mark->variance += variance - 2 * *born;
	*born = 0;
}

void rvp_peak_noise_end_process(struct rvp_peak_noise *noise, uint32_t process, double variance)
{
	if (!noise->sample_bytes)
		return;
	mark_end(&noise->peak, process, variance);
	mark_end(&noise->base, process, variance);
	noise->is_judged = false;
}

static double square_of_quantile(const struct rvp_peak_noise *noise)
{
	double square = noise->sample_count ? 2 * log((double)noise->sample_count) : 0;

	return square > QUANTILE_SQUARE ? square : QUANTILE_SQUARE;
}

/* How far it is from there, if that is no noise; else 0. */
static int64_t apart_from(const struct rvp_peak_noise *noise, const struct rvp_peak_mark *mark,
			  uint64_t sampled_bytes)
{
	double apart = (double)sampled_bytes - (double)mark->sampled_bytes;
	double unmet = (double)noise->sample_bytes;
	/* A sample that came back counts wrongly, if the mark was moved meanwhile. */
	double variance = (mark->variance > 0 ? mark->variance : 0) + unmet * unmet;

	return apart * apart > square_of_quantile(noise) * variance ? (int64_t)apart : 0;
}

void rvp_peak_noise_judge(struct rvp_peak_noise *noise, uint64_t sampled_bytes)
{
	int64_t from_base = apart_from(noise, &noise->base, sampled_bytes);

	noise->apart_bytes = apart_from(noise, &noise->peak, sampled_bytes);
	if (!noise->apart_bytes && from_base < 0)
		noise->apart_bytes = from_base;
	noise->is_apart_from_base = from_base != 0;
	noise->is_judged = true;
}

static void move(struct rvp_peak_mark *mark, uint64_t sampled_bytes, uint64_t ns)
{
	mark->ns = ns;
	mark->sampled_bytes = sampled_bytes;
	mark->variance = 0;
	mark->number++;
}

void rvp_peak_noise_see_peak(struct rvp_peak_noise *noise, uint64_t sampled_bytes, uint64_t ns)
{
	noise->level_at_peak_bytes = rvp_peak_noise_level(noise, sampled_bytes);
	noise->apart_bytes = 0;
	if (noise->is_apart_from_base)
		move(&noise->base, sampled_bytes, ns);
	noise->is_apart_from_base = false;
	move(&noise->peak, sampled_bytes, ns);
}
