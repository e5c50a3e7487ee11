/* What an op of small tensors takes on a device: the first of its kind, which
 * may be compiled, and those that come again.
 *
 *   small_ops [SPEC [COUNT]]    "vulkan", 1000
 *
 * Prints, for each op, the microseconds of the first, the median of all, and
 * the milliseconds of all together.
 */
#define _POSIX_C_SOURCE 199309L
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef rc_status (*small_op)(rc_tensor* a, rc_tensor* b, rc_tensor** result);

static rc_status add(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  return rc_op_add(a, b, result);
}
static rc_status multiply_matrices(rc_tensor* a, rc_tensor* b,
                                   rc_tensor** result) {
  return rc_op_matmul(a, b, result);
}
static rc_status softmax(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  (void)b;
  return rc_op_softmax(a, 1, result);
}
static rc_status exponential(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  (void)b;
  return rc_op_exp(a, result);
}
static rc_status sum(rc_tensor* a, rc_tensor* b, rc_tensor** result) {
  (void)b;
  return rc_op_reduce_sum(a, 1, 0, result);
}

static const struct {
  const char* name;
  small_op run;
} ops[] = {{"add", add},
           {"matmul", multiply_matrices},
           {"softmax", softmax},
           {"exp", exponential},
           {"reduce_sum", sum}};

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "small_ops: %s\n", rc_error_message());
  exit(1);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
  const char* spec = argc > 1 ? argv[1] : "vulkan";
  const int count = argc > 2 ? atoi(argv[2]) : 1000;
  const int64_t shape[] = {4, 4};
  rc_backend* backend = NULL;
  rc_tensor *a = NULL, *b = NULL;
  double* times;
  size_t k;
  if (count < 1) {
    fprintf(stderr, "small_ops: %s: a number of ops from 1 on\n", argv[2]);
    return 2;
  }
  times = malloc((size_t)count * sizeof *times);
  if (times == NULL) return 1;
  check(rc_backend_open(spec, NULL, &backend));
  check(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 2, &a));
  check(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 2, &b));
  for (k = 0; k < sizeof ops / sizeof ops[0]; ++k) {
    const double begin = microseconds();
    double first, all;
    int i;
    for (i = 0; i < count; ++i) {
      const double start = microseconds();
      rc_tensor* result = NULL;
      check(ops[k].run(a, b, &result));
      rc_tensor_release(result);
      times[i] = microseconds() - start;
    }
    all = microseconds() - begin;
    first = times[0];
    qsort(times, (size_t)count, sizeof *times, by_size);
    printf("%s %-10s first %9.1f us, median %7.2f us, all %8.1f ms\n", spec,
           ops[k].name, first, times[count / 2], all / 1000);
  }
  free(times);
  rc_tensor_release(a);
  rc_tensor_release(b);
  rc_backend_release(backend);
  return 0;
}
