/* SPDX-License-Identifier: MIT */
/* origin.c: see origin.h. */
#include "report/origin.h"

#include "record/options.h"
#include "report/json_writer.h"
#include "report/run.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE "RVPROF_CONFIG_FINGERPRINT="

static rvp_origin_maker *maker;

void rvp_origin_made_by(rvp_origin_maker *by)
{
	maker = by;
}

/* The root's, else that of the first process that was told. */
static void take_configuration(struct rvp_origin *origin, const struct rvp_process *process)
{
	for (size_t i = 0; i < process->environment_count && !*origin->config_fingerprint; i++) {
		const char *value = process->environment[i];

		if (strncmp(value, VARIABLE, strlen(VARIABLE)) != 0)
			continue;
		value += strlen(VARIABLE);
		if (rvp_is_fingerprint(value, strlen(value)))
			memcpy(origin->config_fingerprint, value, RVP_FINGERPRINT_DIGITS);
	}
}

void rvp_origin_make(struct rvp_run *run, const char *const *rule_files)
{
	if (run->origin.is_made)
		return;
	run->origin.is_made = true;
	if (run->root < run->process_count)
		take_configuration(&run->origin, &run->processes[run->root]);
	for (size_t i = 0; i < run->process_count; i++)
		take_configuration(&run->origin, &run->processes[i]);
	if (maker)
		maker(&run->origin, run, rule_files);
}

static void write_facts(struct rvp_json *json, const char *facts)
{
	char *lines = strdup(facts), *rest = lines;

	rvp_json_open(json, "environment", '{');
	for (char *line; rest && (line = strsep(&rest, "\n")) && *line;) {
		char *value = strchr(line, ' ');

		*value = 0;
		rvp_json_string(json, line, value + 1);
	}
	rvp_json_close(json, '}');
	free(lines);
}

void rvp_origin_write(FILE *out, const struct rvp_run *run)
{
	const struct rvp_origin *origin = &run->origin;
	struct rvp_json json = {.out = out};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.run/1");
	if (run->id[0])
		rvp_json_string(&json, "id", run->id);
	rvp_json_open(&json, "command", '[');
	for (size_t i = 0; i < run->command_count; i++)
		rvp_json_string(&json, NULL, run->command[i]);
	rvp_json_close(&json, ']');
	if (*origin->fingerprint)
		rvp_json_string(&json, "fingerprint", origin->fingerprint);
	if (*origin->config_fingerprint)
		rvp_json_string(&json, "config_fingerprint", origin->config_fingerprint);
	if (origin->facts)
		write_facts(&json, origin->facts);
	rvp_json_close(&json, '}');
	fputc('\n', out);
}
