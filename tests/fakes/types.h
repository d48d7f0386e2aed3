/* SPDX-License-Identifier: MIT */
/* types.h: CUDA's types, as far as the simulated libraries and the client programs need them: our own
 * declarations with the ABI of CUDA 13.0 (x86-64 Linux); check_headers.c compares sizes and numbers where
 * NVIDIA's headers are. Only what is used has its real members; structs that are passed through have their
 * size. */
#ifndef SIM_TYPES_H
#define SIM_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef uint64_t cuuint64_t;
typedef unsigned int CUdriverProcAddressQueryResult;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef void (*CUhostFn)(void *user);

typedef struct {
	char bytes[16];
} CUuuid;
typedef struct {
	unsigned int type; /* 1: a device, 2: the host */
	int id;
} CUmemLocation;
typedef struct {
	unsigned int type, requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	unsigned char allocFlags[8];
} CUmemAllocationProp;
typedef struct {
	CUmemLocation location;
	unsigned int flags;
} CUmemAccessDesc;
typedef struct {
	unsigned int allocType, handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned short usage;
	unsigned char reserved[54];
} CUmemPoolProps;
typedef struct {
	size_t Width, Height;
	unsigned int Format, NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct {
	size_t Width, Height, Depth;
	unsigned int Format, NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct {
	char reserved[64];
} CUipcMemHandle;
typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	CUstream hStream;
	void *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;
typedef struct {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	void **kernelParams, **extra;
	void *kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct {
	unsigned int x, y, z;
} dim3;
struct cudaChannelFormatDesc {
	int x, y, z, w; /* bits */
	unsigned int f;
};
typedef unsigned int cudaError_t; /* where both have a code it has the same number */

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_INSUFFICIENT_DRIVER = 35, /* the runtime's alone */
	CUDA_ERROR_INVALID_FUNCTION = 98,    /* likewise */
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_ALREADY_MAPPED = 208,
	CUDA_ERROR_NOT_MAPPED = 211,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
};
enum { CU_STREAM_NON_BLOCKING = 1, CU_LOCATION_DEVICE = 1 };
enum {
	CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
	CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
	CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
	CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
	CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8
};

#endif
