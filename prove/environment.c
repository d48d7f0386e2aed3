/* SPDX-License-Identifier: MIT */
/* environment.c: see environment.h. */
#include "prove/environment.h"

#include "prove/digest.h"
#include "report/alive.h"
#include "report/grow.h"
#include "report/rules.h"
#include "report/run.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *rvp_governor_path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

struct fact {
	char *key, *value;
};

struct facts {
	struct fact *rows;
	size_t count, room;
	bool is_short; /* of memory */
};

/* ---- facts ---- */

/* One line, and a key one word. */
static void make_plain(char *text, bool is_key)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f || (is_key && *text == ' '))
			*text = '?';
}

static void add(struct facts *facts, const char *key, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add(struct facts *facts, const char *key, const char *name, const char *format, ...)
{
	struct fact fact = {.key = NULL};
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&fact.value, format, arguments) < 0)
		fact.value = NULL;
	va_end(arguments);
	if (asprintf(&fact.key, "%s%s%s", key, name ? "." : "", name ? name : "") < 0)
		fact.key = NULL;
	if (!fact.key || !fact.value ||
	    !rvp_grow((void **)&facts->rows, &facts->room, facts->count + 1, sizeof *facts->rows)) {
		free(fact.key);
		free(fact.value);
		facts->is_short = true;
		return;
	}
	make_plain(fact.key, true);
	make_plain(fact.value, false);
	facts->rows[facts->count++] = fact;
}

static int by_key(const void *a, const void *b)
{
	const struct fact *one = a, *other = b;
	int keys = strcmp(one->key, other->key);

	return keys ? keys : strcmp(one->value, other->value);
}

/* Values of one key stand in one line, each once. */
static char *text_of(struct facts *facts)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = facts->is_short ? NULL : open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	qsort(facts->rows, facts->count, sizeof *facts->rows, by_key);
	for (size_t i = 0; i < facts->count; i++) {
		const struct fact *fact = &facts->rows[i], *last = i ? fact - 1 : NULL;

		if (!last || strcmp(last->key, fact->key) != 0)
			fprintf(out, "%s%s %s", last ? "\n" : "", fact->key, fact->value);
		else if (strcmp(last->value, fact->value) != 0)
			fprintf(out, " %s", fact->value);
	}
	fputc('\n', out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void free_facts(struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free(facts->rows[i].key);
		free(facts->rows[i].value);
	}
	free(facts->rows);
}

/* ---- what is in it ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_module(struct facts *facts, const struct rvp_module *module)
{
	char digits[2 * 64 + 1] = "";
	const char *name = base_name(module->path);

	if (module->unload_ns != RVP_NEVER || strncmp(name, "librvprof", strlen("librvprof")) == 0)
		return;
	for (size_t i = 0; i < module->build_id_bytes && i < 64; i++)
		snprintf(digits + 2 * i, 3, "%02x", module->build_id[i]);
	if (*digits)
		add(facts, "module", name, "%s", digits);
	else
		add(facts, "module", name, "%" PRIu64 "-bytes", module->file_bytes);
}

/* Which of a job's processes it is, and what is ours or told otherwise, is no part of its environment. */
static bool is_left_out(const char *variable)
{
	static const char *const left_out[] = {
	    "RVPROF_",   "LD_PRELOAD=",  "RANK=", "LOCAL_RANK=", "OMPI_COMM_WORLD_RANK=",
	    "PMI_RANK=", "SLURM_PROCID="};

	for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
		if (strncmp(variable, left_out[i], strlen(left_out[i])) == 0)
			return true;
	return false;
}

static void add_variable(struct facts *facts, const char *variable)
{
	const char *value = strchr(variable, '=');
	char name[128];

	if (!value || is_left_out(variable))
		return;
	snprintf(name, sizeof name, "%.*s", (int)(value - variable), variable);
	add(facts, "variable", name, "%s", strchr(value, '/') ? "(with a path)" : value + 1);
}

static void add_machine(struct facts *facts, const struct rvp_process *process)
{
	if (*process->kernel)
		add(facts, "kernel", NULL, "%s", process->kernel);
	if (*process->cpu)
		add(facts, "cpu", NULL, "%s", process->cpu);
	if (process->cpu_count)
		add(facts, "cpu_count", NULL, "%" PRIu64, process->cpu_count);
	if (process->memory_bytes)
		add(facts, "memory_bytes", NULL, "%" PRIu64, process->memory_bytes);
}

/* Recorded by nobody: known only while the machine is the one, and not started anew. */
static void add_governor(struct facts *facts, const struct rvp_run *run)
{
	char text[64] = "";
	FILE *file =
	    run->boot_id[0] && rvp_is_this_boot(run->boot_id) ? fopen(rvp_governor_path, "re") : NULL;

	if (!file)
		return;
	if (fgets(text, sizeof text, file) && strcspn(text, "\n"))
		add(facts, "governor", NULL, "%.*s", (int)strcspn(text, "\n"), text);
	fclose(file);
}

