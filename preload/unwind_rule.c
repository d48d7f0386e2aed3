/* SPDX-License-Identifier: MIT */
/* unwind_rule.c: see unwind_rule.h. */
#include "preload/unwind_rule.h"

#include "preload/own.h"
#include "preload/unwind_encoded.h"
#include "preload/unwind_row.h"

enum { PROBES_MAX = 16, SWEEP_EVERY = 1 << 14 };
#define KEY_BUSY 1ul /* being filled; no code address is 1 */

struct rvp_rule_entry *rvp_rule_entries;
_Atomic uint32_t rvp_rule_generation = 1;

bool rvp_rules_start(void)
{
	if (!rvp_rule_entries)
		rvp_rule_entries = rvp_own_map(RVP_RULES_COUNT * sizeof *rvp_rule_entries);
	return rvp_rule_entries != NULL;
}

/* Whether a place with this key may be taken by one of generation `now`: it is free, or of an older
 * generation. */
static bool is_stale(uint64_t key, uint32_t now)
{
	return !key || (key != KEY_BUSY && (int16_t)((uint16_t)now - (uint16_t)(key >> 48)) > 0);
}

/* Frees the places of older generations, long before their 16 bits come round again. */
static void sweep(uint32_t now)
{
	for (uint32_t i = 0; rvp_rule_entries && i < RVP_RULES_COUNT; i++) {
		uint64_t key = atomic_load_explicit(&rvp_rule_entries[i].key, memory_order_relaxed);

		if (key && is_stale(key, now))
			atomic_compare_exchange_strong(&rvp_rule_entries[i].key, &key, 0);
	}
}

void rvp_rules_forget(void)
{
	uint32_t now = atomic_fetch_add_explicit(&rvp_rule_generation, 1, memory_order_seq_cst) + 1;

	if (now % SWEEP_EVERY == 0)
		sweep(now);
}

static rvp_rule look_up(uint64_t key)
{
	uint32_t place = rvp_rule_place(key);

	for (int i = 0; i < PROBES_MAX; i++, place = (place + 1) % RVP_RULES_COUNT) {
		rvp_rule rule = rvp_rule_at(&rvp_rule_entries[place], key);

		if (rule != RVP_RULE_NONE ||
		    !atomic_load_explicit(&rvp_rule_entries[place].key, memory_order_relaxed))
			return rule;
	}
	return RVP_RULE_NONE;
}

static void remember(uint64_t key, rvp_rule rule, uint32_t now)
{
	uint32_t place = rvp_rule_place(key);

	for (int i = 0; i < PROBES_MAX; i++, place = (place + 1) % RVP_RULES_COUNT) {
		uint64_t found = atomic_load_explicit(&rvp_rule_entries[place].key, memory_order_relaxed);

		if (found == key)
			return;
		if (!is_stale(found, now) ||
		    !atomic_compare_exchange_strong(&rvp_rule_entries[place].key, &found, KEY_BUSY))
			continue;
		atomic_store_explicit(&rvp_rule_entries[place].rule, rule, memory_order_release);
		atomic_store_explicit(&rvp_rule_entries[place].key, key, memory_order_release);
		return;
	}
}

static rvp_rule with_offset(enum rvp_rule_kind kind, int64_t offset)
{
	int64_t eighths = offset >> 3;

	if (offset & 7 || eighths < -(1 << 21) || eighths >= 1 << 21)
		return RVP_RULE_ODD;
	return kind | ((uint64_t)eighths & 0x3fffff) << 6;
}

/* Whether an expression is register + offset, and nothing more, or with `dereferenced` the word there. */
static bool is_relative(int64_t expression, uint64_t number, bool dereferenced, int64_t *offset)
{
	uint64_t length;
	const uint8_t *at = rvp_row_expression(expression, &length);
	struct rvp_encoded reader = {at, at + length, false};

	if (rvp_encoded_fixed(&reader, 1) != 0x70 + number)
		return false;
	*offset = rvp_encoded_signed(&reader);
	if (dereferenced && rvp_encoded_fixed(&reader, 1) != 0x06)
		return false;
	return !reader.is_bad && reader.at == reader.end;
}

static bool is_kernel_signal(const struct rvp_row *row)
{
	static const int64_t at[][2] = {{RVP_REGISTER_BP, RVP_SIGNAL_BP_AT},
					{RVP_REGISTER_RA, RVP_SIGNAL_PC_AT}};
	int64_t offset;

	if (!row->cfa_is_expression || !is_relative(row->cfa, RVP_REGISTER_SP, true, &offset) ||
	    offset != RVP_SIGNAL_SP_AT)
		return false;
	for (int i = 0; i < 2; i++)
		if (row->how[at[i][0]] != RVP_HOW_AT_EXPRESSION ||
		    !is_relative(row->value[at[i][0]], RVP_REGISTER_SP, false, &offset) || offset != at[i][1])
			return false;
	return true;
}

