/* SPDX-License-Identifier: MIT */
/* file_content.c: see file_content.h. */
#include "report/file_content.h"

#include <string.h>

enum {
	PIECES = 16,
	PIECE_BYTES = 4096,
	SHIFTS = 4, /* a header of any length: numbers begin at any byte */
};

/* Numbers that begin at multiples of 4 and a shift. */
struct numbers {
	uint64_t singles, plausible_singles, negative_singles;
	uint64_t halves, plausible_halves, negative_halves;
	uint64_t brains, plausible_brains;
};
struct sample {
	uint64_t bytes, printable; /* printable: ASCII, white space, and all above 127 (UTF-8) */
	uint64_t high_bytes;
	uint64_t changes; /* words that differ from the one before: 0 in a constant file */
	struct numbers numbers[SHIFTS];
};

static bool is_known_format(const unsigned char *head)
{
	static const struct {
		const char *bytes;
		size_t length;
	} magics[] = {
	    {"SQLite format 3", 15},
	    {"\x7f"
	     "ELF",
	     4},
	    {"PK\3\4", 4},
	    {"\x1f\x8b", 2},
	    {"\x89PNG", 4},
	    {"\xff\xd8\xff", 3},
	    {"BZh", 3},
	    {"\xfd"
	     "7zXZ",
	     5},
	    {"\x28\xb5\x2f\xfd", 4},
	    {"REDIS", 5},
	    {"PAR1", 4},
	    {"ARROW1", 6},
	    {"%PDF", 4},
	    {"RIFF", 4},
	    {"OggS", 4},
	    {"!<arch>", 7},
	    {"PACK", 4},
	    {"\xfftOc", 4},
	    {"ggsn", 4},
	    {"ggsq", 4},
	    {"nsgg", 4},
	    {"qsgg", 4},
	};

	for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
		if (memcmp(head, magics[i].bytes, magics[i].length) == 0)
			return true;
	/* Python's byte code: a version and "\r\n". */
	return head[2] == '\r' && head[3] == '\n';
}

/* The range of weights, activations, gradients: 2^-40 to 2^14, and zero. */
static bool is_plausible(unsigned exponent, unsigned bias, bool is_zero)
{
	return is_zero || (exponent + 40 >= bias && exponent <= bias + 14);
}

static void look_at_single(struct numbers *numbers, uint32_t single)
{
	numbers->singles++;
	numbers->plausible_singles += is_plausible(single >> 23 & 255, 127, (single & 0x7fffffff) == 0);
	numbers->negative_singles += single >> 31;
}

/* Halves that are no weights are large: an exponent above 2^6 is rare in them. */
static void look_at_half(struct numbers *numbers, unsigned half)
{
	numbers->halves++;
	numbers->plausible_halves += (half >> 10 & 31) <= 15 + 6;
	numbers->negative_halves += half >> 15;
	numbers->brains++;
	numbers->plausible_brains += is_plausible(half >> 7 & 255, 127, (half & 0x7fff) == 0);
}

static uint32_t word_at(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void look_at_numbers(struct sample *sample, const unsigned char *piece, size_t length)
{
	for (size_t i = 0; i + 4 <= length; i += 4) {
		uint32_t word = word_at(piece + i);

		sample->changes += i >= 4 && word != word_at(piece + i - 4);
	}
	for (size_t shift = 0; shift < SHIFTS; shift++)
		for (size_t i = shift; i + 4 <= length; i += 4) {
			uint32_t word = word_at(piece + i);

			look_at_half(&sample->numbers[shift], word & 0xffff);
			look_at_half(&sample->numbers[shift], word >> 16);
			look_at_single(&sample->numbers[shift], word);
		}
}

static void look_at_bytes(struct sample *sample, const unsigned char *piece, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		sample->printable +=
		    piece[i] >= 127 || (piece[i] >= ' ') || (piece[i] >= '\t' && piece[i] <= '\r');
		sample->high_bytes += piece[i] >= 127;
	}
	sample->bytes += length;
}

static bool is_share(uint64_t part, uint64_t whole, unsigned percent)
{
	return part * 100 >= whole * percent;
}

/* Text has no zero bytes and hardly any control characters, and most of it is ASCII. */
static bool is_text(const struct sample *sample)
{
	return sample->printable >= sample->bytes - sample->bytes / 200 &&
	       sample->high_bytes <= sample->bytes / 3;
}

/* Of either sign: 20 to 80 in a hundred are negative. */
static bool is_signed(uint64_t negative, uint64_t whole)
{
	return is_share(negative, whole, 20) && is_share(whole - negative, whole, 20);
}

static bool are_floats(const struct numbers *numbers)
{
	if (is_share(numbers->plausible_singles, numbers->singles, 99) &&
	    is_signed(numbers->negative_singles, numbers->singles))
		return true;
	/* Of random bytes a half is plausible in 69 of 100. */
	return (is_share(numbers->plausible_halves, numbers->halves, 99) ||
		is_share(numbers->plausible_brains, numbers->brains, 99)) &&
	       is_signed(numbers->negative_halves, numbers->halves);
}

static enum rvp_content judge(const struct sample *sample)
{
	if (is_text(sample))
		return RVP_CONTENT_OTHER;
	/* A constant file says nothing. */
	if (sample->changes == 0)
		return RVP_CONTENT_OPAQUE;
	for (int shift = 0; shift < SHIFTS; shift++)
		if (sample->numbers[shift].negative_halves == 0)
			return RVP_CONTENT_COUNTING;
	for (int shift = 0; shift < SHIFTS; shift++)
		if (are_floats(&sample->numbers[shift]))
			return RVP_CONTENT_FLOATS;
	return RVP_CONTENT_OPAQUE;
}

/* Numbers are looked for in the body alone, behind the first sixteenth: a header of names and sizes, however
 * small, is more than the one in a hundred that may be no weight. */
enum rvp_content rvp_content_of(struct rvp_cursor *cursor)
{
	struct sample sample = {0};
	unsigned char piece[PIECE_BYTES];
	uint64_t step = cursor->size / PIECES;

	for (uint64_t i = 0; i < PIECES; i++) {
		uint64_t at = i * step / 16 * 16, left = at < cursor->size ? cursor->size - at : 0;
		size_t length = left < sizeof piece ? (size_t)left : sizeof piece;

		cursor->at = at;
		if (length < 16 || !rvp_cursor_get(cursor, piece, length))
			return RVP_CONTENT_UNREAD;
		if (i == 0 && is_known_format(piece))
			return RVP_CONTENT_OTHER;
		if (i == 0)
			continue;
		look_at_bytes(&sample, piece, length);
		look_at_numbers(&sample, piece, length);
	}
	return judge(&sample);
}
