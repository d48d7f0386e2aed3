/* SPDX-License-Identifier: MIT */
/* ledger_pss.c: see ledger_pss.h. */
#include "report/ledger_pss.h"

void rvp_pss_take(struct rvp_pss_round *now, struct rvp_pss_round *highest, uint64_t ns,
		  const struct rvp_record_WATCH *row)
{
	uint64_t rss_bytes = row->rss_anon_bytes + row->rss_file_bytes + row->rss_shmem_bytes;

	if (!row->pss_bytes)
		return;
	if (now->ns != ns)
		*now = (struct rvp_pss_round){.ns = ns};
	if (now->process_count < RVP_PSS_LISTED_MAX)
		now->processes[now->process_count] =
		    (struct rvp_pss_process){row->pid, rss_bytes, row->pss_bytes};
	now->process_count++;
	now->rss_bytes += rss_bytes;
	now->pss_bytes += row->pss_bytes;
	if (highest->ns == ns || now->rss_bytes > highest->rss_bytes)
		*highest = *now;
}
