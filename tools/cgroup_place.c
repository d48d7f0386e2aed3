/* SPDX-License-Identifier: MIT */
/* cgroup_place.c: see cgroup_place.h. Lines of mountinfo:
 *   36 35 0:30 /root /mount/point rw,relatime shared:1 - cgroup2 none rw,nsdelegate
 * A blank in a path is \040 there. */
#include "tools/cgroup_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mount {
	char *root, *point, *type, *super_options;
};

static bool is_octal(char digit)
{
	return digit >= '0' && digit <= '7';
}

static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		bool is_escape = at[0] == '\\' && is_octal(at[1]) && is_octal(at[2]) && is_octal(at[3]);

		*to = is_escape ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + at[3] - '0') : *at;
		at += is_escape ? 4 : 1;
	}
	*to = 0;
}

static bool split(char *line, struct mount *mount)
{
	char *words[6], *rest = line, *behind = strstr(line, " - ");

	if (!behind)
		return false;
	*behind = 0;
	for (int i = 0; i < 5; i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i])
			return false;
	}
	rest = behind + 3;
	mount->root = words[3];
	mount->point = words[4];
	mount->type = strsep(&rest, " ");
	strsep(&rest, " "); /* its source */
	mount->super_options = strsep(&rest, " \n");
	unescape(mount->root);
	unescape(mount->point);
	return mount->super_options != NULL;
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
			return true;
	return false;
}

static bool is_of_version(const struct mount *mount, unsigned version)
{
	return version == 2 ? !strcmp(mount->type, "cgroup2")
			    : !strcmp(mount->type, "cgroup") && has_word(mount->super_options, "memory");
}

/* What is left of the process's path below the mount; NULL: it lies outside. */
static const char *below(const struct mount *mount, const char *path)
{
	size_t length = strlen(mount->root);

	if (length == 1) /* "/" */
		return !strncmp(path, "/..", 3) ? NULL : path;
	if (strncmp(path, mount->root, length) != 0 || (path[length] != '/' && path[length]))
		return NULL;
	return !strncmp(path + length, "/..", 3) ? NULL : path + length;
}

static bool has_file(const char *folder, const char *name)
{
	char path[4096 + 64];

	return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
	       access(path, R_OK) == 0;
}

static bool has_figures(const struct rvp_cgroup *cgroup)
{
	return has_file(cgroup->path, cgroup->version == 2 ? "memory.current" : "memory.usage_in_bytes") &&
	       has_file(cgroup->path, "memory.stat");
}

static bool lists(const char *folder, pid_t pid)
{
	char path[4096 + 64], line[32];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof line, file))
		found = strtol(line, NULL, 10) == pid;
	if (file)
		fclose(file);
	return found;
}

static bool is_folder(const char *path)
{
	return access(path, X_OK) == 0;
}

static bool go_up(struct rvp_cgroup *cgroup)
{
	char *last = strrchr(cgroup->path, '/');

	if (!last || (size_t)(last - cgroup->path) < cgroup->mount_bytes)
		return false;
	*last = 0;
	return true;
}

static bool try_mount(struct rvp_cgroup *cgroup, const char *root, const struct mount *mount,
		      const char *path, pid_t pid)
{
	const char *inside = below(mount, path);
	int bytes = snprintf(cgroup->path, sizeof cgroup->path, "%s%s", root, mount->point);

	cgroup->mount_bytes = (size_t)bytes;
	if (bytes >= (int)sizeof cgroup->path)
		return false;
	if (inside && strcmp(inside, "/") != 0)
		snprintf(cgroup->path + bytes, sizeof cgroup->path - (size_t)bytes, "%s", inside);
	if (!inside || !is_folder(cgroup->path)) {
		cgroup->path[bytes] = 0;
		return lists(cgroup->path, pid) && has_figures(cgroup);
	}
	while (!has_figures(cgroup))
		if (!go_up(cgroup))
			return false;
	return true;
}

/* Whether the list of a line of /proc/PID/cgroup is that of `version`: "", or one with memory in it. */
static bool is_the_line(const char *controllers, unsigned version)
{
	return version == 2 ? !*controllers : has_word(controllers, "memory");
}

/* The group's path in that hierarchy: lines are number:controllers:path. */
static bool find_path(const char *root, pid_t pid, unsigned version, char *into, size_t room)
{
	char name[4096], *line = NULL;
	size_t line_room = 0;
	bool found = false;
	FILE *file;

	snprintf(name, sizeof name, "%s/proc/%d/cgroup", root, (int)pid);
	file = fopen(name, "re");
	while (file && !found && getline(&line, &line_room, file) > 0) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		found = is_the_line(controllers + 1, version) && snprintf(into, room, "%s", path) < (int)room;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool find_version(struct rvp_cgroup *cgroup, const char *root, pid_t pid)
{
	char path[4096], name[4096], *line = NULL;
	struct mount mount;
	bool found = false;
	size_t room = 0;
	FILE *file;

	if (!find_path(root, pid, cgroup->version, path, sizeof path))
		return false;
	snprintf(name, sizeof name, "%s/proc/self/mountinfo", root);
	file = fopen(name, "re");
	while (file && !found && getline(&line, &room, file) > 0)
		found = split(line, &mount) && is_of_version(&mount, cgroup->version) &&
			try_mount(cgroup, root, &mount, path, pid);
	free(line);
	if (file)
		fclose(file);
	return found;
}

void rvp_cgroup_find(struct rvp_cgroup *cgroup, const char *root, pid_t pid)
{
	for (cgroup->version = 2; cgroup->version; cgroup->version--)
		if (find_version(cgroup, root, pid))
			return;
}
