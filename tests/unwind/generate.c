/* SPDX-License-Identifier: MIT */
/* generate.c: prints C functions with random frames and random ways to call each other.
 *
 *     generate SEED UNIT UNITS FUNCTIONS    one of UNITS files that are linked together; UNIT 0 has the table
 * too generate SEED module FUNCTIONS        one for a library by itself, with `void module_enter(int)`
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static int unit, units, functions;
static bool is_module;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 20) % below);
}

/* What makes the frame odd. */
static void print_locals(void)
{
	switch (draw(9)) {
	case 0:
		printf("\tchar *room = __builtin_alloca(draw() %% %u + 1);\n\tTOUCH(room);\n",
		       16 + draw(1000));
		break;
	case 1: printf("\tlong room[draw() %% %u + 1];\n\tTOUCH(room);\n", 1 + draw(100)); break;
	case 2:
		printf("\t_Alignas(%d) char room[%u];\n\tTOUCH(room);\n", 32 << draw(3), 1 + draw(300));
		break;
	case 3:
		printf("\t_Alignas(%d) char even[%u];\n\tchar *room = __builtin_alloca(draw() %% %u + 1);\n"
		       "\tTOUCH(even);\n\tTOUCH(room);\n",
		       32 << draw(3), 1 + draw(300), 16 + draw(500));
		break;
	case 4: printf("\tvolatile long room[%u];\n\troom[0] = budget;\n", 1 + draw(60)); break;
	case 5: /* every register that calls preserve */
		printf("\t__asm__ volatile(\"\" ::: \"rbx\", \"r12\", \"r13\", \"r14\", \"r15\");\n");
		break;
	default:;
	}
}

static void print_callee(void)
{
	if (draw(3) == 0)
		printf("any_function()");
	else if (is_module)
		printf("m_%u", draw((unsigned)functions));
	else
		printf("f_%u_%u", draw((unsigned)units), draw((unsigned)functions));
}

static void print_plain_call(const char *budget)
{
	printf("\t");
	print_callee();
	printf("(%s);\n", budget);
}

static void print_argument_call(void)
{
	printf("\tspread_%d(", is_module ? 0 : unit);
	print_callee();
	printf(", budget - 1, draw(), 2, 3, 4, 5, 6, 7, 8.0, 9, 10.0, (struct wide){{1, 2, 3, 4, 5}}, %u);\n",
	       draw(1000));
}

static void print_guarded_call(void)
{
	printf("\tif (here->jump_count < JUMPS_MAX) {\n\t\tjmp_buf back;\n\t\tvolatile int place = "
	       "here->jump_count;\n\n"
	       "\t\there->jumps[here->jump_count++] = &back;\n\t\tif (setjmp(back) == 0)\n\t\t\t");
	print_callee();
	printf("(budget - 1);\n\t\telse\n\t\t\tevent();\n\t\there->jump_count = place;\n\t}\n");
}

/* One of the ways to go on. */
static void print_call(void)
{
	switch (draw(16)) {
	case 0: print_guarded_call(); break;
	case 1: print_argument_call(); break;
	case 2: printf("\tif (draw() %% 8 == 0)\n\t\tjump_back();\n"); break;
	case 3: printf("\tif (draw() %% 4 == 0)\n\t\ttake_signal(budget - 1);\n"); break;
	case 4: printf("\tresume_coroutine(budget - 1);\n"); break;
	case 5: printf("\tyield();\n"); break;
	case 6: printf("\tcall_module(budget - 1);\n"); break;
	case 7:
		printf("\tcall_from_qsort(budget - 1, ");
		print_callee();
		printf(");\n");
		break;
	case 8: printf("\tturn_often_%d(budget - 1);\n", is_module ? 0 : unit); break;
	case 9: /* deep */
		printf("\tfor (int i = 0; i < %u; i++)\n\t", 1 + draw(3));
		print_plain_call("budget - 1");
		break;
	default: print_plain_call("budget - 1");
	}
}

static void print_recursion(const char *name)
{
	printf("\tif (draw() %% 3)\n\t\t%s(budget - 1);\n", name);
}

static void print_function(const char *name)
{
	unsigned calls = 1 + draw(3);

	printf("\nNOINLINE void %s(int budget)\n{\n", name);
	printf("\tif (!step(budget))\n\t\treturn;\n");
	print_locals();
	if (draw(3))
		printf("\tevent();\n");
	if (draw(6) == 0)
		print_recursion(name);
	while (calls--)
		print_call();
	if (draw(2))
		printf("\tevent();\n");
	if (draw(4) == 0) /* most often the last thing, so that the frame is given up before */
		print_plain_call("budget - 1");
	else
		printf("\t__asm__ volatile(\"\" ::: \"memory\");\n");
	printf("}\n");
}

