/* SPDX-License-Identifier: MIT */
/* commands.h: attn's commands: each gets its own words, argv[0] is its name, and returns the exit status. */
#ifndef ATTN_COMMANDS_H
#define ATTN_COMMANDS_H

int attn_run(int argc, char **argv);
int attn_gate(int argc, char **argv);
int attn_coherence(int argc, char **argv);
int attn_hysteresis(int argc, char **argv);

#endif
