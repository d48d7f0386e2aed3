/* SPDX-License-Identifier: MIT */
/* account.c: what a client did, by its own count. Live blocks are in a table of their own, so that a free's
 * bytes do not come from anybody else. Bytes of the device are those of the kinds plain, ordered, managed,
 * physical and array. */
#include "tests/cuda/client.h"

#include <pthread.h>
#include <string.h>

enum { NAMES = 64, BUCKETS = 1 << 12 };

struct live {
	unsigned long long address;
	size_t bytes;
	enum client_memory kind;
	struct live *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct {
		const char *name;
		unsigned long count;
	} kernels[NAMES];
	unsigned long graph_launches, sets, refused;
	size_t set_bytes, refused_bytes;
	struct {
		unsigned long allocs, frees;
		size_t bytes, live_bytes;
	} memory[CLIENT_KINDS];
	struct {
		unsigned long count;
		size_t bytes;
	} copies[4];
	size_t live_bytes, peak_bytes;
	bool is_peak_by_chance;
} account;
static struct live *live[BUCKETS];

void account_kernel(const char *name, unsigned long count)
{
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	while (i < NAMES - 1 && account.kernels[i].name && strcmp(account.kernels[i].name, name) != 0)
		i++;
	account.kernels[i].name = name;
	account.kernels[i].count += count;
	pthread_mutex_unlock(&lock);
}

void account_graph_launch(void)
{
	account.graph_launches++;
}

static struct live **bucket(unsigned long long address)
{
	return &live[(address >> 8) * 0x9E3779B97F4A7C15ULL >> 52];
}

void account_alloc(enum client_memory kind, unsigned long long address, size_t bytes)
{
	struct live *block = malloc(sizeof *block);

	if (!block)
		abort();
	pthread_mutex_lock(&lock);
	*block = (struct live){address, bytes, kind, *bucket(address)};
	*bucket(address) = block;
	account.memory[kind].allocs++;
	account.memory[kind].bytes += bytes;
	account.memory[kind].live_bytes += bytes;
	if (kind != CLIENT_PINNED)
		account.live_bytes += bytes;
	if (account.live_bytes > account.peak_bytes)
		account.peak_bytes = account.live_bytes;
	pthread_mutex_unlock(&lock);
}

void account_free(enum client_memory kind, unsigned long long address)
{
	struct live *found = NULL;

	pthread_mutex_lock(&lock);
	for (struct live **at = bucket(address); *at && !found; at = &(*at)->next)
		if ((*at)->address == address && (*at)->kind == kind) {
			found = *at;
			*at = found->next;
			break;
		}
	if (!found) {
		fprintf(stderr, "account: a free of %llx, which is not live\n", address);
		exit(4);
	}
	account.memory[kind].frees++;
	account.memory[kind].live_bytes -= found->bytes;
	if (kind != CLIENT_PINNED)
		account.live_bytes -= found->bytes;
	pthread_mutex_unlock(&lock);
	free(found);
}

void account_copy(enum client_copy direction, size_t bytes)
{
	pthread_mutex_lock(&lock);
	account.copies[direction].count++;
	account.copies[direction].bytes += bytes;
	pthread_mutex_unlock(&lock);
}

void account_set(size_t bytes)
{
	pthread_mutex_lock(&lock);
	account.sets++;
	account.set_bytes += bytes;
	pthread_mutex_unlock(&lock);
}

void account_refused(size_t bytes)
{
	account.refused++;
	account.refused_bytes += bytes;
}

void account_peak_by_chance(void)
{
	account.is_peak_by_chance = true;
}

static void print_memory(void)
{
	static const char *const names[CLIENT_KINDS] = {"plain",  "ordered",  "managed",
							"pinned", "physical", "array"};
	const char *comma = "";

	printf("\"memory\": {");
	for (unsigned int i = 0; i < CLIENT_KINDS; i++) {
		if (account.memory[i].allocs == 0)
			continue;
		printf("%s\"%s\": {\"allocs\": %lu, \"frees\": %lu, \"bytes\": %zu, \"live_bytes\": %zu}",
		       comma, names[i], account.memory[i].allocs, account.memory[i].frees,
		       account.memory[i].bytes, account.memory[i].live_bytes);
		comma = ", ";
	}
	printf("}, \"live_bytes\": %zu", account.live_bytes);
	if (!account.is_peak_by_chance)
		printf(", \"peak_bytes\": %zu", account.peak_bytes);
}

void account_print(void)
{
	static const char *const directions[] = {"", "HtoD", "DtoH", "DtoD"};
	const char *comma = "";
	unsigned long kernels = 0;

	printf("account: {\"kernels\": {");
	for (unsigned int i = 0; i < NAMES && account.kernels[i].name; i++) {
		printf("%s\"%s\": %lu", comma, account.kernels[i].name, account.kernels[i].count);
		kernels += account.kernels[i].count;
		comma = ", ";
	}
	printf("}, \"kernel_count\": %lu, \"graph_launches\": %lu, ", kernels, account.graph_launches);
	print_memory();
	printf(", \"copies\": {");
	comma = "";
	for (unsigned int i = 1; i < 4; i++) {
		if (account.copies[i].count == 0)
			continue;
		printf("%s\"%s\": {\"count\": %lu, \"bytes\": %zu}", comma, directions[i],
		       account.copies[i].count, account.copies[i].bytes);
		comma = ", ";
	}
	printf(
	    "}, \"sets\": {\"count\": %lu, \"bytes\": %zu}, \"refused\": {\"count\": %lu, \"bytes\": %zu}}\n",
	    account.sets, account.set_bytes, account.refused, account.refused_bytes);
	fflush(stdout);
}
