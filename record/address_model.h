/* SPDX-License-Identifier: MIT */
/* address_model.h: which addresses a program probably gets and gives back next, for packing (columns.h): a block is given
 * back that was asked for so many requests ago, and a request gets what was last given back of its size. Who packs and
 * who unpacks keep the same model by the same rules, from nothing at the start of a piece:
 *
 *   - Sizes are put into classes: (size + 23) / 16, at most 255.
 *   - An address that was given out has a number, counted from 0. The last 65536 are remembered with their class.
 *   - AGE of a free: how many were given out from that block on (1: it was the last), where it is remembered, is the
 *     youngest of its address and has not been told as an age before. Then its address goes on top of its class's pile.
 *   - RANK of a request: how many lie above its address in its class's pile, + 1. The address leaves the pile, and those that
 *     lay above it go to the bottom, in their order: an allocator would have taken them first if it could.
 *   - A pile has room for 16: the lowest one goes.
 *   - 0 stands for neither: then the address is there as it was. It does not change piles.
 *
 * A record of 64 bytes and more between two events may be a chunk's header: differences count from 0 behind it, in the
 * model always. No rule depends on what the addresses really are, only how well they are foretold.
 */
#ifndef RVP_ADDRESS_MODEL_H
#define RVP_ADDRESS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RVP_MODEL_GIVEN = 65536, RVP_MODEL_CLASSES = 256, RVP_MODEL_PILE = 16, RVP_MODEL_REST_BYTES = 64 };

struct rvp_model_block {
	uint64_t address;
	uint32_t class;
	uint32_t is_live;
};

struct rvp_model_pile {
	uint64_t addresses[RVP_MODEL_PILE]; /* the top one last */
	uint32_t count;
};

struct rvp_address_model {
	struct rvp_model_block given[RVP_MODEL_GIVEN];
	struct rvp_model_pile piles[RVP_MODEL_CLASSES];
	uint32_t newest[RVP_MODEL_GIVEN]; /* by hash of an address: its number + 1; for who packs */
	uint32_t count;
	uint64_t last_given, last_freed; /* what differences count from */
};

/* Nothing is known; what was given cannot be asked for. */
static inline void rvp_model_begin(struct rvp_address_model *model)
{
	memset(model->piles, 0, sizeof model->piles);
	memset(model->newest, 0, sizeof model->newest);
	model->count = 0;
	model->last_given = model->last_freed = 0;
}

static inline uint32_t rvp_model_class(uint64_t bytes)
{
	uint64_t class = (bytes + 23) >> 4;

	return bytes < 1 << 12 && class < RVP_MODEL_CLASSES ? (uint32_t)class : RVP_MODEL_CLASSES - 1;
}

static inline uint32_t *rvp_model_newest(struct rvp_address_model *model, uint64_t address)
{
	return &model->newest[address * 0x9e3779b97f4a7c15u >> 48];
}

static inline struct rvp_model_block *rvp_model_at(struct rvp_address_model *model, uint32_t age)
{
	return &model->given[(model->count - age) % RVP_MODEL_GIVEN];
}

/* 0: none. */
static inline uint32_t rvp_model_age(struct rvp_address_model *model, uint64_t address)
{
	uint32_t number = *rvp_model_newest(model, address), age = model->count - (number - 1);
	const struct rvp_model_block *block = rvp_model_at(model, age);

	return number && age <= RVP_MODEL_GIVEN - 1 && block->is_live && block->address == address ? age : 0;
}

static inline void rvp_model_give(struct rvp_address_model *model, uint64_t address, uint32_t class)
{
	model->given[model->count % RVP_MODEL_GIVEN] = (struct rvp_model_block){address, class, 1};
	model->count++;
	model->last_given = address;
}

/* So that rvp_model_age finds what was given last. */
static inline void rvp_model_note_newest(struct rvp_address_model *model)
{
	*rvp_model_newest(model, model->last_given) = model->count;
}

/* The block of this age is given back. */
static inline void rvp_model_take_back(struct rvp_address_model *model, uint32_t age)
{
	struct rvp_model_block *block = rvp_model_at(model, age);
	struct rvp_model_pile *pile = &model->piles[block->class];

	block->is_live = 0;
	if (pile->count == RVP_MODEL_PILE)
		memmove(pile->addresses, pile->addresses + 1, --pile->count * sizeof *pile->addresses);
	pile->addresses[pile->count++] = block->address;
}

/* 0: none. */
static inline uint32_t rvp_model_rank(const struct rvp_model_pile *pile, uint64_t address)
{
	for (uint32_t rank = 1; rank <= pile->count; rank++)
		if (pile->addresses[pile->count - rank] == address)
			return rank;
	return 0;
}

static inline void rvp_model_take_off(struct rvp_model_pile *pile, uint32_t rank)
{
	uint64_t above[RVP_MODEL_PILE];
	uint32_t below = pile->count - rank;

	if (rank == 1) { /* nearly always */
		pile->count--;
		return;
	}
	memcpy(above, pile->addresses + below + 1, (rank - 1) * sizeof *above);
	memmove(pile->addresses + rank - 1, pile->addresses, below * sizeof *above);
	memcpy(pile->addresses, above, (rank - 1) * sizeof *above);
	pile->count--;
}

#endif
