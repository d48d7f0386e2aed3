/* SPDX-License-Identifier: MIT */
/* shadow_read.h: the programs' own counts (shadow.h), and which process of a run each is of. */
#ifndef RVP_TESTS_SHADOW_READ_H
#define RVP_TESTS_SHADOW_READ_H

#include "tests/life/run_ledger.h"
#include "tests/life/shadow.h"

#include <stdbool.h>

/* Exits with a line when it can't be read. */
struct shadow_file *shadow_open(const char *path);
uint32_t shadow_count(const struct shadow_file *shadow);

/* The process for the shadow record: same pid and birth, and not taken by an earlier record. `taken` has a
 * place for each process of the ledger, false at first. NULL: none. */
const struct ledger_process *shadow_process(const struct ledger *ledger, const struct shadow_record *record,
					    bool *taken);

#endif
