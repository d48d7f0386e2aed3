/* SPDX-License-Identifier: MIT */
/* spec.c: see spec.h. One pass over the text, a cursor that says where it stands. */
#include "model/spec.h"

#include "record/nearest.h"
#include "report/grow.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32, ARGUMENT_MAX = INT32_MAX };

struct words {
	const char *text, *at;
};

static struct rvp_status wrong(const struct words *words, const char *what, const char *detail)
{
	return rvp_fail_with("read model", words->text, "at character %td: %s%s", words->at - words->text + 1,
			     what, detail);
}

static void pass_blanks(struct words *words)
{
	while (isspace((unsigned char)*words->at))
		words->at++;
}

/* What may stand between two layers. */
static void pass_separators(struct words *words)
{
	for (;;) {
		pass_blanks(words);
		if (*words->at == ',' || *words->at == ';')
			words->at++;
		else if (words->at[0] == '-' && words->at[1] == '>')
			words->at += 2;
		else
			return;
	}
}

static size_t take_name(struct words *words, char name[NAME_BYTES])
{
	size_t length = 0;

	for (; isalnum((unsigned char)*words->at) || *words->at == '_'; words->at++)
		if (length + 1 < NAME_BYTES)
			name[length++] = (char)tolower((unsigned char)*words->at);
	name[length] = 0;
	return length;
}

static bool take_number(struct words *words, uint64_t *to)
{
	if (!isdigit((unsigned char)*words->at))
		return false;
	for (*to = 0; isdigit((unsigned char)*words->at); words->at++) {
		*to = *to * 10 + (uint64_t)(*words->at - '0');
		if (*to > ARGUMENT_MAX)
			return false;
	}
	return true;
}

/* ---- the table's arguments ---- */

struct place {
	char name[NAME_BYTES];
	bool may_be_two, has_default;
	uint64_t otherwise;
};

/* Argument `index` of a kind; false behind the last. */
static bool place_of(enum rvp_layer_kind kind, unsigned index, struct place *place)
{
	struct words words = {NULL, rvp_layer_facts[kind].arguments};

	for (unsigned i = 0; *words.at; i++) {
		memset(place, 0, sizeof *place);
		take_name(&words, place->name);
		place->may_be_two = *words.at == '*';
		words.at += place->may_be_two;
		place->has_default = *words.at == '=';
		words.at += place->has_default;
		take_number(&words, &place->otherwise);
		if (i == index)
			return true;
		words.at += *words.at == ',';
	}
	return false;
}

static bool place_named(enum rvp_layer_kind kind, const char *name, unsigned *index, struct place *place)
{
	for (*index = 0; place_of(kind, *index, place); (*index)++)
		if (!strcmp(place->name, name))
			return true;
	return false;
}

/* ---- one layer ---- */

static struct rvp_status no_layer(const struct words *words, const char *name)
{
	unsigned least = RVP_NEAREST_NAME_BYTES;
	const char *near = NULL;

	for (int i = 0; i < RVP_LAYER_KIND_COUNT; i++) {
		unsigned apart = rvp_letters_apart(name, strlen(name), rvp_layer_facts[i].name);

		if (apart < least) {
			least = apart;
			near = rvp_layer_facts[i].name;
		}
	}
	if (near && rvp_is_a_slip(least, strlen(name)))
		return rvp_fail_with("read model", words->text, "there is no layer '%s' (did you mean '%s'?)",
				     name, near);
	return rvp_fail_with("read model", words->text,
			     "there is no layer '%s'; `rvprof model --layers` lists them", name);
}

static bool kind_of(const char *name, enum rvp_layer_kind *kind)
{
	for (int i = 0; i < RVP_LAYER_KIND_COUNT; i++)
		if (!strcmp(rvp_layer_facts[i].name, name)) {
			*kind = (enum rvp_layer_kind)i;
			return true;
		}
	return false;
}

/* "5", "5x3". */
static struct rvp_status take_value(struct words *words, const struct place *place, struct rvp_argument *to)
{
	if (!take_number(words, &to->first))
		return wrong(words, "a whole number up to 2147483647 is wanted for ", place->name);
	to->second = to->first;
	if (*words->at != 'x')
		return RVP_OK;
	words->at++;
	if (!place->may_be_two)
		return wrong(words, "one number is wanted, not two, for ", place->name);
	if (!take_number(words, &to->second))
		return wrong(words, "a number is missing behind the x of ", place->name);
	return RVP_OK;
}

