/* SPDX-License-Identifier: MIT */
/* unwind_step.c: one step outwards with all registers, by a row (unwind_row.h). */
#include "preload/unwind_encoded.h"
#include "preload/unwind_row.h"

enum { OPERANDS_MAX = 16, OPERATIONS_MAX = 256 };

struct evaluator {
	struct rvp_memory *memory;
	const struct rvp_registers *registers;
	struct rvp_encoded reader;
	const uint8_t *begin;
	uint64_t operands[OPERANDS_MAX];
	unsigned depth;
	bool is_bad;
};

static uint64_t pop(struct evaluator *evaluator)
{
	if (!evaluator->depth) {
		evaluator->is_bad = true;
		return 0;
	}
	return evaluator->operands[--evaluator->depth];
}

static void push(struct evaluator *evaluator, uint64_t value)
{
	if (evaluator->depth == OPERANDS_MAX)
		evaluator->is_bad = true;
	else
		evaluator->operands[evaluator->depth++] = value;
}

static void push_register(struct evaluator *evaluator, uint64_t number, int64_t offset)
{
	if (number >= RVP_REGISTER_COUNT || !(evaluator->registers->known >> number & 1))
		evaluator->is_bad = true;
	else
		push(evaluator, evaluator->registers->value[number] + (uint64_t)offset);
}

static void push_copy(struct evaluator *evaluator, uint64_t below)
{
	if (below >= evaluator->depth)
		evaluator->is_bad = true;
	else
		push(evaluator, evaluator->operands[evaluator->depth - 1 - below]);
}

static void dereference(struct evaluator *evaluator, uint64_t bytes)
{
	uint64_t word = 0, address = pop(evaluator);

	if (bytes > 8 || !rvp_memory_bytes(evaluator->memory, address, &word, bytes))
		evaluator->is_bad = true;
	push(evaluator, word);
}

static void swap_or_rotate(struct evaluator *evaluator, bool rotates)
{
	uint64_t first = pop(evaluator), second = pop(evaluator), third = rotates ? pop(evaluator) : 0;

	push(evaluator, first);
	if (rotates)
		push(evaluator, third);
	push(evaluator, second);
}

static void jump(struct evaluator *evaluator, bool is_taken)
{
	int64_t distance = rvp_encoded_fixed_signed(&evaluator->reader, 2);
	const uint8_t *to = evaluator->reader.at + distance;

	if (!is_taken)
		return;
	if (to < evaluator->begin || to > evaluator->reader.end)
		evaluator->is_bad = true;
	else
		evaluator->reader.at = to;
}

/* Constants and stack moves. False: it is none of these. */
static bool run_push(struct evaluator *evaluator, uint64_t operation)
{
	struct rvp_encoded *reader = &evaluator->reader;

	switch (operation) {
	case 0x03:
	case 0x0e:
	case 0x0f: push(evaluator, rvp_encoded_fixed(reader, 8)); break;
	case 0x08: push(evaluator, rvp_encoded_fixed(reader, 1)); break;
	case 0x09: push(evaluator, (uint64_t)rvp_encoded_fixed_signed(reader, 1)); break;
	case 0x0a: push(evaluator, rvp_encoded_fixed(reader, 2)); break;
	case 0x0b: push(evaluator, (uint64_t)rvp_encoded_fixed_signed(reader, 2)); break;
	case 0x0c: push(evaluator, rvp_encoded_fixed(reader, 4)); break;
	case 0x0d: push(evaluator, (uint64_t)rvp_encoded_fixed_signed(reader, 4)); break;
	case 0x10: push(evaluator, rvp_encoded_unsigned(reader)); break;
	case 0x11: push(evaluator, (uint64_t)rvp_encoded_signed(reader)); break;
	case 0x12: push_copy(evaluator, 0); break;
	case 0x13: pop(evaluator); break;
	case 0x14: push_copy(evaluator, 1); break;
	case 0x15: push_copy(evaluator, rvp_encoded_fixed(reader, 1)); break;
	case 0x16: swap_or_rotate(evaluator, false); break;
	case 0x17: swap_or_rotate(evaluator, true); break;
	default: return false;
	}
	return true;
}

static bool run_unary(struct evaluator *evaluator, uint64_t operation)
{
	int64_t top;

	switch (operation) {
	case 0x06: dereference(evaluator, 8); break;
	case 0x94: dereference(evaluator, rvp_encoded_fixed(&evaluator->reader, 1)); break;
	case 0x19:
		top = (int64_t)pop(evaluator);
		push(evaluator, top < 0 ? 0 - (uint64_t)top : (uint64_t)top);
		break;
	case 0x1f: push(evaluator, 0 - pop(evaluator)); break;
	case 0x20: push(evaluator, ~pop(evaluator)); break;
	case 0x23: push(evaluator, pop(evaluator) + rvp_encoded_unsigned(&evaluator->reader)); break;
	case 0x28: jump(evaluator, pop(evaluator) != 0); break;
	case 0x2f: jump(evaluator, true); break;
	case 0x96: break; /* nop */
	default: return false;
	}
	return true;
}

static uint64_t shifted(uint64_t value, uint64_t count, uint64_t operation)
{
	if (operation == 0x24)
		return count < 64 ? value << count : 0;
	if (operation == 0x25)
		return count < 64 ? value >> count : 0;
	return (uint64_t)((int64_t)value >> (count < 63 ? count : 63));
}

