/* Typemaps of Perl; see bindings/swig/arguments.i. Memory that a call needs
 * belongs to mortal scalars, as converting an argument may die. Wrong arguments
 * raise the exception of RC_E_INVALID_ARGUMENT. */
%header %{
#include <runcible/runcible.h>

#include "arguments.h"
#include "loading.h"
#include "mailbox.h"
#include "proxies.h"
#include "results.h"

/* Exceptions may be references of any kind, not of objects alone. */
#undef SWIG_croak_null
#define SWIG_croak_null()                       \
  {                                             \
    if (SvROK(ERRSV)) croak(NULL);              \
    croak("%s", SvPV_nolen_const(ERRSV));       \
  }
#define RUNCIBLE_FAIL SWIG_fail
#define RUNCIBLE_NOTHING ST(argvi) = &PL_sv_undef
%}

/* Checks that the loaded library fits the headers. */
%init %{
  if (rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR) != RC_OK) {
    croak("%s", rc_error_message());
  }
%}

/* Handles are our proxies, not SWIG's; see proxies.h. */
%define runcible_output_handle(TYPE)
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  runcible_result(runcible_proxy(aTHX_ & TYPE ## _proxy, *$1))
}
/* Converted after all other arguments, as converting these may close a
 * handle. */
%typemap(in) TYPE* (SV* given = NULL), const TYPE* (SV* given = NULL) {
  given = $input;
}
%typemap(check) TYPE*, const TYPE* {
  if (!runcible_handle_in(aTHX_ given$argnum, & TYPE ## _proxy, "$1_name",
                          (void**)&$1)) {
    SWIG_fail;
  }
}
%header %{
runcible_kind_of(TYPE)
%}
%enddef

/* A result of C that becomes one value of the result; mortal. The stack may
 * have moved, as the call may have run Perl. */
%define runcible_result(VALUE)
  {
    SV* value = VALUE;
    SP = PL_stack_base + ax + argvi - 1;
    EXTEND(SP, 1);
    ST(argvi) = value;
    ++argvi;
  }
%enddef

%typemap(in) (const char* TEXT, size_t LENGTH) {
  if (!runcible_text_in(aTHX_ $input, "$1_name", (const char**)&$1, &$2)) {
    SWIG_fail;
  }
}

%typemap(in) const char* NAME {
  if (!runcible_name_in(aTHX_ $input, "$1_name", (const char**)&$1)) {
    SWIG_fail;
  }
}

%typemap(in, numinputs=0) const char** BORROWED (const char* text = NULL) {
  $1 = ($1_ltype)&text;
}
%typemap(argout) const char** BORROWED {
  runcible_result(runcible_text(aTHX_ *$1, strlen(*$1)))
}
%typemap(freearg) const char** BORROWED ""

%typemap(in, numinputs=0) (const char** BORROWED, size_t* LENGTH)
    (const char* text = NULL, size_t length = 0) {
  $1 = ($1_ltype)&text;
  $2 = &length;
}
%typemap(argout) (const char** BORROWED, size_t* LENGTH) {
  runcible_result(runcible_text(aTHX_ *$1, *$2))
}
%typemap(freearg) (const char** BORROWED, size_t* LENGTH) ""

%typemap(in, numinputs=0) char** OWNED (char* text = NULL) { $1 = &text; }
%typemap(argout) char** OWNED {
  runcible_result(runcible_text(aTHX_ *$1, strlen(*$1)))
}
%typemap(freearg) char** OWNED { rc_free(text$argnum); }

%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (char* text = NULL, size_t length = 0) {
  $1 = &text;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  runcible_result(newSVpvn_flags(*$1, *$2, SVs_TEMP))
}
%typemap(freearg) (char** OWNED, size_t* LENGTH) { rc_free(text$argnum); }

%typemap(in) (const int32_t* TOKENS, size_t COUNT) {
  if (!runcible_tokens_in(aTHX_ $input, "$1_name", (const int32_t**)&$1,
                          &$2)) {
    SWIG_fail;
  }
}

%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (int32_t* tokens = NULL, size_t count = 0) {
  $1 = &tokens;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  runcible_result(sv_2mortal(runcible_tokens(aTHX_ *$1, *$2)))
}
%typemap(freearg) (int32_t** TOKENS, size_t* COUNT) { rc_free(tokens$argnum); }

%typemap(in) (const void* BYTES, size_t SIZE) {
  if (!runcible_bytes_in(aTHX_ $input, "$1_name", (const char**)&$1, &$2)) {
    SWIG_fail;
  }
}

%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (void* data = NULL, size_t size = 0) {
  $1 = &data;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  runcible_result(newSVpvn_flags((const char*)*$1, *$2, SVs_TEMP))
}
%typemap(freearg) (void** BYTES, size_t* SIZE) { rc_free(data$argnum); }

/* The library writes directly into a new string. */
%typemap(in) (void* ROOM, size_t SIZE) (SV* made = NULL) {
  if (!runcible_unsigned_in(aTHX_ $input, "$2_name", SSize_t_MAX - 1, &$2)) {
    SWIG_fail;
  }
  made = sv_2mortal(newSV($2 + 1));
  SvPOK_only(made);
  SvCUR_set(made, $2);
  SvPVX(made)[$2] = '\0';
  $1 = SvPVX(made);
}
%typemap(argout) (void* ROOM, size_t SIZE) { runcible_result(made$argnum) }

/* (bytes of F32, rows, columns) */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  runcible_result(newSVpvn_flags((const char*)*$1,
                                 *$2 * *$3 * sizeof(float), SVs_TEMP))
  runcible_result(sv_2mortal(newSVuv(*$2)))
  runcible_result(sv_2mortal(newSVuv(*$3)))
}

