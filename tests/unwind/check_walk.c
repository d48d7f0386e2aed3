/* SPDX-License-Identifier: MIT */
/* check_walk.c: libunwind looks at random events of a program that the library records, and says whether the
 * recorded stack is the true one. Only in the library that tests/unwind builds of the same sources.
 *
 * The recorded stack is read back through the parents of the NODE records that were emitted, so that what is
 * compared is what a reader of the log will see. libunwind is opened with names of its own: as one of the
 * program's libraries it would take over the program's C++ exceptions.
 *
 *   RVP_CHECK_COUNTS  the file of struct unwind_counts; without it nothing is compared. Differences are
 * written to the same name with .differences RVP_CHECK_EVERY   one of so many events is compared, at random
 *   RVP_SEED          of that choice
 *
 *   (K1) A comparison runs in phase OURS, at the end of a walk: whatever of it allocates is no event.
 *   (K2) libunwind works on a stack of its own, from registers that are read on the program's: so the least
 * stack on which a walk is made has room for a comparison.
 */
#include "preload/unwind.h"
#include "preload/walk.h"
#include "tests/unwind/counts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>

enum {
	FRAMES_ROOM = RVP_FRAMES_MAX + 8,
	OWN_FRAMES_MAX = 40, /* of ours below the hook's caller */
	NODES_MAX = 1 << 26,
	STACK_BYTES = 256 * 1024,
	DIFFERENCES_WRITTEN = 20,
	CACHE_RULES = 1 << 14,
	HOOKS_KNOWN = 256,
};

struct shadow_node {
	uint64_t frame;
	uint32_t parent, is_defined;
};

static struct {
	int (*context)(unw_context_t *);
	int (*init)(unw_cursor_t *, unw_context_t *);
	int (*step)(unw_cursor_t *);
	int (*reg)(unw_cursor_t *, int, unw_word_t *);
	int (*is_signal)(unw_cursor_t *);
	int (*info)(unw_cursor_t *, unw_proc_info_t *);
	int (*name)(unw_cursor_t *, char *, size_t, unw_word_t *);
	int (*info_by_pc)(unw_addr_space_t, unw_word_t, unw_proc_info_t *, void *);
	int (*cache_size)(unw_addr_space_t, size_t, int);
	void (*flush)(unw_addr_space_t, unw_word_t, unw_word_t);
	unw_addr_space_t *space;
} referee;

static struct unwind_counts *counts;
static struct shadow_node *nodes;
static char differences_path[4096];
static uint64_t every = 1, seed;
/* By where the function of ours that the program's call led to begins. */
static struct known_hook {
	_Atomic uint64_t start;
	_Atomic uint32_t hook; /* enum unwind_hook, plus 1 */
} known_hooks[HOOKS_KNOWN];
static _Atomic uint64_t closed_count;

struct stacks {
	unw_context_t context; /* of a frame that stays while they are compared */
	struct rvp_caller caller;
	struct rvp_path path;
	char *room; /* libunwind's own stack */
	uint64_t ours[FRAMES_ROOM], theirs[FRAMES_ROOM];
	unsigned our_count, their_count;
	unsigned hook;
	bool is_found, has_signal;
};
static __thread struct stacks stacks;
static __thread uint64_t random_state;

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

static void open_referee(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	const struct {
		void *to;
		const char *name;
	} wanted[] = {
	    {&referee.context, TEXT(UNW_ARCH_OBJ(getcontext))},
	    {&referee.init, TEXT(UNW_OBJ(init_local))},
	    {&referee.step, TEXT(UNW_OBJ(step))},
	    {&referee.reg, TEXT(UNW_OBJ(get_reg))},
	    {&referee.is_signal, TEXT(UNW_OBJ(is_signal_frame))},
	    {&referee.info, TEXT(UNW_OBJ(get_proc_info))},
	    {&referee.name, TEXT(UNW_OBJ(get_proc_name))},
	    {&referee.info_by_pc, TEXT(UNW_OBJ(get_proc_info_by_ip))},
	    {&referee.cache_size, TEXT(UNW_OBJ(set_cache_size))},
	    {&referee.flush, TEXT(UNW_ARCH_OBJ(flush_cache))},
	    {&referee.space, TEXT(UNW_OBJ(local_addr_space))},
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *at = library ? dlsym(library, wanted[i].name) : NULL;

		if (!at) {
			dprintf(2, "check_walk: %s: %s\n", wanted[i].name, dlerror());
			_exit(99);
		}
		memcpy(wanted[i].to, &at, sizeof at);
	}
	referee.cache_size(*referee.space, CACHE_RULES, 0);
}

/* A child by fork has nodes of its own, so that it begins with none. */
static bool map_shadow(void)
{
	size_t bytes = (size_t)NODES_MAX * sizeof *nodes;

	nodes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return nodes != MAP_FAILED && madvise(nodes, bytes, MADV_WIPEONFORK) == 0;
}

