/* SPDX-License-Identifier: MIT */
/* watch.c: see watch.h: when to look at what. The readers are watch_process.c, watch_regions.c,
 * watch_cgroup.c. */
#include "tools/watch.h"

#include "record/clock_ns.h"
#include "record/log_writer.h"
#include "report/own_folder.h"
#include "tools/meters.h"
#include "tools/process_stat.h"
#include "tools/watch_cgroup.h"
#include "tools/watch_process.h"
#include "tools/watch_regions.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS       1000000ll
#define NO_ENTRY UINT32_MAX

enum {
	BUDGET_PARTS = 100, /* 1 % of the time that has passed */
	SHORTEST_NS = 10 * MS,
	LONGEST_NS = 1000 * MS,
	FLUSH_NS = 250 * MS,
	CGROUP_NS = 200 * MS,
	POWER_NS = 50 * MS,
	POWER_PARTS = 200, /* 0.5 % of the time at most */
	/* From here on the group is looked at each time, and there is a next time soon. */
	NEAR_PERCENT = 80,
	NEAR_NS = 20 * MS,
	OPEN_FILES_MAX = 128,
	/* Until it was measured: 25 ms for 3 GiB. */
	REGIONS_NS_PER_MIB = 8500,
	REGIONS_NS_LEAST = 300000,
	PSS_NS_PER_MIB = 3000, /* likewise: one line, and no names */
	PSS_NS_LEAST = 50000,
	HASTE_PARTS = 4, /* while memory grows it is read only where so much more could be spent */
};

/* One process that is or was watched. */
struct watched {
	uint32_t entry; /* in the tree, or NO_ENTRY for the root before it has one */
	pid_t pid;
	uint64_t start_ticks;
	int fd; /* of its status; -1 when too many are open: opened each time */
	uint64_t rss_bytes, peak_bytes;
	uint64_t regions_bytes, regions_ns; /* RSS and time of its last smaps */
};

struct rvp_watch {
	struct rvp_log_writer writer;
	struct rvp_tree *tree;
	struct rvp_cgroup cgroup;
	pid_t root;
	uint64_t pidns_inode;
	uint8_t *is_known; /* one a tree entry: it is among `live`, or over */
	struct watched *live;
	uint32_t live_count, live_room, open_count;
	uint64_t begin_ns, next_ns, flushed_ns, cgroup_ns, begin_realtime_ns;
	int64_t interval_ns;
	uint64_t cost_ns, last_rss_bytes;
	struct rvp_meters *power; /* NULL: none */
	uint64_t power_next_ns;
	uint64_t regions_ns_per_mib, pss_ns_per_mib;
	uint64_t pss_rss_bytes;   /* the tree's RSS when PSS was read last */
	unsigned pressure;        /* percent of the group's limit, when it was last looked at */
	unsigned pressure_marked; /* the highest threshold that has a snapshot */
	struct rvp_watch_sum sum;
};

static uint64_t now_ns(void)
{
	return rvp_clock_ns(CLOCK_MONOTONIC);
}

/* What watching costs is processor time: waiting, for a turn or for the program's own lock, costs nobody. */
static uint64_t cost_clock_ns(void)
{
	return rvp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void write_anchor(struct rvp_watch *watch)
{
	uint64_t monotonic_ns = now_ns();

	RVP_WRITE(&watch->writer, ANCHOR, 0, .stamp = monotonic_ns,
		  .realtime_ns = rvp_clock_ns(CLOCK_REALTIME), .monotonic_ns = monotonic_ns,
		  .boottime_ns = rvp_clock_ns(CLOCK_BOOTTIME));
}

static struct rvp_text text(const char *bytes)
{
	return (struct rvp_text){bytes, strlen(bytes)};
}

static void write_process(struct rvp_watch *watch)
{
	char exe[PATH_MAX] = "";
	const char *boot_id = watch->tree->boot_id;

	if (!rvp_own_path(exe))
		exe[0] = 0;
	RVP_WRITE(&watch->writer, PROCESS, strlen(exe) + strlen(boot_id), .stamp = now_ns(),
		  .pid = (uint64_t)getpid(), .parent_pid = (uint64_t)getppid(),
		  .start_ticks = rvp_start_ticks(getpid()), .pidns_inode = watch->pidns_inode,
		  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), .mode = watch->tree->mode,
		  .clock = RVP_CLOCK_MONOTONIC, .rank = text(""), .boot_id = text(boot_id), .exe = text(exe));
}

