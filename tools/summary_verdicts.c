/* SPDX-License-Identifier: MIT */
/* summary_verdicts.c: see summary_verdicts.h. */
#include "tools/summary_verdicts.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

void rvp_summary_verdicts(struct rvp_verdicts *verdicts, const char *folder)
{
	char path[PATH_MAX + 32];
	json_t *summary, *sentence;
	size_t i;

	*verdicts = (struct rvp_verdicts){0};
	snprintf(path, sizeof path, "%s/summary.json", folder);
	summary = json_load_file(path, 0, NULL);
	json_array_foreach(json_object_get(summary, "verdicts"), i, sentence)
	{
		const char *text = json_string_value(json_object_get(sentence, "text"));

		if (text && verdicts->count < RVP_SENTENCES_MAX)
			snprintf(verdicts->sentences[verdicts->count++].text, RVP_SENTENCE_BYTES, "%s", text);
	}
	json_decref(summary);
}
