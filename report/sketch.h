/* SPDX-License-Identifier: MIT */
/* sketch.h: where numbers lie, of any number of numbers, in 58 KiB: a DDSketch (buckets that grow with what is in them), whose
 * buckets are 128 parts of each doubling. A quantile taken from it is off by 1/256 (0.4 %) of itself at most.
 *
 * Why. A number x below 256 has a bucket to itself. Any other one has a highest bit h >= 8; let s = h - 7 and p = x >> s, which
 * is in [128, 256). Bucket (s, p) holds the whole numbers from b = p 2^s to b + 2^s - 1, and is told as m = b + (2^s - 1) / 2,
 * rounded down. So |m - x| <= 2^s / 2, and since x >= b >= 128 x 2^s, |m - x| <= x / 256.
 *   - Quantiles: (s, p) -> 128 s + p grows with x, so buckets lie in the order of their numbers, and the number of rank r, counted
 *     from the smallest, is in the first bucket up to which more than r numbers lie. What is told for rank r is that bucket's m,
 *     moved into [least, most], which brings it nearer: it is off by 1/256 of the exact one at most, for every r.
 *   - Merging adds counts bucket by bucket. Sums of whole numbers may be grouped and ordered at will, so merging is
 *     associative and commutative, and a merged sketch is the very one that all numbers together would have made.
 *   - Memory: s is 0 to 56, so there are 58 x 128 buckets for all numbers of 64 bits, whatever their distribution. None is ever
 *     folded into another, as a DDSketch of unbounded numbers has to.
 */
#ifndef RVP_REPORT_SKETCH_H
#define RVP_REPORT_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { RVP_SKETCH_PART_BITS = 7, RVP_SKETCH_PARTS = 1 << RVP_SKETCH_PART_BITS,
       RVP_SKETCH_BUCKETS = (64 - RVP_SKETCH_PART_BITS + 1) * RVP_SKETCH_PARTS };
#define RVP_SKETCH_RELATIVE_ERROR (1.0 / (2 * RVP_SKETCH_PARTS))

/* All zero: none yet. */
struct rvp_sketch {
	uint64_t count, least, most;
	uint64_t buckets[RVP_SKETCH_BUCKETS];
};

void rvp_sketch_add(struct rvp_sketch *sketch, uint64_t value);
void rvp_sketch_merge(struct rvp_sketch *into, const struct rvp_sketch *from);

/* The number at `rank` from 0, of those in order; 0 of none. */
uint64_t rvp_sketch_at(const struct rvp_sketch *sketch, uint64_t rank);

/* The bucket of a number, and the numbers that a bucket holds. */
unsigned rvp_sketch_bucket(uint64_t value);
void rvp_sketch_range(unsigned bucket, uint64_t *first, uint64_t *last);

#endif