static bool grow(struct rvp_watch *watch)
{
	uint32_t room = watch->live_room ? 2 * watch->live_room : 16;
	struct watched *more = realloc(watch->live, room * sizeof *more);

	if (!more)
		return false;
	watch->live = more;
	watch->live_room = room;
	return true;
}

static void add_process(struct rvp_watch *watch, uint32_t entry, pid_t pid, uint64_t start_ticks)
{
	struct watched *process;

	for (uint32_t i = 0; i < watch->live_count; i++) {
		if (watch->live[i].pid != pid || watch->live[i].start_ticks != start_ticks)
			continue;
		watch->live[i].entry = entry; /* the root, or the same process after an exec */
		return;
	}
	if (watch->live_count == watch->live_room && !grow(watch))
		return;
	process = &watch->live[watch->live_count++];
	*process = (struct watched){.entry = entry, .pid = pid, .start_ticks = start_ticks, .fd = -1};
	if (watch->open_count >= OPEN_FILES_MAX)
		return;
	process->fd = rvp_resident_open(pid, start_ticks);
	watch->open_count += process->fd >= 0;
}

static void remove_process(struct rvp_watch *watch, uint32_t number)
{
	if (watch->live[number].fd >= 0) {
		close(watch->live[number].fd);
		watch->open_count--;
	}
	watch->live[number] = watch->live[--watch->live_count];
}

/* Processes that came since the last time. One of another PID namespace has a pid that means nothing here. */
static void look_for_new(struct rvp_watch *watch)
{
	uint32_t count = atomic_load(&watch->tree->next_entry);

	if (count > watch->tree->entry_count)
		count = watch->tree->entry_count;
	for (uint32_t i = 0; i < count; i++) {
		struct rvp_tree_entry *entry = rvp_tree_entry_at(watch->tree, i);
		uint32_t state = watch->is_known[i] ? RVP_ENTRY_FREE : atomic_load(&entry->state);

		if (state < RVP_ENTRY_RUNNING)
			continue;
		watch->is_known[i] = 1;
		if (state == RVP_ENTRY_RUNNING && entry->pidns_inode == watch->pidns_inode)
			add_process(watch, i, (pid_t)entry->pid, entry->start_ticks);
	}
}

static bool read_process(const struct watched *process, struct rvp_resident *resident)
{
	int fd = process->fd >= 0 ? process->fd : rvp_resident_open(process->pid, process->start_ticks);
	bool good = fd >= 0 && rvp_resident_read(fd, resident);

	if (fd >= 0 && fd != process->fd)
		close(fd);
	return good;
}

static void write_sample(struct rvp_watch *watch, const struct watched *process,
			 const struct rvp_resident *resident, uint64_t stamp, uint64_t pss_bytes)
{
	RVP_WRITE(&watch->writer, WATCH, 0, .stamp = stamp, .pid = (uint64_t)process->pid,
		  .start_ticks = process->start_ticks, .rss_anon_bytes = resident->anon_bytes,
		  .rss_file_bytes = resident->file_bytes, .rss_shmem_bytes = resident->shmem_bytes,
		  .swap_bytes = resident->swap_bytes, .peak_rss_bytes = resident->peak_bytes,
		  .pss_bytes = pss_bytes);
}

static uint64_t sample_process(struct rvp_watch *watch, struct watched *process,
			       const struct rvp_resident *resident)
{
	process->rss_bytes = rvp_resident_sum(resident);
	if (process->peak_bytes < process->rss_bytes)
		process->peak_bytes = process->rss_bytes;
	if (watch->sum.peak_rss_bytes < resident->peak_bytes)
		watch->sum.peak_rss_bytes = resident->peak_bytes;
	write_sample(watch, process, resident, now_ns(), 0);
	return process->rss_bytes;
}

static uint64_t sample_all(struct rvp_watch *watch)
{
	struct rvp_resident resident;
	uint64_t rss_bytes = 0;

	for (uint32_t i = 0; i < watch->live_count;) {
		if (read_process(&watch->live[i], &resident))
			rss_bytes += sample_process(watch, &watch->live[i++], &resident);
		else
			remove_process(watch, i);
	}
	watch->sum.samples++;
	if (watch->sum.peak_rss_bytes < rss_bytes)
		watch->sum.peak_rss_bytes = rss_bytes;
	return rss_bytes;
}

