/* SPDX-License-Identifier: MIT */
/* words.h: a command that is one text, cut at blanks as a shell without variables cuts it: 'single' and
 * "double" quotes hold words together, a backslash takes the next character as it is. */
#ifndef RVP_SWEEP_WORDS_H
#define RVP_SWEEP_WORDS_H

#include "record/status.h"

#include <stdbool.h>

/* malloc'ed, NULL ends them; NULL on failure: a quote without end, no memory. */
struct rvp_status rvp_words_cut(char ***words, const char *text);

/* Whether a shell would do more with it than cut it. */
bool rvp_words_need_shell(const char *text);

void rvp_words_free(char **words);

#endif
