/* SPDX-License-Identifier: MIT */
/* check_abi_headers: cupti/abi*.h against NVIDIA's headers, where these are installed (CUDA 13.0 or newer): every
 * number, size and offset that we use, one row each. Elsewhere the test is skipped, and says how many rows that was. */
#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "cupti/abi_driver.h"

#ifdef HAVE_CUPTI_HEADERS
#include <cuda.h>
#include <cupti.h>
#define THEIRS(x) ((unsigned long long)(x))
#else
#define THEIRS(x) 0
#endif

#include <stdio.h>

struct row {
	const char *what;
	unsigned long long ours, theirs;
};

/* N: a number; S: a size; O: where a field lies, and how long it is */
#define N(OURS, NAME)         {#NAME, (unsigned long long)(OURS), THEIRS(NAME)}
#define S(OURS, NAME)         {"sizeof " #NAME, sizeof(OURS), THEIRS(sizeof(NAME))}
#define O(OURS, o, NAME, n)                                                          \
	{#NAME "." #n, offsetof(OURS, o), THEIRS(offsetof(NAME, n))},                \
	{                                                                            \
		"length of " #NAME "." #n, sizeof((OURS *)0)->o, THEIRS(sizeof((NAME *)0)->n) \
	}
#define AT(BYTES, KIND, VERSION, NAME) {#NAME " of " #VERSION, BYTES, THEIRS(sizeof(NAME))}

#define RESULT(OURS, THEIR)   N(RVP_CUPTI_##OURS, CUPTI_ERROR_##THEIR)
#define KIND(OURS, THEIR)     N(RVP_CUPTI_##OURS, CUPTI_ACTIVITY_KIND_##THEIR)

static const struct row rows[] = {
#include "tests/unit/abi_rows.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

#ifdef HAVE_CUPTI_HEADERS
/* The rows of RVP_CUPTI_RECORD_BYTES that a header has a word on are in the table above under the same lengths. */
static unsigned compare_lengths(void)
{
	static const struct {
		uint32_t kind, version, bytes;
	} theirs[] = {
	    {RVP_CUPTI_CONCURRENT_KERNEL, 17, sizeof(CUpti_ActivityKernel7)},
	    {RVP_CUPTI_CONCURRENT_KERNEL, 18, sizeof(CUpti_ActivityKernel8)},
	    {RVP_CUPTI_CONCURRENT_KERNEL, 28, sizeof(CUpti_ActivityKernel9)},
	    {RVP_CUPTI_CONCURRENT_KERNEL, 130001, sizeof(CUpti_ActivityKernel10)},
	    {RVP_CUPTI_MEMCPY, 25, sizeof(CUpti_ActivityMemcpy5)},
	    {RVP_CUPTI_MEMCPY, 130001, sizeof(CUpti_ActivityMemcpy6)},
	    {RVP_CUPTI_MEMCPY_PEER, 130001, sizeof(CUpti_ActivityMemcpyPtoP4)},
	    {RVP_CUPTI_MEMSET, 130001, sizeof(CUpti_ActivityMemset4)},
	    {RVP_CUPTI_OVERHEAD, 130001, sizeof(CUpti_ActivityOverhead3)},
	    {RVP_CUPTI_SYNCHRONIZATION, 130001, sizeof(CUpti_ActivitySynchronization2)},
	    {RVP_CUPTI_MEMORY2, 130001, sizeof(CUpti_ActivityMemory4)},
	    {RVP_CUPTI_MEMORY_POOL, 130001, sizeof(CUpti_ActivityMemoryPool3)},
	    {RVP_CUPTI_GRAPH_TRACE, 130001, sizeof(CUpti_ActivityGraphTrace2)},
	    {RVP_CUPTI_DEVICE_GRAPH_TRACE, 130001, sizeof(CUpti_ActivityDeviceGraphTrace)},
	    {RVP_CUPTI_CONTEXT, 130001, sizeof(CUpti_ActivityContext3)},
	    {RVP_CUPTI_STREAM, 130001, sizeof(CUpti_ActivityStream)},
	    {RVP_CUPTI_DEVICE, 130001, sizeof(CUpti_ActivityDevice5)},
	    {RVP_CUPTI_DRIVER, 130001, sizeof(CUpti_ActivityAPI)},
	    {RVP_CUPTI_RUNTIME, 130001, sizeof(CUpti_ActivityAPI)},
	    {RVP_CUPTI_NAME, 130001, sizeof(CUpti_ActivityName)},
	    {RVP_CUPTI_EXTERNAL_CORRELATION, 130001, sizeof(CUpti_ActivityExternalCorrelation)},
	};
	unsigned bad = 0;

	for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
		if (rvp_cupti_record_bytes(theirs[i].kind, theirs[i].version) != theirs[i].bytes) {
			fprintf(stderr, "record of kind %u in version %u: ours %u bytes, the header %u\n",
				theirs[i].kind, theirs[i].version,
				rvp_cupti_record_bytes(theirs[i].kind, theirs[i].version), theirs[i].bytes);
			bad++;
		}
	return bad;
}

int main(void)
{
	unsigned bad = compare_lengths();

	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].ours != rows[i].theirs) {
			fprintf(stderr, "%s: ours %llu, the header %llu\n", rows[i].what, rows[i].ours, rows[i].theirs);
			bad++;
		}
	printf("%u of %u numbers compared with the headers of CUPTI %d, %u differ\n", (unsigned)ROWS, (unsigned)ROWS,
	       CUPTI_API_VERSION, bad);
	return bad != 0;
}
#else
int main(void)
{
	printf("0 of %u numbers compared: no headers of CUPTI 13.0 or newer\n", (unsigned)ROWS);
	return rows[0].ours ? 77 : 1;
}
#endif
