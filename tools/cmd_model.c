/* SPDX-License-Identifier: MIT */
/* cmd_model.c: `rvprof model`: what a model costs: words in, who answers out (tools/model_*.c). */
#include "tools/model.h"

#include "model/amount.h"
#include "model/layer.h"
#include "report/model_file.h"
#include "tools/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: rvprof model 'LAYERS' --input SHAPE [OPTION..]\n"
    "       rvprof model FILE.gguf|.safetensors [--context N] [--batch N] [--dtype T] [--kv-type T] "
    "[--optimizer O]\n"
    "       rvprof model --params N [--dtype T] [--optimizer O]\n"
    "       rvprof model --flops N --latency-ms X[,X..] [--peak-mb X] [--used-mb X] [--params N] [--batch "
    "N]\n"
    "       rvprof model --scaling | --batch-sizes | --operations\n"
    "What a model costs: parameters, FLOPs, memory, and what follows from a latency.\n"
    "  LAYERS           like 'linear(128,64) relu linear(64,10)'; --layers lists them\n"
    "  --input SHAPE    what goes in, the batch first: 32x128\n"
    "  --measure        run it here with OpenBLAS: --warmup 10, --iterations 100, the median\n"
    "  --threads N      OpenBLAS's threads; default all\n"
    "  --context N      tokens that are attended to; default what the file says the model is made for\n"
    "  --kv-type T      what keys and values are kept in: f16 (default), q8_0, ..\n"
    "  --weights        of a file: how large its values are\n"
    "  --latency-ms X   a latency that was measured elsewhere; of several the median\n"
    "  --peak-flops X --peak-bytes X\n"
    "                   a machine's limits a second, in place of what `rvprof calibrate` measured here\n"
    "  --dtype T        what the parameters are kept in: f32 (default), f16, bf16, q8_0, ..\n"
    "  --optimizer O    sgd, momentum, adagrad, rmsprop, lion, adam, adamw\n"
    "  --params N       of a model of which no more is known: 125M, 7B\n"
    "  --flops N        of one sample; --batch N samples took the latency\n"
    "  --peak-mb X      memory held at most, in 2^20 bytes; --used-mb X of it was useful\n"
    "  --scaling        linear layers of 64 to 512, measured; --batch-sizes: batches of 1 to 128;\n"
    "  --operations     an elementwise one, a matrix product and a reduction\n"
    "  --json           one JSON object\n"
    "  --layers         the layers there are, with their arguments\n"
    "  --help           this\n";

enum {
	JSON = 'j',
	HELP = 'h',
	INPUT = 'i',
	LAYERS = 1000,
	LATENCY,
	DTYPE,
	OPTIMIZER,
	PARAMS,
	FLOPS,
	BATCH,
	PEAK,
	USED,
	MEASURE,
	WARMUP,
	ITERATIONS,
	THREADS,
	PEAK_FLOPS,
	PEAK_BYTES,
	SCALING,
	BATCH_SIZES,
	OPERATIONS,
	CONTEXT,
	KV_TYPE,
	WEIGHTS
};

const struct option rvp_model_options[] = {{"input", required_argument, NULL, INPUT},
					   {"latency-ms", required_argument, NULL, LATENCY},
					   {"dtype", required_argument, NULL, DTYPE},
					   {"optimizer", required_argument, NULL, OPTIMIZER},
					   {"params", required_argument, NULL, PARAMS},
					   {"flops", required_argument, NULL, FLOPS},
					   {"batch", required_argument, NULL, BATCH},
					   {"peak-mb", required_argument, NULL, PEAK},
					   {"used-mb", required_argument, NULL, USED},
					   {"json", no_argument, NULL, JSON},
					   {"measure", no_argument, NULL, MEASURE},
					   {"warmup", required_argument, NULL, WARMUP},
					   {"iterations", required_argument, NULL, ITERATIONS},
					   {"threads", required_argument, NULL, THREADS},
					   {"peak-flops", required_argument, NULL, PEAK_FLOPS},
					   {"peak-bytes", required_argument, NULL, PEAK_BYTES},
					   {"scaling", no_argument, NULL, SCALING},
					   {"batch-sizes", no_argument, NULL, BATCH_SIZES},
					   {"operations", no_argument, NULL, OPERATIONS},
					   {"context", required_argument, NULL, CONTEXT},
					   {"kv-type", required_argument, NULL, KV_TYPE},
					   {"weights", no_argument, NULL, WEIGHTS},
					   {"layers", no_argument, NULL, LAYERS},
					   {"help", no_argument, NULL, HELP},
					   {NULL, 0, NULL, 0}};

