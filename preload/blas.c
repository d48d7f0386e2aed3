/* SPDX-License-Identifier: MIT */
/* blas.c: see blas.h. A front takes all that its function takes, as it takes it, and gives it on. Fortran's hidden lengths
 * of its texts come last, two of them at most. In a pause it is a jump: what was passed stays where it lies.
 */
#include "preload/blas.h"

#include "preload/emit.h"
#include "preload/front_names.h"
#include "preload/functions.h"
#include "preload/mark_stamp.h"
#include "preload/pause.h"
#include "preload/rows.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum number {
#define RVP_BLAS(name, front, type, class, operations) NUMBER_##name,
#include "record/blas.def"
	NAMES
};

static const char *const names[] = {
#define RVP_BLAS(name, front, type, class, operations) #name,
#include "record/blas.def"
};

static _Atomic uintptr_t reals[NAMES];
/* Where the outermost front of this thread stands; 0: none does. A call that was left by longjmp is inner than the next. */
static __thread uintptr_t outermost __attribute__((tls_model("initial-exec")));

struct call {
	uint64_t begin; /* 0: it has no record */
	enum number number;
	int64_t m, n, k;
};

static bool is_off(void)
{
	return atomic_load_explicit(&rvp_process.state, memory_order_relaxed) != RVP_READY ||
	       atomic_load_explicit(&rvp_pause_state, memory_order_relaxed) == RVP_PAUSE_ON;
}

static inline struct call begin(enum number number, uintptr_t frame, int64_t m, int64_t n, int64_t k)
{
	if (outermost && frame < outermost)
		return (struct call){0};
	outermost = frame;
	return (struct call){rvp_stamp_unordered(), number, m, n, k};
}

static uint64_t size(int64_t number)
{
	return number > 0 ? (uint64_t)number : 0;
}

static void tell(const struct call *call)
{
	struct rvp_thread *thread = rvp_enter_for_mark();
	uint64_t stamp;

	if (!thread)
		return;
	if (rvp_rows_has_room(thread)) {
		stamp = rvp_mark_stamp(thread, false);
		RVP_EMIT(thread, BLAS_CALL, 0, .stamp = stamp, .ticks = stamp > call->begin ? stamp - call->begin : 0,
			 .function = call->number, .m = size(call->m), .n = size(call->n), .k = size(call->k), .count = 1);
	}
	rvp_leave(thread);
}

static void end(const struct call *call)
{
	int error = errno;

	if (!call->begin)
		return;
	outermost = 0;
	tell(call);
	errno = error;
}

#define FRAME()            ((uintptr_t)__builtin_frame_address(0))
#define REAL(name)         atomic_load_explicit(&reals[NUMBER_##name], memory_order_acquire)
enum { COLUMN_MAJOR = 102, NOT_TRANSPOSED = 111, CONJUGATE_ONLY = 114 };

/* A front and the recording one behind it. `take` are the parameters, `give` their names: m, n and k are said of them. In a
 * pause the front is a jump. */
