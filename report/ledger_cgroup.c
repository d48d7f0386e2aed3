/* SPDX-License-Identifier: MIT */
/* ledger_cgroup.c: see ledger_cgroup.h. */
#include "report/ledger_cgroup.h"

void rvp_cgroup_rows(const struct rvp_record_CGROUP *cgroup, struct rvp_cgroup_rows *rows)
{
	uint64_t shmem = cgroup->shmem_bytes < cgroup->file_bytes ? cgroup->shmem_bytes : cgroup->file_bytes;

	*rows = (struct rvp_cgroup_rows){
	    .names = {"anon", "file", "shmem", "kernel"},
	    .bytes = {cgroup->anon_bytes, cgroup->file_bytes - shmem, shmem, cgroup->kernel_bytes},
	};
	rows->unexplained_bytes = (int64_t)cgroup->current_bytes;
	for (int i = 0; i < RVP_CGROUP_ROWS; i++)
		rows->unexplained_bytes -= (int64_t)rows->bytes[i];
}
