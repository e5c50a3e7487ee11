/* Tensors of few numbers, made and looked at on one backend. */
#ifndef RUNCIBLE_TESTS_TENSOR_NUMBERS_H
#define RUNCIBLE_TESTS_TENSOR_NUMBERS_H

#include <math.h>

#include "check.h"
#include "runcible/tensor.h"

static rc_backend* backend = NULL;

static inline rc_tensor* make(const float* data, int32_t rank, int64_t d0,
                              int64_t d1, int64_t d2, int64_t d3) {
  rc_tensor* tensor = NULL;
  const int64_t shape[4] = {d0, d1, d2, d3};
  size_t count = 1;
  int32_t i;
  for (i = 0; i < rank; ++i) count *= (size_t)shape[i];
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_F32, shape, rank, data,
                                 count * sizeof(float), &tensor));
  return tensor;
}

static inline rc_tensor* make_numbers(const int32_t* data, int64_t count) {
  rc_tensor* tensor = NULL;
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_I32, &count, 1, data,
                                 (size_t)count * sizeof(int32_t), &tensor));
  return tensor;
}

/* The tensor has these numbers; it is released. */
static inline void expect(int line, rc_tensor* tensor, const float* expected,
                          int64_t count) {
  int64_t elements = 0, i;
  size_t bytes = 0;
  float data[64];
  REQUIRE_OK(rc_tensor_size(tensor, &elements, &bytes));
  if (elements != count || bytes != (size_t)count * sizeof(float)) {
    ++check_failures;
    fprintf(stderr, "line %d: %d elements\n", line, (int)elements);
    return;
  }
  REQUIRE_OK(rc_tensor_read(tensor, data, bytes));
  for (i = 0; i < count; ++i) {
    if (!(fabs(data[i] - expected[i]) <= 1e-5)) {
      ++check_failures;
      fprintf(stderr, "line %d: element %d is %g, not %g\n", line, (int)i,
              (double)data[i], (double)expected[i]);
    }
  }
  rc_tensor_release(tensor);
}
#define EXPECT(tensor, ...)                                      \
  do {                                                           \
    const float expected_[] = {__VA_ARGS__};                     \
    expect(__LINE__, tensor, expected_,                          \
           (int64_t)(sizeof(expected_) / sizeof(expected_[0]))); \
  } while (0)

static inline void check_shape(int line, rc_tensor* tensor, int32_t rank,
                               int64_t d0, int64_t d1) {
  int64_t shape[RC_TENSOR_MAX_RANK] = {-1, -1, -1, -1};
  int32_t found = 0;
  REQUIRE_OK(rc_tensor_shape(tensor, shape, &found));
  if (found != rank || shape[0] != d0 || shape[1] != d1) {
    ++check_failures;
    fprintf(stderr, "line %d: shape [%d, %d] of rank %d\n", line, (int)shape[0],
            (int)shape[1], (int)found);
  }
}

#endif