static void sample_cgroup(struct rvp_watch *watch)
{
	struct rvp_cgroup_memory memory = {0};

	watch->cgroup_ns = now_ns();
	if (rvp_cgroup_read(&watch->cgroup, &memory))
		rvp_cgroup_write(&watch->writer, &watch->cgroup, &memory, watch->cgroup_ns);
	watch->pressure = rvp_cgroup_pressure(&memory);
}

/* Time that may still be spent: 1 % of what has passed, less what was spent. */
static int64_t left_ns(const struct rvp_watch *watch, uint64_t now)
{
	return (int64_t)((now - watch->begin_ns) / BUDGET_PARTS) - (int64_t)watch->cost_ns;
}

static bool wants_regions(const struct rvp_watch *watch, const struct watched *process, uint64_t now)
{
	bool grown = process->rss_bytes == process->peak_bytes &&
		     process->rss_bytes - process->rss_bytes / 20 > process->regions_bytes;
	uint64_t age_ns = now - (process->regions_ns ? process->regions_ns : watch->begin_ns);

	return grown || (age_ns > (uint64_t)LONGEST_NS && age_ns > (now - watch->begin_ns) / 4);
}

static uint64_t regions_cost_ns(const struct rvp_watch *watch, uint64_t rss_bytes)
{
	uint64_t guess_ns = REGIONS_NS_LEAST + (rss_bytes >> 20) * watch->regions_ns_per_mib;

	return guess_ns + guess_ns / 4;
}

/* Pages that processes share are counted once in PSS, which means something only of all of them at one
 * moment: when the tree's RSS is a new peak. Like smaps it costs by pages. */
static bool wants_pss(const struct rvp_watch *watch, uint64_t rss_bytes, int64_t left)
{
	uint64_t guess_ns = watch->live_count * PSS_NS_LEAST + (rss_bytes >> 20) * watch->pss_ns_per_mib;

	bool is_steady = rss_bytes <= watch->last_rss_bytes + watch->last_rss_bytes / 100;

	return watch->live_count > 1 && rss_bytes - rss_bytes / 20 > watch->pss_rss_bytes &&
	       (int64_t)guess_ns * (is_steady ? 1 : HASTE_PARTS) < left;
}

static void sample_pss(struct rvp_watch *watch, uint64_t rss_bytes)
{
	uint64_t stamp = now_ns(), cost_begin_ns = cost_clock_ns();
	struct rvp_resident resident;

	for (uint32_t i = 0; i < watch->live_count; i++) {
		uint64_t pss_bytes = rvp_pss_read(watch->live[i].pid);

		if (pss_bytes && read_process(&watch->live[i], &resident))
			write_sample(watch, &watch->live[i], &resident, stamp, pss_bytes);
	}
	watch->pss_rss_bytes = rss_bytes;
	if (rss_bytes >> 20)
		watch->pss_ns_per_mib = (cost_clock_ns() - cost_begin_ns) / (rss_bytes >> 20);
}

/* smaps of one process; what it cost is the guess for the next time. */
static void sample_regions(struct rvp_watch *watch, struct watched *process)
{
	uint64_t begin_ns = now_ns(), cost_begin_ns = cost_clock_ns(), mib = process->rss_bytes >> 20,
		 took_ns;

	if (!rvp_regions_write(&watch->writer, process->pid, NULL, begin_ns))
		return;
	took_ns = cost_clock_ns() - cost_begin_ns;
	process->regions_bytes = process->rss_bytes;
	process->regions_ns = begin_ns;
	watch->sum.region_snapshots++;
	if (mib)
		watch->regions_ns_per_mib = took_ns / mib;
	rvp_log_writer_flush(&watch->writer);
	watch->flushed_ns = now_ns();
}

static void look_at_regions(struct rvp_watch *watch, uint64_t cost_begin_ns)
{
	for (uint32_t i = 0; i < watch->live_count; i++) {
		struct watched *process = &watch->live[i];
		uint64_t now = now_ns();
		int64_t left = left_ns(watch, now) - (int64_t)(cost_clock_ns() - cost_begin_ns);

		if (wants_regions(watch, process, now) &&
		    (int64_t)regions_cost_ns(watch, process->rss_bytes) < left)
			sample_regions(watch, process);
	}
}

