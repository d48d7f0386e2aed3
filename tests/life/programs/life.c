/* SPDX-License-Identifier: MIT */
/* life.c: runs one case. Usage: life NAME | life --list */
#include "tests/life/programs/case.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct life_case *const tables[] = {ending_cases, birth_cases,      limit_cases, thread_cases,
						 module_cases, descriptor_cases, read_cases};

void say(const char *format, ...)
{
	char line[512];
	va_list words;
	int length;

	va_start(words, format);
	length = vsnprintf(line, sizeof line, format, words);
	va_end(words);
	if (write(1, line, (size_t)length) != length)
		_exit(99);
}

void print_end(const char *name, int pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		say("%s: waitpid failed\n", name);
	else if (WIFEXITED(status))
		say("%s: exited %d\n", name, WEXITSTATUS(status));
	else
		say("%s: signal %d\n", name, WTERMSIG(status));
}

static void fill(void *block, size_t bytes, size_t usable)
{
	/* All that malloc_usable_size promises is the program's. */
	memset(block, 0x5a, usable > bytes ? usable : bytes);
}

static void churn_block(int number)
{
	static const size_t sizes[] = {0, 1, 24, 100, 1000, 4096, 16383, 16384, 70000, 300000};
	size_t bytes = sizes[number % 10];
	void *block = NULL;

	switch (number / 10 % 6) {
	case 0: block = malloc(bytes); break;
	case 1: block = calloc(3, bytes); break;
	case 2: block = memalign(64, bytes); break;
	case 3: block = aligned_alloc(4096, bytes); break;
	case 4:
		if (posix_memalign(&block, 32, bytes) != 0)
			exit(98);
		break;
	case 5: block = reallocarray(NULL, 2, bytes); break;
	}
	if (!block)
		exit(97);
	fill(block, bytes, malloc_usable_size(block));
	block = realloc(block, bytes * 2 + 1);
	if (!block)
		exit(97);
	fill(block, bytes * 2 + 1, malloc_usable_size(block));
	free(block);
}

void churn(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		for (int number = round % 7; number < 60; number += 7)
			churn_block(number);
		free(NULL);
		free(valloc(10));
		free(pvalloc(10));
	}
}

static void list(void)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct life_case *row = tables[i]; row->name; row++)
			say("%s\n", row->name);
}

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	if (!strcmp(words[1], "--list")) {
		list();
		return 0;
	}
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct life_case *row = tables[i]; row->name; row++)
			if (!strcmp(row->name, words[1]))
				return row->run();
	fprintf(stderr, "life: no case '%s'\n", words[1]);
	return 2;
}
