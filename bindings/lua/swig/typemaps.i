/* Typemaps of Lua; see bindings/swig/arguments.i. Memory that they need during
 * a call is userdata on the stack, because errors of Lua jump past C. */
%header %{
#include <runcible/runcible.h>

#include "borrow.h"
#include "functions.h"
#include "mailbox.h"
#include "values.h"

/* For use in the wrappers, which all have an L. */
#define runcible_raise(status, message) runcible_push_error(L, status, message)
#define RUNCIBLE_FAIL SWIG_fail
#define RUNCIBLE_NOTHING ((void)0)
%}

/* The library that is loaded must fit the headers. */
%init %{
  if (rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR) != RC_OK) {
    luaL_error(L, "%s", rc_error_message());
  }
%}

/* Numbers: SWIG's own typemaps pass integers through double. */
%define runcible_whole_number(TYPE, LEAST, MOST)
%typemap(in) TYPE {
  lua_Integer number;
  if (!runcible_whole_in(L, $input, "$1_name", LEAST, MOST, &number)) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(out) TYPE {
  lua_pushinteger(L, (lua_Integer)$1);
  SWIG_arg++;
}
%enddef
runcible_whole_number(int, INT32_MIN, INT32_MAX)
runcible_whole_number(unsigned int, 0, UINT32_MAX)
runcible_whole_number(long, INT64_MIN, INT64_MAX)
runcible_whole_number(unsigned long, 0, INT64_MAX)
runcible_whole_number(size_t, 0, INT64_MAX)
/* All 64 bits; for Lua the first is the sign. */
runcible_whole_number(uint64_t seed, INT64_MIN, INT64_MAX)

%typemap(in) float, double {
  if (lua_type(L, $input) != LUA_TNUMBER) {
    lua_pushfstring(L, "%s must be a number, not %s", "$1_name",
                          luaL_typename(L, $input));
    SWIG_fail;
  }
  $1 = ($1_ltype)lua_tonumber(L, $input);
}

/* Values that are 0 or 1 in C. */
%typemap(in) int32_t FLAG {
  lua_Integer number = lua_toboolean(L, $input);
  if (lua_type(L, $input) != LUA_TBOOLEAN &&
      !runcible_whole_in(L, $input, "$1_name", INT32_MIN, INT32_MAX, &number)) {
    SWIG_fail;
  }
  $1 = (int32_t)number;
}
%typemap(out) int32_t FLAG {
  lua_pushboolean(L, $1 != 0);
  SWIG_arg++;
}
%include "flags.i"

%define runcible_output_handle(TYPE)
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  SWIG_NewPointerObj(L, (void*)*$1, $descriptor(TYPE*), 1);
  SWIG_arg++;
}
%enddef

%typemap(in) (const char* TEXT, size_t LENGTH) {
  if (!runcible_bytes_in(L, $input, "$1_name", (void*)&$1, &$2)) SWIG_fail;
}
%typemap(in) const char* NAME {
  if (!runcible_name_in(L, $input, "$1_name", (const char**)&$1)) SWIG_fail;
}

%typemap(in, numinputs=0) const char** BORROWED (const char* text = NULL) {
  $1 = ($1_ltype)&text;
}
%typemap(argout) const char** BORROWED {
  lua_pushstring(L, *$1);
  SWIG_arg++;
}

%typemap(in, numinputs=0) (const char** BORROWED, size_t* LENGTH)
    (const char* text = NULL, size_t length = 0) {
  $1 = ($1_ltype)&text;
  $2 = &length;
}
%typemap(argout) (const char** BORROWED, size_t* LENGTH) {
  lua_pushlstring(L, *$1, *$2);
  SWIG_arg++;
}

%typemap(in, numinputs=0) char** OWNED (char* text = NULL) { $1 = &text; }
%typemap(argout) char** OWNED {
  lua_pushstring(L, *$1);
  rc_free(*$1);
  SWIG_arg++;
}

%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (char* text = NULL, size_t length = 0) {
  $1 = &text;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  lua_pushlstring(L, *$1, *$2);
  rc_free(*$1);
  SWIG_arg++;
}

