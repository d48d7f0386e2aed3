/* SPDX-License-Identifier: MIT */
/* asan.c: a program built with AddressSanitizer, which brings a malloc of its own and wants to be first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	char *text = strdup("sanitized");

	for (int i = 0; i < 1000; i++)
		free(realloc(malloc((size_t)i), (size_t)i * 3 + 1));
	printf("%s\n", text);
	free(text);
	return 25;
}
