/* SPDX-License-Identifier: MIT */
/* kernel_class.c: see kernel_class.h. */
#include "report/kernel_class.h"

#include <string.h>

const char *const rvp_kernel_class_names[RVP_KERNEL_CLASS_COUNT] = {
#define RVP_KERNEL_CLASS(ID, name, what) name,
#include "report/kernel_class.def"
};

bool rvp_kernel_class_of_word(const char *word, uint32_t *class)
{
	for (uint32_t i = 0; i < RVP_KERNEL_CLASS_COUNT; i++)
		if (!strcmp(word, rvp_kernel_class_names[i])) {
			*class = i;
			return true;
		}
	return false;
}
