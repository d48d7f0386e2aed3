/* SPDX-License-Identifier: MIT */
/* library.h: the functions of libcupti and of the driver that are used, found at run time. Nothing is linked.
 *
 * libcupti is the one that is mapped already: a second copy would be another subscriber. Else it is looked for in the
 * loader's places, beside the libraries of CUDA's that are mapped (a toolkit's folder, the Python wheels' folders), and
 * in the toolkit's usual places; of the driver's own major version first.
 */
#ifndef RVP_CUPTI_LIBRARY_H
#define RVP_CUPTI_LIBRARY_H

#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "cupti/abi_driver.h"

#include <stdbool.h>

/* F(name without `cupti`, returns, parameters): without these there is no tracing */
#define RVP_CUPTI_NEEDED(F)                                                                                   \
	F(GetVersion, int, (uint32_t *))                                                                      \
	F(Subscribe, int, (void **, rvp_cupti_callback, void *))                                              \
	F(Unsubscribe, int, (void *))                                                                         \
	F(EnableCallback, int, (uint32_t, void *, uint32_t, uint32_t))                                        \
	F(ActivityRegisterCallbacks, int, (rvp_cupti_request, rvp_cupti_complete))                            \
	F(ActivityEnable, int, (uint32_t))                                                                    \
	F(ActivityDisable, int, (uint32_t))                                                                   \
	F(ActivityFlushAll, int, (uint32_t))                                                                  \
	F(ActivityGetNextRecord, int, (uint8_t *, size_t, void **))                                           \
	F(ActivityGetNumDroppedRecords, int, (void *, uint32_t, size_t *))                                    \
	F(GetTimestamp, int, (uint64_t *))
/* NULL where the library has them not */
#define RVP_CUPTI_WELCOME(F)                                                                                  \
	F(Subscribe_v2, int, (void **, rvp_cupti_callback, void *, struct rvp_cupti_subscriber *))            \
	F(SetThreadIdType, int, (uint32_t))                                                                   \
	F(GetCallbackName, int, (uint32_t, uint32_t, const char **))                                          \
	F(GetDeviceId, int, (void *, uint32_t *))                                                             \
	F(GetContextId, int, (void *, uint32_t *))                                                            \
	F(GetStreamIdEx, int, (void *, void *, uint8_t, uint32_t *))                                          \
	F(GetGraphId, int, (void *, uint32_t *))                                                              \
	F(GetGraphNodeId, int, (void *, uint64_t *))                                                          \
	F(ActivitySetAttribute, int, (uint32_t, size_t *, void *))                                            \
	F(ActivityGetAttribute, int, (uint32_t, size_t *, void *))                                            \
	F(ActivityEnableLatencyTimestamps, int, (uint8_t))                                                    \
	F(ActivityEnableAllSyncRecords, int, (uint8_t))                                                       \
	F(ActivityEnableDriverApi, int, (uint32_t, uint8_t))

struct rvp_cupti {
#define RVP_CUPTI_POINTER(name, returns, parameters) returns(*name) parameters;
	RVP_CUPTI_NEEDED(RVP_CUPTI_POINTER) RVP_CUPTI_WELCOME(RVP_CUPTI_POINTER)
#undef RVP_CUPTI_POINTER
	uint32_t version;
};
extern struct rvp_cupti rvp_cupti;

/* F(name as in libcuda, returns, parameters); each may be NULL */
#define RVP_DRIVER_USED(F)                                                                                    \
	F(cuDriverGetVersion, int, (int *))                                                                   \
	F(cuDeviceGetCount, int, (int *))                                                                     \
	F(cuDeviceGet, int, (int *, int))                                                                     \
	F(cuDeviceGetName, int, (char *, int, int))                                                           \
	F(cuDeviceGetUuid_v2, int, (uint8_t *, int))                                                          \
	F(cuDeviceTotalMem_v2, int, (size_t *, int))                                                          \
	F(cuDeviceGetAttribute, int, (int *, int, int))                                                       \
	F(cuDeviceGetMemPool, int, (void **, int))                                                            \
	F(cuCtxGetCurrent, int, (void **))                                                                    \
	F(cuCtxGetDevice, int, (int *))                                                                       \
	F(cuCtxPushCurrent_v2, int, (void *))                                                                 \
	F(cuCtxPopCurrent_v2, int, (void **))                                                                 \
	F(cuCtxSynchronize, int, (void))                                                                      \
	F(cuMemGetInfo_v2, int, (size_t *, size_t *))                                                         \
	F(cuMemGetAddressRange_v2, int, (uint64_t *, size_t *, uint64_t))                                     \
	F(cuMemPoolGetAttribute, int, (void *, int, void *))                                                  \
	F(cuStreamIsCapturing, int, (void *, int *))

struct rvp_driver {
#define RVP_DRIVER_POINTER(name, returns, parameters) returns(*name) parameters;
	RVP_DRIVER_USED(RVP_DRIVER_POINTER)
#undef RVP_DRIVER_POINTER
	uint32_t version; /* 0: not known */
};
extern struct rvp_driver rvp_driver;

/* False: there is none, or not all that is needed of it; `why` says so in one line that stays. The driver first. */
bool rvp_driver_find(void);
bool rvp_cupti_find(const char **why);

#endif
