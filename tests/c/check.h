/* Checks for test programs: a failed one is printed, and the exit status of the
 * program becomes 1. */
#ifndef RUNCIBLE_TESTS_C_CHECK_H
#define RUNCIBLE_TESTS_C_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++check_failures;                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

/* The call's status is `expected`; a failure has left a message. */
#define CHECK_STATUS(expected, call)                                           \
  do {                                                                         \
    const rc_status check_status = (call);                                     \
    if (check_status != (expected)) {                                          \
      ++check_failures;                                                        \
      fprintf(stderr, "%s:%d: %s: %s instead of %s: %s\n", __FILE__, __LINE__, \
              #call, rc_status_name(check_status), rc_status_name(expected),   \
              rc_error_message());                                             \
    } else if (check_status != RC_OK && rc_error_message()[0] == '\0') {       \
      ++check_failures;                                                        \
      fprintf(stderr, "%s:%d: %s: no message\n", __FILE__, __LINE__, #call);   \
    }                                                                          \
  } while (0)

/* The same; without it the program cannot go on. */
#define REQUIRE_OK(call)                                                \
  do {                                                                  \
    const rc_status check_status = (call);                              \
    if (check_status != RC_OK) {                                        \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call, \
              rc_status_name(check_status), rc_error_message());        \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

#define CHECK_RESULT() (check_failures == 0 ? 0 : 1)

#endif
