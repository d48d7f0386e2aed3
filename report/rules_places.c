/* SPDX-License-Identifier: MIT */
/* rules_places.c: where the rule packs that come with rvprof are: beside the program in a build tree, in
 * ../share of an installed one. */
#include "report/own_folder.h"
#include "report/rules.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
