/* SPDX-License-Identifier: MIT */
/* cmd_fingerprint.c: `rvprof fingerprint`: the 64 digits that name a configuration (prove/fingerprint.h).
 * Nothing has a default: a fingerprint of what somebody did not say would be of something else. */
#include "prove/fingerprint.h"
#include "report/json_writer.h"
#include "tools/commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: rvprof fingerprint --model-commit TEXT --weights-hash TEXT --lambda NUMBER --tau WHOLE --eps "
    "NUMBER\n"
    "                          --compiler-flags TEXT [--json]\n"
    "The SHA-256 of a configuration, as ruvector-profiler computes it; every part must be given.\n"
    "  --compiler-flags=-O3   a value that begins with '-' needs the '='\n"
    "  --json                 one JSON object, with the text that was hashed\n"
    "  --help                 this\n";

enum { MODEL_COMMIT, WEIGHTS_HASH, LAMBDA, TAU, EPS, COMPILER_FLAGS, PARTS, JSON = PARTS, HELP };

static const struct option options[] = {{"model-commit", required_argument, NULL, MODEL_COMMIT},
					{"weights-hash", required_argument, NULL, WEIGHTS_HASH},
					{"lambda", required_argument, NULL, LAMBDA},
					{"tau", required_argument, NULL, TAU},
					{"eps", required_argument, NULL, EPS},
					{"compiler-flags", required_argument, NULL, COMPILER_FLAGS},
					{"json", no_argument, NULL, JSON},
					{"help", no_argument, NULL, HELP},
					{0}};

struct words {
	const char *parts[PARTS]; /* NULL: not given */
	bool is_json;
};

static struct rvp_status read_float(const char *name, const char *text, float *value)
{
	char *end;

	*value = strtof(text, &end);
	return *text && !*end ? RVP_OK : rvp_fail_with("read", name, "'%.40s' is no number", text);
}

static struct rvp_status read_whole(const char *name, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return rvp_fail_with("read", name, "'%.40s' is no whole number", text);
	return RVP_OK;
}

static struct rvp_status check_words(const struct words *words, struct rvp_configuration *configuration)
{
	struct rvp_status status;

	for (int part = 0; part < PARTS; part++)
		if (!words->parts[part])
			return rvp_fail_with("make a fingerprint", NULL,
					     "--%s is missing; `rvprof fingerprint --help`",
					     options[part].name);
	configuration->model_commit = words->parts[MODEL_COMMIT];
	configuration->weights_hash = words->parts[WEIGHTS_HASH];
	configuration->compiler_flags = words->parts[COMPILER_FLAGS];
	status = read_float("--lambda", words->parts[LAMBDA], &configuration->lambda);
	if (!rvp_failed(status))
		status = read_whole("--tau", words->parts[TAU], &configuration->tau);
	if (!rvp_failed(status))
		status = read_float("--eps", words->parts[EPS], &configuration->eps);
	return status;
}

static void print(const struct rvp_configuration *configuration, const uint8_t value[RVP_DIGEST_BYTES],
		  bool is_json)
{
	struct rvp_json json = {.out = stdout};
	char text[RVP_HEX_TEXT_BYTES], *hashed;

	if (!is_json) {
		puts(rvp_hex(value, text));
		return;
	}
	hashed = rvp_configuration_text(configuration);
	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.fingerprint/1");
	rvp_json_string(&json, "fingerprint", rvp_hex(value, text));
	rvp_json_string(&json, "hashed", hashed ? hashed : "");
	rvp_json_close(&json, '}');
	putchar('\n');
	free(hashed);
}

static struct rvp_status answer(const struct words *words)
{
	struct rvp_configuration configuration;
	struct rvp_digests digests = {.table = NULL};
	uint8_t value[RVP_DIGEST_BYTES];
	struct rvp_status status = check_words(words, &configuration);

	if (!rvp_failed(status))
		status = rvp_digests_open(&digests);
	if (rvp_failed(status))
		return status;
	if (rvp_fingerprint(&digests, &configuration, value))
		print(&configuration, value, words->is_json);
	else
		status = rvp_fail("hash", "the configuration", ENOMEM);
	rvp_digests_close(&digests);
	return status;
}

int rvp_cmd_fingerprint(int argc, char **argv)
{
	struct words words = {.is_json = false};
	struct rvp_status status;
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		if (letter == HELP)
			return fputs(help, stdout), RVP_EXIT_DONE;
		if (letter == '?' || letter == ':')
			return rvp_complain_of_option("fingerprint", letter, argv[optind - 1], options),
			       RVP_EXIT_USAGE;
		if (letter == JSON)
			words.is_json = true;
		else
			words.parts[letter] = optarg;
	}
	if (optind < argc)
		return rvp_complain_of_option("fingerprint", '?', argv[optind], options), RVP_EXIT_USAGE;
	status = answer(&words);
	if (rvp_failed(status))
		rvp_complain_of(&status);
	return rvp_failed(status) ? RVP_EXIT_USAGE : RVP_EXIT_DONE;
}
