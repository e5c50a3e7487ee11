/* Products of tensors on several backends, side by side.
 *
 *     products [--threads=2] [--rounds=9] [BACKEND ...]
 *
 * Without names: cpu and blas. All backends compute each product in turns, each
 * turn after a call that is not measured. Printed are the medians, in
 * milliseconds, and the first one's time over those of the others: above 1 the
 * other is faster. */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMostBackends = 8, kMostRounds = 99 };

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct {
  const char* name;
  enum { kProduct, kTransposed, kFused, kConvolution } kind;
  rc_dtype dtype;
  rc_dtype weight; /* of the right one */
  int64_t m, n, k; /* of a convolution: size, channels, window */
} Case;

static const Case kCases[] = {
    {"256", kProduct, RC_DTYPE_F32, RC_DTYPE_F32, 256, 256, 256},
    {"1024", kProduct, RC_DTYPE_F32, RC_DTYPE_F32, 1024, 1024, 1024},
    {"2048", kProduct, RC_DTYPE_F32, RC_DTYPE_F32, 2048, 2048, 2048},
    {"2048, b^T", kTransposed, RC_DTYPE_F32, RC_DTYPE_F32, 2048, 2048, 2048},
    {"1024, F64", kProduct, RC_DTYPE_F64, RC_DTYPE_F64, 1024, 1024, 1024},
    {"512, F16 b^T", kTransposed, RC_DTYPE_F32, RC_DTYPE_F16, 512, 512, 512},
    {"512, BF16 b^T", kTransposed, RC_DTYPE_F32, RC_DTYPE_BF16, 512, 512, 512},
    {"1 x 4096 x 4096, b^T", kTransposed, RC_DTYPE_F32, RC_DTYPE_F32, 1, 4096,
     4096},
    {"fused_linear 512 x 2048 x 512, silu", kFused, RC_DTYPE_F32, RC_DTYPE_F32,
     512, 2048, 512},
    {"conv2d 64 channels of 56 x 56, 3 x 3", kConvolution, RC_DTYPE_F32,
     RC_DTYPE_F32, 56, 64, 3},
    {"conv2d 256 channels of 28 x 28, 1 x 1", kConvolution, RC_DTYPE_F32,
     RC_DTYPE_F32, 28, 256, 1},
};
enum { kCaseCount = sizeof(kCases) / sizeof(kCases[0]) };

static rc_tensor* numbers(rc_backend* backend, rc_dtype dtype,
                          const int64_t* shape, int32_t rank) {
  rc_tensor *made = NULL, *other = NULL;
  check(rc_tensor_random(backend, shape, rank, NULL, &made));
  if (dtype == RC_DTYPE_F32) return made;
  check(rc_op_quantize(made, dtype, &other));
  rc_tensor_release(made);
  return other;
}

typedef struct {
  rc_tensor *a, *b;
} Operands;

static Operands operands_of(rc_backend* backend, const Case* one) {
  Operands made;
  if (one->kind == kConvolution) {
    const int64_t x[4] = {1, one->n, one->m, one->m};
    const int64_t window[4] = {one->n, one->n, one->k, one->k};
    made.a = numbers(backend, one->dtype, x, 4);
    made.b = numbers(backend, one->weight, window, 4);
  } else {
    const int64_t a[2] = {one->m, one->k};
    const int64_t plain[2] = {one->k, one->n}, turned[2] = {one->n, one->k};
    made.a = numbers(backend, one->dtype, a, 2);
    made.b = numbers(backend, one->weight,
                     one->kind == kProduct ? plain : turned, 2);
  }
  return made;
}

static void compute(const Case* one, Operands with) {
  rc_conv2d_options options = RC_CONV2D_OPTIONS_INIT;
  rc_tensor* result = NULL;
  switch (one->kind) {
    case kProduct:
      check(rc_op_matmul(with.a, with.b, &result));
      break;
    case kTransposed:
      check(rc_op_matmul_transposed(with.a, with.b, &result));
      break;
    case kFused:
      check(
          rc_op_fused_linear(with.a, with.b, NULL, RC_FUNCTION_SILU, &result));
      break;
    case kConvolution:
      options.padding[0] = options.padding[1] = (int32_t)(one->k / 2);
      check(rc_op_conv2d(with.a, with.b, NULL, &options, &result));
      break;
  }
  rc_tensor_release(result);
}

static int rising(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static long option(const char* argument, const char* name, long most) {
  const size_t length = strlen(name);
  char* end = NULL;
  long number;
  if (strncmp(argument, name, length) != 0) return 0;
  number = strtol(argument + length, &end, 10);
  if (*end != '\0' || number < 1 || number > most) {
    fprintf(stderr, "%s: 1 to %ld are possible\n", argument, most);
    exit(2);
  }
  return number;
}

int main(int argc, char** argv) {
  const char* names[kMostBackends] = {"cpu", "blas"};
  rc_backend* backends[kMostBackends] = {NULL};
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  long rounds = 9;
  int count = 0, i, j, round;
  options.threads = 2;
  for (i = 1; i < argc; ++i) {
    const long threads = option(argv[i], "--threads=", 512);
    const long given = option(argv[i], "--rounds=", kMostRounds);
    if (threads > 0) {
      options.threads = (int32_t)threads;
    } else if (given > 0) {
      rounds = given;
    } else if (count < kMostBackends) {
      names[count++] = argv[i];
    }
  }
  if (count == 0) count = 2;
  check(RC_ABI_CHECK());
  printf("| product |");
  for (i = 0; i < count; ++i) {
    check(rc_backend_open(names[i], &options, &backends[i]));
    printf(" %s, ms |", names[i]);
  }
  for (i = 1; i < count; ++i) printf(" %s / %s |", names[0], names[i]);
  printf("\n|---|");
  for (i = 1; i < 2 * count; ++i) printf("---|");
  printf("\n");
  for (j = 0; j < kCaseCount; ++j) {
    static double times[kMostBackends][kMostRounds];
    Operands with[kMostBackends];
    for (i = 0; i < count; ++i) with[i] = operands_of(backends[i], &kCases[j]);
    for (round = 0; round < rounds; ++round) {
      for (i = 0; i < count; ++i) {
        double begin;
        compute(&kCases[j], with[i]);
        begin = now();
        compute(&kCases[j], with[i]);
        times[i][round] = now() - begin;
      }
    }
    printf("| %s |", kCases[j].name);
    for (i = 0; i < count; ++i) {
      qsort(times[i], (size_t)rounds, sizeof(double), rising);
      printf(" %.2f |", 1e3 * times[i][rounds / 2]);
      rc_tensor_release(with[i].a);
      rc_tensor_release(with[i].b);
    }
    for (i = 1; i < count; ++i) {
      printf(" %.2f |", times[0][rounds / 2] / times[i][rounds / 2]);
    }
    printf("\n");
    fflush(stdout);
  }
  for (i = 0; i < count; ++i) rc_backend_release(backends[i]);
  return EXIT_SUCCESS;
}
