/* Statuses become exceptions. */
%{
#include "own_words.h"
%}
%typemap(out) rc_status {
  if ($1 != RC_OK) {
    runcible_raise($1, runcible_own_words(rc_error_message()));
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}

/* Whether a function of these files had the memory to keep its arguments; the
 * library is not involved. */
%{
typedef int runcible_kept;
%}
%typemap(out) runcible_kept {
  if (!$1) {
    runcible_raise(RC_E_OUT_OF_MEMORY, "no memory to keep the options in");
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}
