/* Custom ops with a function of Perl; included by the wrapper alone. The
 * function, which CustomOp.pm makes, is called with
 *
 *   (inputs, outputs, attributes)
 *
 * references to arrays of values [dtype, shape, bytes], and of numbers. The
 * bytes of an output are replaced by their number. The function returns a
 * reference to an array of the bytes of the outputs. */
#ifndef RUNCIBLE_PERL_FUNCTIONS_H
#define RUNCIBLE_PERL_FUNCTIONS_H

#include <runcible/runcible.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "results.h"
#include "served.h"

/* The state of a wrapper's call that may run functions of Perl. */
typedef struct {
  int exit; /* the argument for JMPENV_JUMP, if a function called exit */
} runcible_waiting;
typedef runcible_waiting* runcible_server;

/* The requests to the interpreter that the thread runs. */
static __thread runcible_served* runcible_here = NULL;

static runcible_served* runcible_served_of(runcible_server server) {
  (void)server;
  return runcible_here;
}

/* The argument of the function that runs at the end of an interpreter. */
typedef struct {
  runcible_served* served;
  void* interpreter;
} runcible_noted;

/* Runs at the end of an interpreter. A thread of Perl begins with the functions
 * that its parent had registered, and ends in the thread that joins it. */
static void runcible_end_served(pTHX_ void* user) {
  runcible_noted* noted = (runcible_noted*)user;
  PERL_UNUSED_CONTEXT;
  if (noted->interpreter != (void*)PERL_GET_THX) return;
  if (runcible_here == noted->served) runcible_here = NULL;
  runcible_leave_served(noted->served);
  free(noted);
}

/* Returns the object of this interpreter, made if there is none; NULL without
 * memory. */
static runcible_served* runcible_make_served(pTHX) {
  runcible_noted* noted;
  if (runcible_here != NULL) return runcible_here;
  noted = (runcible_noted*)malloc(sizeof(*noted));
  if (noted == NULL) return NULL;
  noted->interpreter = (void*)PERL_GET_THX;
  noted->served = runcible_here = runcible_new_served();
  if (runcible_here == NULL) {
    free(noted);
    return NULL;
  }
  Perl_call_atexit(aTHX_ runcible_end_served, noted);
  return runcible_here;
}

static void runcible_let_functions_go(pTHX_ runcible_served* served) {
  runcible_function* released = runcible_take_released(served);
  while (released != NULL) {
    runcible_function* next = released->next;
    SvREFCNT_dec((SV*)released->object);
    free(released);
    released = next;
  }
}

/* Makes a mortal reference to an array of values. */
static SV* runcible_values(pTHX_ const rc_op_value* const* values, size_t count,
                           int with_bytes) {
  AV* list = newAV();
  size_t i;
  for (i = 0; i < count; ++i) {
    const rc_op_value* value = values[i];
    AV* parts = newAV();
    av_push(parts, newSViv(value->dtype));
    av_push(parts, runcible_shape(aTHX_ value->shape, value->rank));
    av_push(parts,
            with_bytes
                ? newSVpvn(value->bytes == 0 ? "" : (const char*)value->data,
                           (STRLEN)value->bytes)
                : newSVuv(value->bytes));
    av_push(list, newRV_noinc((SV*)parts));
  }
  return sv_2mortal(newRV_noinc((SV*)list));
}

/* Copies the outputs from the result of a function; returns an error text on
 * failure. */
static const char* runcible_outputs_in(pTHX_ SV* made,
                                       const rc_custom_call* call) {
  size_t i;
  if (!SvROK(made) || SvTYPE(SvRV(made)) != SVt_PVAV) {
    return "it returned no array of outputs";
  }
  for (i = 0; i < call->output_count; ++i) {
    const rc_op_value* output = call->outputs[i];
    SV** each = av_fetch((AV*)SvRV(made), (SSize_t)i, 0);
    STRLEN size = 0;
    const char* bytes = each == NULL ? NULL : SvPVbyte(*each, size);
    if (bytes == NULL || size != output->bytes) {
      return "an output does not have as many bytes as its shape";
    }
    memcpy(output->data, bytes, size);
  }
  return NULL;
}

static void runcible_call_function(pTHX_ runcible_wanted* wanted) {
  const rc_custom_call* call = wanted->call;
  const char* wrong;
  AV* attributes = newAV();
  SV* given[3];
  size_t i;
  dSP;
  ENTER;
  SAVETMPS;
  for (i = 0; i < call->attribute_count; ++i) {
    av_push(attributes, newSVnv(call->attributes[i]));
  }
  given[0] = runcible_values(aTHX_ call->inputs, call->input_count, 1);
  given[1] = runcible_values(aTHX_ call->outputs, call->output_count, 0);
  given[2] = sv_2mortal(newRV_noinc((SV*)attributes));
  PUSHMARK(SP);
  EXTEND(SP, 3);
  for (i = 0; i < 3; ++i) PUSHs(given[i]);
  PUTBACK;
  call_sv((SV*)wanted->object, G_SCALAR | G_EVAL);
  SPAGAIN;
  if (SvTRUE(ERRSV)) {
    STRLEN size = 0;
    const char* text = SvPV(ERRSV, size);
    snprintf(wanted->message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", text);
    (void)POPs;
  } else {
    wrong = runcible_outputs_in(aTHX_ POPs, call);
    if (wrong == NULL) wanted->status = RC_OK;
    if (wrong != NULL) strcpy(wanted->message, wrong);
  }
  PUTBACK;
  FREETMPS;
  LEAVE;
}

/* Calls the function. If it dies or exits, the call ends, without a jump out of
 * the library. */
static void runcible_run_wanted(void* server, runcible_wanted* wanted) {
  dTHX;
  runcible_waiting* waiting = (runcible_waiting*)server;
  int jump = 0;
  wanted->status = RC_E_DEVICE;
  if (waiting->exit != 0) {
    strcpy(wanted->message, "the program ends");
    return;
  }
  {
    dJMPENV;
    JMPENV_PUSH(jump);
    if (jump == 0) {
      runcible_call_function(aTHX_ wanted);
    } else {
      waiting->exit = jump;
      strcpy(wanted->message, "the program ends");
    }
    JMPENV_POP;
  }
}

/* Makes an op from options and a function. */
static rc_status runcible_custom_op(pTHX_ rc_custom_op_options* options,
                                    SV* function, rc_custom_op** op) {
  rc_status status;
  SV* kept;
  if (runcible_make_served(aTHX) == NULL) return RC_E_OUT_OF_MEMORY;
  runcible_let_functions_go(aTHX_ runcible_here);
  kept = newSVsv(function);
  if (!runcible_set_function(options, runcible_here, kept)) {
    SvREFCNT_dec(kept);
    return RC_E_OUT_OF_MEMORY;
  }
  status = rc_custom_op_create(options, op);
  /* Releases the function, as an op would. */
  if (status != RC_OK) options->release(options->user);
  return status;
}

#endif /* RUNCIBLE_PERL_FUNCTIONS_H */
