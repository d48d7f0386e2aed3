/* SPDX-License-Identifier: MIT */
/* abi_callbacks.h: CUPTI's callbacks: domains, numbers of functions, what a callback is given (abi.h has the rules and
 * the origin). Numbers of functions only grow: one that is here means the same in every version. */
#ifndef RVP_CUPTI_ABI_CALLBACKS_H
#define RVP_CUPTI_ABI_CALLBACKS_H

#include <stddef.h>
#include <stdint.h>

/* cupti_callbacks.h, CUpti_CallbackDomain */
enum rvp_cupti_domain {
	RVP_CUPTI_DOMAIN_DRIVER = 1,
	RVP_CUPTI_DOMAIN_RUNTIME = 2,
	RVP_CUPTI_DOMAIN_RESOURCE = 3,
	RVP_CUPTI_DOMAIN_SYNCHRONIZE = 4,
	RVP_CUPTI_DOMAIN_NVTX = 5,
	RVP_CUPTI_DOMAIN_STATE = 6
};

/* cupti_callbacks.h, CUpti_ApiCallbackSite */
enum { RVP_CUPTI_ENTER = 0, RVP_CUPTI_EXIT = 1 };

/* cupti_callbacks.h, CUpti_CallbackIdResource */
enum rvp_cupti_resource {
	RVP_CUPTI_CONTEXT_CREATED = 1,
	RVP_CUPTI_CONTEXT_DESTROY = 2, /* about to be */
	RVP_CUPTI_STREAM_CREATED = 3,
	RVP_CUPTI_STREAM_DESTROY = 4,
	RVP_CUPTI_INIT_FINISHED = 5,
	RVP_CUPTI_MODULE_LOADED = 6,
	RVP_CUPTI_MODULE_UNLOAD = 7,
	RVP_CUPTI_GRAPH_CREATED = 9,
	RVP_CUPTI_GRAPH_DESTROY = 10,
	RVP_CUPTI_GRAPH_CLONED = 11,
	RVP_CUPTI_GRAPHNODE_CREATED = 13,
	RVP_CUPTI_GRAPHNODE_DESTROY = 14,
	RVP_CUPTI_GRAPHEXEC_CREATED = 18,
	RVP_CUPTI_GRAPHEXEC_DESTROY = 19,
	RVP_CUPTI_GRAPHNODE_CLONED = 20
};

/* cupti_callbacks.h, CUpti_CallbackIdState */
enum { RVP_CUPTI_STATE_FATAL = 1, RVP_CUPTI_STATE_ERROR = 2, RVP_CUPTI_STATE_WARNING = 3 };

/* cupti_driver_cbid.h. D(name of the function without `cu`, number) */
#define RVP_CUPTI_DRIVER_FUNCTIONS(D)                                                                         \
	D(Init, 1)                                                                                            \
	D(MemAlloc_v2, 243) D(MemAllocPitch_v2, 244) D(MemAllocManaged, 371)                                  \
	D(MemHostAlloc, 39) D(MemHostAlloc_v2, 271) D(MemAllocHost_v2, 294)                                   \
	D(MemHostRegister, 301) D(MemHostRegister_v2, 379) D(MemHostUnregister, 302)                          \
	D(MemFree_v2, 245) D(MemFreeHost, 38)                                                                 \
	D(MemAllocAsync, 598) D(MemAllocAsync_ptsz, 599)                                                      \
	D(MemAllocFromPoolAsync, 611) D(MemAllocFromPoolAsync_ptsz, 612)                                      \
	D(MemFreeAsync, 600) D(MemFreeAsync_ptsz, 601)                                                        \
	D(MemCreate, 549) D(MemRelease, 550) D(MemMap, 551) D(MemUnmap, 552)                                  \
	D(MemImportFromShareableHandle, 555) D(MemRetainAllocationHandle, 565)                                \
	D(ArrayCreate_v2, 272) D(Array3DCreate_v2, 274) D(ArrayDestroy, 89)                                   \
	D(MipmappedArrayCreate, 347) D(MipmappedArrayDestroy, 349)                                            \
	D(IpcOpenMemHandle, 329) D(IpcOpenMemHandle_v2, 567) D(IpcCloseMemHandle, 330)                        \
	D(MemPoolTrimTo, 602) D(MemPoolCreate, 607) D(MemPoolDestroy, 608)                                    \
	D(LaunchKernel, 307) D(LaunchKernel_ptsz, 442) D(LaunchKernelEx, 652) D(LaunchKernelEx_ptsz, 653)     \
	D(LaunchCooperativeKernel, 477) D(LaunchCooperativeKernel_ptsz, 478)                                  \
	D(LaunchCooperativeKernelMultiDevice, 480)                                                            \
	D(GraphLaunch, 514) D(GraphLaunch_ptsz, 515)                                                          \
	D(CtxSynchronize, 17) D(CtxSynchronize_v2, 800)                                                       \
	D(StreamSynchronize, 126) D(StreamSynchronize_ptsz, 440)                                              \
	D(MemGetInfo_v2, 242)                                                                                 \
	D(StreamBeginCapture, 495) D(StreamBeginCapture_ptsz, 496) D(StreamBeginCapture_v2, 539)              \
	D(StreamBeginCapture_v2_ptsz, 540) D(StreamBeginCaptureToGraph, 720)                                  \
	D(StreamBeginCaptureToGraph_ptsz, 721) D(StreamEndCapture, 497) D(StreamEndCapture_ptsz, 498)         \
	D(MemcpyHtoD_v2, 276) D(MemcpyHtoDAsync_v2, 277) D(MemcpyDtoH_v2, 278) D(MemcpyDtoHAsync_v2, 279)     \
	D(MemcpyDtoD_v2, 280) D(MemcpyDtoDAsync_v2, 281) D(MemcpyAsync, 306) D(MemcpyPeerAsync, 319)          \
	D(MemsetD8_v2, 249) D(MemsetD32_v2, 251) D(MemsetD8Async, 216) D(MemsetD32Async, 220)

