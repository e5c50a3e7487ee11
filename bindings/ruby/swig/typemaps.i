/* Typemaps of Ruby; see bindings/swig/arguments.i. A call allocates its memory
 * from Ruby, whose collector finds it, because exceptions of Ruby leave a
 * wrapper where they are raised. The wrapper is C++, so that a call can be
 * passed on as a function; see long_calls.i. */
%header %{
#include <runcible/runcible.h>

#include "long_calls.h"
#include "mailbox.h"
#include "values.h"

#define RUNCIBLE_FAIL SWIG_fail
#define RUNCIBLE_NOTHING vresult = Qnil
%}

/* The library that is loaded must fit the headers. */
%init %{
  if (rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR) != RC_OK) {
    rb_raise(rb_eLoadError, "%s", rc_error_message());
  }
%}

%define runcible_output_handle(TYPE)
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  runcible_weigh(*$1, 1);
  runcible_result(
      SWIG_NewPointerObj((void*)*$1, $descriptor(TYPE*), SWIG_POINTER_OWN))
}
/* Converted after all other arguments, whose conversion may close a handle. */
%typemap(in) TYPE* (VALUE given = Qnil), const TYPE* (VALUE given = Qnil) {
  given = $input;
}
%typemap(check) TYPE*, const TYPE* {
  const int converted =
      SWIG_ConvertPtr(given$argnum, (void**)&$1, $descriptor(TYPE*), 0);
  if (converted == SWIG_ObjectPreviouslyDeletedError) {
    runcible_raise(RC_E_CLOSED, "$1_name was closed by another thread");
  }
  if (!SWIG_IsOK(converted)) {
    rb_raise(rb_eTypeError, "$1_name cannot be a %" PRIsVALUE,
             rb_obj_class(given$argnum));
  }
}
%enddef

/* See native.i. */
%freefunc rc_tensor "runcible_free_tensor";

/* Adds a result of C to the result of the call. */
%define runcible_result(VALUE)
  vresult = runcible_append(vresult, VALUE);
%enddef

%typemap(in) (const char* TEXT, size_t LENGTH) (volatile VALUE kept = Qnil) {
  kept = runcible_bytes($input, "$1_name");
  $1 = RSTRING_PTR(kept);
  $2 = (size_t)RSTRING_LEN(kept);
}
%typemap(freearg) (const char* TEXT, size_t LENGTH) { RB_GC_GUARD(kept$argnum); }

%typemap(in) const char* NAME (volatile VALUE kept = Qnil) {
  if (NIL_P($input)) {
    $1 = NULL;
  } else {
    kept = runcible_bytes($input, "$1_name");
    VALUE text = kept;
    $1 = StringValueCStr(text); /* rejects NUL characters in the text */
    kept = text;
  }
}
%typemap(freearg) const char* NAME { RB_GC_GUARD(kept$argnum); }

%typemap(in, numinputs=0) const char** BORROWED (const char* text = NULL) {
  $1 = ($1_ltype)&text;
}
%typemap(argout) const char** BORROWED {
  runcible_result(runcible_text(*$1, strlen(*$1)))
}

%typemap(in, numinputs=0) (const char** BORROWED, size_t* LENGTH)
    (const char* text = NULL, size_t length = 0) {
  $1 = ($1_ltype)&text;
  $2 = &length;
}
%typemap(argout) (const char** BORROWED, size_t* LENGTH) {
  runcible_result(runcible_text(*$1, *$2))
}

%typemap(in, numinputs=0) char** OWNED (char* text = NULL) { $1 = &text; }
%typemap(argout) char** OWNED {
  runcible_result(runcible_owned_text(*$1, strlen(*$1)))
}

%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (char* text = NULL, size_t length = 0) {
  $1 = &text;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  runcible_result(runcible_owned_bytes(*$1, *$2))
}

%typemap(in) (const int32_t* TOKENS, size_t COUNT) (volatile VALUE kept = Qnil) {
  kept = runcible_tokens_in($input, "$1_name", &$2);
  $1 = ($1_ltype)RSTRING_PTR(kept);
}
%typemap(freearg) (const int32_t* TOKENS, size_t COUNT) {
  RB_GC_GUARD(kept$argnum);
}

%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (int32_t* tokens = NULL, size_t count = 0) {
  $1 = &tokens;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  runcible_result(runcible_owned_tokens(*$1, *$2))
}

%typemap(in) (const void* BYTES, size_t SIZE) (volatile VALUE kept = Qnil) {
  kept = runcible_memory_in($input, "$1_name");
  $1 = RSTRING_PTR(kept);
  $2 = (size_t)RSTRING_LEN(kept);
}
%typemap(freearg) (const void* BYTES, size_t SIZE) { RB_GC_GUARD(kept$argnum); }

%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (void* data = NULL, size_t size = 0) {
  $1 = &data;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  runcible_result(runcible_owned_bytes(*$1, *$2))
}

/* The library writes straight into a new string. */
%typemap(in) (void* ROOM, size_t SIZE) (volatile VALUE made = Qnil) {
  $2 = NUM2SIZET($input);
  made = rb_str_new(NULL, (long)$2);
  $1 = RSTRING_PTR(made);
}
%typemap(argout) (void* ROOM, size_t SIZE) { runcible_result(made$argnum) }

/* [bytes of F32, rows, columns] */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  runcible_result(rb_str_new((const char*)*$1,
                             (long)(*$2 * *$3 * sizeof(float))))
  runcible_result(SIZET2NUM(*$2))
  runcible_result(SIZET2NUM(*$3))
}

%typemap(in) (const int64_t* SHAPE, int32_t RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK]) {
  $2 = runcible_shape_in($input, "$1_name", shape);
  $1 = shape;
}
%typemap(in, numinputs=0) (int64_t* SHAPE, int32_t* RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK], int32_t rank = 0) {
  $1 = shape;
  $2 = &rank;
}
%typemap(argout) (int64_t* SHAPE, int32_t* RANK) {
  runcible_result(runcible_shape($1, *$2))
}

%define runcible_number(TYPE, FROM)
%typemap(in, numinputs=0) TYPE* OUTPUT (TYPE number = 0) { $1 = &number; }
%typemap(argout) TYPE* OUTPUT { runcible_result(FROM(*$1)) }
%enddef
runcible_number(int32_t, INT2NUM)
runcible_number(int64_t, LL2NUM)
runcible_number(size_t, SIZET2NUM)

/* The guard frees the events if converting them fails. */
%typemap(in, numinputs=0) kept_events* EVENTS
    (kept_events* events = NULL, volatile VALUE guard = Qnil) {
  guard = runcible_guard(&events);
  $1 = events;
}
%typemap(argout) kept_events* EVENTS {
  runcible_result(runcible_events($1))
}
%typemap(freearg) kept_events* EVENTS {
  kept_events_free($1);
  RB_GC_GUARD(guard$argnum);
}