%typemap(in) (const int64_t* SHAPE, int32_t RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK]) {
  if (!runcible_shape_in(aTHX_ $input, "$1_name", shape, &$2)) SWIG_fail;
  $1 = shape;
}
%typemap(in, numinputs=0) (int64_t* SHAPE, int32_t* RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK], int32_t rank = 0) {
  $1 = shape;
  $2 = &rank;
}
%typemap(argout) (int64_t* SHAPE, int32_t* RANK) {
  runcible_result(sv_2mortal(runcible_shape(aTHX_ $1, *$2)))
}

%define runcible_number(TYPE)
%typemap(in, numinputs=0) TYPE* OUTPUT (TYPE number = 0) { $1 = &number; }
%typemap(argout) TYPE* OUTPUT { runcible_result(sv_2mortal(newSViv(*$1))) }
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
  if ($1->type >= 0) {
    runcible_result(sv_2mortal(runcible_event(aTHX_ 0, $1)))
  }
}

%typemap(in, numinputs=0) kept_events* EVENTS (kept_events events = {NULL}) {
  $1 = &events;
}
%typemap(argout) kept_events* EVENTS {
  runcible_result(sv_2mortal(runcible_events(aTHX_ $1)))
}
%typemap(freearg) kept_events* EVENTS { kept_events_free($1); }

/* Numbers, with messages that name the wrong value. */
%define runcible_whole(TYPE, LEAST, MOST)
%typemap(in) TYPE {
  IV whole = 0;
  if (!runcible_whole_in(aTHX_ $input, "$1_name", LEAST, MOST, &whole)) {
    SWIG_fail;
  }
  $1 = (TYPE)whole;
}
%enddef
runcible_whole(int32_t, INT32_MIN, INT32_MAX)
runcible_whole(uint32_t, 0, UINT32_MAX)
runcible_whole(int64_t, INT64_MIN, INT64_MAX)
%typemap(in) uint64_t, size_t {
  UV whole = 0;
  if (!runcible_unsigned_in(aTHX_ $input, "$1_name", UV_MAX, &whole)) SWIG_fail;
  $1 = whole;
}
%typemap(in) float {
  if (!runcible_float_in(aTHX_ $input, "$1_name", &$1)) SWIG_fail;
}
%apply int32_t {
  rc_status, rc_dtype, rc_function, rc_rope_style, rc_device_kind, rc_log_level,
  rc_end_reason, rc_event_type
}

%typemap(in) SV* { $1 = $input; }