%typemap(in) (const int32_t* TOKENS, size_t COUNT) {
  if (!runcible_tokens_in(L, $input, "$1_name", (void*)&$1, &$2)) SWIG_fail;
}
%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (int32_t* tokens = NULL, size_t count = 0) {
  $1 = &tokens;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  runcible_push_tokens(L, *$1, *$2);
  rc_free(*$1);
  SWIG_arg++;
}

%typemap(in) (const void* BYTES, size_t SIZE) {
  if (!runcible_bytes_in(L, $input, "$1_name", (const char**)&$1, &$2)) {
    SWIG_fail;
  }
}
%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (void* data = NULL, size_t size = 0) {
  $1 = &data;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  lua_pushlstring(L, (const char*)*$1, *$2);
  rc_free(*$1);
  SWIG_arg++;
}

%typemap(in) (void* ROOM, size_t SIZE) {
  lua_Integer size;
  if (!runcible_whole_in(L, $input, "$2_name", 0, INT64_MAX, &size)) SWIG_fail;
  $1 = lua_newuserdatauv(L, (size_t)size, 0);
  $2 = (size_t)size;
}
%typemap(argout) (void* ROOM, size_t SIZE) {
  lua_pushlstring(L, (const char*)$1, $2);
  SWIG_arg++;
}

/* F32 as a string, rows, columns. */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  lua_pushlstring(L, (const char*)*$1, *$2 * *$3 * sizeof(float));
  lua_pushinteger(L, (lua_Integer)*$2);
  lua_pushinteger(L, (lua_Integer)*$3);
  SWIG_arg += 3;
}

%typemap(in) (const int64_t* SHAPE, int32_t RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK]) {
  if (!runcible_shape_in(L, $input, "$1_name", shape, &$2)) SWIG_fail;
  $1 = shape;
}
%typemap(in, numinputs=0) (int64_t* SHAPE, int32_t* RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK], int32_t rank = 0) {
  $1 = shape;
  $2 = &rank;
}
%typemap(argout) (int64_t* SHAPE, int32_t* RANK) {
  runcible_push_shape(L, $1, *$2);
  SWIG_arg++;
}

%define runcible_number(TYPE)
%typemap(in, numinputs=0) TYPE* OUTPUT (TYPE number = 0) { $1 = &number; }
%typemap(argout) TYPE* OUTPUT {
  lua_pushinteger(L, (lua_Integer)*$1);
  SWIG_arg++;
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
  if ($1->type >= 0) {
    runcible_push_event(L, 0, $1);
    SWIG_arg++;
  }
}

%typemap(in, numinputs=0) kept_events* EVENTS (kept_events events = {NULL}) {
  $1 = &events;
}
%typemap(argout) kept_events* EVENTS {
  runcible_push_events(L, $1);
  SWIG_arg++;
}
%typemap(freearg) kept_events* EVENTS { kept_events_free($1); }

/* See runcible_progress; the caller keeps the coroutine during the load. */
%typemap(in) lua_State* THREAD {
  $1 = lua_tothread(L, $input);
  if ($1 == NULL) {
    lua_pushfstring(L, "$1_name must be a coroutine, not %s",
                    luaL_typename(L, $input));
    SWIG_fail;
  }
}
%extend rc_model_options {
  void set_progress(lua_State* THREAD) {
    $self->progress = runcible_progress;
    $self->progress_user = THREAD;
  }
}

/* dispose(proxy): releases a handle at once, and leaves NULL in its place. */
%native(dispose) int runcible_dispose(lua_State* L);
%wrapper %{
static int runcible_dispose(lua_State* L) {
  swig_lua_userdata* proxy;
  luaL_checktype(L, 1, LUA_TUSERDATA);
  lua_settop(L, 1);
  proxy = (swig_lua_userdata*)lua_touserdata(L, 1);
  SWIG_Lua_class_destruct(L);
  proxy->own = 0;
  proxy->ptr = NULL;
  runcible_sweep_loans(L);
  return 0;
}
%}
