/* The system's error number, for languages whose own errors have one. */
#ifndef RUNCIBLE_SYSTEM_ERRORS_H
#define RUNCIBLE_SYSTEM_ERRORS_H

#include <errno.h>
#include <runcible/runcible.h>
#include <string.h>

/* Returns ENOENT for RC_E_NOT_FOUND; for RC_E_IO the number whose text ends the
 * message, as it does if the system reported one, else EIO; else 0. */
static inline int runcible_system_error(rc_status status, const char* message) {
  const char* words;
  int number;
  if (status == RC_E_NOT_FOUND) return ENOENT;
  if (status != RC_E_IO) return 0;
  words = strrchr(message, ':');
  words = words != NULL && words[1] == ' ' ? words + 2 : message;
  for (number = 1; number < 256; ++number) {
    if (strcmp(words, strerror(number)) == 0) return number;
  }
  return EIO;
}

#endif /* RUNCIBLE_SYSTEM_ERRORS_H */
