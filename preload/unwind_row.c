/* SPDX-License-Identifier: MIT */
/* unwind_row.c: see unwind_row.h. The operations are DWARF's DW_CFA_*, by number: their names are in its
 * table 7.29. */
#include "preload/unwind_row.h"

#include "preload/unwind_encoded.h"

enum {
	CFA_ADVANCE = 1, /* the top two bits of an operation */
	CFA_OFFSET = 2,
	CFA_RESTORE = 3,
	REMEMBERED_MAX = 3,
};

struct machine {
	const struct rvp_fde *fde;
	struct rvp_row row, initial, remembered[REMEMBERED_MAX];
	unsigned depth;
	uint64_t at, pc; /* address that the row is for so far, and the one that is wanted */
	bool is_bad;
};

static void set(struct machine *machine, uint64_t number, enum rvp_how how, int64_t value)
{
	if (number >= RVP_REGISTER_COUNT)
		return; /* vector registers: nobody's address */
	machine->row.how[number] = (uint8_t)how;
	machine->row.value[number] = value;
}

static void set_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
	machine->is_bad |= number >= RVP_REGISTER_COUNT;
	machine->row.cfa_is_expression = false;
	machine->row.cfa_register = (uint8_t)number;
	machine->row.cfa = offset;
}

static void restore(struct machine *machine, uint64_t number)
{
	if (number < RVP_REGISTER_COUNT)
		set(machine, number, machine->initial.how[number], machine->initial.value[number]);
}

static int64_t take_expression(struct rvp_encoded *reader)
{
	int64_t at = (int64_t)reader->at;
	uint64_t length = rvp_encoded_unsigned(reader);

	if (length > (uint64_t)(reader->end - reader->at))
		reader->is_bad = true;
	else
		reader->at += length;
	return at;
}

static void remember(struct machine *machine)
{
	if (machine->depth == REMEMBERED_MAX)
		machine->is_bad = true;
	else
		machine->remembered[machine->depth++] = machine->row;
}

static void recall(struct machine *machine)
{
	if (!machine->depth)
		machine->is_bad = true;
	else
		machine->row = machine->remembered[--machine->depth];
}

/* The operations that move on, and those about the CFA. False: it is none of these. */
static bool run_cfa(struct machine *machine, struct rvp_encoded *reader, uint8_t operation)
{
	int64_t factor = machine->fde->data_factor;
	uint64_t number;

	switch (operation) {
	case 0x00: break; /* nop */
	case 0x01: machine->at = rvp_encoded_fixed(reader, 8); break;
	case 0x02: machine->at += rvp_encoded_fixed(reader, 1) * machine->fde->code_factor; break;
	case 0x03: machine->at += rvp_encoded_fixed(reader, 2) * machine->fde->code_factor; break;
	case 0x04: machine->at += rvp_encoded_fixed(reader, 4) * machine->fde->code_factor; break;
	case 0x0a: remember(machine); break;
	case 0x0b: recall(machine); break;
	case 0x0c:
		number = rvp_encoded_unsigned(reader);
		set_cfa(machine, number, (int64_t)rvp_encoded_unsigned(reader));
		break;
	case 0x0d: set_cfa(machine, rvp_encoded_unsigned(reader), machine->row.cfa); break;
	case 0x0e: set_cfa(machine, machine->row.cfa_register, (int64_t)rvp_encoded_unsigned(reader)); break;
	case 0x0f:
		machine->row.cfa_is_expression = true;
		machine->row.cfa = take_expression(reader);
		break;
	case 0x12:
		number = rvp_encoded_unsigned(reader);
		set_cfa(machine, number, rvp_encoded_signed(reader) * factor);
		break;
	case 0x13: set_cfa(machine, machine->row.cfa_register, rvp_encoded_signed(reader) * factor); break;
	case 0x2e: rvp_encoded_unsigned(reader); break; /* size of arguments: for exceptions only */
	default: return false;
	}
	return true;
}

