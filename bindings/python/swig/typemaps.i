/* Typemaps of Python; see bindings/swig/arguments.i. They use only the stable
 * ABI of CPython 3.9. */
%header %{
#include <runcible/runcible.h>

#include "mailbox.h"
#include "values.h"

#define RUNCIBLE_FAIL SWIG_fail
#define RUNCIBLE_NOTHING resultobj = SWIG_Py_Void()
%}

%{
/* From SWIG 4.4 on modules are initialised in phases. */
#if SWIG_VERSION >= 0x040400
#define RUNCIBLE_INIT_FAILED -1
#else
#define RUNCIBLE_INIT_FAILED NULL
#endif
%}

/* The loaded library must match the headers. */
%init %{
  if (rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR) != RC_OK) {
    PyErr_SetString(PyExc_ImportError, rc_error_message());
    return RUNCIBLE_INIT_FAILED;
  }
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "runcible can only be imported by the main interpreter");
    return RUNCIBLE_INIT_FAILED;
  }
%}

%define runcible_output_handle(TYPE)
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  resultobj = runcible_append(
      resultobj,
      SWIG_NewPointerObj((void*)*$1, $descriptor(TYPE*), SWIG_POINTER_OWN));
  if (resultobj == NULL) SWIG_fail;
}
%enddef

/* Appends a result of C to the result. */
%define runcible_result(VALUE)
  resultobj = runcible_append(resultobj, VALUE);
  if (resultobj == NULL) SWIG_fail;
%enddef

%typemap(in) (const char* TEXT, size_t LENGTH) (PyObject* kept = NULL) {
  kept = runcible_bytes($input, "$1_name");
  if (kept == NULL) SWIG_fail;
  $1 = PyBytes_AsString(kept);
  $2 = (size_t)PyBytes_Size(kept);
}
%typemap(freearg) (const char* TEXT, size_t LENGTH) { Py_XDECREF(kept$argnum); }

%typemap(in) const char* NAME (PyObject* kept = NULL) {
  if ($input == Py_None) {
    $1 = NULL;
  } else {
    char* characters = NULL;
    kept = runcible_bytes($input, "$1_name");
    /* Rejects embedded NUL characters. */
    if (kept == NULL || PyBytes_AsStringAndSize(kept, &characters, NULL) != 0) {
      SWIG_fail;
    }
    $1 = characters;
  }
}
%typemap(freearg) const char* NAME { Py_XDECREF(kept$argnum); }

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
  PyObject* value = runcible_text(*$1, strlen(*$1));
  rc_free(*$1);
  runcible_result(value)
}

%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (char* text = NULL, size_t length = 0) {
  $1 = &text;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  PyObject* value = PyBytes_FromStringAndSize(*$1, (Py_ssize_t)*$2);
  rc_free(*$1);
  runcible_result(value)
}

%typemap(in) (const int32_t* TOKENS, size_t COUNT) (int32_t* kept = NULL) {
  if (runcible_tokens_in($input, "$1_name", &kept, &$2) != 0) SWIG_fail;
  $1 = kept;
}
%typemap(freearg) (const int32_t* TOKENS, size_t COUNT) {
  PyMem_Free(kept$argnum);
}

%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (int32_t* tokens = NULL, size_t count = 0) {
  $1 = &tokens;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  PyObject* value = runcible_tokens(*$1, *$2);
  rc_free(*$1);
  runcible_result(value)
}

/* Bytes, or (address, size) of memory that the caller keeps. */
%typemap(in) (const void* BYTES, size_t SIZE) {
  if (runcible_memory_in($input, "$1_name", (const void**)&$1, &$2) != 0) SWIG_fail;
}

%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (void* data = NULL, size_t size = 0) {
  $1 = &data;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  PyObject* value =
      PyBytes_FromStringAndSize((const char*)*$1, (Py_ssize_t)*$2);
  rc_free(*$1);
  runcible_result(value)
}

/* The library writes directly into a new bytearray. */
%typemap(in) (void* ROOM, size_t SIZE) (PyObject* made = NULL) {
  const size_t size = PyLong_AsSize_t($input);
  if (size == (size_t)-1 && PyErr_Occurred()) SWIG_fail;
  if (size > PY_SSIZE_T_MAX) {
    PyErr_NoMemory();
    SWIG_fail;
  }
  made = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (made == NULL) SWIG_fail;
  $1 = PyByteArray_AsString(made);
  $2 = size;
}
%typemap(argout) (void* ROOM, size_t SIZE) {
  PyObject* value = made$argnum;
  made$argnum = NULL;
  runcible_result(value)
}
%typemap(freearg) (void* ROOM, size_t SIZE) { Py_XDECREF(made$argnum); }

/* (address, rows, columns) of memory that is not copied; see _logits.py. */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  runcible_result(PyLong_FromVoidPtr((void*)*$1))
  runcible_result(PyLong_FromSize_t(*$2))
  runcible_result(PyLong_FromSize_t(*$3))
}

%typemap(in) (const int64_t* SHAPE, int32_t RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK]) {
  if (runcible_shape_in($input, "$1_name", shape, &$2) != 0) SWIG_fail;
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
runcible_number(int32_t, PyLong_FromLong)
runcible_number(int64_t, PyLong_FromLongLong)
runcible_number(size_t, PyLong_FromSize_t)

%typemap(in, numinputs=0) rc_event* EVENT (rc_event event) {
  rc_event_init(&event, sizeof(event));
  event.type = -1;
  $1 = &event;
}
%typemap(argout) rc_event* EVENT {
  if ($1->type >= 0) {
    runcible_result(runcible_event(0, $1))
  }
}

%typemap(in, numinputs=0) kept_events* EVENTS (kept_events events = {NULL}) {
  $1 = &events;
}
%typemap(argout) kept_events* EVENTS {
  runcible_result(runcible_events($1))
}
%typemap(freearg) kept_events* EVENTS { kept_events_free($1); }

/* Opening and loading report their progress to a Python function, on the thread
 * that does it, and check for signals: an exception of either cancels the call,
 * which then raises it. */
%define runcible_progress_of(STRUCT)
%extend STRUCT {
  void set_progress(PyObject* function) {
    $self->progress = runcible_progress;
    $self->progress_user = function == Py_None ? NULL : function;
  }
}
%enddef
runcible_progress_of(rc_backend_options)
runcible_progress_of(rc_model_options)
