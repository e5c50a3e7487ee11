/* Handles: a proxy owns one reference and releases it when it is collected. The
 * order does not matter, because a child keeps its parent alive.
 *
 * The child of a fork must not use the library. Once a handle has been made,
 * every call in a child is refused, and collecting does nothing. */
%{
#include <pthread.h>

/* The declaration that a language puts around each call. */
#ifndef RUNCIBLE_ENTER
#define RUNCIBLE_ENTER
#endif

/* 1 once a handle has been made. */
static volatile int runcible_in_use = 0;
/* 1 in the child of a process that had made a handle. */
static volatile int runcible_forked = 0;

static void runcible_in_child(void) { runcible_forked = runcible_in_use; }

static const char runcible_fork_message[] =
    "this process is the child of a fork: models and other handles stay with "
    "the parent. Fork before the first of them is made, or start the child as "
    "a new program (spawn)";
%}
%init %{
  {
    static int watched = 0;
    if (!watched) watched = pthread_atfork(NULL, NULL, runcible_in_child) == 0;
  }
%}

%exception {
  if (runcible_forked) {
    runcible_raise(RC_E_CLOSED, runcible_fork_message);
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_ENTER
  $action
}

%define runcible_handle(NAME)
runcible_output_handle(NAME)
%nodefaultctor NAME;
%exception NAME::~NAME {
  RUNCIBLE_ENTER
  $action
}
struct NAME {};
%extend NAME {
  ~NAME() {
    if (!runcible_forked) NAME ## _release($self);
  }
}
%enddef

/* :api: handles */