enum rvp_cupti_driver {
#define RVP_CUPTI_D(NAME, NUMBER) RVP_CUPTI_cu##NAME = (NUMBER),
	RVP_CUPTI_DRIVER_FUNCTIONS(RVP_CUPTI_D)
#undef RVP_CUPTI_D
	RVP_CUPTI_DRIVER_COUNT = 807 /* of 130001 */
};

/* cupti_runtime_cbid.h. D(name with its version, number): the launches. CUDA 13's <<<>>> calls __cudaLaunchKernel. */
#define RVP_CUPTI_RUNTIME_FUNCTIONS(D)                                                                        \
	D(cudaLaunch_v3020, 13) D(cudaLaunchKernel_v7000, 211) D(cudaLaunch_ptsz_v7000, 213)                  \
	D(cudaLaunchKernel_ptsz_v7000, 214) D(cudaLaunchCooperativeKernel_v9000, 269)                         \
	D(cudaLaunchCooperativeKernel_ptsz_v9000, 270) D(cudaLaunchCooperativeKernelMultiDevice_v9000, 272)   \
	D(cudaGraphLaunch_v10000, 311) D(cudaGraphLaunch_ptsz_v10000, 312)                                    \
	D(cudaLaunchKernelExC_v11060, 430) D(cudaLaunchKernelExC_ptsz_v11060, 431)                            \
	D(__cudaLaunchKernel_v13000, 505) D(__cudaLaunchKernel_ptsz_v13000, 506)

enum rvp_cupti_runtime {
#define RVP_CUPTI_D(NAME, NUMBER) RVP_CUPTI_##NAME = (NUMBER),
	RVP_CUPTI_RUNTIME_FUNCTIONS(RVP_CUPTI_D)
#undef RVP_CUPTI_D
	RVP_CUPTI_RUNTIME_COUNT = 523 /* of 130001 */
};

/* cupti_callbacks.h, CUpti_CallbackData: of the domains DRIVER and RUNTIME */
struct rvp_cupti_api_data {
	uint32_t site;
	const char *function;
	const void *parameters; /* abi_driver.h */
	void *result;           /* CUresult or cudaError_t; at the exit */
	const char *symbol;     /* kernel's name, of launches */
	void *context;
	uint32_t context_number;
	uint64_t *word; /* ours, from the enter of this call to its exit */
	uint32_t correlation;
};

/* cupti_callbacks.h, CUpti_ResourceData */
struct rvp_cupti_resource_data {
	void *context, *stream;
	void *descriptor; /* of graphs: rvp_cupti_graph_data */
};

/* cupti_callbacks.h, CUpti_GraphData */
struct rvp_cupti_graph_data {
	void *graph, *original_graph, *node, *original_node;
	uint32_t node_kind; /* CUgraphNodeType */
	void *dependency, *exec;
};

/* cupti_callbacks.h, CUpti_StateData */
struct rvp_cupti_state_data {
	uint32_t result;
	const char *message;
};

/* cupti_callbacks.h, CUpti_SubscriberParams; 13.2 and newer have more behind `bytes` of ours */
struct rvp_cupti_subscriber {
	size_t struct_bytes;
	const char *name;   /* <= 53 characters */
	char *old_name;     /* who is there already; >= 64 bytes */
	size_t old_bytes;
};
enum { RVP_CUPTI_OLD_NAME_BYTES = 64 };

typedef void (*rvp_cupti_callback)(void *user, uint32_t domain, uint32_t cbid, const void *data);

#endif
