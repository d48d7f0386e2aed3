/* SPDX-License-Identifier: MIT */
/* rules_places.c: where rules are: the packs that come with rvprof beside the program in a build tree, in
 * ../share of an installed one; the user's where the recorded environment says. */
#include "report/own_folder.h"
#include "report/rules.h"
#include "report/run.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "RVPROF_RULES="

static const char *const places[] = {
    "/../rules",              /* build tree: tools/rvprof */
    "/../../rules",           /* build tree: tests/unit/check_*, tests/fuzz/replay_* */
    "/../share/rvprof/rules", /* installed */
};

static int is_rules(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 6 && *entry->d_name != '.' && !strcmp(entry->d_name + length - 6, ".rules");
}

static bool has_rules(const char *folder)
{
	DIR *open = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	while (open && !found && (entry = readdir(open)))
		found = is_rules(entry);
	if (open)
		closedir(open);
	return found;
}

bool rvp_rules_folder(char *path, size_t path_bytes)
{
	char folder[PATH_MAX];

	if (!rvp_own_folder(folder))
		return false;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (snprintf(path, path_bytes, "%s%s", folder, places[i]) < (int)path_bytes &&
		    has_rules(path))
			return true;
	return false;
}

struct rvp_status rvp_rules_read_folder(struct rvp_rule_list *rules, const char *folder,
					rvp_rule_complain *complain, void *context, int *errors)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_rules, alphasort);
	struct rvp_status status = RVP_OK;
	char path[PATH_MAX];

	if (count < 0)
		return rvp_fail("read rules", folder, errno);
	for (int i = 0; i < count; i++) {
		int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);

		if (!rvp_failed(status) && length < (int)sizeof path)
			status = rvp_rules_read_file(rules, path, complain, context, errors);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* The word after RVPROF_RULES=; NULL: none. */
static const char *recorded_word(const struct rvp_run *run)
{
	const struct rvp_process *root = run->root < run->process_count ? &run->processes[run->root] : NULL;

	for (size_t i = 0; root && i < root->environment_count; i++)
		if (!strncmp(root->environment[i], VARIABLE, strlen(VARIABLE)))
			return root->environment[i] + strlen(VARIABLE);
	return NULL;
}

void rvp_rules_recorded(const struct rvp_run *run, rvp_rules_found *found, void *context)
{
	const char *files = recorded_word(run);
	char path[PATH_MAX];

	while (files && *files) {
		int length = (int)strcspn(files, ":");
		bool is_relative = *files != '/';

		if (length && snprintf(path, sizeof path, "%s%s%.*s", is_relative ? run->folder : "",
				       is_relative ? "/../" : "", length, files) < (int)sizeof path)
			found(context, path);
		files += length;
		files += *files == ':';
	}
}
