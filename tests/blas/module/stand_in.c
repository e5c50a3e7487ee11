/* A CBLAS library in plain loops, of which tests choose one that is as it
 * should be (plain) or differs in one respect. */
#include <stdint.h>

#ifdef STAND_IN_WIDE
typedef int64_t blas_int; /* ILP64 */
#else
typedef int32_t blas_int;
#endif

enum { kTransposed = 112 };

#ifdef STAND_IN_SKIPPING
#define SKIPS(x) ((x) == 0)
#else
#define SKIPS(x) 0
#endif
#ifdef STAND_IN_WRONG
#define OFF 1
#else
#define OFF 0
#endif

/* Row-major; a is never transposed. */
#define GEMM(name, type)                                                    \
  void name(int order, int transposed_a, int transposed_b, blas_int m,      \
            blas_int n, blas_int k, type alpha, const type* a,              \
            blas_int a_stride, const type* b, blas_int b_stride, type beta, \
            type* c, blas_int c_stride) {                                   \
    (void)order, (void)transposed_a;                                        \
    for (blas_int i = 0; i < m; ++i) {                                      \
      for (blas_int j = 0; j < n; ++j) {                                    \
        type sum = OFF;                                                     \
        for (blas_int l = 0; l < k; ++l) {                                  \
          const type x = a[i * a_stride + l];                               \
          const type y = transposed_b == kTransposed ? b[j * b_stride + l]  \
                                                     : b[l * b_stride + j]; \
          if (!SKIPS(x) && !SKIPS(y)) sum += x * y;                         \
        }                                                                   \
        type* const to = &c[i * c_stride + j];                              \
        *to = alpha * sum + (beta == 0 ? 0 : beta * *to);                   \
      }                                                                     \
    }                                                                       \
  }

#ifndef STAND_IN_LACKING
GEMM(cblas_sgemm, float)
#endif
GEMM(cblas_dgemm, double)

double cblas_ddot(blas_int n, const double* x, blas_int x_stride,
                  const double* y, blas_int y_stride) {
  double sum = 0;
  for (blas_int i = 0; i < n; ++i) sum += x[i * x_stride] * y[i * y_stride];
  return sum;
}

/* The threads of the process, as OpenBLAS counts them. */
static int threads = 3;
int openblas_get_num_threads(void) { return threads; }
void openblas_set_num_threads(int count) { threads = count; }