static void print_layers(void)
{
	for (int i = 0; i < RVP_LAYER_KIND_COUNT; i++)
		printf("  %-15s %-62s %s\n", rvp_layer_facts[i].name, rvp_layer_facts[i].arguments,
		       rvp_layer_facts[i].help);
}

static struct rvp_status amount(const char *option, const char *text, uint64_t *to, bool *has)
{
	*has = true;
	if (rvp_amount_parse(text, to))
		return RVP_OK;
	return rvp_fail_with("use", option, "'%s' is no count, like 125M or 1000", text);
}

static struct rvp_status number(const char *option, const char *text, const char *end, double *to)
{
	char *behind;

	*to = strtod(text, &behind);
	if (*text < '0' || *text > '9' || behind != end || !(*to <= 1e15))
		return rvp_fail_with("use", option, "'%.*s' is no number from 0 to 1e15", (int)(end - text),
				     text);
	return RVP_OK;
}

/* "1,2,3,100". */
static struct rvp_status latencies(struct rvp_model_wish *wish, const char *text)
{
	for (;;) {
		const char *end = text + strcspn(text, ",");
		struct rvp_status status;

		if (wish->latency_count == RVP_LATENCIES_MAX)
			return rvp_fail_with("use", "--latency-ms", "it has more than %d numbers",
					     RVP_LATENCIES_MAX);
		status = number("--latency-ms", text, end, &wish->latencies_ms[wish->latency_count++]);
		if (rvp_failed(status) || !*end)
			return status;
		text = end + 1;
	}
}

static struct rvp_status times(const char *option, const char *text, uint64_t least, unsigned *to)
{
	uint64_t count;

	if (!rvp_amount_parse(text, &count) || count < least || count > 1000000)
		return rvp_fail_with("use", option, "'%s' is no count from %d to 1000000", text, (int)least);
	*to = (unsigned)count;
	return RVP_OK;
}

static struct rvp_status a_second(const char *option, const char *text, double *to)
{
	char *behind;

	*to = strtod(text, &behind);
	if (*text < '0' || *text > '9' || *behind || !(*to >= 1 && *to <= 1e24))
		return rvp_fail_with("use", option, "'%s' is no number from 1 to 1e24, like 67e12", text);
	return RVP_OK;
}

static struct rvp_status analysis(struct rvp_model_wish *wish, enum rvp_model_analysis which)
{
	if (wish->analysis && wish->analysis != which)
		return rvp_fail_with("make", "two analyses at once",
				     "one of --scaling, --batch-sizes, --operations");
	wish->analysis = which;
	return RVP_OK;
}

static struct rvp_status take_measuring(struct rvp_model_wish *wish, int option, const char *text)
{
	unsigned threads = 0;
	struct rvp_status status;

	switch (option) {
	case MEASURE: wish->must_measure = true; return RVP_OK;
	case WARMUP: return times("--warmup", text, 0, &wish->measure.warmup);
	case ITERATIONS: return times("--iterations", text, 1, &wish->measure.iterations);
	case PEAK_FLOPS: return a_second("--peak-flops", text, &wish->peak_flops);
	case PEAK_BYTES: return a_second("--peak-bytes", text, &wish->peak_bytes);
	case SCALING: return analysis(wish, RVP_ANALYSIS_SCALING);
	case BATCH_SIZES: return analysis(wish, RVP_ANALYSIS_BATCH_SIZES);
	case OPERATIONS: return analysis(wish, RVP_ANALYSIS_OPERATIONS);
	default:
		status = times("--threads", text, 1, &threads);
		wish->measure.threads = (int)threads;
		return status;
	}
}

