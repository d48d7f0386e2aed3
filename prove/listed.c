/* SPDX-License-Identifier: MIT */
/* listed.c: see listed.h.
 *
 * Rule: a path of a manifest stays below the folder: one that begins with '/' or goes through '..' is a
 * finding and is not opened. */
#include "prove/listed.h"

#include "prove/lines.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct lists {
	const struct rvp_digests *digests;
	char folder[PATH_MAX];
	const char *bundle; /* its path in the folder */
	struct rvp_segments *segments;
	uint64_t entry; /* the next one of the chain to be met by a line; the first is our name */
	struct rvp_findings *findings;
	struct rvp_verified *verified;
	json_t *seen; /* paths as keys */
};

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool stays_below(const char *path)
{
	for (const char *part = path; *part;) {
		size_t bytes = strcspn(part, "/");

		if (bytes == 0 || (bytes == 2 && memcmp(part, "..", 2) == 0))
			return false;
		part += bytes + (part[bytes] == '/');
	}
	return *path;
}

static uint64_t listed_bytes(const json_t *item)
{
	return (uint64_t)json_integer_value(json_object_get(item, "bytes"));
}

/* A file whose digest is known, against what the list says. */
static void compare(struct lists *lists, const json_t *item, const uint8_t sha256[RVP_DIGEST_BYTES],
		    uint64_t bytes)
{
	const char *path = text_of(item, "path"), *said = text_of(item, "sha256");
	char text[RVP_HEX_TEXT_BYTES];

	lists->verified->checked_bytes += bytes;
	if (said && strcmp(said, rvp_hex(sha256, text)) == 0 && listed_bytes(item) == bytes)
		rvp_findings_add(lists->findings, RVP_HOLDS, path, 0, "%" PRIu64 " bytes", bytes);
	else
		rvp_findings_add(lists->findings, RVP_BROKEN, path, 0,
				 "it is not what was written: %" PRIu64
				 " bytes, SHA-256 %s; recorded were %" PRIu64 ", %s",
				 bytes, text, listed_bytes(item), said ? said : "nothing");
}

static void cannot_open(struct lists *lists, const char *path, const struct rvp_status *status)
{
	rvp_findings_add(lists->findings, RVP_BROKEN, path, 0,
			 status->error == ENOENT ? "it is missing" : "it can't be read: %s",
			 strerror(status->error));
}

static bool take_path(struct lists *lists, const json_t *item, char full[PATH_MAX + 1])
{
	const char *path = text_of(item, "path");

	if (!path || !stays_below(path) ||
	    snprintf(full, PATH_MAX, "%s/%s", lists->folder, path) >= PATH_MAX) {
		rvp_findings_add(lists->findings, RVP_BROKEN, lists->bundle, 0,
				 "its manifest lists '%s', which is no path in its folder", path ? path : "");
		return false;
	}
	json_object_set_new(lists->seen, path, json_true());
	return true;
}

static void check_file(struct lists *lists, const json_t *item)
{
	char full[PATH_MAX + 1];
	uint8_t sha256[RVP_DIGEST_BYTES];
	uint64_t bytes;
	struct rvp_status status;

	if (!take_path(lists, item, full))
		return;
	status = rvp_digest_of_file(lists->digests, RVP_SHA256, full, sha256, &bytes);
	if (rvp_failed(status))
		cannot_open(lists, text_of(item, "path"), &status);
	else
		compare(lists, item, sha256, bytes);
}

/* The action of the chain's next entry; false when there is none. */
static bool next_action(struct lists *lists, uint8_t action[RVP_DIGEST_BYTES])
{
	uint8_t entry[RVP_RVF_ENTRY_BYTES];

	if (lists->entry >= lists->verified->entries ||
	    fread(entry, sizeof entry, 1, lists->segments->file) != 1)
		return false;
	lists->entry++;
	memcpy(action, rvp_rvf_entry_action(entry), RVP_DIGEST_BYTES);
	return true;
}

/* Only the first line that differs is told: behind a line too many every one would. */
static struct rvp_status check_lines(struct lists *lists, const json_t *item, struct rvp_hashed_lines *lines)
{
	uint8_t action[RVP_DIGEST_BYTES], recorded[RVP_DIGEST_BYTES];
	uint64_t said = (uint64_t)json_integer_value(json_object_get(item, "lines")), wrong = 0;
	struct rvp_status status;
	bool has_line;

