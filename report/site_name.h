/* SPDX-License-Identifier: MIT */
/* site_name.h: a site in a few words: the innermost function of its stack that is no allocator's, with its
 * line. */
#ifndef RVP_REPORT_SITE_NAME_H
#define RVP_REPORT_SITE_NAME_H

#include "report/match.h"

/* Opens the symbols for this one: for sentences, not for lists. */
void rvp_site_name(const struct rvp_run *run, const struct rvp_site *site, char *text, size_t text_bytes);

#endif