/* Functions whose arguments lie on the stack. */
static void print_spread(int number)
{
	printf(
	    "\nstruct wide {\n\tlong of[5];\n};\n"
	    "NOINLINE static void spread_%d(generated next, int budget, uint64_t a, int b, int c, int d, int "
	    "e, int f, int g,"
	    " double h, int i, double j, struct wide k, int l)\n{\n"
	    "\tif (!step(budget))\n\t\treturn;\n"
	    "\tif ((int)a + b + c + d + e + f + g + (int)h + i + (int)j + (int)k.of[4] + l)\n\t\tevent();\n"
	    "\tnext(budget - 1);\n\tevent();\n}\n",
	    number);
}

/* The same way down again and again, but for one call site, at any depth. What is further in is equal to the
 * digit: only who reads all of the stack sees the difference. */
static void print_turns(int number)
{
	printf("\nNOINLINE static void turn_%d(uint64_t turns, int left);\n"
	       "NOINLINE static void bend_%d(uint64_t turns, int left)\n{\n"
	       "\tchar *room = __builtin_alloca(%u);\n\tTOUCH(room);\n\tturn_%d(turns, "
	       "left);\n\tTOUCH(room);\n}\n",
	       number, number, 16 + 16 * draw(10), number);
	printf("NOINLINE static void turn_%d(uint64_t turns, int left)\n{\n"
	       "\tif (left == 0)\n\t\tevent();\n"
	       "\telse if (turns & 1) {\n\t\tturn_%d(turns >> 2, left - 1);\n\t\t__asm__ "
	       "volatile(\"nop\");\n\t}\n"
	       "\telse if (turns & 2)\n\t\tbend_%d(turns >> 2, left - 1);\n"
	       "\telse\n\t\tturn_%d(turns >> 2, left - 1);\n"
	       "\t__asm__ volatile(\"\" ::: \"memory\");\n}\n",
	       number, number, number, number);
	printf("NOINLINE static void turn_often_%d(int budget)\n{\n"
	       "\tint depth = 3 + (int)(draw() %% 28);\n\tuint64_t turns = draw() & draw() & draw();\n\n"
	       "\tif (!step(budget))\n\t\treturn;\n"
	       "\tfor (int i = 0; i < 20; i++) {\n\t\tturn_%d(turns, depth);\n"
	       "\t\tturns ^= 1ul << draw() %% (uint64_t)(2 * depth);\n\t}\n}\n",
	       number, number);
}

static void print_unit(void)
{
	char name[40];

	for (int u = 0; u < units; u++)
		for (int i = 0; i < functions; i++)
			printf("void f_%d_%d(int budget);\n", u, i);
	print_spread(unit);
	print_turns(unit);
	for (int i = 0; i < functions; i++) {
		snprintf(name, sizeof name, "f_%d_%d", unit, i);
		print_function(name);
	}
	if (unit)
		return;
	printf("\nconst generated generated_functions[] = {\n");
	for (int u = 0; u < units; u++)
		for (int i = 0; i < functions; i++)
			printf("\tf_%d_%d,\n", u, i);
	printf("};\nconst int generated_count = %d;\n", units * functions);
}

static void print_module(void)
{
	char name[40];

	for (int i = 0; i < functions; i++)
		printf("static void m_%d(int budget);\n", i);
	print_spread(0);
	print_turns(0);
	for (int i = 0; i < functions; i++) {
		snprintf(name, sizeof name, "m_%d", i);
		printf("static ");
		print_function(name);
	}
	printf("\nvoid module_enter(int budget);\nvoid module_enter(int budget)\n{\n"
	       "\tstatic const generated own[] = {");
	for (int i = 0; i < functions; i++)
		printf("m_%d, ", i);
	printf("};\n\n\town[draw() %% %d](budget - 1);\n\tevent();\n}\n", functions);
}

int main(int count, char **words)
{
	is_module = count == 4 && !strcmp(words[2], "module");
	if (count != 5 && !is_module)
		return 2;
	unit = is_module ? 0 : atoi(words[2]);
	units = is_module ? 1 : atoi(words[3]);
	functions = atoi(words[count - 1]);
	state =
	    strtoull(words[1], NULL, 10) * 0x9e3779b97f4a7c15 + (uint64_t)unit * 7919 + 88172645463325252u;
	if (functions < 1 || units < 1)
		return 2;
	for (int i = 0; i < 20; i++)
		draw(2);
	printf("#include \"generated.h\"\n#define NOINLINE __attribute__((noinline))\n");
	if (is_module)
		print_module();
	else
		print_unit();
	return 0;
}