static void run_binary(struct evaluator *evaluator, uint64_t operation)
{
	uint64_t top = pop(evaluator), second = pop(evaluator);
	int64_t right = (int64_t)top, left = (int64_t)second;

	switch (operation) {
	case 0x1a: push(evaluator, second & top); break;
	case 0x1c: push(evaluator, second - top); break;
	case 0x1e: push(evaluator, second * top); break;
	case 0x21: push(evaluator, second | top); break;
	case 0x22: push(evaluator, second + top); break;
	case 0x24:
	case 0x25:
	case 0x26: push(evaluator, shifted(second, top, operation)); break;
	case 0x27: push(evaluator, second ^ top); break;
	case 0x29: push(evaluator, left == right); break;
	case 0x2a: push(evaluator, left >= right); break;
	case 0x2b: push(evaluator, left > right); break;
	case 0x2c: push(evaluator, left <= right); break;
	case 0x2d: push(evaluator, left < right); break;
	case 0x2e: push(evaluator, left != right); break;
	default: evaluator->is_bad = true; /* division too: no table has been seen with it */
	}
}

static void run_one(struct evaluator *evaluator)
{
	uint64_t operation = rvp_encoded_fixed(&evaluator->reader, 1);

	if (operation >= 0x30 && operation < 0x50)
		push(evaluator, operation - 0x30);
	else if (operation >= 0x70 && operation < 0x90)
		push_register(evaluator, operation - 0x70, rvp_encoded_signed(&evaluator->reader));
	else if (operation == 0x92) {
		uint64_t number = rvp_encoded_unsigned(&evaluator->reader);

		push_register(evaluator, number, rvp_encoded_signed(&evaluator->reader));
	} else if (!run_push(evaluator, operation) && !run_unary(evaluator, operation))
		run_binary(evaluator, operation);
}

/* The value of an expression; `first`: what lies on its stack at the start, NULL for nothing. */
static bool evaluate(int64_t expression, const uint64_t *first, struct rvp_memory *memory,
		     const struct rvp_registers *registers, uint64_t *value)
{
	struct evaluator evaluator;
	uint64_t length;

	evaluator.begin = rvp_row_expression(expression, &length);
	evaluator.memory = memory;
	evaluator.registers = registers;
	evaluator.reader = (struct rvp_encoded){evaluator.begin, evaluator.begin + length, false};
	evaluator.depth = 0;
	evaluator.is_bad = false;
	if (first)
		push(&evaluator, *first);
	for (int i = 0; i < OPERATIONS_MAX && evaluator.reader.at < evaluator.reader.end && !evaluator.is_bad;
	     i++)
		run_one(&evaluator);
	*value = pop(&evaluator);
	return !evaluator.is_bad && !evaluator.reader.is_bad && evaluator.reader.at == evaluator.reader.end;
}

static bool find_cfa(const struct rvp_row *row, struct rvp_memory *memory,
		     const struct rvp_registers *registers, uint64_t *cfa)
{
	if (row->cfa_is_expression)
		return evaluate(row->cfa, NULL, memory, registers, cfa);
	*cfa = registers->value[row->cfa_register] + (uint64_t)row->cfa;
	return registers->known >> row->cfa_register & 1;
}

static bool find_register(const struct rvp_row *row, int number, uint64_t cfa, struct rvp_memory *memory,
			  const struct rvp_registers *registers, uint64_t *value)
{
	int64_t rule = row->value[number];

	switch (row->how[number]) {
	case RVP_HOW_SAME: *value = registers->value[number]; return registers->known >> number & 1;
	case RVP_HOW_AT_OFFSET: return rvp_memory_word(memory, cfa + (uint64_t)rule, value);
	case RVP_HOW_IS_OFFSET: *value = cfa + (uint64_t)rule; return true;
	case RVP_HOW_REGISTER:
		*value = rule < RVP_REGISTER_COUNT ? registers->value[rule] : 0;
		return rule < RVP_REGISTER_COUNT && registers->known >> rule & 1;
	case RVP_HOW_AT_EXPRESSION:
		return evaluate(rule, &cfa, memory, registers, value) &&
		       rvp_memory_word(memory, *value, value);
	case RVP_HOW_IS_EXPRESSION: return evaluate(rule, &cfa, memory, registers, value);
	default: return false;
	}
}

bool rvp_row_step(const struct rvp_row *row, struct rvp_memory *memory, struct rvp_registers *registers)
{
	struct rvp_registers caller = {.known = 0};
	uint64_t cfa;

	if (!find_cfa(row, memory, registers, &cfa))
		return false;
	for (int number = 0; number < RVP_REGISTER_COUNT; number++)
		if (find_register(row, number, cfa, memory, registers, &caller.value[number]))
			caller.known |= 1u << number;
	if (row->how[RVP_REGISTER_SP] == RVP_HOW_SAME) {
		caller.value[RVP_REGISTER_SP] = cfa;
		caller.known |= 1u << RVP_REGISTER_SP;
	}
	caller.value[RVP_REGISTER_RA] = caller.value[row->return_register];
	if (!(caller.known >> row->return_register & 1) || !(caller.known >> RVP_REGISTER_SP & 1))
		return false;
	caller.known |= 1u << RVP_REGISTER_RA;
	*registers = caller;
	return true;
}
