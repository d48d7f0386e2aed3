/* SPDX-License-Identifier: MIT */
/* scope_stacks.h: the scopes and operators that are open on each thread, as the events of a pass go by.
 *
 * Scopes and operators of one speaker (the program, its Python part, an adapter, a domain of NVTX) nest;
 * those of two speakers need not: they may end in any order. Ranges do not nest and are not in here.
 *
 * What is not balanced is put right, and counted by process:
 *   - an end that nothing began is ignored; in a child by fork it is not counted: its begin was in the
 * parent;
 *   - an end of a scope ends the operators that its speaker began in it, and the other way round;
 *   - what a thread leaves open ends with it, except when its process ends: that is no mistake.
 *
 * With rows (has_rows), Python functions of a window (PYTHON_CALL) are in the same stacks, as a speaker of their own: begun
 * in a window that is open, ended by their end or with the window. Functions of rvprof's own (rvprof.py, the adapter's) and of
 * PyTorch's record_function are followed and told to nobody: a scope begins within one of them and goes on when it is left.
 *
 * Memory: what is open, at most RVP_SCOPES_MAX a thread; deeper ones are counted in and out, and are not
 * seen.
 */
#ifndef RVP_REPORT_SCOPE_STACKS_H
#define RVP_REPORT_SCOPE_STACKS_H

#include "report/match.h"
#include "report/purpose.h"

enum { RVP_SCOPES_MAX = 1024 };

struct rvp_scope {
	struct rvp_text name, args, category; /* live until the run is closed */
	uint64_t begin_ns;
	uint32_t tid;
	uint16_t purpose;           /* RVP_PURPOSE_NONE: it classifies nothing */
	uint8_t source;             /* enum rvp_source */
	bool is_operator;
	bool is_row;                /* a Python function */
	bool is_hidden;             /* one that is told to nobody */
	bool hides_inner;           /* and neither are those that it calls */
	uint32_t code;              /* of a Python function, rvp_code_at; 0: not known */
	uint32_t reason;     /* the user's own; 0 at first */
	uint32_t classifier; /* 1 + the number of the innermost scope, from here outwards, with a purpose; 0:
				none */
};

/* How a scope went out of its thread's stack. */
struct rvp_scope_end {
	uint64_t ns;
	uint32_t process;
	uint32_t outer_count; /* how many stand outside of it */
	bool is_open;         /* nobody ended it: its thread, its process or the run ended first */
	bool is_crossed;      /* some that began inside go on */
};

/* Hears of each scope that goes out, inner ones first. */
struct rvp_scope_listener {
	void (*ended)(struct rvp_scope_listener *listener, const struct rvp_scope *scope,
		      const struct rvp_scope_end *end);
};

struct rvp_scope_stack;

struct rvp_scope_stacks {
	const struct rvp_run *run;
	struct rvp_purposes *purposes;        /* NULL: no scope has a purpose */
	struct rvp_scope_listener *listener;  /* NULL: nobody */
	struct rvp_scope_stack *stacks; /* by stream */
	size_t count;
	bool has_rows;                /* set it behind open */
	uint64_t *window_ns;          /* by process: when a window for Python opened; 0: none is open */
	uint64_t *unbalanced;         /* by process */
	uint64_t too_deep;            /* that were not seen */
	struct rvp_misnamed misnamed; /* of begins */
};

/* False without memory; so is `see`. */
bool rvp_scope_stacks_open(struct rvp_scope_stacks *stacks, const struct rvp_run *run,
			   struct rvp_purposes *purposes);
bool rvp_scope_stacks_see(struct rvp_scope_stacks *stacks, const struct rvp_event *event);

/* Behind the last event, or before another pass: nothing is open, and nothing was left open. */
void rvp_scope_stacks_empty(struct rvp_scope_stacks *stacks);

/* The innermost scope with a purpose on the moment's thread; NULL: none. Until the next event. */
struct rvp_scope *rvp_scope_classifier(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment);

/* All that are open on the moment's thread, outermost first; how many in *count. Likewise. */
struct rvp_scope *rvp_scopes_of(struct rvp_scope_stacks *stacks, const struct rvp_moment *moment,
				size_t *count);

void rvp_scope_stacks_free(struct rvp_scope_stacks *stacks);

#endif
