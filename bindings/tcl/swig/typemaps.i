/* Typemaps of Tcl; see bindings/swig/arguments.i. Handles and structs are names
 * in a table of the interpreter, not SWIG's addresses; see handles.h. A call
 * returns its one result, or a list of several results. */
%header %{
#include <runcible/runcible.h>

#include "handles.h"
#include "mailbox.h"
#include "values.h"

/* For use in the wrappers, which all have an interp. */
#define runcible_raise(status, message) \
  runcible_set_error(interp, status, message)
#define RUNCIBLE_FAIL SWIG_fail
#define RUNCIBLE_NOTHING Tcl_ResetResult(interp)
%}

/* The library that is loaded must fit the headers. */
%init %{
  if (rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR) != RC_OK) {
    runcible_set_error(interp, RC_E_ABI, rc_error_message());
    return TCL_ERROR;
  }
  runcible_open_handles(interp);
%}

/* SWIG initializes data that all interpreters share each time that one loads
 * the package, in any thread. */
%wrapper %{
SWIGEXPORT int SWIG_init(Tcl_Interp* interp);
SWIGEXPORT int Runcible_Init(Tcl_Interp* interp) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int code;
  pthread_mutex_lock(&mutex);
  code = SWIG_init(interp);
  pthread_mutex_unlock(&mutex);
  return code;
}
%}

/* Deleting removes the name. */
%typemap(in) SWIGTYPE* {
  if (!runcible_handle_in(interp, $input, $descriptor, (void**)&$1)) SWIG_fail;
  if ($disown) runcible_forget_handle(interp, $input);
}
%typemap(check) SWIGTYPE* self, mailbox* box {
  if ($1 == NULL) {
    runcible_raise(RC_E_INVALID_ARGUMENT, "$1_name must not be empty");
    SWIG_fail;
  }
}
%typemap(out) SWIGTYPE* {
  if ($1 == NULL) {
    runcible_raise(RC_E_OUT_OF_MEMORY, "no memory for options or a report");
    SWIG_fail;
  }
  Tcl_SetObjResult(interp, runcible_new_handle(interp, (void*)$1, $descriptor));
}
%define runcible_output_handle(TYPE)
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  Tcl_SetObjResult(interp,
                   runcible_new_handle(interp, *$1, $descriptor(TYPE*)));
}
%enddef

