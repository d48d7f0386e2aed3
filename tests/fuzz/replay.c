/* SPDX-License-Identifier: MIT */
/* replay.c: runs a fuzz target over files, without a fuzzer. Usage: replay_<target> FOLDER_OR_FILE..
 * At least one file must be found: a corpus that is not there proves nothing. */
#include "tests/fuzz/target.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned replayed;

static void replay_file(const char *path, FILE *file)
{
	size_t room = 1 << 20, length;
	uint8_t *bytes = malloc(room), *exact;

	length = fread(bytes, 1, room, file);
	/* Its own block of just that size, so that a read past its end is found. */
	exact = malloc(length ? length : 1);
	memcpy(exact, bytes, length);
	free(bytes);
	if (LLVMFuzzerTestOneInput(exact, length) != 0) {
		fprintf(stderr, "replay: %s: refused\n", path);
		exit(1);
	}
	free(exact);
	replayed++;
}

static void replay_folder(const char *path, DIR *folder);

static void replay(const char *path)
{
	DIR *folder = opendir(path);
	FILE *file;

	if (folder) {
		replay_folder(path, folder);
		return;
	}
	file = fopen(path, "rb");
	if (!file) {
		perror(path);
		exit(2);
	}
	replay_file(path, file);
	fclose(file);
}

static void replay_folder(const char *path, DIR *folder)
{
	char below[4096];

	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
		replay(below);
	}
	closedir(folder);
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++)
		replay(words[i]);
	printf("%u inputs replayed\n", replayed);
	return replayed ? 0 : 1;
}
