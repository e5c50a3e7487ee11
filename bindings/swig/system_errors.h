/* The system's number of an error, for languages whose own errors have it. */
#ifndef RUNCIBLE_SYSTEM_ERRORS_H
#define RUNCIBLE_SYSTEM_ERRORS_H

#include <errno.h>
#include <runcible/runcible.h>
#include <string.h>

/* ENOENT for RC_E_NOT_FOUND; for RC_E_IO that whose words end the message, as
 * they do where the system gave one, else EIO; 0 for other statuses. */
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