/* The first time that so much of the group's limit is in use: what everybody holds, whatever it costs. */
static void look_at_pressure(struct rvp_watch *watch)
{
	unsigned reached = rvp_cgroup_near_percent(watch->pressure);
	char label[64];

	if (reached <= watch->pressure_marked)
		return;
	watch->pressure_marked = reached;
	for (uint32_t i = 0; i < watch->live_count; i++)
		sample_regions(watch, &watch->live[i]);
	snprintf(label, sizeof label, "%u %% of the memory limit", reached);
	RVP_WRITE(&watch->writer, MARK, strlen(label), .stamp = now_ns(), .kind = RVP_MARK_LABEL,
		  .value = reached, .label = text(label));
	rvp_log_writer_flush(&watch->writer);
}

/* Sooner while memory moves, later while it rests, and never so often that it costs more than its share. */
static void adapt(struct rvp_watch *watch, uint64_t rss_bytes, uint64_t cost_ns)
{
	uint64_t last = watch->last_rss_bytes, moved = rss_bytes > last ? rss_bytes - last : last - rss_bytes;
	int64_t fair_ns = (int64_t)cost_ns * BUDGET_PARTS;

	watch->interval_ns =
	    moved > last / 100 ? watch->interval_ns / 2 : watch->interval_ns + watch->interval_ns / 4;
	if (watch->interval_ns < fair_ns)
		watch->interval_ns = fair_ns;
	if (watch->interval_ns < SHORTEST_NS)
		watch->interval_ns = SHORTEST_NS;
	if (watch->interval_ns > LONGEST_NS)
		watch->interval_ns = LONGEST_NS;
	if (watch->pressure >= NEAR_PERCENT && watch->interval_ns > NEAR_NS)
		watch->interval_ns = NEAR_NS;
	watch->last_rss_bytes = rss_bytes;
}

/* One round of looking. */
static void look(struct rvp_watch *watch)
{
	uint64_t begin_ns = now_ns(), cost_begin_ns = cost_clock_ns(), rss_bytes, samples_ns;

	look_for_new(watch);
	rss_bytes = sample_all(watch);
	samples_ns = cost_clock_ns() - cost_begin_ns;
	if (begin_ns - watch->cgroup_ns >= (uint64_t)CGROUP_NS || watch->pressure >= NEAR_PERCENT)
		sample_cgroup(watch);
	look_at_pressure(watch);
	if (wants_pss(watch, rss_bytes,
		      left_ns(watch, now_ns()) - (int64_t)(cost_clock_ns() - cost_begin_ns)))
		sample_pss(watch, rss_bytes);
	look_at_regions(watch, cost_begin_ns);
	if (now_ns() - watch->flushed_ns > (uint64_t)FLUSH_NS) {
		rvp_log_writer_flush(&watch->writer);
		watch->flushed_ns = now_ns();
	}
	watch->cost_ns += cost_clock_ns() - cost_begin_ns;
	adapt(watch, rss_bytes, samples_ns);
}

/* Its time is its own, at regular distances: energy is what lies between two samples. */
static void sample_power(struct rvp_watch *watch)
{
	uint64_t begin_ns = now_ns(), cost_begin_ns = cost_clock_ns(), cost_ns, pause_ns;

	rvp_meters_sample(watch->power, &watch->writer, begin_ns);
	cost_ns = cost_clock_ns() - cost_begin_ns;
	watch->cost_ns += cost_ns;
	pause_ns = cost_ns * POWER_PARTS > (uint64_t)POWER_NS ? cost_ns * POWER_PARTS : (uint64_t)POWER_NS;
	watch->power_next_ns += pause_ns;
	if (watch->power_next_ns <= begin_ns) /* we were late: no bunch of samples follows */
		watch->power_next_ns = begin_ns + pause_ns;
	if (watch->power_next_ns > begin_ns + (uint64_t)LONGEST_NS)
		watch->power_next_ns = begin_ns + (uint64_t)LONGEST_NS;
}

