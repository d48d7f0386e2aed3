/* SPDX-License-Identifier: MIT */
/* file_content.c: see file_content.h. */
#include "report/file_content.h"

#include <string.h>

enum { PIECES = 16, PIECE_BYTES = 4096 };

struct sample {
	uint64_t bytes, printable;      /* printable: ASCII, white space, and all above 127 (UTF-8) */
	uint64_t words, negative_words; /* of 2 bytes */
	uint64_t changes;               /* words that differ from the one two before: 0 in a constant file */
	uint64_t singles, plausible_singles, negative_singles;
	uint64_t halves, plausible_halves, negative_halves;
	uint64_t brains, plausible_brains;
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

static void look_at_single(struct sample *sample, uint32_t single)
{
	sample->singles++;
	if (is_plausible(single >> 23 & 255, 127, (single & 0x7fffffff) == 0))
		sample->plausible_singles++;
	sample->negative_singles += single >> 31;
}

/* Halves that are no weights are large: an exponent above 2^6 is rare in them. */
static void look_at_half(struct sample *sample, unsigned half)
{
	unsigned exponent = half >> 10 & 31;

	sample->halves++;
	sample->plausible_halves += exponent <= 15 + 6;
	sample->negative_halves += half >> 15;
	sample->brains++;
	sample->plausible_brains += is_plausible(half >> 7 & 255, 127, (half & 0x7fff) == 0);
}

static void look_at_piece(struct sample *sample, const unsigned char *piece, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sample->printable +=
		    piece[i] >= 127 || (piece[i] >= ' ') || (piece[i] >= '\t' && piece[i] <= '\r');
	sample->bytes += length;
	for (size_t i = 0; i + 4 <= length; i += 4) {
		unsigned low = piece[i] | (unsigned)piece[i + 1] << 8;
		unsigned high = piece[i + 2] | (unsigned)piece[i + 3] << 8;

		sample->words += 2;
		sample->negative_words += (low >> 15) + (high >> 15);
		sample->changes += i >= 4 && memcmp(piece + i, piece + i - 4, 4) != 0;
		look_at_half(sample, low);
		look_at_half(sample, high);
		look_at_single(sample, low | (uint32_t)high << 16);
	}
}

/* Text has no zero bytes and hardly any control characters, and most of it is ASCII: checked by the caller's
 * share. */
static bool is_text(const struct sample *sample, uint64_t high_bytes)
{
	return sample->printable >= sample->bytes - sample->bytes / 200 && high_bytes <= sample->bytes / 3;
}

static bool is_share(uint64_t part, uint64_t whole, unsigned percent)
{
	return part * 100 >= whole * percent;
}

/* Of either sign: 20 to 80 in a hundred are negative. */
static bool is_signed(uint64_t negative, uint64_t whole)
{
	return is_share(negative, whole, 20) && is_share(whole - negative, whole, 20);
}

static enum rvp_content judge(const struct sample *sample, uint64_t high_bytes)
{
	if (is_text(sample, high_bytes))
		return RVP_CONTENT_OTHER;
	/* A constant file says nothing. */
	if (sample->changes == 0)
		return RVP_CONTENT_OPAQUE;
	if (sample->negative_words == 0)
		return RVP_CONTENT_COUNTING;
	if (is_share(sample->plausible_singles, sample->singles, 99) &&
	    is_signed(sample->negative_singles, sample->singles))
		return RVP_CONTENT_FLOATS;
	/* Of random bytes a half is plausible in 69 of 100. */
	if ((is_share(sample->plausible_halves, sample->halves, 99) ||
	     is_share(sample->plausible_brains, sample->brains, 99)) &&
	    is_signed(sample->negative_halves, sample->halves))
		return RVP_CONTENT_FLOATS;
	return RVP_CONTENT_OPAQUE;
}

enum rvp_content rvp_content_of(struct rvp_cursor *cursor)
{
	struct sample sample = {0};
	unsigned char piece[PIECE_BYTES];
	uint64_t step = cursor->size / PIECES, high_bytes = 0;

	for (uint64_t i = 0; i < PIECES; i++) {
		uint64_t at = i * step / 16 * 16, left = at < cursor->size ? cursor->size - at : 0;
		size_t length = left < sizeof piece ? (size_t)left : sizeof piece;

		cursor->at = at;
		if (length < 16 || !rvp_cursor_get(cursor, piece, length))
			return RVP_CONTENT_UNREAD;
		if (i == 0 && is_known_format(piece))
			return RVP_CONTENT_OTHER;
		for (size_t b = 0; b < length; b++)
			high_bytes += piece[b] >= 127;
		look_at_piece(&sample, piece, length);
	}
	return judge(&sample, high_bytes);
}
