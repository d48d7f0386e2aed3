/* SPDX-License-Identifier: MIT */
/* op_layers.c: see op_layers.h. What was measured before with the same words is told again, and says so. */
#include "tools/op_layers.h"

#include "model/amount.h"
#include "model/operators.h"
#include "report/text_numbers.h"
#include "tools/commands.h"
#include "tools/figures.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: rvprof op 'LAYERS' --input SHAPE [OPTION..]\n"
    "       rvprof op 'LAYERS' , 'LAYERS' .. --input SHAPE [--input SHAPE ..]    a group\n"
    "       rvprof op --cache-size | --reset\n"
    "How long operators take here, with OpenBLAS, and the workspace that they need; `rvprof model --layers` "
    "lists them.\n"
    "What was measured before with the same words is told again from the user's cache.\n"
    "  --op LAYERS     a member more; --input SHAPE: of all, or one a member\n"
    "  --warmup N      runs that do not count (10)\n"
    "  --number N      runs of which a latency is the mean (10)\n"
    "  --repeat N      how many latencies (1)\n"
    "  --streams A,B   members with different numbers run side by side; -1: the default\n"
    "  --threads N     of OpenBLAS; default all\n"
    "  --cache-size    how many results are kept; --reset forgets them\n"
    "  --json          one JSON object, schema rvprof.op_profile/1\n"
    "  --help          this; `rvprof op --help` tells about operators of programs\n";

enum {
	INPUT = 'i',
	OP = 'o',
	WARMUP = 'w',
	NUMBER = 'n',
	REPEAT = 'r',
	STREAMS = 's',
	THREADS = 't',
	SIZE = 'c',
	RESET = 'x'
};

const struct option rvp_op_layer_options[] = {{"input", required_argument, NULL, INPUT},
					      {"op", required_argument, NULL, OP},
					      {"warmup", required_argument, NULL, WARMUP},
					      {"number", required_argument, NULL, NUMBER},
					      {"repeat", required_argument, NULL, REPEAT},
					      {"streams", required_argument, NULL, STREAMS},
					      {"threads", required_argument, NULL, THREADS},
					      {"cache-size", no_argument, NULL, SIZE},
					      {"reset", no_argument, NULL, RESET},
					      {"json", no_argument, NULL, 'j'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};

struct wish {
	const char *ops[RVP_GROUP_MAX], *inputs[RVP_GROUP_MAX];
	int streams[RVP_GROUP_MAX];
	size_t op_count, input_count, stream_count;
	struct rvp_op_wish times;
	bool is_json, must_reset, wants_size;
};

bool rvp_op_is_of_layers(int argc, char **argv)
{
	static const char *const ours[] = {"--input", "--op", "--reset", "--cache-size", NULL};

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		for (int at = 0; ours[at]; at++) {
			size_t length = strlen(ours[at]);

			if (strncmp(argv[i], ours[at], length) == 0 &&
			    (!argv[i][length] || argv[i][length] == '='))
				return true;
		}
	return false;
}

static struct rvp_status add(const char **list, size_t *count, const char *what, const char *text)
{
	if (*count == RVP_GROUP_MAX)
		return rvp_fail_with("use", what, "a group has at most %d members", RVP_GROUP_MAX);
	list[(*count)++] = text;
	return RVP_OK;
}

static struct rvp_status times(const char *option, const char *text, uint64_t least, uint64_t most,
			       unsigned *to)
{
	uint64_t count;

	if (!rvp_amount_parse(text, &count) || count < least || count > most)
		return rvp_fail_with("use", option, "'%s' is no count from %d to %d", text, (int)least,
				     (int)most);
	*to = (unsigned)count;
	return RVP_OK;
}

/* "1,2", "-1,-1", "". */
static struct rvp_status streams(struct wish *wish, const char *text)
{
	for (wish->stream_count = 0; *text;) {
		char *end;
		long number = strtol(text, &end, 10);

		if (end == text || (*end && *end != ',') || number < -1 || number > 1000000 ||
		    wish->stream_count == RVP_GROUP_MAX)
			return rvp_fail_with("use", "--streams",
					     "'%s' is no list of numbers from -1, like 1,2", text);
		wish->streams[wish->stream_count++] = (int)number;
		text = end + (*end == ',');
	}
	return RVP_OK;
}

static struct rvp_status take(struct wish *wish, int option, const char *text)
{
	unsigned threads = 0;
	struct rvp_status status;

	switch (option) {
	case INPUT: return add(wish->inputs, &wish->input_count, "--input", text);
	case OP: return add(wish->ops, &wish->op_count, "--op", text);
	case WARMUP: return times("--warmup", text, 0, 1000000, &wish->times.warmup);
	case NUMBER: return times("--number", text, 1, 1000000, &wish->times.number);
	case REPEAT: return times("--repeat", text, 1, RVP_REPEAT_MAX, &wish->times.repeat);
	case STREAMS: return streams(wish, text);
	case SIZE: wish->wants_size = true; return RVP_OK;
	case RESET: wish->must_reset = true; return RVP_OK;
	case THREADS:
		status = times("--threads", text, 1, 1024, &threads);
		wish->times.threads = (int)threads;
		return status;
	default: wish->is_json = true; return RVP_OK;
	}
}

/* ---- the group ---- */

static struct rvp_status check(const struct wish *wish)
{
	if (wish->input_count != 1 && wish->input_count != wish->op_count)
		return rvp_fail_with("run", "the operators",
				     "%zu need one --input for all, or one each; there are %zu",
				     wish->op_count, wish->input_count);
	if (wish->stream_count && wish->stream_count != wish->op_count)
		return rvp_fail_with("use", "--streams", "there are %zu numbers for %zu operators",
				     wish->stream_count, wish->op_count);
	return RVP_OK;
}

static void close_group(struct rvp_operator *operators, size_t count)
{
	while (count--)
		rvp_network_close(&operators[count].network);
}

static struct rvp_status open_group(const struct wish *wish, struct rvp_operator *operators)
{
	struct rvp_status status = check(wish);

	for (size_t i = 0; i < wish->op_count && !rvp_failed(status); i++) {
		status = rvp_network_open(&operators[i].network, wish->ops[i],
					  wish->inputs[wish->input_count == 1 ? 0 : i]);
		operators[i].stream = wish->stream_count ? wish->streams[i] : -1;
		if (rvp_failed(status))
			close_group(operators, i);
	}
	return status;
}

static void spec_of(const struct rvp_network *network, char *text, size_t room)
{
	char layer[RVP_LAYER_TEXT_BYTES];
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < network->count && at < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s", i ? " " : "",
				       rvp_layer_text(&network->layers[i], layer));
}

