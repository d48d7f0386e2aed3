/* SPDX-License-Identifier: MIT */
/* cupti_places.h: where libcupti is looked for, besides what is mapped and what the loader finds: for the plugin, which opens it,
 * and for `rvprof doctor`, which says beforehand whether it will. */
#ifndef RVP_CUPTI_PLACES_H
#define RVP_CUPTI_PLACES_H

#define RVP_CUPTI_NAMES "libcupti.so.13", "libcupti.so.12"

/* Folders of toolkits: by these variables first. */
#define RVP_CUPTI_ROOT_VARIABLES "CUDA_HOME", "CUDA_PATH"
#define RVP_CUPTI_ROOTS          "/usr/local/cuda", "/opt/cuda"

/* Within a toolkit. */
#define RVP_CUPTI_FOLDERS "/extras/CUPTI/lib64/", "/lib64/", "/targets/x86_64-linux/lib/"

#endif
