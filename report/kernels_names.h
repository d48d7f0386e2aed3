/* SPDX-License-Identifier: MIT */
/* kernels_names.h: what kernels are called and of which class they are; one number a name, whatever processes
 * ran it.
 *
 * Names are demangled where librvprof_symbols.so is to be had, else as the log has them. A class is what the
 * first rule says whose patterns the demangled name matches: the user's, those of the run, then
 * rules/kernels.rules.
 */
#ifndef RVP_REPORT_KERNELS_NAMES_H
#define RVP_REPORT_KERNELS_NAMES_H

#include "report/kernel_class.h"
#include "report/rules.h"
#include "report/run.h"

/* The first rule whose patterns `name` matches, all of it; NULL: none. */
const struct rvp_rule *rvp_rules_of_kernel(const struct rvp_rule_list *rules, const char *name);

struct rvp_kernel_name {
	const char *text; /* demangled, terminated */
	enum rvp_kernel_class class;
};

struct rvp_kernel_names;

/* `rule_files`: the user's, NULL ends them; may be NULL. NULL without memory. */
struct rvp_kernel_names *rvp_kernel_names_open(const struct rvp_run *run, const char *const *rule_files);
void rvp_kernel_names_close(struct rvp_kernel_names *names);

/* The number of a name by the DEVICE_NAME number of its process. Number 0 is "" (no such record), of class
 * other. */
uint32_t rvp_kernel_name_number(struct rvp_kernel_names *names, uint32_t process, uint32_t device_name);
const struct rvp_kernel_name *rvp_kernel_name_at(const struct rvp_kernel_names *names, uint32_t number);
size_t rvp_kernel_name_count(const struct rvp_kernel_names *names);

/* A function of the runtime or the driver as its documentation calls it: "cudaLaunchKernel" of
 * "__cudaLaunchKernel_ptsz" and "cudaLaunchKernel_v7000". */
void rvp_device_function_name(struct rvp_text raw, char *name, size_t name_bytes);

#endif
