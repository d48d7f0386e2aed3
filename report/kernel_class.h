/* SPDX-License-Identifier: MIT */
/* kernel_class.h: the classes of kernels (kernel_class.def), and their words in rules and outputs. */
#ifndef RVP_REPORT_KERNEL_CLASS_H
#define RVP_REPORT_KERNEL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum rvp_kernel_class {
#define RVP_KERNEL_CLASS(ID, name, what) RVP_KERNEL_CLASS_##ID,
#include "report/kernel_class.def"
	RVP_KERNEL_CLASS_COUNT
};
extern const char *const rvp_kernel_class_names[RVP_KERNEL_CLASS_COUNT];

/* False for no class's name. */
bool rvp_kernel_class_of_word(const char *word, uint32_t *class);

#endif
