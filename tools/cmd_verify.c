/* SPDX-License-Identifier: MIT */
/* cmd_verify.c: `rvprof verify DIR|FILE.rvf [--key PUBLIC.pem] [--json]`: whether results are as they were
 * written. */
#include "prove/verify.h"
#include "report/json_writer.h"
#include "report/text_numbers.h"
#include "report/text_style.h"
#include "tools/commands.h"

#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "Usage: rvprof verify DIR|FILE.rvf [--key PUBLIC.pem] [--json]\n"
    "Whether results are as they were written: the chain of a witness file, content hashes, padding, and "
    "each file that\n"
    "the manifest lists; also which files nobody vouches for. Any RVF file can be checked, rvprof's or not.\n"
    "DIR is a folder with one .rvf file in it or in its witness/.\n"
    "  --key FILE  it must be signed with this Ed25519 key\n"
    "  --json      one JSON object, schema rvprof.verify/1\n"
    "  --help      this\n"
    "Status: 0 all holds, 1 something does not, 2 it could not be checked.\n";

enum { KEY = 1, JSON, HELP };
static const struct option options[] = {{"key", required_argument, NULL, KEY},
					{"json", no_argument, NULL, JSON},
					{"help", no_argument, NULL, HELP},
					{0}};

static const char *const kind_words[] = {
    [RVP_HOLDS] = "holds", [RVP_BROKEN] = "does not hold", [RVP_NOT_COVERED] = "not covered"};

/* The one bundle of a folder. */
static struct rvp_status find_bundle(const char *folder, char path[PATH_MAX])
{
	static const char *const patterns[] = {"%s/*.rvf", "%s/witness/*.rvf"};
	char pattern[PATH_MAX + 16];
	glob_t found = {0};
	size_t count;

	for (int i = 0; i < 2; i++) {
		snprintf(pattern, sizeof pattern, patterns[i], folder);
		glob(pattern, i ? GLOB_APPEND : 0, NULL, &found);
	}
	count = found.gl_pathc;
	if (count == 1)
		snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	if (count == 1)
		return RVP_OK;
	return count ? rvp_fail_with("check", folder, "there are %zu .rvf files in it: name one", count)
		     : rvp_fail_with("check", folder, "there is no .rvf file in it nor in its witness/");
}

static struct rvp_status find_file(const char *word, char path[PATH_MAX])
{
	struct stat info;

	if (stat(word, &info) != 0)
		return rvp_fail("check", word, errno);
	if (S_ISDIR(info.st_mode))
		return find_bundle(word, path);
	snprintf(path, PATH_MAX, "%s", word);
	return RVP_OK;
}

static void print_row(const struct rvp_finding *row)
{
	printf("%-13s  ", kind_words[row->kind]);
	rvp_print_safely(stdout, row->path, 0);
	if (row->line)
		printf(":%" PRIu64, row->line);
	printf(": ");
	rvp_print_safely(stdout, row->what, 0);
	putchar('\n');
}

static const char *verdict(const struct rvp_verified *verified)
{
	if (verified->findings.broken_count)
		return "invalid";
	return verified->witness_segments ? "valid" : "no_witnesses";
}

static void print_text(const struct rvp_verified *verified)
{
	const struct rvp_findings *findings = &verified->findings;
	char entries[RVP_NUMBER_TEXT_BYTES], decisions[RVP_NUMBER_TEXT_BYTES];
	size_t not_covered = findings->not_covered_count;
	size_t all = findings->broken_count + findings->held_count + not_covered;

	for (size_t i = 0; i < findings->count; i++)
		print_row(&findings->rows[i]);
	if (all > findings->count)
		printf("... and %zu more\n", all - findings->count);
	rvp_text_count(verified->entries, entries);
	rvp_text_count(verified->decisions, decisions);
	printf("%s: ", verdict(verified));
	if (verified->is_ours)
		printf("%s decisions, ", decisions);
	printf("%s entries in %" PRIu64 " chain%s; %zu held, %zu did not, %zu not covered%s%s\n", entries,
	       verified->witness_segments, verified->witness_segments == 1 ? "" : "s", findings->held_count,
	       findings->broken_count, not_covered,
	       verified->is_signed ? "; signed by "
	       : verified->is_ours ? "; not signed"
				   : "",
	       verified->is_signed ? verified->signer : "");
}

static void print_json(const struct rvp_verified *verified)
{
	struct rvp_json json = {.out = stdout};

	rvp_json_open(&json, NULL, '{');
	rvp_json_string(&json, "schema", "rvprof.verify/1");
	rvp_json_string(&json, "status", verdict(verified));
	rvp_json_number(&json, "segments", verified->segments);
	rvp_json_number(&json, "witness_segments", verified->witness_segments);
	rvp_json_number(&json, "valid_chains", verified->valid_chains);
	rvp_json_number(&json, "total_entries", verified->entries);
	rvp_json_number(&json, "chain_breaks", verified->chain_breaks);
	if (verified->entries) {
		rvp_json_number(&json, "first_timestamp_ns", verified->first_timestamp_ns);
		rvp_json_number(&json, "last_timestamp_ns", verified->last_timestamp_ns);
	}
	if (verified->is_ours)
		rvp_json_number(&json, "decisions", verified->decisions);
	rvp_json_number(&json, "checked_bytes", verified->checked_bytes);
	if (verified->is_signed)
		rvp_json_string(&json, "signed_by", verified->signer);
	rvp_json_open(&json, "rows", '[');
	for (size_t i = 0; i < verified->findings.count; i++) {
		const struct rvp_finding *row = &verified->findings.rows[i];

		rvp_json_open(&json, NULL, '{');
		rvp_json_string(&json, "result", kind_words[row->kind]);
		rvp_json_string(&json, "path", row->path);
		if (row->line)
			rvp_json_number(&json, "line", row->line);
		rvp_json_string(&json, "what", row->what);
		rvp_json_close(&json, '}');
	}
	rvp_json_close(&json, ']');
	rvp_json_close(&json, '}');
	putchar('\n');
}

static int verify(const char *word, const char *key_path, bool is_json)
{
	char path[PATH_MAX];
	struct rvp_digests digests = {.table = NULL};
	struct rvp_verified verified = {.segments = 0};
	struct rvp_status status = find_file(word, path);
	int exit_status = RVP_EXIT_USAGE;

	if (!rvp_failed(status))
		status = rvp_digests_open(&digests);
	if (!rvp_failed(status))
		status = rvp_verify_file(&digests, path, key_path, &verified);
	if (rvp_failed(status)) {
		rvp_complain_of(&status);
	} else {
		(is_json ? print_json : print_text)(&verified);
		exit_status = verified.findings.broken_count ? RVP_EXIT_NO : RVP_EXIT_DONE;
	}
	rvp_findings_free(&verified.findings);
	rvp_digests_close(&digests);
	return exit_status;
}

int rvp_cmd_verify(int argc, char **argv)
{
	const char *key_path = NULL;
	bool is_json = false;
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		switch (letter) {
		case KEY: key_path = optarg; break;
		case JSON: is_json = true; break;
		case HELP: return fputs(help, stdout), RVP_EXIT_DONE;
		default:
			rvp_complain_of_option("verify", letter, argv[optind - 1], options);
			return RVP_EXIT_USAGE;
		}
	}
	if (argc - optind != 1) {
		rvp_complain("verify needs one folder or .rvf file; `rvprof verify --help`");
		return RVP_EXIT_USAGE;
	}
	return verify(argv[optind], key_path, is_json);
}