/* Numbers: SWIG's own typemaps accept negative numbers as unsigned. */
%define runcible_whole_number(TYPE, LEAST, MOST)
%typemap(in) TYPE {
  Tcl_WideInt number;
  if (!runcible_whole_in(interp, $input, LEAST, MOST, &number)) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(out) TYPE {
  Tcl_SetObjResult(interp, Tcl_NewWideIntObj((Tcl_WideInt)$1));
}
%enddef
runcible_whole_number(int, INT32_MIN, INT32_MAX)
runcible_whole_number(unsigned int, 0, UINT32_MAX)
runcible_whole_number(long, INT64_MIN, INT64_MAX)
runcible_whole_number(unsigned long, 0, INT64_MAX)
runcible_whole_number(size_t, 0, INT64_MAX)
%typemap(in) uint64_t seed {
  if (!runcible_seed_in(interp, $input, &$1)) SWIG_fail;
}
%typemap(out) uint64_t seed {
  Tcl_SetObjResult(interp, runcible_seed($1));
}

%typemap(in) float, double {
  double number;
  if (Tcl_GetDoubleFromObj(interp, $input, &number) != TCL_OK) SWIG_fail;
  $1 = ($1_ltype)number;
}

/* Values that are 0 or 1 in C. */
%typemap(in) int32_t FLAG {
  int flag;
  if (Tcl_GetBooleanFromObj(interp, $input, &flag) != TCL_OK) SWIG_fail;
  $1 = flag;
}
%include "flags.i"

%typemap(in) (const char* TEXT, size_t LENGTH) (Tcl_DString utf8) {
  runcible_utf8($input, &utf8);
  $1 = Tcl_DStringValue(&utf8);
  $2 = (size_t)Tcl_DStringLength(&utf8);
}
%typemap(arginit) (const char* TEXT, size_t LENGTH) {
  Tcl_DStringInit(&utf8$argnum);
}
%typemap(freearg) (const char* TEXT, size_t LENGTH) {
  Tcl_DStringFree(&utf8$argnum);
}
%typemap(in) const char* NAME (Tcl_DString utf8) {
  runcible_utf8($input, &utf8);
  $1 = Tcl_DStringValue(&utf8);
  if (strlen($1) != (size_t)Tcl_DStringLength(&utf8)) {
    Tcl_SetObjResult(interp,
                     Tcl_NewStringObj("$1_name must not hold a NUL", -1));
    SWIG_fail;
  }
}
%typemap(arginit) const char* NAME { Tcl_DStringInit(&utf8$argnum); }
%typemap(freearg) const char* NAME { Tcl_DStringFree(&utf8$argnum); }

/* An empty text of these is passed as NULL. */
%typemap(check) const char* prompt, const char* prompt_name, const char* since {
  if ($1 != NULL && *$1 == '\0') $1 = NULL;
}

%typemap(out) const char*, char* {
  Tcl_SetObjResult(interp, runcible_text($1, strlen($1)));
}
%typemap(in, numinputs=0) const char** BORROWED (const char* text = NULL) {
  $1 = ($1_ltype)&text;
}
%typemap(argout) const char** BORROWED {
  Tcl_ListObjAppendElement(interp, Tcl_GetObjResult(interp),
                           runcible_text(*$1, strlen(*$1)));
}

%typemap(in, numinputs=0) (const char** BORROWED, size_t* LENGTH)
    (const char* text = NULL, size_t length = 0) {
  $1 = ($1_ltype)&text;
  $2 = &length;
}
%typemap(argout) (const char** BORROWED, size_t* LENGTH) {
  Tcl_ListObjAppendElement(interp, Tcl_GetObjResult(interp),
                           runcible_text(*$1, *$2));
}

%typemap(in, numinputs=0) char** OWNED (char* text = NULL) { $1 = &text; }
%typemap(argout) char** OWNED {
  Tcl_SetObjResult(interp, runcible_text(*$1, strlen(*$1)));
  rc_free(*$1);
}
%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (char* text = NULL, size_t length = 0) {
  $1 = &text;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  Tcl_SetObjResult(interp, runcible_text(*$1, *$2));
  rc_free(*$1);
}

%typemap(in) (const int32_t* TOKENS, size_t COUNT) (int32_t* kept = NULL) {
  if (!runcible_tokens_in(interp, $input, &kept, &$2)) SWIG_fail;
  $1 = kept;
}
%typemap(freearg) (const int32_t* TOKENS, size_t COUNT) {
  if (kept$argnum != NULL) ckfree(kept$argnum);
}
%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (int32_t* tokens = NULL, size_t count = 0) {
  $1 = &tokens;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  Tcl_SetObjResult(interp, runcible_tokens(*$1, *$2));
  rc_free(*$1);
}

%typemap(in) (const void* BYTES, size_t SIZE) {
  int size;
  $1 = Tcl_GetByteArrayFromObj($input, &size);
  $2 = (size_t)size;
}
%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (void* data = NULL, size_t size = 0) {
  $1 = &data;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  const int made = runcible_set_bytes(interp, *$1, *$2);
  rc_free(*$1);
  if (!made) SWIG_fail;
}
/* The library writes straight into a new byte array. */
%typemap(in) (void* ROOM, size_t SIZE) (Tcl_Obj* made = NULL) {
  Tcl_WideInt size;
  if (!runcible_whole_in(interp, $input, 0, INT_MAX, &size)) SWIG_fail;
  made = Tcl_NewByteArrayObj(NULL, (int)size);
  Tcl_IncrRefCount(made);
  $1 = Tcl_GetByteArrayFromObj(made, NULL);
  $2 = (size_t)size;
}
%typemap(argout) (void* ROOM, size_t SIZE) {
  Tcl_SetObjResult(interp, made$argnum);
}
%typemap(freearg) (void* ROOM, size_t SIZE) {
  if (made$argnum != NULL) Tcl_DecrRefCount(made$argnum);
}

/* {bytes of F32, rows, columns} */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  Tcl_Obj* values[3];
  if (!runcible_set_bytes(interp, *$1, *$2 * *$3 * sizeof(float))) SWIG_fail;
  values[0] = Tcl_GetObjResult(interp);
  values[1] = Tcl_NewWideIntObj((Tcl_WideInt)*$2);
  values[2] = Tcl_NewWideIntObj((Tcl_WideInt)*$3);
  Tcl_SetObjResult(interp, Tcl_NewListObj(3, values));
}