/* What a single layer's numbers stand for: a kernel's 5,5 could be two things. */
static void tell_arguments(const struct rvp_network *network)
{
	char text[RVP_LAYER_TEXT_BYTES];

	if (network->count == 1 && *rvp_layer_arguments(&network->layers[0], text))
		printf("  (%s)\n", text);
}

static void tell_members_text(const struct rvp_operator *operators, size_t count)
{
	char spec[256], in[RVP_SHAPE_TEXT_BYTES], out[RVP_SHAPE_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES];

	printf("%-36s %20s %20s %16s\n", "operator", "input", "output", "workspace bytes");
	for (size_t i = 0; i < count; i++) {
		const struct rvp_network *network = &operators[i].network;

		spec_of(network, spec, sizeof spec);
		printf("%-36s %20s %20s %16s\n", spec, rvp_shape_text(&network->input, in),
		       rvp_shape_text(rvp_network_output(network), out),
		       rvp_text_count(rvp_operators_workspace(&operators[i], 1), bytes));
		tell_arguments(network);
	}
}

static void tell_members_json(struct rvp_json *json, const struct rvp_operator *operators, size_t count)
{
	char text[512];

	rvp_json_open(json, "operators", '[');
	for (size_t i = 0; i < count; i++) {
		const struct rvp_network *network = &operators[i].network;

		rvp_json_open(json, NULL, '{');
		spec_of(network, text, sizeof text);
		rvp_json_string(json, "op", text);
		if (network->count == 1 && *rvp_layer_arguments(&network->layers[0], text))
			rvp_json_string(json, "arguments", text);
		rvp_json_string(json, "input", rvp_shape_text(&network->input, text));
		rvp_json_string(json, "output", rvp_shape_text(rvp_network_output(network), text));
		rvp_json_signed(json, "stream", operators[i].stream);
		rvp_json_number(json, "batch_flops", network->total.flops * rvp_shape_batch(&network->input));
		rvp_json_number(json, "workspace_bytes", rvp_operators_workspace(&operators[i], 1));
		rvp_json_close(json, '}');
	}
	rvp_json_close(json, ']');
}

static void tell_latencies(struct rvp_figures *figures, const struct rvp_op_result *result)
{
	if (!figures->is_json)
		printf("  %-34s", "latency_us");
	else
		rvp_json_open(&figures->json, "latency", '[');
	for (unsigned i = 0; i < result->count; i++) {
		if (figures->is_json)
			rvp_json_double(&figures->json, NULL, result->latency_us[i]);
		else
			printf(" %.3f", result->latency_us[i]);
	}
	if (figures->is_json)
		rvp_json_close(&figures->json, ']');
	else
		putchar('\n');
}