/* Before the library's own constructor: no node is emitted unseen. */
static __attribute__((constructor(101))) void start(void)
{
	const char *path = getenv("RVP_CHECK_COUNTS"), *number = getenv("RVP_CHECK_EVERY");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct unwind_counts *shared;

	if (fd < 0)
		return;
	shared = mmap(NULL, UNWIND_COUNTS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	open_referee();
	if (shared == MAP_FAILED || !map_shadow())
		_exit(99);
	snprintf(differences_path, sizeof differences_path, "%s.differences", path);
	every = number && atol(number) > 0 ? (uint64_t)atol(number) : 1;
	seed = getenv("RVP_SEED") ? strtoull(getenv("RVP_SEED"), NULL, 10) : 1;
	counts = shared;
}

static void add(_Atomic uint64_t *to, uint64_t count)
{
	atomic_fetch_add_explicit(to, count, memory_order_relaxed);
}

/* Nodes from before the counts were there are kept by nobody, and no stack with one is compared:
 * `is_defined`. */
void rvp_check_node(uint32_t number, uint32_t parent, uint64_t frame)
{
	if (nodes && number < NODES_MAX)
		nodes[number] = (struct shadow_node){frame, parent, 1};
}

static bool is_drawn(const struct rvp_thread *thread)
{
	if (!random_state)
		random_state = (seed + 1) * 0x9e3779b97f4a7c15 ^ thread->tid * 0xbf58476d1ce4e5b9ul;
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % every == 0;
}

static int keep_closed_count(struct dl_phdr_info *info, size_t bytes, void *to)
{
	(void)bytes;
	*(uint64_t *)to = info->dlpi_subs;
	return 1;
}

/* libunwind keeps rules of libraries that are gone; another may lie at the same place. */
static void forget_closed_libraries(void)
{
	uint64_t now = 0;

	dl_iterate_phdr(keep_closed_count, &now);
	if (atomic_exchange(&closed_count, now) != now)
		referee.flush(*referee.space, 0, 0);
}

static unsigned hook_by_name(const char *name)
{
	static const char *const beginnings[] = {
#define HOOK(name) #name,
	    UNWIND_HOOKS(HOOK)
#undef HOOK
	};

	static const char *const before[] = {"rvp_front_", "rvp_full_", "rvp_", ""};
	const char *const *prefix = before;

	while (strncmp(name, *prefix, strlen(*prefix)) != 0)
		prefix++;
	name += strlen(*prefix);
	for (unsigned i = 0; i < UNWIND_HOOK_OTHER; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return i;
	return UNWIND_HOOK_OTHER;
}

/* Of a hook, or of the rest of it that its beginning jumped to (rvp_full_malloc, rvp_malloc_long_way). */
static unsigned hook_of(unw_cursor_t *cursor)
{
	unw_proc_info_t info;
	struct known_hook *known;
	char name[64] = "";
	unw_word_t offset;
	uint32_t hook;

	if (referee.info(cursor, &info) != 0)
		return UNWIND_HOOK_OTHER;
	known = &known_hooks[(info.start_ip >> 4) % HOOKS_KNOWN];
	hook = atomic_load(&known->hook);
	if (hook && atomic_load(&known->start) == info.start_ip)
		return hook - 1;
	referee.name(cursor, name, sizeof name, &offset);
	hook = hook_by_name(name);
	atomic_store(&known->start, info.start_ip);
	atomic_store(&known->hook, hook + 1);
	return hook;
}

/* The referee's stack from the hook's caller on; what lies further in are frames of ours. */
static void ask_referee(struct rvp_caller caller)
{
	unw_cursor_t cursor;
	unw_cursor_t inner = {{0}};
	unw_word_t pc = 0, sp = 0;

	stacks.their_count = 0;
	stacks.is_found = stacks.has_signal = false;
	if (referee.init(&cursor, &stacks.context) != 0)
		return;
	for (int i = 0; i < OWN_FRAMES_MAX && !stacks.is_found; i++) {
		inner = cursor;
		if (referee.step(&cursor) <= 0)
			return;
		referee.reg(&cursor, UNW_REG_IP, &pc);
		referee.reg(&cursor, UNW_REG_SP, &sp);
		stacks.is_found = pc == caller.pc && sp == caller.sp;
	}
	stacks.hook = stacks.is_found ? hook_of(&inner) : UNWIND_HOOK_OTHER;
	while (stacks.is_found && pc && stacks.their_count < FRAMES_ROOM) {
		stacks.theirs[stacks.their_count++] = pc;
		if (referee.is_signal(&cursor) > 0)
			stacks.has_signal = true;
		if (referee.step(&cursor) <= 0 || referee.reg(&cursor, UNW_REG_IP, &pc) != 0)
			break;
	}
}

/* false: the path leads to a node whose record was not emitted. */
static bool follow_nodes(uint32_t node)
{
	stacks.our_count = 0;
	for (; node; node = nodes[node].parent) {
		if (node >= NODES_MAX || !nodes[node].is_defined || stacks.our_count == FRAMES_ROOM)
			return false;
		stacks.ours[stacks.our_count++] = rvp_frame_pc(nodes[node].frame);
	}
	return true;
}

static bool has_rule(uint64_t pc)
{
	unw_proc_info_t info;

	return referee.info_by_pc(*referee.space, pc - 1, &info, NULL) == 0 ||
	       referee.info_by_pc(*referee.space, pc, &info, NULL) == 0;
}

static void write_frame(int fd, const char *whose, uint64_t pc)
{
	Dl_info where = {0};

	if (!pc || !dladdr((void *)pc, &where))
		where.dli_fname = NULL;
	dprintf(fd, " %s %12lx %.40s+%lx %.60s", whose, pc, where.dli_sname ? where.dli_sname : "?",
		pc - (uint64_t)where.dli_saddr, where.dli_fname ? where.dli_fname : "?");
}

static void write_difference(const char *what, struct rvp_path path)
{
	int fd = open(differences_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	dprintf(fd, "process %d, node %u: %s\n", getpid(), path.stack, what);
	for (unsigned i = 0; i < stacks.our_count || i < stacks.their_count; i++) {
		uint64_t ours = i < stacks.our_count ? stacks.ours[i] : 0;
		uint64_t theirs = i < stacks.their_count ? stacks.theirs[i] : 0;

		dprintf(fd, "%s %3u", ours == theirs ? "   " : "-->", i);
		write_frame(fd, "ours", ours);
		write_frame(fd, "libunwind", theirs);
		dprintf(fd, "\n");
	}
	close(fd);
}

static void differs(const char *what, struct rvp_path path)
{
	if (atomic_fetch_add(&counts->different, 1) < DIFFERENCES_WRITTEN)
		write_difference(what, path);
}

static void judge(struct rvp_path path)
{
	unsigned same = 0, ours = stacks.our_count, theirs = stacks.their_count;

	while (same < ours && same < theirs && stacks.ours[same] == stacks.theirs[same])
		same++;
	if (same == ours && same == theirs)
		add(&counts->equal, 1);
	else if (same == ours && ours >= RVP_FRAMES_MAX)
		add(&counts->cut[UNWIND_CUT_DEPTH], 1);
	else if (same == ours && ours > 0 && !has_rule(stacks.ours[ours - 1]))
		add(&counts->cut[UNWIND_CUT_NO_RULE], 1);
	else if (same == theirs && theirs > 0 && !has_rule(stacks.theirs[theirs - 1]))
		add(&counts->referee_stops, 1);
	else
		differs(same == ours ? "ours ends early, and libunwind has a rule there" : "they differ",
			path);
}

static void note(void)
{
	uint64_t deepest = atomic_load_explicit(&counts->deepest, memory_order_relaxed);

	add(&counts->by_hook[stacks.hook], 1);
	add(&counts->frames, stacks.their_count);
	add(&counts->through_signal, stacks.has_signal);
	while (stacks.their_count > deepest &&
	       !atomic_compare_exchange_weak(&counts->deepest, &deepest, stacks.their_count))
		;
}

static void compare(void)
{
	struct rvp_path path = stacks.path;
	bool is_whole;

	forget_closed_libraries();
	ask_referee(stacks.caller);
	is_whole = path.stack && follow_nodes(path.stack);
	add(&counts->compared, 1);
	note();
	if (!stacks.is_found)
		differs("libunwind does not find the hook's caller", path);
	else if (!is_whole)
		differs(path.stack ? "a node of it was never emitted" : "there is none", path);
	else
		judge(path);
}

static void call_on(char *top, void (*function)(void))
{
	char *back;

	__asm__ volatile("mov %%rsp, %0\n\t"
			 "mov %1, %%rsp\n\t"
			 "call *%2\n\t"
			 "mov %0, %%rsp"
			 : "=&b"(back)
			 : "r"(top), "r"(function)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

static bool has_stack(void)
{
	if (!stacks.room)
		stacks.room =
		    mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return stacks.room != MAP_FAILED;
}

/* Its frame is where libunwind begins. No signal meanwhile: a handler with a stack of its own would begin at
 * the top of that stack, as the one may that is in use below. */
__attribute__((noinline)) void rvp_check_walk(struct rvp_thread *thread, struct rvp_caller caller,
					      struct rvp_path path, uint32_t native_frame_count)
{
	sigset_t all, before;

	(void)native_frame_count;
	if (!counts)
		return;
	add(&counts->events, 1);
	if (!is_drawn(thread) || !has_stack())
		return;
	stacks.caller = caller;
	stacks.path = path;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	referee.context(&stacks.context);
	call_on(stacks.room + STACK_BYTES, compare);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