static void add_devices(struct facts *facts, const struct rvp_run *run)
{
	for (size_t i = 0; i < run->device_count; i++) {
		const struct rvp_device *device = &run->devices[i];

		if (*device->model)
			add(facts, "device", device->name, "%s, %" PRIu64 " bytes", device->model,
			    device->memory_bytes);
	}
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].devices.driver_version)
			add(facts, "cuda_driver", NULL, "%" PRIu64, run->processes[i].devices.driver_version);
}

/* ---- rules ---- */

struct rules {
	const struct rvp_digests *digests;
	struct rvp_digest *digest;
};

/* A file's name, a new line, its own digest in hex, a new line. One that can't be read counts as its name. */
static void add_rules(void *context, const char *path)
{
	struct rules *rules = context;
	const char *name = base_name(path);
	char digits[RVP_HEX_TEXT_BYTES] = "";
	uint8_t value[RVP_DIGEST_BYTES];
	uint64_t bytes;

	if (!rvp_failed(rvp_digest_of_file(rules->digests, RVP_SHA256, path, value, &bytes)))
		rvp_hex(value, digits);
	rules->digests->table->add(rules->digest, name, strlen(name));
	rules->digests->table->add(rules->digest, "\n", 1);
	rules->digests->table->add(rules->digest, digits, strlen(digits));
	rules->digests->table->add(rules->digest, "\n", 1);
}

static int is_rules(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 6 && *entry->d_name != '.' && strcmp(entry->d_name + length - 6, ".rules") == 0;
}

static void add_packs(struct rules *rules, const char *folder)
{
	struct dirent **entries;
	char path[PATH_MAX];
	int count = scandir(folder, &entries, is_rules, alphasort);

	for (int i = 0; i < count; i++) {
		if (snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path)
			add_rules(rules, path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* In the order in which they are asked. */
static void add_all_rules(struct facts *facts, const struct rvp_digests *digests, const struct rvp_run *run,
			  const char *const *rule_files)
{
	struct rules rules = {.digests = digests, .digest = digests->table->begin(RVP_SHA256)};
	char folder[PATH_MAX], text[RVP_HEX_TEXT_BYTES];
	uint8_t value[RVP_DIGEST_BYTES];

	if (!rules.digest) {
		facts->is_short = true;
		return;
	}
	for (; rule_files && *rule_files; rule_files++)
		add_rules(&rules, *rule_files);
	rvp_rules_recorded(run, add_rules, &rules);
	if (rvp_rules_folder(folder, sizeof folder))
		add_packs(&rules, folder);
	if (digests->table->end(rules.digest, value))
		add(facts, "rules", NULL, "%s", rvp_hex(value, text));
	digests->table->free(rules.digest);
}

/* ---- the whole ---- */

static const struct rvp_process *choose(const struct rvp_run *run)
{
	const struct rvp_process *best = NULL;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];
		bool is_better = !best || process->counters.alloc_bytes > best->counters.alloc_bytes;

		if (best && (process->end == RVP_END_EXITED) != (best->end == RVP_END_EXITED))
			is_better = process->end == RVP_END_EXITED;
		best = is_better ? process : best;
	}
	return best && best->folder ? best : NULL;
}

static void add_process(struct facts *facts, const struct rvp_process *process)
{
	add_machine(facts, process);
	for (size_t i = 0; i < process->environment_count; i++)
		add_variable(facts, process->environment[i]);
	for (size_t i = 0; process->end == RVP_END_EXITED && i < process->module_count; i++)
		add_module(facts, &process->modules[i]);
}

static void sign(struct rvp_origin *origin, const struct rvp_digests *digests)
{
	uint8_t value[RVP_DIGEST_BYTES];

	if (origin->facts && rvp_digest_of(digests, RVP_SHA256, origin->facts, strlen(origin->facts), value))
		rvp_hex(value, origin->fingerprint);
}

void rvp_environment_make(struct rvp_origin *origin, const struct rvp_run *run, const char *const *rule_files)
{
	const struct rvp_process *process = choose(run);
	struct facts facts = {.rows = NULL};
	struct rvp_digests digests;

	if (!process)
		return;
	if (rvp_failed(rvp_digests_open(&digests)))
		digests.table = NULL; /* facts without a digest, which nobody misses who did not ask */
	add(&facts, "rvprof", NULL, "%s", RVP_VERSION);
	add_process(&facts, process);
	add_governor(&facts, run);
	add_devices(&facts, run);
	if (digests.table)
		add_all_rules(&facts, &digests, run, rule_files);
	origin->facts = text_of(&facts);
	if (digests.table && process->end == RVP_END_EXITED && process->module_count)
		sign(origin, &digests);
	free_facts(&facts);
	rvp_digests_close(&digests);
}
