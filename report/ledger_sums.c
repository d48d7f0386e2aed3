/* SPDX-License-Identifier: MIT */
/* ledger_sums.c: see ledger_sums.h. */
#include "report/ledger_sums.h"

#include <string.h>

#define X(id, name, what) name,
const char *const rvp_ledger_part_names[RVP_PART_COUNT] = {RVP_LEDGER_PARTS(X)};
#undef X
#define X(id, name, what) what,
const char *const rvp_ledger_part_texts[RVP_PART_COUNT] = {RVP_LEDGER_PARTS(X)};
#undef X

static void add(struct rvp_ledger_amount *to, const struct rvp_ledger_amount *amount)
{
	to->bytes += amount->bytes;
	to->resident_bytes += amount->resident_bytes;
}

/* The list stays ordered; who does not fit is counted. */
static void insert(struct rvp_ledger_sums *sums, const struct rvp_ledger_file *file)
{
	uint32_t at = sums->file_count;

	while (at > 0 && sums->files[at - 1].amount.resident_bytes < file->amount.resident_bytes)
		at--;
	if (sums->file_count == RVP_LEDGER_FILES_MAX)
		sums->more_files++;
	else
		sums->file_count++;
	if (at == RVP_LEDGER_FILES_MAX)
		return;
	memmove(&sums->files[at + 1], &sums->files[at], (sums->file_count - 1 - at) * sizeof *file);
	sums->files[at] = *file;
}

void rvp_ledger_add_file(struct rvp_ledger_sums *sums, const char *name, size_t length,
			 struct rvp_ledger_amount amount, uint64_t start)
{
	struct rvp_ledger_file file = {.amount = amount, .start = start, .end = start + amount.bytes};
	size_t cut = length > RVP_LEDGER_NAME_BYTES - 1 ? length - (RVP_LEDGER_NAME_BYTES - 1) : 0;

	memcpy(file.name, name + cut, length - cut);
	for (uint32_t i = 0; i < sums->file_count; i++) {
		if (strcmp(sums->files[i].name, file.name) != 0)
			continue;
		add(&file.amount, &sums->files[i].amount);
		memmove(&sums->files[i], &sums->files[i + 1], (sums->file_count - i - 1) * sizeof file);
		sums->file_count--;
		break;
	}
	insert(sums, &file);
}

void rvp_ledger_take_from_file(struct rvp_ledger_sums *sums, uint64_t address, uint64_t resident_bytes)
{
	for (uint32_t i = 0; i < sums->file_count; i++) {
		struct rvp_ledger_file *file = &sums->files[i];
		uint64_t has = file->amount.resident_bytes;

		if (address < file->start || address >= file->end)
			continue;
		file->amount.resident_bytes -= resident_bytes < has ? resident_bytes : has;
		return;
	}
}

void rvp_ledger_order_files(struct rvp_ledger_sums *sums)
{
	uint32_t count = sums->file_count;

	sums->file_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct rvp_ledger_file file = sums->files[i];

		if (file.amount.resident_bytes)
			insert(sums, &file);
	}
}

void rvp_ledger_add_sums(struct rvp_ledger_sums *to, const struct rvp_ledger_sums *from)
{
	to->rss_bytes += from->rss_bytes;
	to->swap_bytes += from->swap_bytes;
	to->pss_bytes += from->pss_bytes;
	for (int i = 0; i < RVP_PURPOSES_MAX; i++)
		add(&to->by_purpose[i], &from->by_purpose[i]);
	for (int i = 0; i < RVP_PART_COUNT; i++)
		add(&to->parts[i], &from->parts[i]);
	for (uint32_t i = 0; i < from->file_count; i++)
		rvp_ledger_add_file(to, from->files[i].name, strlen(from->files[i].name),
				    from->files[i].amount, 0);
	if (from->other_allocator[0])
		memcpy(to->other_allocator, from->other_allocator, sizeof to->other_allocator);
	to->more_files += from->more_files;
	to->allocator_bytes += from->allocator_bytes;
	to->live_usable_bytes += from->live_usable_bytes;
	to->live_count += from->live_count;
}

int64_t rvp_ledger_unexplained(const struct rvp_ledger_sums *sums)
{
	uint64_t sum = 0;

	for (int i = 0; i < RVP_PURPOSES_MAX; i++)
		sum += sums->by_purpose[i].resident_bytes;
	for (int i = 0; i < RVP_PART_COUNT; i++)
		sum += sums->parts[i].resident_bytes;
	return (int64_t)(sums->rss_bytes - sum);
}
