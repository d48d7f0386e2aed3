/* SPDX-License-Identifier: MIT */
/* nvtx_abi.h: what a tool has to know of NVTX version 3: its injection protocol, as numbers and layouts.
 *
 * NVTX is a set of headers: every program or library that uses it has its own tables of function pointers
 * inside. At its first NVTX call it opens the library that NVTX_INJECTION64_PATH names, looks up
 * InitializeInjectionNvtx2 there, and calls it with a function that gives out its tables; each table is an
 * array of addresses of function pointers, which the tool overwrites. What is NULL in the end costs the
 * program a test and nothing else.
 *
 * Each number is from NVIDIA's public headers (github.com/NVIDIA/NVTX, release-v3, c/include/nvtx3): the file
 * is named at each. They are the same on every processor with 64-bit pointers; values were never changed
 * within version 3, only added.
 */
#ifndef RVP_NVTX_ABI_H
#define RVP_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* nvtxDetail/nvtxTypes.h, NvtxExportTableID */
enum { RVP_NVTX_EXPORT_CALLBACKS = 1 };

/* nvtxDetail/nvtxTypes.h, NvtxCallbackModule */
enum { RVP_NVTX_MODULE_CORE = 1, RVP_NVTX_MODULE_CORE2 = 5 };

/* nvtxDetail/nvtxTypes.h, NvtxCallbackIdCore: A takes char, W wchar_t, EX struct rvp_nvtx_event */
enum rvp_nvtx_core {
	RVP_NVTX_MARK_EX = 1,
	RVP_NVTX_MARK_A = 2,
	RVP_NVTX_MARK_W = 3,
	RVP_NVTX_RANGE_START_EX = 4,
	RVP_NVTX_RANGE_START_A = 5,
	RVP_NVTX_RANGE_START_W = 6,
	RVP_NVTX_RANGE_END = 7,
	RVP_NVTX_RANGE_PUSH_EX = 8,
	RVP_NVTX_RANGE_PUSH_A = 9,
	RVP_NVTX_RANGE_PUSH_W = 10,
	RVP_NVTX_RANGE_POP = 11,
	RVP_NVTX_NAME_CATEGORY_A = 12,
	RVP_NVTX_NAME_CATEGORY_W = 13,
	RVP_NVTX_CORE_COUNT = 16, /* 14, 15: names of threads, which we have from elsewhere */
};

/* nvtxDetail/nvtxTypes.h, NvtxCallbackIdCore2 */
enum rvp_nvtx_core2 {
	RVP_NVTX_DOMAIN_MARK_EX = 1,
	RVP_NVTX_DOMAIN_RANGE_START_EX = 2,
	RVP_NVTX_DOMAIN_RANGE_END = 3,
	RVP_NVTX_DOMAIN_RANGE_PUSH_EX = 4,
	RVP_NVTX_DOMAIN_RANGE_POP = 5,
	RVP_NVTX_DOMAIN_NAME_CATEGORY_A = 8,
	RVP_NVTX_DOMAIN_NAME_CATEGORY_W = 9,
	RVP_NVTX_DOMAIN_REGISTER_STRING_A = 10,
	RVP_NVTX_DOMAIN_REGISTER_STRING_W = 11,
	RVP_NVTX_DOMAIN_CREATE_A = 12,
	RVP_NVTX_DOMAIN_CREATE_W = 13,
	RVP_NVTX_CORE2_COUNT = 16, /* 6, 7, 14, 15: resources, the end of a domain, a hint to start */
};

/* nvToolsExt.h, nvtxMessageType_t */
enum { RVP_NVTX_MESSAGE_ASCII = 1, RVP_NVTX_MESSAGE_UNICODE = 2, RVP_NVTX_MESSAGE_REGISTERED = 3 };

/* nvToolsExt.h, NVTX_NO_PUSH_POP_TRACKING: what push and pop say where no tool is */
enum { RVP_NVTX_NO_TRACKING = -2 };

/* nvToolsExt.h, nvtxEventAttributes_v2: 48 bytes; `size` says how many the program knows */
struct rvp_nvtx_event {
	uint16_t version, size;
	uint32_t category; /* 0: none */
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message; /* char, wchar_t, or what registering a string returned */
};
_Static_assert(offsetof(struct rvp_nvtx_event, category) == 4, "as in nvToolsExt.h");
_Static_assert(offsetof(struct rvp_nvtx_event, payload) == 24, "as in nvToolsExt.h");
_Static_assert(offsetof(struct rvp_nvtx_event, message_type) == 32, "as in nvToolsExt.h");
_Static_assert(offsetof(struct rvp_nvtx_event, message) == 40, "as in nvToolsExt.h");
_Static_assert(sizeof(struct rvp_nvtx_event) == 48, "as in nvToolsExt.h");

typedef void (*rvp_nvtx_function)(void);

/* nvtxDetail/nvtxTypes.h, NvtxExportTableCallbacks: 1 when the module is there */
struct rvp_nvtx_callbacks {
	size_t struct_bytes;
	int (*module_table)(int module, rvp_nvtx_function ***table, unsigned *count);
};

/* nvtxDetail/nvtxTypes.h, NvtxGetExportTableFunc_t and NvtxInitializeInjectionNvtxFunc_t; the name of the
 * latter is in nvtxDetail/nvtxInit.h. It returns 1, or 0: this tool is not there. */
typedef const void *(*rvp_nvtx_export)(uint32_t table);
typedef int (*rvp_nvtx_initialize)(rvp_nvtx_export export);

#endif
