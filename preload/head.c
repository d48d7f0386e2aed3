/* SPDX-License-Identifier: MIT */
/* head.c: see head.h. The environment is copied from a list: it may hold secrets, and we write files. */
#include "preload/head.h"

#include "preload/emit.h"
#include "preload/process.h"
#include "preload/procfs.h"
#include "preload/stamp.h"
#include "preload/sys.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>

/* Names, or beginnings of names, of variables that change how memory is used. docs/format.md lists them. */
static const char *const wanted[] = {
    "CUDA_VISIBLE_DEVICES=", "CUDA_LAUNCH_BLOCKING=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS=", "OPENBLAS_NUM_THREADS=",
    "MALLOC_ARENA_MAX=", "MALLOC_CONF=", "MIMALLOC_", "GLIBC_TUNABLES=", "PYTHONMALLOC=", "PYTORCH_CUDA_ALLOC_CONF=",
    "PYTORCH_ALLOC_CONF=", "RANK=", "LOCAL_RANK=", "WORLD_SIZE=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=",
    "SLURM_PROCID=", "LD_PRELOAD=", "RVPROF_",
};
enum { WANTED = sizeof wanted / sizeof wanted[0], KEPT_BYTES = 4096 };

static char kept[KEPT_BYTES]; /* NAME=value, each with its NUL */
static size_t kept_bytes;
static char rank[32];

static bool is_wanted(const char *variable)
{
	for (int i = 0; i < WANTED; i++)
		if (strncmp(variable, wanted[i], strlen(wanted[i])) == 0)
			return true;
	return false;
}

void rvp_head_keep_environment(char *const *environment)
{
	for (; *environment; environment++) {
		size_t length = strlen(*environment) + 1;

		if (!is_wanted(*environment) || length > KEPT_BYTES - kept_bytes)
			continue;
		memcpy(kept + kept_bytes, *environment, length);
		kept_bytes += length;
	}
	strncpy(rank, rvp_environment_rank(environment), sizeof rank - 1);
}

static struct rvp_text text(const char *bytes)
{
	return (struct rvp_text){.bytes = bytes, .length = strlen(bytes)};
}

static void emit_process(struct rvp_thread *thread)
{
	char exe[1024];
	long length = rvp_sys_readlink("/proc/self/exe", exe, sizeof exe - 1);

	exe[length > 0 ? length : 0] = 0;
	RVP_EMIT(thread, PROCESS, 2048, .stamp = rvp_process.begin_stamp, .pid = rvp_process.pid,
		 .parent_pid = rvp_process.parent_pid, .start_ticks = rvp_process.start_ticks,
		 .pidns_inode = rvp_process.pidns_inode, .exec_number = rvp_process.exec_number, .page_bytes = 4096,
		 .mode = rvp_process.options.mode, .sample_bytes = rvp_process.sample_bytes,
		 .threshold_bytes = rvp_process.threshold_bytes, .clock = rvp_process.clock,
		 .is_fork = rvp_process.is_fork, .rank = text(rank), .boot_id = text(rvp_process.tree->boot_id),
		 .exe = text(exe));
}

static void emit_arguments(struct rvp_thread *thread)
{
	const char *words, *end;
	size_t bytes = rvp_procfs_command(&words);
	uint64_t number = 0;

	for (end = words + bytes; words < end; words += strlen(words) + 1)
		RVP_EMIT(thread, ARGUMENT, strlen(words), .number = number++, .text = text(words));
}

static void emit_machine(struct rvp_thread *thread)
{
	char cpu[128];

	rvp_procfs_cpu(cpu, sizeof cpu);
	RVP_EMIT(thread, MACHINE, 512, .cpu_count = (uint64_t)get_nprocs(),
		 .memory_bytes = rvp_procfs_memory_bytes(), .host = text(rvp_procfs_host()),
		 .kernel = text(rvp_procfs_kernel()), .cpu = text(cpu));
}

static void emit_anchor(struct rvp_thread *thread)
{
	struct rvp_record_ANCHOR anchor = rvp_anchor();

	RVP_EMIT(thread, ANCHOR, 0, .stamp = anchor.stamp, .realtime_ns = anchor.realtime_ns,
		 .monotonic_ns = anchor.monotonic_ns, .boottime_ns = anchor.boottime_ns);
}

void rvp_head_emit(struct rvp_thread *thread)
{
	emit_process(thread);
	emit_arguments(thread);
	for (const char *at = kept; at < kept + kept_bytes; at += strlen(at) + 1)
		RVP_EMIT(thread, ENVIRONMENT, strlen(at), .text = text(at));
	emit_machine(thread);
	emit_anchor(thread);
}

void rvp_head_emit_thread(struct rvp_thread *thread)
{
	char name[17] = "";
	uint64_t stamp = rvp_stamp();

	rvp_syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	RVP_EMIT(thread, THREAD, 0, .stamp = stamp, .tid = thread->tid, .stack_low = thread->stack_low,
		 .stack_high = thread->stack_high);
	RVP_EMIT(thread, THREAD_NAME, sizeof name, .stamp = stamp, .tid = thread->tid, .name = text(name));
}
