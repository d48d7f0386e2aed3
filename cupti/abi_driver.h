/* SPDX-License-Identifier: MIT */
/* abi_driver.h: what has to be known of the CUDA driver: result codes, attributes, the arguments of its functions as a
 * CUPTI callback gets them, the types of those that are called. Origin: cuda.h and generated_cuda_meta.h of CUDA 13.0
 * (abi.h has the rules; tests/unit/check_abi_headers.c compares). Handles (CUcontext, CUstream, CUarray, pools) are
 * `void *`, device addresses and handles of memory are uint64_t.
 */
#ifndef RVP_CUPTI_ABI_DRIVER_H
#define RVP_CUPTI_ABI_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* cuda.h, CUresult */
enum rvp_cu_result {
	RVP_CU_SUCCESS = 0,
	RVP_CU_INVALID_VALUE = 1,
	RVP_CU_OUT_OF_MEMORY = 2,
	RVP_CU_NOT_INITIALIZED = 3,
	RVP_CU_DEINITIALIZED = 4,
	RVP_CU_NO_DEVICE = 100,
	RVP_CU_INVALID_HANDLE = 400,
	RVP_CU_ILLEGAL_STATE = 401,
	RVP_CU_NOT_PERMITTED = 800,
	RVP_CU_CAPTURE_UNMATCHED = 903,
	RVP_CU_CAPTURE_WRONG_THREAD = 908
};

/* cuda.h, CUdevice_attribute */
enum rvp_cu_device_attribute {
	RVP_CU_WARP_SIZE = 10,
	RVP_CU_MULTIPROCESSORS = 16,
	RVP_CU_MEMORY_CLOCK_KHZ = 36,
	RVP_CU_MEMORY_BUS_BITS = 37,
	RVP_CU_THREADS_PER_MULTIPROCESSOR = 39,
	RVP_CU_COMPUTE_MAJOR = 75,
	RVP_CU_COMPUTE_MINOR = 76,
	RVP_CU_SHARED_PER_MULTIPROCESSOR = 81,
	RVP_CU_REGISTERS_PER_MULTIPROCESSOR = 82,
	RVP_CU_BLOCKS_PER_MULTIPROCESSOR = 106
};

/* cuda.h, CUmemPool_attribute: uint64_t each */
enum { RVP_CU_POOL_KEEP = 4, RVP_CU_POOL_RESERVED = 5, RVP_CU_POOL_USED = 7 };
/* cuda.h, CUmemLocationType */
enum { RVP_CU_LOCATION_DEVICE = 1, RVP_CU_LOCATION_HOST = 2 };
/* cuda.h, CUpointer_attribute */
enum { RVP_CU_POINTER_DEVICE_ORDINAL = 9 };
/* cuda.h, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: handles that are numbers */
enum { RVP_CU_STREAM_LEGACY = 1, RVP_CU_STREAM_PER_THREAD = 2 };

/* cuda.h, CUmemLocation, CUmemAllocationProp, CUmemPoolProps */
struct rvp_cu_location {
	uint32_t type;
	int32_t id;
};
struct rvp_cu_allocation {
	uint32_t type, handle_types;
	struct rvp_cu_location location;
	void *win32;
	uint8_t compression, rdma;
	uint16_t usage;
	uint8_t reserved[4];
};
struct rvp_cu_pool_properties {
	uint32_t type, handle_types;
	struct rvp_cu_location location;
	void *win32;
	size_t max_bytes;
	uint16_t usage;
	uint8_t reserved[54];
};
/* cuda.h, CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR */
struct rvp_cu_array {
	size_t width, height;
	uint32_t format, channels;
};
struct rvp_cu_array3d {
	size_t width, height, depth;
	uint32_t format, channels, flags;
};

/* generated_cuda_meta.h, <function>_params */
struct rvp_cu_alloc { uint64_t *address; size_t bytes; };              /* cuMemAlloc_v2 */
struct rvp_cu_alloc_pitch { uint64_t *address; size_t *pitch; size_t width, height; uint32_t element; };
struct rvp_cu_alloc_managed { uint64_t *address; size_t bytes; uint32_t flags; };
struct rvp_cu_alloc_host { void **address; size_t bytes; };            /* cuMemAllocHost_v2; cuMemHostAlloc begins so */
struct rvp_cu_register { void *address; size_t bytes; uint32_t flags; }; /* cuMemHostRegister_v2 */
struct rvp_cu_free { uint64_t address; };                              /* cuMemFree_v2, FreeHost, HostUnregister, IpcClose */
struct rvp_cu_alloc_async { uint64_t *address; size_t bytes; void *stream; };
struct rvp_cu_alloc_from_pool { uint64_t *address; size_t bytes; void *pool, *stream; };
struct rvp_cu_free_async { uint64_t address; void *stream; };
struct rvp_cu_create { uint64_t *handle; size_t bytes; const struct rvp_cu_allocation *properties; unsigned long long flags; };
struct rvp_cu_release { uint64_t handle; };
struct rvp_cu_map { uint64_t address; size_t bytes, offset; uint64_t handle; unsigned long long flags; };
struct rvp_cu_unmap { uint64_t address; size_t bytes; };
struct rvp_cu_array_create { void **array; const struct rvp_cu_array *shape; };
struct rvp_cu_array3d_create { void **array; const struct rvp_cu_array3d *shape; };
struct rvp_cu_mipmap_create { void **array; const struct rvp_cu_array3d *shape; uint32_t levels; };
struct rvp_cu_array_destroy { void *array; };                          /* of mipmapped ones too */
struct rvp_cu_ipc_open { uint64_t *address; uint8_t handle[64]; uint32_t flags; };
struct rvp_cu_import { uint64_t *handle; void *os_handle; uint32_t handle_type; };
struct rvp_cu_retain { uint64_t *handle; void *address; };
struct rvp_cu_pool_create { void **pool; const struct rvp_cu_pool_properties *properties; };
struct rvp_cu_pool_destroy { void *pool; };
struct rvp_cu_pool_trim { void *pool; size_t keep; };
struct rvp_cu_launch { void *function; uint32_t grid_x, grid_y, grid_z, block_x, block_y, block_z, shared; void *stream; };
struct rvp_cu_graph_launch { void *exec, *stream; };

#endif
