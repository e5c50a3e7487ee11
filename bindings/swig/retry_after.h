/* When to try again after a failure, for the exceptions of all languages. */
#ifndef RUNCIBLE_RETRY_AFTER_H
#define RUNCIBLE_RETRY_AFTER_H

#include <runcible/base.h>

/* Returns the milliseconds that the library states for the failure that the
 * calling thread has just received with this status; -1: none. */
static inline int64_t runcible_retry_after(rc_status status) {
  return status == RC_E_QUOTA ? rc_error_retry_after_ms() : -1;
}

#endif /* RUNCIBLE_RETRY_AFTER_H */
