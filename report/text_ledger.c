/* SPDX-License-Identifier: MIT */
/* text_ledger.c: see text_ledger.h. */
#include "report/text_ledger.h"

#include "report/ledger_cgroup.h"
#include "report/site_name.h"
#include "report/text_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 22, LISTED_FILES = 8, UNTOUCHED_LEAST = 1 << 20 };

struct table {
	const struct rvp_view *view;
	const struct rvp_ledger_entry *entry;
};

/* "8 % of 16.0 MiB" where much was asked for and never touched. */
static void print_untouched(const struct rvp_view *view, const struct rvp_ledger_amount *amount)
{
	char share[RVP_NUMBER_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES];

	if (amount->resident_bytes + UNTOUCHED_LEAST > amount->bytes ||
	    amount->resident_bytes > amount->bytes - amount->bytes / 10)
		return;
	fprintf(view->out, "%s of %s reserved is resident",
		rvp_text_share(amount->resident_bytes, amount->bytes, share),
		rvp_text_bytes(amount->bytes, bytes));
}

static void print_row(const struct table *table, const char *indent, const char *name,
		      const struct rvp_ledger_amount *amount, const char *what)
{
	const struct rvp_view *view = table->view;
	char text[RVP_NUMBER_TEXT_BYTES];

	fprintf(view->out, "  %s%-*s%12s", indent, NAME_COLUMNS - (int)strlen(indent), name,
		rvp_text_bytes(amount->resident_bytes, text));
	fprintf(view->out, "%8s  ", rvp_text_share(amount->resident_bytes, table->entry->rss_bytes, text));
	if (what)
		rvp_print_safely(view->out, what, view->style.width > 50 ? view->style.width - 48 : 0);
	else
		print_untouched(view, amount);
	fputc('\n', view->out);
}

static void print_categories(const struct table *table)
{
	const struct rvp_ledger_sums *sums = table->entry->sums;
	const struct rvp_purposes *purposes =
	    table->view->attribution ? rvp_attribution_purposes(table->view->attribution) : NULL;

	for (uint16_t i = 0; i < RVP_CATEGORY_COUNT; i++) {
		if (sums->by_purpose[i].bytes)
			print_row(table, "", rvp_category_names[i], &sums->by_purpose[i],
				  i == RVP_CATEGORY_UNKNOWN &&
					  sums->by_purpose[i].resident_bytes >= sums->by_purpose[i].bytes
				      ? "blocks that nobody has named"
				      : NULL);
		for (uint32_t k = RVP_CATEGORY_COUNT; purposes && k < purposes->count; k++)
			if (purposes->categories[k] == i && sums->by_purpose[k].bytes)
				print_row(table, "", purposes->names[k], &sums->by_purpose[k], NULL);
	}
}

static void print_files(const struct table *table)
{
	const struct rvp_ledger_sums *sums = table->entry->sums;
	char text[RVP_NUMBER_TEXT_BYTES];

	for (uint32_t i = 0; i < sums->file_count && i < LISTED_FILES; i++) {
		fprintf(table->view->out, "    %12s  ",
			rvp_text_bytes(sums->files[i].amount.resident_bytes, text));
		rvp_print_safely_end(table->view->out, sums->files[i].name,
				     table->view->style.width > 20 ? table->view->style.width - 18 : 0);
		fputc('\n', table->view->out);
	}
	if (sums->file_count > LISTED_FILES || sums->more_files)
		fprintf(
		    table->view->out, "    %12s  more files\n",
		    rvp_text_count(sums->file_count + sums->more_files -
				       (sums->file_count < LISTED_FILES ? sums->file_count : LISTED_FILES),
				   text));
}

static void print_parts(const struct table *table)
{
	for (int i = 0; i < RVP_PART_COUNT; i++) {
		const struct rvp_ledger_amount *amount = &table->entry->sums->parts[i];

		if (!amount->resident_bytes)
			continue;
		print_row(table, "", rvp_ledger_part_names[i], amount, rvp_ledger_part_texts[i]);
		if (i == RVP_PART_FILE)
			print_files(table);
	}
}

/* Heap and anonymous memory are one row. */
static void print_regions(const struct table *table)
{
	const struct rvp_ledger_entry *entry = table->entry;

	for (int i = 0; entry->regions_ns && i < RVP_CATEGORY_COUNT; i++) {
		struct rvp_ledger_amount amount = {entry->mapped_bytes[i], entry->region_bytes[i]};

		if (amount.resident_bytes)
			print_row(table, "", i == RVP_CATEGORY_UNKNOWN ? "anonymous" : rvp_category_names[i],
				  &amount,
				  i == RVP_CATEGORY_UNKNOWN ? "heap and all else; not looked at from inside"
							    : "");
	}
}

