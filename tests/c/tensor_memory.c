/* Where the numbers of tensors are, on a backend that is given or on each of
 * reference and cpu: in memory of the caller's own or of the device, used by
 * several threads, and moved from device to device. */
#include <pthread.h>

#include "tensor_numbers.h"

static void count(void* user) { ++*(int*)user; }

static void check_targets(void) {
  float lent[4] = {1, 2, 3, 4};
  const int64_t shape[1] = {4};
  int ended = 0;
  void* memory = NULL;
  rc_tensor *x = NULL, *to_itself = NULL, *t = NULL;
  REQUIRE_OK(rc_tensor_borrow(backend, RC_DTYPE_F32, shape, 1, lent,
                              sizeof(lent), count, &ended, &x));
  REQUIRE_OK(rc_op_into(x, x, &to_itself));
  REQUIRE_OK(rc_op_mul(to_itself, x, &t));
  CHECK(t == x);
  rc_tensor_release(t);
  CHECK(lent[0] == 1 && lent[1] == 4 && lent[2] == 9 && lent[3] == 16);
  CHECK_STATUS(RC_OK, rc_tensor_memory(x, &memory));
  CHECK(memory == lent);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_reduce_sum(to_itself, 0, 0, &t));
  CHECK(strstr(rc_error_message(), "reduce_sum: ") != NULL &&
        strstr(rc_error_message(), "F32 [4]") != NULL);
  rc_tensor_release(x);
  CHECK(ended == 0);
  rc_tensor_release(to_itself);
  CHECK(ended == 1);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_borrow(backend, RC_DTYPE_F32, shape, 1, lent, 12,
                                count, &ended, &x));
  CHECK(ended == 1);
}

/* Threads share a tensor and compute with it at once. */
static void* compute(void* shared) {
  rc_tensor *x = shared, *sum = NULL, *square = NULL;
  float numbers[4] = {0, 0, 0, 0};
  intptr_t failures = 0;
  int i;
  for (i = 0; i < 50; ++i) {
    if (rc_op_matmul(x, x, &square) != RC_OK ||
        rc_op_add(square, x, &sum) != RC_OK ||
        rc_tensor_read(sum, numbers, sizeof(numbers)) != RC_OK) {
      ++failures;
    }
    failures += numbers[0] != 8 || numbers[3] != 26;
    rc_tensor_release(square);
    rc_tensor_release(sum);
  }
  return (void*)failures;
}

static void check_threads(void) {
  const float numbers[4] = {1, 2, 3, 4};
  rc_tensor* x = make(numbers, 2, 2, 2, 0, 0);
  pthread_t threads[4];
  int i;
  for (i = 0; i < 4; ++i) {
    CHECK(pthread_create(&threads[i], NULL, compute, x) == 0);
  }
  for (i = 0; i < 4; ++i) {
    void* failures = NULL;
    pthread_join(threads[i], &failures);
    CHECK(failures == NULL);
  }
  rc_tensor_release(x);
}

/* Numbers from and to memory that the device moves by itself. */
static void check_pinned(void) {
  const int64_t shape[1] = {1000};
  rc_pinned* pinned = NULL;
  rc_tensor *x = NULL, *y = NULL;
  void* data = NULL;
  size_t bytes = 0;
  int i;
  const rc_status status = rc_pinned_create(backend, NULL, 8000, &pinned);
  if (status == RC_E_UNSUPPORTED) {
    CHECK(strstr(rc_error_message(), "rc_tensor_from_data") != NULL);
    return;
  }
  REQUIRE_OK(status);
  CHECK_STATUS(RC_OK, rc_pinned_memory(pinned, &data, &bytes));
  CHECK(data != NULL && bytes == 8000 && (uintptr_t)data % 64 == 0);
  for (i = 0; i < 1000; ++i) {
    CHECK(((float*)data)[i] == 0);
    ((float*)data)[i] = (float)i;
  }
  REQUIRE_OK(
      rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 1, data, 4000, &x));
  REQUIRE_OK(rc_op_add(x, x, &y));
  CHECK_STATUS(RC_OK, rc_tensor_read(y, (char*)data + 4000, 4000));
  for (i = 0; i < 1000; ++i) CHECK(((float*)data)[1000 + i] == 2 * (float)i);
  rc_tensor_release(x);
  rc_tensor_release(y);
  rc_pinned_release(pinned);
  rc_pinned_release(NULL);
}

int main(int argc, char** argv) {
  static const char* const kSpecs[] = {"reference", "cpu"};
  int i;
  rc_tensor *here = NULL, *there = NULL, *t = NULL;
  const int64_t shape[1] = {1};
  rc_tensor_release(NULL);
  for (i = 0; i < (argc > 1 ? 1 : 2); ++i) {
    REQUIRE_OK(rc_backend_open(argc > 1 ? argv[1] : kSpecs[i], NULL, &backend));
    check_pinned();
    if (argc == 1) check_targets();
    check_threads();
    if (here == NULL) {
      REQUIRE_OK(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 1, &here));
    } else {
      REQUIRE_OK(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 1, &there));
      CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_add(here, there, &t));
      CHECK(strstr(rc_error_message(), "reference:0") != NULL &&
            strstr(rc_error_message(), "cpu:0") != NULL);
    }
    rc_backend_release(backend);
  }
  if (there != NULL) {
    const char* device = NULL;
    rc_tensor* moved = NULL;
    CHECK_STATUS(RC_OK, rc_tensor_device(there, &device));
    CHECK(device != NULL && strcmp(device, "cpu:0") == 0);
    REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
    CHECK_STATUS(RC_OK, rc_tensor_to(there, backend, NULL, &moved));
    rc_backend_release(backend);
    CHECK_STATUS(RC_OK, rc_tensor_device(moved, &device));
    CHECK(device != NULL && strcmp(device, "reference:0") == 0);
    rc_tensor_release(moved);
  }
  /* Tensors keep their devices. */
  REQUIRE_OK(rc_op_add(here, here, &t));
  rc_tensor_release(t);
  rc_tensor_release(here);
  rc_tensor_release(there);
  return CHECK_RESULT();
}
