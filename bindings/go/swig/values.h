/* The results of the wrappers, as structs that Go reads by cgo. Go allocates
 * them, and C fills them with addresses of memory of C. */
#ifndef RUNCIBLE_GO_VALUES_H
#define RUNCIBLE_GO_VALUES_H

#include <runcible/runcible.h>

#define RUNCIBLE_NAMES_PASCAL
#include "own_words.h"

/* Text, bytes or tokens. */
typedef struct runcible_memory {
  void* data;
  size_t size; /* elements */
} runcible_memory;

/* F32 [rows, columns], row-major. */
typedef struct runcible_floats {
  const float* data;
  size_t rows;
  size_t columns;
} runcible_floats;

typedef struct runcible_shape {
  int64_t sizes[RC_TENSOR_MAX_RANK];
  int32_t rank;
} runcible_shape;

/* The result of a call that failed. */
typedef struct runcible_failure {
  rc_status status;
  int64_t retry_after; /* milliseconds after which to try again; -1: unknown */
  char message[1024];
} runcible_failure;

void runcible_failure_free(runcible_failure* failure);

#endif /* RUNCIBLE_GO_VALUES_H */