/* One argument, by its place or by its name. `given` has a bit an argument. */
static struct rvp_status take_argument(struct words *words, struct rvp_layer *layer, unsigned *next,
				       unsigned *given)
{
	const char *start = words->at;
	struct place place;
	unsigned index = *next;
	char name[NAME_BYTES];

	if (isalpha((unsigned char)*start)) {
		take_name(words, name);
		if (!place_named(layer->kind, name, &index, &place)) {
			words->at = start;
			return wrong(words, "no such argument of ", rvp_layer_facts[layer->kind].name);
		}
		pass_blanks(words);
		if (*words->at++ != '=')
			return wrong(words, "'=' and a number are wanted behind ", place.name);
		pass_blanks(words);
	} else if (!place_of(layer->kind, (*next)++, &place)) {
		return wrong(words, "too many numbers for ", rvp_layer_facts[layer->kind].name);
	}
	if (*given & 1u << index)
		return wrong(words, "said twice: ", place.name);
	*given |= 1u << index;
	return take_value(words, &place, &layer->arguments[index]);
}

static struct rvp_status take_arguments(struct words *words, struct rvp_layer *layer, unsigned *given)
{
	unsigned next = 0;

	pass_blanks(words);
	if (*words->at != '(')
		return RVP_OK;
	words->at++;
	pass_blanks(words);
	while (*words->at != ')') {
		struct rvp_status status = take_argument(words, layer, &next, given);

		if (rvp_failed(status))
			return status;
		pass_blanks(words);
		if (*words->at == ',')
			words->at++;
		else if (*words->at != ')')
			return wrong(words, "a ')' is missing behind ", rvp_layer_facts[layer->kind].name);
		pass_blanks(words);
	}
	words->at++;
	return RVP_OK;
}

static struct rvp_status fill_defaults(const struct words *words, struct rvp_layer *layer, unsigned given)
{
	struct place place;

	for (unsigned i = 0; place_of(layer->kind, i, &place); i++) {
		if (given & 1u << i)
			continue;
		if (!place.has_default)
			return rvp_fail_with("read model", words->text, "%s needs %s: %s(%s)",
					     rvp_layer_facts[layer->kind].name, place.name,
					     rvp_layer_facts[layer->kind].name,
					     rvp_layer_facts[layer->kind].arguments);
		layer->arguments[i] = (struct rvp_argument){place.otherwise, place.otherwise};
	}
	return RVP_OK;
}

static struct rvp_status take_repeat(struct words *words, uint64_t *times)
{
	*times = 1;
	pass_blanks(words);
	if (*words->at != '*')
		return RVP_OK;
	words->at++;
	pass_blanks(words);
	if (!take_number(words, times) || !*times || *times > RVP_LAYERS_MAX)
		return wrong(words, "a number from 1 to 10000 is wanted behind '*'", "");
	return RVP_OK;
}

static struct rvp_status take_layer(struct words *words, struct rvp_layer *layer, uint64_t *times)
{
	const char *start = words->at;
	char name[NAME_BYTES];
	unsigned given = 0;
	struct rvp_status status;

	memset(layer, 0, sizeof *layer);
	if (!take_name(words, name))
		return wrong(words, "a layer's name is wanted", "");
	if (!kind_of(name, &layer->kind)) {
		words->at = start;
		return no_layer(words, name);
	}
	status = take_arguments(words, layer, &given);
	if (!rvp_failed(status))
		status = fill_defaults(words, layer, given);
	return rvp_failed(status) ? status : take_repeat(words, times);
}

struct rvp_status rvp_spec_parse(const char *text, struct rvp_layer **layers, size_t *count)
{
	struct words words = {text, text};
	struct rvp_status status = RVP_OK;
	size_t room = 0;

	*layers = NULL;
	*count = 0;
	for (pass_separators(&words); *words.at; pass_separators(&words)) {
		struct rvp_layer layer;
		uint64_t times = 1;

		status = take_layer(&words, &layer, &times);
		if (!rvp_failed(status) && *count + times > RVP_LAYERS_MAX)
			status =
			    rvp_fail_with("read model", text, "it has more than %d layers", RVP_LAYERS_MAX);
		if (!rvp_failed(status) && !rvp_grow((void **)layers, &room, *count + times, sizeof **layers))
			status = rvp_fail("read model", text, ENOMEM);
		if (rvp_failed(status))
			break;
		while (times--)
			(*layers)[(*count)++] = layer;
	}
	if (!rvp_failed(status) && !*count)
		status = rvp_fail_with("read model", text, "it has no layer, like linear(128,64)");
	if (rvp_failed(status)) {
		free(*layers);
		*layers = NULL;
		*count = 0;
	}
	return status;
}
