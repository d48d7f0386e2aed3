/* SPDX-License-Identifier: MIT */
/* words.c: see words.h. */
#include "sweep/words.h"

#include "report/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One word into `word`, which has room for it; where it ends. NULL: a quote without end. */
static const char *cut_word(const char *at, char *word)
{
	char quote = 0;

	for (; *at && (quote || (*at != ' ' && *at != '\t')); at++) {
		if (*at == '\\' && quote != '\'' && at[1])
			*word++ = *++at;
		else if (quote ? *at == quote : *at == '\'' || *at == '"')
			quote = quote ? 0 : *at;
		else
			*word++ = *at;
	}
	*word = 0;
	return quote ? NULL : at;
}

struct rvp_status rvp_words_cut(char ***words, const char *text)
{
	char *word = malloc(strlen(text) + 1);
	size_t count = 0, room = 0;
	const char *at = text;

	*words = NULL;
	while (word && at && *(at += strspn(at, " \t"))) {
		at = cut_word(at, word);
		if (!rvp_grow((void **)words, &room, count + 2, sizeof **words) ||
		    !((*words)[count++] = strdup(word)))
			break;
	}
	if (word && at && !*at) {
		free(word);
		return RVP_OK;
	}
	free(word);
	rvp_words_free(*words);
	*words = NULL;
	return at ? rvp_fail("cut into words", NULL, ENOMEM)
		  : rvp_fail_with("cut into words", NULL, "a quote has no end in '%.100s'", text);
}

bool rvp_words_need_shell(const char *text)
{
	return text[strcspn(text, ";|&<>$`(){}*?[]~#!\n")] || strchr(text, '=');
}

void rvp_words_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}