%typemap(in) (const int64_t* SHAPE, int32_t RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK]) {
  if (!runcible_shape_in(interp, $input, shape, &$2)) SWIG_fail;
  $1 = shape;
}
%typemap(in, numinputs=0) (int64_t* SHAPE, int32_t* RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK], int32_t rank = 0) {
  $1 = shape;
  $2 = &rank;
}
%typemap(argout) (int64_t* SHAPE, int32_t* RANK) {
  Tcl_SetObjResult(interp, runcible_shape($1, *$2));
}

%define runcible_number(TYPE)
%typemap(in, numinputs=0) TYPE* OUTPUT (TYPE number = 0) { $1 = &number; }
%typemap(argout) TYPE* OUTPUT {
  Tcl_ListObjAppendElement(interp, Tcl_GetObjResult(interp),
                           Tcl_NewWideIntObj((Tcl_WideInt)*$1));
}
%enddef
runcible_number(int32_t)
runcible_number(int64_t)
runcible_number(size_t)

%typemap(in, numinputs=0) rc_event* EVENT (rc_event event) {
  rc_event_init(&event, sizeof(event));
  event.type = -1;
  $1 = &event;
}
%typemap(argout) rc_event* EVENT {
  if ($1->type >= 0) Tcl_SetObjResult(interp, runcible_event(0, $1));
}

%typemap(in, numinputs=0) kept_events* EVENTS (kept_events events = {NULL}) {
  $1 = &events;
}
%typemap(argout) kept_events* EVENTS {
  Tcl_SetObjResult(interp, runcible_events($1));
  kept_events_free($1);
}

%typemap(in, numinputs=0) Tcl_Interp* interp { $1 = interp; }
/* See runcible_progress; options are used in the interpreter that made them. */
%extend rc_model_options {
  void tell_progress(Tcl_Interp* interp) {
    $self->progress = runcible_progress;
    $self->progress_user = interp;
  }
}

/* dispose HANDLE: releases it; a name that does not exist is no error. */
%native(dispose) int runcible_dispose(ClientData data, Tcl_Interp* interp,
                                      int objc, Tcl_Obj* const objv[]);
/* mailbox_channel MAILBOX: a channel that is readable while events wait. */
%native(mailbox_channel) int runcible_mailbox_channel(
    ClientData data, Tcl_Interp* interp, int objc, Tcl_Obj* const objv[]);
%wrapper %{
static int runcible_dispose(ClientData data, Tcl_Interp* interp, int objc,
                            Tcl_Obj* const objv[]) {
  (void)data;
  if (objc != 2) {
    Tcl_WrongNumArgs(interp, 1, objv, "handle");
    return TCL_ERROR;
  }
  runcible_release_handle(interp, objv[1]);
  return TCL_OK;
}

static int runcible_mailbox_channel(ClientData data, Tcl_Interp* interp,
                                    int objc, Tcl_Obj* const objv[]) {
  void* box = NULL;
  (void)data;
  if (objc != 2) {
    Tcl_WrongNumArgs(interp, 1, objv, "mailbox");
    return TCL_ERROR;
  }
  if (!runcible_handle_in(interp, objv[1], SWIGTYPE_p_mailbox, &box)) {
    return TCL_ERROR;
  }
  if (box == NULL) {
    runcible_raise(RC_E_INVALID_ARGUMENT, "mailbox must not be empty");
    return TCL_ERROR;
  }
  return runcible_set_channel(interp, (mailbox*)box);
}
%}