static void tell(const struct wish *wish, const struct rvp_operator *operators,
		 const struct rvp_op_result *result, bool is_cached)
{
	struct rvp_figures figures;

	rvp_figures_open(&figures, wish->is_json, "rvprof.op_profile/1");
	if (wish->is_json)
		tell_members_json(&figures.json, operators, wish->op_count);
	else
		tell_members_text(operators, wish->op_count);
	rvp_figure_text(&figures, "dtype", "f32");
	rvp_figure_whole(&figures, "warmup", wish->times.warmup);
	rvp_figure_whole(&figures, "number", wish->times.number);
	rvp_figure_whole(&figures, "repeat", wish->times.repeat);
	tell_latencies(&figures, result);
	if (wish->is_json)
		rvp_json_string(&figures.json, "latency_unit", "us");
	rvp_figure_whole(&figures, wish->is_json ? "workspace_size" : "workspace_bytes",
			 result->workspace_bytes);
	rvp_figure_bool(&figures, "cached", is_cached);
	rvp_figure_whole(&figures, "cache_size", rvp_op_cache_size());
	rvp_figures_close(&figures);
}

/* What computes nothing is not kept; what can't be kept is told all the same. */
static struct rvp_status profile(const struct wish *wish, struct rvp_operator *operators)
{
	static struct rvp_op_result result;
	char key[RVP_OP_KEY_BYTES];
	bool has_key = rvp_operators_compute(operators, wish->op_count) &&
		       rvp_op_key(operators, wish->op_count, wish->times, key);
	bool is_cached = has_key && rvp_op_cache_find(key, &result);
	struct rvp_status status = RVP_OK, kept = RVP_OK;

	if (!is_cached)
		status = rvp_operators_measure(operators, wish->op_count, wish->times, &result);
	if (rvp_failed(status))
		return status;
	if (has_key && !is_cached)
		kept = rvp_op_cache_put(key, &result);
	tell(wish, operators, &result, is_cached);
	if (rvp_failed(kept))
		rvp_complain_of(&kept);
	return RVP_OK;
}

static struct rvp_status tell_cache(const struct wish *wish)
{
	struct rvp_figures figures;

	rvp_figures_open(&figures, wish->is_json, "rvprof.op_profile/1");
	rvp_figure_whole(&figures, "cache_size", rvp_op_cache_size());
	rvp_figures_close(&figures);
	return RVP_OK;
}

static struct rvp_status answer(struct wish *wish)
{
	static struct rvp_operator operators[RVP_GROUP_MAX];
	struct rvp_status status = wish->must_reset ? rvp_op_cache_reset() : RVP_OK;

	if (rvp_failed(status))
		return status;
	if (!wish->op_count && (wish->must_reset || wish->wants_size))
		return tell_cache(wish);
	if (!wish->op_count)
		return rvp_fail_with("run", "the operators", "none is named, like 'conv2d(3,8,5)'");
	status = open_group(wish, operators);
	if (rvp_failed(status))
		return status;
	status = profile(wish, operators);
	close_group(operators, wish->op_count);
	return status;
}

/* Members have a comma between them. */
static struct rvp_status take_words(struct wish *wish, int count, char **words)
{
	bool may_follow = true;

	for (int i = 0; i < count; i++) {
		struct rvp_status status;

		if (strcmp(words[i], ",") == 0) {
			may_follow = true;
			continue;
		}
		if (!may_follow)
			return rvp_fail_with("read", words[i],
					     "members of a group have a ',' of their own between them");
		may_follow = false;
		status = add(wish->ops, &wish->op_count, "the operators", words[i]);
		if (rvp_failed(status))
			return status;
	}
	return RVP_OK;
}

int rvp_op_of_layers(int argc, char **argv)
{
	static struct wish wish = {.times = {10, 10, 1, 0}};
	struct rvp_status status = RVP_OK;
	int option;

	opterr = 0;
	while (!rvp_failed(status) &&
	       (option = getopt_long(argc, argv, ":", rvp_op_layer_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return RVP_EXIT_DONE;
		}
		if (option == '?' || option == ':') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], rvp_op_layer_options);
			return RVP_EXIT_USAGE;
		}
		status = take(&wish, option, optarg);
	}
	if (!rvp_failed(status))
		status = take_words(&wish, argc - optind, argv + optind);
	if (!rvp_failed(status))
		status = answer(&wish);
	if (!rvp_failed(status))
		return RVP_EXIT_DONE;
	rvp_complain_of(&status);
	return RVP_EXIT_USAGE;
}