	while (!rvp_failed(status = rvp_hashed_lines_next(lines, action, &has_line)) && has_line) {
		if (lines->line_count > said)
			wrong = wrong ? wrong : lines->line_count;
		else if (!next_action(lists, recorded) || memcmp(action, recorded, sizeof action) != 0)
			wrong = wrong ? wrong : lines->line_count;
	}
	for (uint64_t line = lines->line_count; line < said && next_action(lists, recorded); line++)
		wrong = wrong ? wrong : line + 1;
	lists->verified->decisions += said;
	if (wrong)
		rvp_findings_add(lists->findings, RVP_BROKEN, text_of(item, "path"), wrong,
				 "it is not the line that the chain has (%" PRIu64
				 " lines, recorded were %" PRIu64 ")",
				 lines->line_count, said);
	if (!rvp_failed(status))
		compare(lists, item, action, lines->bytes);
	return status;
}

static void check_witness(struct lists *lists, const json_t *item)
{
	char full[PATH_MAX + 1];
	struct rvp_hashed_lines lines = {.digests = lists->digests};
	struct rvp_status status;

	if (!take_path(lists, item, full))
		return;
	status = rvp_hashed_lines_open(&lines, lists->digests, full);
	if (!rvp_failed(status))
		status = check_lines(lists, item, &lines);
	if (rvp_failed(status))
		cannot_open(lists, text_of(item, "path"), &status);
	rvp_hashed_lines_close(&lines);
}

/* Files of the folder that nobody vouches for. Hidden ones are left out: an editor's, a version control's. */
static void name_others(struct lists *lists)
{
	char *roots[] = {lists->folder, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t skip = strlen(lists->folder) + 1;

	for (FTSENT *entry; walk && (entry = fts_read(walk));) {
		const char *path = entry->fts_pathlen > skip ? entry->fts_path + skip : "";

		if (entry->fts_level > 0 && entry->fts_name[0] == '.')
			fts_set(walk, entry, FTS_SKIP);
		else if ((entry->fts_info == FTS_F || entry->fts_info == FTS_SL) &&
			 strcmp(path, lists->bundle) != 0 && !json_object_get(lists->seen, path))
			rvp_findings_add(lists->findings, RVP_NOT_COVERED, path, 0,
					 "the manifest does not list it");
	}
	if (walk)
		fts_close(walk);
}

/* PATH less the bundle's own path in it: where the listed files are. */
static bool find_folder(struct lists *lists, const char *path)
{
	char whole[PATH_MAX];
	size_t length, tail = strlen(lists->bundle);

	if (!realpath(path, whole))
		return false;
	length = strlen(whole);
	if (!tail || length <= tail || whole[length - tail - 1] != '/' ||
	    strcmp(whole + length - tail, lists->bundle) != 0)
		return false;
	whole[length - tail - 1] = 0;
	strcpy(lists->folder, *whole ? whole : "/");
	return true;
}

static void check_lists(struct lists *lists, const json_t *manifest)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(manifest, "witness"), i, item) check_witness(lists, item);
	if (lists->entry != lists->verified->entries)
		rvp_findings_add(lists->findings, RVP_BROKEN, lists->bundle, 0,
				 "its chain has %" PRIu64 " entries, its manifest speaks of %" PRIu64,
				 lists->verified->entries, lists->entry);
	json_array_foreach(json_object_get(manifest, "files"), i, item) check_file(lists, item);
	name_others(lists);
}

struct rvp_status rvp_check_listed(const struct rvp_digests *digests, const char *path,
				   const json_t *manifest, struct rvp_segments *segments,
				   struct rvp_verified *verified)
{
	struct lists lists = {.digests = digests,
			      .segments = segments,
			      .entry = 1,
			      .findings = &verified->findings,
			      .verified = verified,
			      .seen = json_object()};
	off_t first = (off_t)segments->kept[0].payload_at + RVP_RVF_ENTRY_BYTES;

	lists.bundle = text_of(json_object_get(manifest, "bundle"), "path");
	if (!lists.seen || fseeko(segments->file, first, SEEK_SET) != 0)
		return json_decref(lists.seen), rvp_fail("read", path, lists.seen ? errno : ENOMEM);
	if (!lists.bundle || !find_folder(&lists, path))
		rvp_findings_add(lists.findings, RVP_NOT_COVERED, path, 0,
				 "the files that its manifest lists: it does not lie at %s in their folder",
				 lists.bundle ? lists.bundle : "its place");
	else
		check_lists(&lists, manifest);
	json_decref(lists.seen);
	return RVP_OK;
}
