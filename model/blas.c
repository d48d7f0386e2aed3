/* SPDX-License-Identifier: MIT */
/* blas.c: see blas.h. */
#include "model/blas.h"

#include <dlfcn.h>
#include <stddef.h>

static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0"};

static bool find(struct rvp_blas *blas)
{
	*(void **)&blas->sgemm = dlsym(blas->library, "cblas_sgemm");
	*(void **)&blas->dgemm = dlsym(blas->library, "cblas_dgemm");
	*(void **)&blas->set_threads = dlsym(blas->library, "openblas_set_num_threads");
	*(void **)&blas->threads = dlsym(blas->library, "openblas_get_num_threads");
	*(void **)&blas->config = dlsym(blas->library, "openblas_get_config");
	return blas->sgemm && blas->set_threads && blas->threads;
}

struct rvp_status rvp_blas_open(struct rvp_blas *blas)
{
	*blas = (struct rvp_blas){0};
	for (size_t i = 0; i < sizeof names / sizeof *names && !blas->library; i++)
		blas->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!blas->library)
		return rvp_fail_with("open", names[0],
				     "OpenBLAS is not here, and what is measured runs with it: apt install "
				     "libopenblas0-pthread");
	if (find(blas))
		return RVP_OK;
	rvp_blas_close(blas);
	return rvp_fail_with("use", names[0], "it has no cblas_sgemm: a full build of OpenBLAS is needed");
}

void rvp_blas_close(struct rvp_blas *blas)
{
	if (blas->library)
		dlclose(blas->library);
	*blas = (struct rvp_blas){0};
}
