/* Typemaps of Go; see bindings/swig/arguments.i.
 *
 * A goroutine may change its thread between two calls, so it could not read a
 * message that the library keeps for the thread. A wrapper therefore returns
 * the status with its message, as one piece of memory, NULL for success. A
 * wrapper in Go always runs to its end. (Go cannot be the child of a fork.) */
%header %{
#include <runcible/runcible.h>
#include <stdlib.h>
#include <string.h>

#include "mailbox.h"
#include "retry_after.h"
#include "values.h"

/* The failure that is returned if there was no memory for another. */
static runcible_failure runcible_no_memory = {
    RC_E_OUT_OF_MEMORY, -1, "no memory to keep a message in"};
/* The failure of the wrapper that is running, until it is returned. */
static __thread runcible_failure* runcible_raised = NULL;

static void runcible_raise(rc_status status, const char* message) {
  runcible_failure* made = (runcible_failure*)calloc(1, sizeof(*made));
  if (made == NULL) {
    runcible_raised = &runcible_no_memory;
    return;
  }
  made->status = status;
  made->retry_after = runcible_retry_after(status);
  strncpy(made->message, message, sizeof(made->message) - 1);
  runcible_raised = made;
}

static char* runcible_take_failure(void) {
  runcible_failure* failure = runcible_raised;
  runcible_raised = NULL;
  return (char*)failure;
}

void runcible_failure_free(runcible_failure* failure) {
  if (failure != &runcible_no_memory) free(failure);
}

#define RUNCIBLE_FAIL ((void)0)
#define RUNCIBLE_NOTHING _swig_go_result = runcible_take_failure()
%}

%define runcible_returns_failure(TYPE)
%typemap(gotype) TYPE "error"
%typemap(imtype) TYPE "*byte"
%typemap(goout) TYPE "$result = failure($1)"
%enddef
runcible_returns_failure(rc_status)
runcible_returns_failure(mailbox_status)
runcible_returns_failure(runcible_kept)
runcible_returns_failure(symbol_status)

/* Numbers have the same size as in C, so that no number is truncated. */
%typemap(gotype) int32_t "int32"
%typemap(gotype) uint32_t "uint32"
/* All typemaps, for statuses that are arguments and members; see structs.i. */
%typemap(imtype) int32_t "int32"
%typemap(in) int32_t "$1 = $input;"
%typemap(out) int32_t "$result = $1;"
%typemap(goout) int32_t ""

%define runcible_output_handle(TYPE)
%typemap(gotype) TYPE** "*uintptr"
%typemap(in) TYPE** {
  runcible_in_use = 1;
  $1 = (TYPE**)$input;
}
%enddef

%typemap(gotype) (const char* TEXT, size_t LENGTH) "string"
%typemap(in) (const char* TEXT, size_t LENGTH) {
  $1 = $input.p;
  $2 = (size_t)$input.n;
}

/* The text has a zero at its end, and none within: see memory.go. */
%typemap(gotype) const char* NAME "Name"
%typemap(imtype) const char* NAME "string"
%typemap(goin) const char* NAME "$result = string($input)"
%typemap(in) const char* NAME "$1 = $input.p;"
%typemap(freearg) const char* NAME ""

%define runcible_array_in(POINTER, COUNT, ELEMENT)
%typemap(gotype) (POINTER, COUNT) "[]ELEMENT"
%typemap(in) (POINTER, COUNT) {
  $1 = ($1_ltype)$input.array;
  $2 = ($2_ltype)$input.len;
}
%enddef
runcible_array_in(const int32_t* TOKENS, size_t COUNT, int32)
runcible_array_in(const void* BYTES, size_t SIZE, byte)
runcible_array_in(void* ROOM, size_t SIZE, byte)
runcible_array_in(const int64_t* SHAPE, int32_t RANK, int64)

%define runcible_memory_out(POINTER, COUNT)
%typemap(gotype) (POINTER, COUNT) "*Memory"
%typemap(in) (POINTER, COUNT) {
  runcible_memory* memory = (runcible_memory*)$input;
  $1 = ($1_ltype)&memory->data;
  $2 = ($2_ltype)&memory->size;
}
%enddef
runcible_memory_out(const char** BORROWED, size_t* LENGTH)
runcible_memory_out(char** OWNED, size_t* LENGTH)
runcible_memory_out(int32_t** TOKENS, size_t* COUNT)
runcible_memory_out(void** BYTES, size_t* SIZE)

%define runcible_text_out(POINTER)
%typemap(gotype) POINTER "*Memory"
%typemap(in) POINTER {
  $1 = ($1_ltype)&((runcible_memory*)$input)->data;
}
%typemap(argout) POINTER {
  if (*$1 != NULL) ((runcible_memory*)$input)->size = strlen(*$1);
}
%enddef
runcible_text_out(const char** BORROWED)
runcible_text_out(char** OWNED)

%typemap(gotype) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) "*Floats"
%typemap(in) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  runcible_floats* floats = (runcible_floats*)$input;
  $1 = ($1_ltype)&floats->data;
  $2 = &floats->rows;
  $3 = &floats->columns;
}

%typemap(gotype) (int64_t* SHAPE, int32_t* RANK) "*Shape"
%typemap(in) (int64_t* SHAPE, int32_t* RANK) {
  runcible_shape* shape = (runcible_shape*)$input;
  $1 = shape->sizes;
  $2 = &shape->rank;
}

%define runcible_number_out(TYPE, GO)
%typemap(gotype) TYPE* OUTPUT "*GO"
%typemap(in) TYPE* OUTPUT "$1 = ($1_ltype)$input;"
%enddef
runcible_number_out(int32_t, int32)
runcible_number_out(int64_t, int64)
runcible_number_out(size_t, uint64)

%typemap(gotype) kept_events* EVENTS "*Events"
%typemap(in) kept_events* EVENTS "$1 = (kept_events*)$input;"

/* Go waits for mailboxes and never for a single request. */
%typemap(gotype) rc_event* EVENT "*byte"

/* Opening and loading report their progress to a function of Go, on their
 * thread. `function` is the number of the function in Go; see progress.go. */
%{
int32_t runcibleReportProgress(uintptr_t function, double fraction);

static int32_t runcible_progress(void* user, double fraction) {
  return runcibleReportProgress((uintptr_t)user, fraction);
}
%}
%define runcible_progress_of(STRUCT)
%extend STRUCT {
  void set_progress(uint64_t function) {
    $self->progress = runcible_progress;
    $self->progress_user = (void*)(uintptr_t)function;
  }
}
%enddef

/* Custom ops whose function is a Go function; `function` is its number. See
 * custom.go. */
%{
int32_t runcibleCustomCompute(uintptr_t function, rc_custom_call* call,
                              char* message);
void runcibleCustomRelease(uintptr_t function);

int32_t runcible_custom_stopped(const rc_custom_call* call) {
  return call->should_stop(call->stop_user);
}

static rc_status runcible_custom_compute(void* user, const rc_custom_call* call,
                                         char* message) {
  return runcibleCustomCompute((uintptr_t)user, (rc_custom_call*)call, message);
}

static void runcible_custom_release(void* user) {
  runcibleCustomRelease((uintptr_t)user);
}
%}
%extend rc_custom_op_options {
  void set_callback(uint64_t function) {
    $self->function = runcible_custom_compute;
    $self->user = (void*)(uintptr_t)function;
    $self->release = runcible_custom_release;
  }
}
runcible_progress_of(rc_backend_options)
runcible_progress_of(rc_backend_switch_options)
runcible_progress_of(rc_model_options)