/* The operations about one register, its number first. */
static void run_register(struct machine *machine, struct rvp_encoded *reader, uint8_t operation)
{
	int64_t factor = machine->fde->data_factor;
	uint64_t number = rvp_encoded_unsigned(reader);

	switch (operation) {
	case 0x05:
		set(machine, number, RVP_HOW_AT_OFFSET, (int64_t)rvp_encoded_unsigned(reader) * factor);
		break;
	case 0x06: restore(machine, number); break;
	case 0x07: set(machine, number, RVP_HOW_UNDEFINED, 0); break;
	case 0x08: set(machine, number, RVP_HOW_SAME, 0); break;
	case 0x09: set(machine, number, RVP_HOW_REGISTER, (int64_t)rvp_encoded_unsigned(reader)); break;
	case 0x10: set(machine, number, RVP_HOW_AT_EXPRESSION, take_expression(reader)); break;
	case 0x11: set(machine, number, RVP_HOW_AT_OFFSET, rvp_encoded_signed(reader) * factor); break;
	case 0x14:
		set(machine, number, RVP_HOW_IS_OFFSET, (int64_t)rvp_encoded_unsigned(reader) * factor);
		break;
	case 0x15: set(machine, number, RVP_HOW_IS_OFFSET, rvp_encoded_signed(reader) * factor); break;
	case 0x16: set(machine, number, RVP_HOW_IS_EXPRESSION, take_expression(reader)); break;
	case 0x2f:
		set(machine, number, RVP_HOW_AT_OFFSET, -(int64_t)rvp_encoded_unsigned(reader) * factor);
		break;
	default: machine->is_bad = true;
	}
}

static void run_packed(struct machine *machine, struct rvp_encoded *reader, uint8_t operation)
{
	uint64_t low = operation & 0x3f;

	if (operation >> 6 == CFA_ADVANCE)
		machine->at += low * machine->fde->code_factor;
	else if (operation >> 6 == CFA_OFFSET)
		set(machine, low, RVP_HOW_AT_OFFSET,
		    (int64_t)rvp_encoded_unsigned(reader) * machine->fde->data_factor);
	else
		restore(machine, low);
}

static bool run(struct machine *machine, const uint8_t *program, const uint8_t *end)
{
	struct rvp_encoded reader = {program, end, false};

	while (reader.at < reader.end && !reader.is_bad && !machine->is_bad) {
		uint64_t operation = rvp_encoded_fixed(&reader, 1);

		if (operation >> 6)
			run_packed(machine, &reader, (uint8_t)operation);
		else if (!run_cfa(machine, &reader, (uint8_t)operation))
			run_register(machine, &reader, (uint8_t)operation);
		if (machine->at > machine->pc)
			break; /* an operation that moves on changes nothing else */
	}
	return !reader.is_bad && !machine->is_bad;
}

bool rvp_row_make(const struct rvp_fde *fde, uint64_t pc, struct rvp_row *row)
{
	struct machine machine;

	if (fde->return_register >= RVP_REGISTER_COUNT)
		return false;
	machine.fde = fde;
	machine.depth = 0;
	machine.is_bad = false;
	machine.at = fde->start;
	machine.pc = pc;
	machine.row = (struct rvp_row){
	    .is_signal = fde->is_signal,
	    .return_register = (uint8_t)fde->return_register,
	    .cfa_register = RVP_REGISTER_COUNT,
	};
	machine.initial = machine.row;
	if (!run(&machine, fde->initial, fde->initial_end))
		return false;
	machine.initial = machine.row;
	if (!run(&machine, fde->program, fde->program_end))
		return false;
	*row = machine.row;
	return row->cfa_is_expression || row->cfa_register < RVP_REGISTER_COUNT;
}

const uint8_t *rvp_row_expression(int64_t value, uint64_t *length)
{
	struct rvp_encoded reader = {(const uint8_t *)value, (const uint8_t *)value + 10, false};

	*length = rvp_encoded_unsigned(&reader);
	return reader.at;
}