#define FRONT(returns, name, take, give, m_is, n_is, k_is)                                    \
	typedef returns function_##name take;                                                 \
	static __attribute__((noinline)) returns recorded_##name take                         \
	{                                                                                     \
		struct call call __attribute__((cleanup(end), unused)) = begin(NUMBER_##name, FRAME(), m_is, n_is, k_is); \
                                                                                              \
		return ((function_##name *)REAL(name))give;                                   \
	}                                                                                     \
	static returns front_##name take                                                      \
	{                                                                                     \
		return (is_off() ? (function_##name *)REAL(name) : recorded_##name)give;      \
	}

#define CBLAS_GEMM(name, whole, scalar)                                                                                   \
	FRONT(void, name,                                                                                                 \
	      (int order, int ta, int tb, whole m, whole n, whole k, scalar alpha, const void *a, whole lda, const void *b, \
	       whole ldb, scalar beta, void *c, whole ldc),                                                               \
	      (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), m, n, k)
#define CBLAS_GEMM_FLOAT(name)      CBLAS_GEMM(name, int, float)
#define CBLAS_GEMM_DOUBLE(name)     CBLAS_GEMM(name, int, double)
#define CBLAS_GEMM_POINTER(name)    CBLAS_GEMM(name, int, const void *)
#define CBLAS_GEMM_FLOAT_64(name)   CBLAS_GEMM(name, int64_t, float)
#define CBLAS_GEMM_DOUBLE_64(name)  CBLAS_GEMM(name, int64_t, double)
#define CBLAS_GEMM_POINTER_64(name) CBLAS_GEMM(name, int64_t, const void *)

/* The matrix is m x n as it lies; transposed, its result has n rows. */
static bool is_plain(int transposed)
{
	return transposed == NOT_TRANSPOSED || transposed == CONJUGATE_ONLY;
}

#define CBLAS_GEMV(name, whole, scalar)                                                                                 \
	FRONT(void, name,                                                                                               \
	      (int order, int ta, whole m, whole n, scalar alpha, const void *a, whole lda, const void *x, whole step_x, \
	       scalar beta, void *y, whole step_y),                                                                     \
	      (order, ta, m, n, alpha, a, lda, x, step_x, beta, y, step_y), is_plain(ta) ? m : n, 1, is_plain(ta) ? n : m)
#define CBLAS_GEMV_FLOAT(name)      CBLAS_GEMV(name, int, float)
#define CBLAS_GEMV_DOUBLE(name)     CBLAS_GEMV(name, int, double)
#define CBLAS_GEMV_POINTER(name)    CBLAS_GEMV(name, int, const void *)
#define CBLAS_GEMV_FLOAT_64(name)   CBLAS_GEMV(name, int64_t, float)
#define CBLAS_GEMV_DOUBLE_64(name)  CBLAS_GEMV(name, int64_t, double)
#define CBLAS_GEMV_POINTER_64(name) CBLAS_GEMV(name, int64_t, const void *)

typedef const void *word;

#define FORTRAN_GEMM(name)                                                                                               \
	FRONT(word, name,                                                                                                \
	      (const char *ta, const char *tb, const int *m, const int *n, const int *k, word alpha, word a, word lda, word b, \
	       word ldb, word beta, word c, word ldc, word la, word lb),                                                 \
	      (ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, la, lb), *m, *n, *k)

static bool is_plain_letter(const char *transposed)
{
	return *transposed == 'N' || *transposed == 'n';
}

#define FORTRAN_GEMV(name)                                                                                                \
	FRONT(word, name,                                                                                                 \
	      (const char *ta, const int *m, const int *n, word alpha, word a, word lda, word x, word step_x, word beta, word y, \
	       word step_y, word la),                                                                                     \
	      (ta, m, n, alpha, a, lda, x, step_x, beta, y, step_y, la), is_plain_letter(ta) ? *m : *n, 1,                \
	      is_plain_letter(ta) ? *n : *m)

#define RVP_BLAS(name, front, type, class, operations) front(name)
#include "record/blas.def"

static void *const fronts[] = {
#define RVP_BLAS(name, front, type, class, operations) (void *)front_##name,
#include "record/blas.def"
};

const char *rvp_blas_name(size_t number)
{
	return number < NAMES ? names[number] : NULL;
}

static size_t number_of(const char *name)
{
	return rvp_front_number(name, names, NAMES);
}

bool rvp_blas_known(const char *name)
{
	return strchr("cdsz", name[0]) && strstr(name, "gem") && number_of(name) < NAMES;
}

void *rvp_blas_front(const char *name, uintptr_t real)
{
	size_t number = number_of(name);
	uintptr_t present = atomic_load(&reals[number]);

	if (!real || real == (uintptr_t)fronts[number])
		return NULL;
	if (present && present != real && rvp_functions_is_at(name, present))
		return NULL;
	atomic_store_explicit(&reals[number], real, memory_order_release);
	return fronts[number];
}
