/* SPDX-License-Identifier: MIT */
/* attributes.h: what is set in CUPTI for all of the process: set before cuInit is done, and put back when CUPTI is given up, so
 * that who comes next finds it as it was. */
#ifndef RVP_CUPTI_ATTRIBUTES_H
#define RVP_CUPTI_ATTRIBUTES_H

#include <stdbool.h>

void rvp_attributes_set(bool is_full);
void rvp_attributes_put_back(void);

#endif
