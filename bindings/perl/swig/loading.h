/* Loading a model beside a function of Perl that is told how far it is. */
#ifndef RUNCIBLE_PERL_LOADING_H
#define RUNCIBLE_PERL_LOADING_H

#include <runcible/runcible.h>

#include "errors.h"

/* A function of Perl that is told how far a load is. */
typedef struct {
  SV* function;
  int died; /* its exception is in $@ */
  int exit; /* what JMPENV_JUMP is to be called with, if it called exit */
} runcible_progress;

/* An rc_progress_callback, on the thread that loads. That the function dies or
 * exits, or that a handler of a signal does meanwhile, ends the load; neither
 * leaves the library by a jump. */
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
  rc_model_options told = *options;
  rc_status status;
  if (SvOK(function)) {
    told.progress = runcible_on_progress;
    told.progress_user = &progress;
  }
  rc_backend_retain(backend); /* the function may close it */
  status = rc_model_load(backend, path, &told, model);
  rc_backend_release(backend);
  if (progress.exit != 0) {
    rc_model_release(*model);
    JMPENV_JUMP(progress.exit);
  }
  runcible_dying = progress.died && status != RC_OK;
  return status;
}

#endif /* RUNCIBLE_PERL_LOADING_H */
