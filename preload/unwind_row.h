/* SPDX-License-Identifier: MIT */
/* unwind_row.h: what unwind tables say for one address: where the caller's registers are.
 *
 * A row is made by running the CIE's and the FDE's programs up to the address (DWARF 4, section 6.4, and the
 * GNU extensions). rvp_row_step applies it to a whole set of registers with checked reads: exact and slow.
 */
#ifndef RVP_UNWIND_ROW_H
#define RVP_UNWIND_ROW_H

#include "preload/arch/x86_64/unwind.h"
#include "preload/unwind_find.h"
#include "preload/unwind_memory.h"

/* How a register of the caller is found again; SAME is what a table that says nothing means. */
enum rvp_how {
	RVP_HOW_SAME,
	RVP_HOW_UNDEFINED,
	RVP_HOW_AT_OFFSET, /* in memory at CFA + value */
	RVP_HOW_IS_OFFSET, /* is CFA + value */
	RVP_HOW_REGISTER,  /* is in register `value` */
	RVP_HOW_AT_EXPRESSION,
	RVP_HOW_IS_EXPRESSION, /* value: address of the expression's length */
};

struct rvp_row {
	bool is_signal;
	uint8_t return_register;
	bool cfa_is_expression;
	uint8_t cfa_register;
	uint8_t how[RVP_REGISTER_COUNT];
	int64_t cfa; /* offset, or address of the expression's length */
	int64_t value[RVP_REGISTER_COUNT];
};

/* False: the programs hold what we don't know. */
bool rvp_row_make(const struct rvp_fde *fde, uint64_t pc, struct rvp_row *row);

/* The caller's registers from the callee's. False: something that is needed is unknown or unreadable. */
bool rvp_row_step(const struct rvp_row *row, struct rvp_memory *memory, struct rvp_registers *registers);

/* Where an expression begins, and how long it is; `value` as in a row. */
const uint8_t *rvp_row_expression(int64_t value, uint64_t *length);

#endif