static void print_sum(const struct table *table)
{
	const struct rvp_ledger_entry *entry = table->entry;
	int64_t rest = rvp_ledger_entry_unexplained(entry);
	char text[RVP_NUMBER_TEXT_BYTES], share[RVP_NUMBER_TEXT_BYTES];

	if (rvp_ledger_closes(entry))
		fprintf(table->view->out, "  %-*s%12s%8s\n", NAME_COLUMNS, "unexplained",
			rvp_text_change(rest, text),
			rvp_text_share(rest < 0 ? (uint64_t)-rest : (uint64_t)rest, entry->rss_bytes, share));
	else
		fprintf(table->view->out, "  %-*snot known: not every process was looked at then\n",
			NAME_COLUMNS, "unexplained");
	fprintf(table->view->out, "  %-*s%12s\n", NAME_COLUMNS, "resident (RSS)",
		rvp_text_bytes(entry->rss_bytes, text));
	if (entry->swap_bytes)
		fprintf(table->view->out, "  %-*s%12s\n", NAME_COLUMNS, "swapped out",
			rvp_text_bytes(entry->swap_bytes, text));
}

static void print_entry(const struct rvp_view *view, const char *at, const struct rvp_ledger_entry *entry)
{
	struct table table = {view, entry};
	char title[160], clock[RVP_NUMBER_TEXT_BYTES];

	if (!entry->is_set)
		return;
	snprintf(title, sizeof title, "Resident memory at %.90s, %s", at, rvp_text_clock(entry->ns, clock));
	rvp_text_title(view, title);
	if (entry->sums) {
		print_categories(&table);
		print_parts(&table);
	} else {
		print_regions(&table);
	}
	print_sum(&table);
}

/* RSS counts a page once a process that has it. */
static void print_pss(const struct rvp_view *view, const struct rvp_pss_round *pss)
{
	struct rvp_ledger_entry entry = {.rss_bytes = pss->pss_bytes};
	struct table table = {view, &entry};
	char title[96], name[32], what[96], text[RVP_NUMBER_TEXT_BYTES];

	if (pss->process_count < 2)
		return;
	snprintf(title, sizeof title, "Its %u processes, shared pages counted once (PSS)",
		 (unsigned)pss->process_count);
	rvp_text_title(view, title);
	for (uint64_t i = 0; i < pss->process_count && i < RVP_PSS_LISTED_MAX; i++) {
		const struct rvp_pss_process *process = &pss->processes[i];

		snprintf(name, sizeof name, "process %llu", (unsigned long long)process->pid);
		snprintf(what, sizeof what, "RSS %s", rvp_text_bytes(process->rss_bytes, text));
		print_row(&table, "", name,
			  &(struct rvp_ledger_amount){process->pss_bytes, process->pss_bytes}, what);
	}
	snprintf(what, sizeof what, "RSS counts %s more than once",
		 rvp_text_bytes(pss->rss_bytes > pss->pss_bytes ? pss->rss_bytes - pss->pss_bytes : 0, text));
	print_row(&table, "", "all of them", &(struct rvp_ledger_amount){pss->pss_bytes, pss->pss_bytes},
		  what);
}

static void print_limit(const struct rvp_view *view, const struct rvp_record_CGROUP *cgroup)
{
	char text[RVP_NUMBER_TEXT_BYTES];

	if (!cgroup->max_bytes)
		return;
	fprintf(view->out, "  %-*s%12s", NAME_COLUMNS, "its limit", rvp_text_bytes(cgroup->max_bytes, text));
	if (cgroup->limit_levels)
		fprintf(view->out, "          of a group above, in which %s are used",
			rvp_text_bytes(cgroup->limit_current_bytes, text));
	fputc('\n', view->out);
}

static void print_cgroup(const struct rvp_view *view, const struct rvp_ledger *ledger)
{
	const struct rvp_record_CGROUP *cgroup = &ledger->cgroup_peak;
	struct rvp_ledger_entry entry = {.rss_bytes = cgroup->current_bytes};
	struct table table = {view, &entry};
	struct rvp_cgroup_rows rows;
	char title[64], text[RVP_NUMBER_TEXT_BYTES];

	if (!ledger->has_cgroup)
		return;
	rvp_cgroup_rows(cgroup, &rows);
	snprintf(title, sizeof title, "Its control group (version %u) at its highest",
		 (unsigned)cgroup->version);
	rvp_text_title(view, title);
	for (int i = 0; i < RVP_CGROUP_ROWS; i++)
		print_row(&table, "", rows.names[i],
			  &(struct rvp_ledger_amount){rows.bytes[i], rows.bytes[i]}, "");
	fprintf(view->out, "  %-*s%12s\n", NAME_COLUMNS, "unexplained",
		rvp_text_change(rows.unexplained_bytes, text));
	fprintf(view->out, "  %-*s%12s\n", NAME_COLUMNS, "all of the group",
		rvp_text_bytes(cgroup->current_bytes, text));
	fprintf(view->out, "  %-*s%12s\n", NAME_COLUMNS, "of it reclaimable",
		rvp_text_bytes(cgroup->reclaimable_bytes, text));
	print_limit(view, cgroup);
	if (cgroup->swap_bytes)
		fprintf(view->out, "  %-*s%12s\n", NAME_COLUMNS, "swapped out",
			rvp_text_bytes(cgroup->swap_bytes, text));
}