int64_t rvp_watch_step(struct rvp_watch *watch)
{
	uint64_t now = now_ns();

	if (watch->power && now >= watch->power_next_ns) {
		sample_power(watch);
		now = now_ns();
	}
	if (now >= watch->next_ns) {
		look(watch);
		now = now_ns();
		watch->next_ns = now + (uint64_t)watch->interval_ns;
		if (left_ns(watch, now) < 0) /* pay back first */
			watch->next_ns += (uint64_t)(-left_ns(watch, now)) * BUDGET_PARTS;
		if (watch->next_ns > now + LONGEST_NS)
			watch->next_ns = now + LONGEST_NS;
	}
	if (!watch->power || watch->next_ns < watch->power_next_ns)
		return (int64_t)(watch->next_ns - now);
	return watch->power_next_ns > now ? (int64_t)(watch->power_next_ns - now) : 0;
}

static struct rvp_status allocate(struct rvp_watch **watch, struct rvp_tree *tree)
{
	*watch = calloc(1, sizeof **watch);
	if (*watch)
		(*watch)->is_known = calloc(tree->entry_count, 1);
	if (*watch && (*watch)->is_known)
		return RVP_OK;
	free(*watch);
	*watch = NULL;
	return rvp_fail("watch", NULL, ENOMEM);
}

struct rvp_status rvp_watch_open(struct rvp_watch **into, const char *folder, struct rvp_tree *tree,
				 pid_t root, struct rvp_meters *power)
{
	char path[PATH_MAX];
	struct stat namespace = {0};
	struct rvp_status status = allocate(into, tree);
	struct rvp_watch *watch = *into;

	if (rvp_failed(status))
		return status;
	if (snprintf(path, sizeof path, "%s/" RVP_WATCH_FILE, folder) >= (int)sizeof path)
		status = rvp_fail("make", path, ENAMETOOLONG);
	else
		status =
		    rvp_log_writer_open(&watch->writer, path, (uint64_t)getpid(), rvp_start_ticks(getpid()));
	if (rvp_failed(status)) {
		free(watch->is_known);
		free(watch);
		*into = NULL;
		return status;
	}
	stat("/proc/self/ns/pid", &namespace);
	watch->tree = tree;
	watch->root = root;
	watch->pidns_inode = namespace.st_ino;
	watch->begin_ns = watch->flushed_ns = now_ns();
	watch->begin_realtime_ns = rvp_clock_ns(CLOCK_REALTIME);
	watch->interval_ns = SHORTEST_NS;
	watch->regions_ns_per_mib = REGIONS_NS_PER_MIB;
	watch->pss_ns_per_mib = PSS_NS_PER_MIB;
	write_process(watch);
	write_anchor(watch);
	watch->power = power;
	watch->power_next_ns = watch->begin_ns;
	if (power)
		rvp_meters_tell(power, &watch->writer, watch->begin_ns);
	rvp_cgroup_find(&watch->cgroup, "", root);
	add_process(watch, NO_ENTRY, root, tree->root_start_ticks);
	return RVP_OK;
}

static void write_end(struct rvp_watch *watch, int wait_status)
{
	bool signalled = WIFSIGNALED(wait_status);

	RVP_WRITE(&watch->writer, WATCH_CHILD, 0, .stamp = now_ns(), .pid = (uint64_t)watch->root,
		  .how = signalled ? RVP_ENDING_SIGNAL : RVP_ENDING_EXIT,
		  .status = (uint64_t)(signalled ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status)),
		  .started_realtime_ns = watch->begin_realtime_ns, .watch_cost_ns = watch->cost_ns);
	write_anchor(watch);
}

struct rvp_status rvp_watch_close(struct rvp_watch *watch, int wait_status, struct rvp_watch_sum *sum)
{
	struct rvp_status status;

	if (watch->power)
		sample_power(watch);
	sample_cgroup(watch);
	sample_all(watch); /* those of the tree that live on */
	write_end(watch, wait_status);
	status = rvp_log_writer_close(&watch->writer);
	*sum = watch->sum;
	sum->cost_ns = watch->cost_ns;
	sum->elapsed_ns = now_ns() - watch->begin_ns;
	while (watch->live_count)
		remove_process(watch, 0);
	free(watch->live);
	free(watch->is_known);
	free(watch);
	return status;
}
