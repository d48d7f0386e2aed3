/* SPDX-License-Identifier: MIT */
/* attn.c: attention with a min-cut gate, as a program to be measured, and its parts as commands.
 *
 *     attn run [--lambda L --tau T --eps E | --baseline] [--samples N] [--seed S] [--lengths 256,512,1024]
 * [--witness FILE] Prompts of these lengths in turn, each a step of rvprof.h; the last line of standard
 * output is JSON with what it came to. --witness: a JSONL line a decision. attn gate --lambda L --eps E a
 * square of logits (JSON, rows as arrays) on stdin; the gate's decision as JSON attn coherence {"baseline":
 * [..], "gated": [..]} on stdin; how far they are apart attn hysteresis --tau T            a JSON list of
 * masks on stdin; what each comes to, a line each
 *
 * Status 2 and one line on standard error for wrong input. Nothing is printed then. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
    {"run", attn_run}, {"gate", attn_gate}, {"coherence", attn_coherence}, {"hysteresis", attn_hysteresis}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr,
		"attn: say run, gate, coherence or hysteresis; the head of attn.c tells what each does\n");
	return 2;
}