void rvp_text_ledger(const struct rvp_view *view, const struct rvp_ledger *ledger)
{
	uint64_t from =
	    ledger->mark_count > RVP_LEDGER_MARKS_MAX ? ledger->mark_count - RVP_LEDGER_MARKS_MAX : 0;

	print_entry(view, "its peak", &ledger->peak);
	print_entry(view, "the end", &ledger->end);
	for (uint64_t i = from; i < ledger->mark_count; i++)
		print_entry(view, ledger->marks[i % RVP_LEDGER_MARKS_MAX].label,
			    &ledger->marks[i % RVP_LEDGER_MARKS_MAX]);
	print_pss(view, &ledger->pss);
	rvp_text_allocator(view, ledger);
	print_cgroup(view, ledger);
}

/* Who holds what was given back below him. */
static void print_pins(const struct rvp_view *view, const struct rvp_pin *pins, size_t count)
{
	char below[RVP_NUMBER_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES], above[RVP_NUMBER_TEXT_BYTES],
	    place[160];
	const struct rvp_purposes *purposes =
	    view->attribution ? rvp_attribution_purposes(view->attribution) : NULL;

	for (size_t i = 0; i < count; i++) {
		struct rvp_site site = rvp_pin_site(&pins[i]);

		rvp_site_name(view->run, &site, place, sizeof place);
		fprintf(view->out, "  %s of it lie below a live block of %s (%s) from %s,\n",
			rvp_text_bytes(pins[i].below_bytes, below), rvp_text_bytes(pins[i].bytes, bytes),
			purposes ? rvp_purpose_name(purposes, pins[i].purpose) : "unknown", place);
		fprintf(view->out, "  which keeps free from giving it back%s; %s above it\n",
			pins[i].is_sampled_mode ? ", or a smaller one that was not recorded" : "",
			rvp_text_bytes(pins[i].above_bytes, above));
	}
}

/* What gives it back again; said of glibc's alone. */
static void print_trim(const struct rvp_view *view, const char *other, const uint64_t *trimmable_bytes)
{
	char bytes[RVP_NUMBER_TEXT_BYTES];

	if (trimmable_bytes)
		fprintf(view->out, "  of glibc's, malloc_trim(0) gives back at most %s: what fills whole pages\n",
			rvp_text_bytes(*trimmable_bytes, bytes));
	else if (other[0])
		fprintf(view->out, "  %s allocates here: its own statistics say what of that it may give back\n", other);
	else
		fputs("  of glibc's, malloc_trim(0) gives back what fills whole pages\n", view->out);
}

static void print_kept(const struct rvp_view *view, const char *at, const struct rvp_ledger_entry *entry,
		       const struct rvp_pin *pins, size_t pin_count, const uint64_t *trimmable_bytes)
{
	char kept[RVP_NUMBER_TEXT_BYTES], share[RVP_NUMBER_TEXT_BYTES];
	uint64_t bytes;

	if (!rvp_ledger_keeps_much(entry->sums))
		return;
	bytes = entry->sums->parts[RVP_PART_FREE].resident_bytes;
	fprintf(view->out, "  %s the allocator kept %s (%s of RSS) that was given back to it: derived;\n", at,
		rvp_text_bytes(bytes, kept), rvp_text_share(bytes, entry->rss_bytes, share));
	print_trim(view, entry->sums->other_allocator, trimmable_bytes);
	print_pins(view, pins, pin_count);
}

void rvp_text_allocator(const struct rvp_view *view, const struct rvp_ledger *ledger)
{
	print_kept(view, "At the peak", &ledger->peak, ledger->peak_pins, ledger->peak_pin_count,
		   ledger->peak_has_trimmable ? &ledger->peak_trimmable_bytes : NULL);
	print_kept(view, "At the end", &ledger->end, ledger->end_pins, ledger->end_pin_count,
		   ledger->end_has_trimmable ? &ledger->end_trimmable_bytes : NULL);
}