static rvp_rule pack_cfa(const struct rvp_row *row, uint64_t pc)
{
	const uint8_t *expression;
	uint64_t length;
	int64_t offset;

	if (!row->cfa_is_expression && row->cfa_register == RVP_REGISTER_SP)
		return with_offset(RVP_RULE_SP, row->cfa);
	if (!row->cfa_is_expression)
		return row->cfa_register == RVP_REGISTER_BP ? with_offset(RVP_RULE_BP, row->cfa)
							    : RVP_RULE_ODD;
	expression = rvp_row_expression(row->cfa, &length);
	if (rvp_plt_cfa_offset(expression, length, pc, &offset))
		return with_offset(RVP_RULE_SP, offset);
	if (is_relative(row->cfa, RVP_REGISTER_BP, true, &offset))
		return with_offset(RVP_RULE_BP_DEREF, offset);
	return RVP_RULE_ODD;
}

static rvp_rule pack_bp(const struct rvp_row *row, bool *fits)
{
	int64_t offset = row->value[RVP_REGISTER_BP], eighths;
	enum rvp_bp_rule rule = RVP_BP_AT_CFA;

	switch (row->how[RVP_REGISTER_BP]) {
	case RVP_HOW_SAME: return RVP_BP_SAME << 4;
	case RVP_HOW_UNDEFINED: return RVP_BP_LOST << 4;
	case RVP_HOW_AT_OFFSET: break;
	case RVP_HOW_AT_EXPRESSION:
		*fits &= is_relative(offset, RVP_REGISTER_BP, false, &offset);
		rule = RVP_BP_AT_BP;
		break;
	default: *fits = false;
	}
	eighths = offset >> 3;
	*fits &= !(offset & 7) && eighths >= -(1 << 15) && eighths < 1 << 15;
	return (uint64_t)rule << 4 | ((uint64_t)eighths & 0xffff) << 28;
}

rvp_rule rvp_rule_pack(const struct rvp_row *row, uint64_t pc)
{
	bool fits = row->return_register == RVP_REGISTER_RA && row->how[RVP_REGISTER_SP] == RVP_HOW_SAME;
	rvp_rule rule, bp = pack_bp(row, &fits);

	if (row->how[row->return_register] == RVP_HOW_UNDEFINED)
		return RVP_RULE_END;
	if (row->is_signal)
		return is_kernel_signal(row) ? RVP_RULE_SIGNAL : RVP_RULE_ODD;
	fits &= row->how[RVP_REGISTER_RA] == RVP_HOW_AT_OFFSET && row->value[RVP_REGISTER_RA] == -8;
	rule = pack_cfa(row, pc);
	return fits && rvp_rule_kind(rule) != RVP_RULE_ODD ? rule | bp : RVP_RULE_ODD;
}

/* A return address that no call pushed: glibc's makecontext names the very start of a function, with no code
 * of anybody's before it, as what a coroutine returns to. Nothing lies further out. */
static bool is_made_up(const struct rvp_object *object, uint64_t pc)
{
	struct rvp_fde fde;

	return rvp_fde_find(object, pc, &fde) == RVP_FOUND && fde.start == pc;
}

static rvp_rule make(const struct rvp_object *object, uint64_t pc, bool exact)
{
	uint64_t at = exact ? pc : pc - 1;
	struct rvp_fde fde;
	struct rvp_row row;

	switch (rvp_fde_find(object, at, &fde)) {
	case RVP_FOUND: return rvp_row_make(&fde, at, &row) ? rvp_rule_pack(&row, pc) : RVP_RULE_ODD;
	case RVP_FOUND_NONE: return !exact && is_made_up(object, pc) ? RVP_RULE_END : RVP_RULE_UNKNOWN;
	default: return RVP_RULE_ODD;
	}
}

static __attribute__((noinline)) rvp_rule make_and_remember(struct rvp_thread *thread, uint64_t pc,
							    bool exact, uint64_t key, uint32_t now)
{
	struct rvp_object object;
	rvp_rule rule;

	if (!rvp_object_find(exact ? pc : pc - 1, &object))
		return RVP_RULE_UNKNOWN;
	rule = make(&object, pc, exact) | (uint64_t)rvp_module_of(thread, &object) << 44;
	if (rvp_rule_entries)
		remember(key, rule, now);
	return rule;
}

rvp_rule rvp_rule_of(struct rvp_thread *thread, uint64_t pc, bool exact)
{
	uint32_t now = atomic_load_explicit(&rvp_rule_generation, memory_order_acquire);
	uint64_t key = rvp_rule_key(pc, exact, now);
	rvp_rule rule = rvp_rule_entries ? look_up(key) : RVP_RULE_NONE;

	return rule != RVP_RULE_NONE ? rule : make_and_remember(thread, pc, exact, key, now);
}