static struct rvp_status take(struct rvp_model_wish *wish, int option, const char *text)
{
	const char *end = text ? text + strlen(text) : NULL;

	switch (option) {
	case INPUT: wish->input = text; return RVP_OK;
	case JSON: wish->is_json = true; return RVP_OK;
	case LATENCY: return latencies(wish, text);
	case DTYPE: wish->has_type = true; return rvp_number_type_of(text, &wish->type);
	case OPTIMIZER: wish->has_optimizer = true; return rvp_optimizer_of(text, &wish->optimizer);
	case PARAMS: return amount("--params", text, &wish->parameters, &wish->has_parameters);
	case FLOPS: return amount("--flops", text, &wish->flops, &wish->has_flops);
	case BATCH: return amount("--batch", text, &wish->batch, &wish->has_batch);
	case PEAK: return number("--peak-mb", text, end, &wish->peak_mb);
	case WEIGHTS: wish->wants_weights = true; return RVP_OK;
	case CONTEXT: return amount("--context", text, &wish->context, &wish->has_context);
	case KV_TYPE: return rvp_number_type_of(text, &wish->kv_type);
	case USED: return number("--used-mb", text, end, &wish->used_mb);
	default: return take_measuring(wish, option, text);
	}
}

/* No layer has a slash or such an ending. */
static bool is_file(const char *word)
{
	return strchr(word, '/') || rvp_model_kind_by_name(word) || access(word, F_OK) == 0;
}

static struct rvp_status answer(struct rvp_model_wish *wish)
{
	if (isnan(wish->peak_flops) != isnan(wish->peak_bytes))
		return rvp_fail_with("place", "the model", "--peak-flops and --peak-bytes go together");
	if (wish->must_measure && wish->latency_count)
		return rvp_fail_with("take", "--measure and --latency-ms",
				     "the latency is either measured or given");
	if (wish->analysis && !wish->of)
		return rvp_model_analyse(wish);
	if (wish->wants_weights && (!wish->of || !is_file(wish->of)))
		return rvp_fail_with("look at", "weights", "--weights goes with a model file");
	if (wish->wants_weights)
		return rvp_model_weights(wish);
	if (wish->of)
		return is_file(wish->of) ? rvp_model_of_file(wish) : rvp_model_of_layers(wish);
	if (wish->has_parameters || wish->has_flops || wish->latency_count || !isnan(wish->peak_mb))
		return rvp_model_of_figures(wish);
	return rvp_fail_with("say what a model costs", NULL,
			     "name layers or --params; `rvprof model --help` tells how");
}

static int answer_words(struct rvp_model_wish *wish, int count, char **words)
{
	struct rvp_status status;

	if (count > 1) {
		rvp_complain(
		    "model takes one model, not also '%s': layers are one word for the shell, in quotes",
		    words[1]);
		return RVP_EXIT_USAGE;
	}
	wish->of = count ? words[0] : NULL;
	status = answer(wish);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
		return RVP_EXIT_USAGE;
	}
	return RVP_EXIT_DONE;
}

int rvp_cmd_model(int argc, char **argv)
{
	static struct rvp_model_wish wish = {.type = {"f32", 1, 4},
					     .kv_type = {"f16", 1, 2},
					     .batch = 1,
					     .peak_mb = NAN,
					     .used_mb = NAN,
					     .peak_flops = NAN,
					     .peak_bytes = NAN,
					     .measure = {.warmup = 10, .iterations = 100}};
	struct rvp_status status;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", rvp_model_options, NULL)) != -1) {
		if (option == HELP || option == LAYERS) {
			option == HELP ? (void)fputs(help, stdout) : print_layers();
			return RVP_EXIT_DONE;
		}
		if (option == '?' || option == ':') {
			rvp_complain_of_option(argv[0], option, argv[optind - 1], rvp_model_options);
			return RVP_EXIT_USAGE;
		}
		status = take(&wish, option, optarg);
		if (rvp_failed(status)) {
			rvp_complain_of(&status);
			return RVP_EXIT_USAGE;
		}
	}
	return answer_words(&wish, argc - optind, argv + optind);
}
