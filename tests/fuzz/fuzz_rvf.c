/* SPDX-License-Identifier: MIT */
/* fuzz_rvf.c: any bytes as an RVF file beside a folder of results. Whoever makes a hostile file can hash, so
 * the first byte says how much is made good of what follows:
 *
 *     0  nothing
 *     1  lengths, content hashes and padding of the segments that its headers tell of
 *     2  it is a manifest: a bundle of ours with that many entries as the second byte says has it
 *
 *   (F9) Findings are bounded, each has a path and words; what holds is one of the two files that are there,
 * or the file itself; a file of ours alone can hold as ours. (F10) A status fails only where something could
 * not be read.
 */
#include "prove/bundle.h"
#include "prove/rvf.h"
#include "prove/verify.h"
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rvp_digests digests;
static char folder[] = "/tmp/rvprof-fuzz-rvf.XXXXXX";
static char path[64];

static void put(const char *name, const char *text)
{
	char whole[64];
	FILE *out;

	snprintf(whole, sizeof whole, "%s/%s", folder, name);
	out = fopen(whole, "w");
	if (!out)
		abort();
	fputs(text, out);
	fclose(out);
}

static void tidy(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	if (system(command) != 0)
		abort();
}

static void begin(void)
{
	char name[64];

	if (digests.table)
		return;
	if (!mkdtemp(folder) || rvp_failed(rvp_digests_open(&digests)))
		abort();
	snprintf(name, sizeof name, "%s/witness", folder);
	if (mkdir(name, 0700) != 0)
		abort();
	atexit(tidy);
	put("a.csv", "setting,accuracy\n");
	put("witness/a.jsonl", "{\"keep\":[true]}\n{\"keep\":[false]}\n");
	snprintf(path, sizeof path, "%s/witness/w.rvf", folder);
}

/* ---- what is made good ---- */

static void put_segments(FILE *out, const uint8_t *bytes, size_t length)
{
	while (length >= RVP_RVF_UNIT_BYTES) {
		struct rvp_rvf_header header;
		uint8_t hash[RVP_DIGEST_BYTES], head[RVP_RVF_UNIT_BYTES];
		const uint8_t *payload = bytes + RVP_RVF_UNIT_BYTES;
		size_t left = length - RVP_RVF_UNIT_BYTES, taken;

		rvp_rvf_header_read(&header, bytes);
		header.magic = RVP_RVF_MAGIC;
		header.version = RVP_RVF_VERSION;
		taken = header.payload_bytes < left ? (size_t)header.payload_bytes : left;
		header.payload_bytes = taken;
		header.pad_bytes = rvp_rvf_pad_bytes(taken);
		if (!rvp_digest_of(&digests, header.algorithm == RVP_RVF_SHAKE ? RVP_SHAKE256 : RVP_XXH3_128,
				   payload, taken, hash))
			abort();
		memcpy(header.content_hash, hash, sizeof header.content_hash);
		rvp_rvf_header_write(&header, head);
		fwrite(head, sizeof head, 1, out);
		fwrite(payload, 1, taken, out);
		for (unsigned i = 0; i < header.pad_bytes; i++)
			fputc(0, out);
		bytes = payload + taken;
		length = left - taken;
	}
}

static void put_bundle(FILE *out, const uint8_t *bytes, size_t length)
{
	uint8_t entries[256][RVP_RVF_ENTRY_BYTES], action[RVP_DIGEST_BYTES];
	static const char *const actions[] = {RVP_BUNDLE_NAME, "{\"keep\":[true]}", "{\"keep\":[false]}"};
	struct rvp_rvf_chain chain;
	unsigned count = length ? bytes[0] : 0;

	if (!rvp_rvf_chain_open(&chain, &digests))
		abort();
	for (unsigned i = 0; i < count; i++) {
		const char *text = actions[i % 3];

		if (!rvp_digest_of(&digests, RVP_SHAKE256, text, strlen(text), action) ||
		    !rvp_rvf_chain_add(&chain, action, i, i ? RVP_RVF_COMPUTATION : RVP_RVF_PROVENANCE,
				       entries[i]))
			abort();
	}
	rvp_rvf_chain_close(&chain);
	if (rvp_failed(rvp_rvf_segment_write(out, path, &digests, RVP_RVF_WITNESS, RVP_BUNDLE_WITNESS,
					     entries, count * RVP_RVF_ENTRY_BYTES)) ||
	    rvp_failed(rvp_rvf_segment_write(out, path, &digests, RVP_RVF_META, RVP_BUNDLE_MANIFEST,
					     bytes + (length > 0), length - (length > 0))))
		abort();
}

/* ---- what must hold ---- */

static void check(const struct rvp_verified *verified, bool is_empty)
{
	const struct rvp_findings *findings = &verified->findings;

	if (findings->count > RVP_FINDINGS_MAX || (is_empty && !findings->broken_count))
		abort();
	for (size_t i = 0; i < findings->count; i++) {
		const struct rvp_finding *row = &findings->rows[i];

		if (!row->path || !row->what || !*row->what)
			abort();
		if (row->kind == RVP_HOLDS && strcmp(row->path, path) != 0 && !strstr(row->path, "a.csv") &&
		    !strstr(row->path, "a.jsonl"))
			abort();
	}
	if (verified->is_signed && !verified->is_ours)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct rvp_verified verified;
	struct rvp_status status;
	FILE *out;

	begin();
	if (!length)
		return 0;
	out = fopen(path, "w");
	if (!out)
		abort();
	if (bytes[0] % 3 == 0)
		fwrite(bytes + 1, 1, length - 1, out);
	else
		(bytes[0] % 3 == 1 ? put_segments : put_bundle)(out, bytes + 1, length - 1);
	fclose(out);
	status = rvp_verify_file(&digests, path, NULL, &verified);
	if (rvp_failed(status))
		abort();
	check(&verified, bytes[0] % 3 == 0 && length == 1);
	rvp_findings_free(&verified.findings);
	return 0;
}
