/* Loads a model with a function of Perl that receives the progress. */
#ifndef RUNCIBLE_PERL_LOADING_H
#define RUNCIBLE_PERL_LOADING_H

#include <runcible/runcible.h>

#include "errors.h"

/* A function of Perl that receives the progress of a load. */
typedef struct {
  SV* function;
  int died; /* its exception is in $@ */
  int exit; /* the argument for JMPENV_JUMP, if it called exit */
} runcible_progress;

/* Reports progress: an rc_progress_callback, on the thread that loads. If the
 * function, or a handler of a signal meanwhile, dies or exits, the load ends,
 * without a jump out of the library. */
static int32_t runcible_on_progress(void* user, double fraction) {
  dTHX;
  runcible_progress* progress = (runcible_progress*)user;
  int jump = 0;
  dJMPENV;
  JMPENV_PUSH(jump);
  if (jump == 0) {
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    XPUSHs(sv_2mortal(newSVnv(fraction)));
    PUTBACK;
    call_sv(progress->function, G_VOID | G_DISCARD | G_EVAL);
    progress->died = SvTRUE(ERRSV);
    FREETMPS;
    LEAVE;
  } else {
    progress->exit = jump;
  }
  JMPENV_POP;
  return progress->died || progress->exit != 0;
}

static rc_status runcible_load(pTHX_ rc_backend* backend, const char* path,
                               const rc_model_options* options, SV* function,
                               rc_model** model) {
  runcible_progress progress = {function, 0, 0};
  rc_model_options watched = *options;
  rc_status status;
  if (SvOK(function)) {
    watched.progress = runcible_on_progress;
    watched.progress_user = &progress;
  }
  rc_backend_retain(backend); /* the function may close it */
  status = rc_model_load(backend, path, &watched, model);
  rc_backend_release(backend);
  if (progress.exit != 0) {
    rc_model_release(*model);
    JMPENV_JUMP(progress.exit);
  }
  runcible_dying = progress.died && status != RC_OK;
  return status;
}

#endif /* RUNCIBLE_PERL_LOADING_H */
