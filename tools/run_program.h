/* SPDX-License-Identifier: MIT */
/* run_program.h: the program as a child of `rvprof run`: born on hold, watched, its end passed on.
 *
 * Rules
 *   - The child has our process group, terminal, descriptors, mask and dispositions: what the program sees is
 * what it would see without us. Ours are close-on-exec.
 *   - What the terminal sends (INT, QUIT, HUP, TSTP, WINCH from the kernel) reaches the child by its group;
 * what a process sends to us alone is passed on.
 *   - Our own signals are blocked and read from a signalfd: no handler runs.
 */
#ifndef RVP_RUN_PROGRAM_H
#define RVP_RUN_PROGRAM_H

#include "record/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct rvp_program {
	pid_t pid;
	int channel;   /* to the child while it is on hold */
	int signals;   /* signalfd */
	sigset_t mask; /* before us */
	struct sigaction child_action, pipe_action;
	bool ended;
	int wait_status; /* of waitpid, once ended */
};

/* Forks; the child waits for rvp_program_go. */
struct rvp_status rvp_program_prepare(struct rvp_program *program);

/* Called in the child just before exec, with the word of rvp_program_go: sets its environment; 0 or an errno.
 */
typedef int rvp_before_exec(const char *word, void *context);

/* In the child (prepare left program->pid 0): waits for the word, then becomes `argv`. Does not return. */
void rvp_program_become(struct rvp_program *program, char **argv, rvp_before_exec *before, void *context)
    __attribute__((noreturn));

/* Lets the child go, with `word` (its run folder) as its message; 0, or the errno of its exec: it is gone
 * then. */
int rvp_program_go(struct rvp_program *program, const char *word);

/* Ends the child that is still on hold. */
void rvp_program_cancel(struct rvp_program *program);

/* Waits until something happens or `timeout_ns` have passed (< 0: no limit); passes signals on. */
void rvp_program_wait(struct rvp_program *program, int64_t timeout_ns);

/* From here on signals reach us as usual. */
void rvp_program_done(struct rvp_program *program);

/* Ends this process as the program ended: its status to return, or its signal raised again. */
int rvp_program_pass_on(int wait_status);

#endif
