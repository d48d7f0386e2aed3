/* SPDX-License-Identifier: MIT */
/* unwind_rule.h: what a usual frame needs to find its caller, in one word, remembered by code address.
 *
 *   63    60 59       44 43            28 27              6 5     4 3    0
 *   +-------+-----------+----------------+-----------------+-------+------+
 *   |   0   |  module   | bp offset / 8  |  cfa offset / 8 |bp rule| kind |
 *   +-------+-----------+----------------+-----------------+-------+------+
 *
 * The table of rules is one for the process: open addressing, read and filled without a lock.
 *   (R1) A key holds address, exactness and the low 16 bits of the generation; a key's rule is stored before
 * the key and stays until a later generation takes the place, so a reader who sees its key before and after
 * reading the rule has the right one. (R2) rvp_rules_forget() makes every rule unknown at once. An address
 * that no object holds is never remembered: a library may be mapped there later without our knowing.
 */
#ifndef RVP_UNWIND_RULE_H
#define RVP_UNWIND_RULE_H

#include "preload/arch/x86_64/unwind.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_rule_kind {
	RVP_RULE_NONE,     /* not made yet */
	RVP_RULE_SP,       /* CFA = sp + offset; the return address at CFA - 8 in this and the next two */
	RVP_RULE_BP,       /* CFA = bp + offset */
	RVP_RULE_BP_DEREF, /* CFA = the word at bp + offset: a realigned frame */
	RVP_RULE_SIGNAL,   /* sp is at the kernel's signal frame */
	RVP_RULE_END,      /* the outermost frame */
	RVP_RULE_ODD,      /* needs the slow unwinder */
	RVP_RULE_UNKNOWN,  /* no unwind table covers it */
};
enum rvp_bp_rule { RVP_BP_SAME, RVP_BP_AT_CFA, RVP_BP_AT_BP, RVP_BP_LOST };

typedef uint64_t rvp_rule;

static inline enum rvp_rule_kind rvp_rule_kind(rvp_rule rule)
{
	return (enum rvp_rule_kind)(rule & 15);
}
static inline enum rvp_bp_rule rvp_rule_bp(rvp_rule rule)
{
	return (enum rvp_bp_rule)(rule >> 4 & 3);
}
static inline int64_t rvp_rule_cfa_offset(rvp_rule rule)
{
	return ((int64_t)(rule << 36) >> 42) * 8;
}
static inline int64_t rvp_rule_bp_offset(rvp_rule rule)
{
	return ((int64_t)(rule << 20) >> 48) * 8;
}
static inline uint16_t rvp_rule_module(rvp_rule rule)
{
	return (uint16_t)(rule >> 44);
}

struct rvp_thread;
struct rvp_row;
struct rvp_object;

/* Names the module of an object for the thread that met it: modules.c. */
uint16_t rvp_module_of(struct rvp_thread *thread, const struct rvp_object *object);

struct rvp_rule_entry {
	_Atomic uint64_t key, rule;
};
enum { RVP_RULES_BITS = 16, RVP_RULES_COUNT = 1 << RVP_RULES_BITS };

extern struct rvp_rule_entry *rvp_rule_entries __attribute__((visibility("hidden"))); /* NULL: no memory for them */
extern _Atomic uint32_t rvp_rule_generation __attribute__((visibility("hidden")));

static inline uint64_t rvp_rule_key(uint64_t pc, bool exact, uint32_t generation)
{
	return pc | (uint64_t)exact << 47 | (uint64_t)(uint16_t)generation << 48;
}

static inline uint32_t rvp_rule_place(uint64_t key)
{
	return (uint32_t)((key & 0xffffffffffff) * 0x9e3779b97f4a7c15 >> (64 - RVP_RULES_BITS));
}

/* The rule in one place if it is this key's, by (R1); else NONE. */
static inline rvp_rule rvp_rule_at(const struct rvp_rule_entry *entry, uint64_t key)
{
	rvp_rule rule;

	if (atomic_load_explicit(&entry->key, memory_order_acquire) != key)
		return RVP_RULE_NONE;
	rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&entry->key, memory_order_relaxed) == key ? rule : RVP_RULE_NONE;
}

/* The rule for the frame whose address is pc: a return address unless `exact`. Never NONE. */
rvp_rule rvp_rule_of(struct rvp_thread *thread, uint64_t pc, bool exact);

/* The same for a return address, with the likely case inline. */
static inline rvp_rule rvp_rule_of_return(struct rvp_thread *thread, uint64_t pc)
{
	uint64_t key =
	    rvp_rule_key(pc, false, atomic_load_explicit(&rvp_rule_generation, memory_order_acquire));
	rvp_rule rule = RVP_RULE_NONE;

	if (__builtin_expect(rvp_rule_entries != NULL, 1))
		rule = rvp_rule_at(&rvp_rule_entries[rvp_rule_place(key)], key);
	return __builtin_expect(rule != RVP_RULE_NONE, 1) ? rule : rvp_rule_of(thread, pc, false);
}

/* The word for a row, with module 0; ODD where it does not fit. */
rvp_rule rvp_rule_pack(const struct rvp_row *row, uint64_t pc);

/* False: no memory for the table; rules are then made again each time. */
bool rvp_rules_start(void);
void rvp_rules_forget(void);

#endif
