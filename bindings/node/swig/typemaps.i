/* Typemaps of Node; see bindings/swig/arguments.i. A wrapper keeps its
 * arguments in C++ locals, which are freed however the wrapper is left. */
%header %{
#include "environment.h"
#include "op_backend.h"
#include "values.h"

#define RUNCIBLE_ENTER const runcible_blocking_call blocking;

#define RUNCIBLE_FAIL SWIG_fail
/* A function without results returns undefined. */
#define RUNCIBLE_NOTHING jsresult = Napi::Value()
#define runcible_raise(status, message) runcible_throw(env, status, message)
%}

/* The loaded library must match the headers. */
%init %{
  runcible_check_libuv(env);
  if (rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR) != RC_OK) {
    throw Napi::Error::New(env, rc_error_message());
  }
  runcible_environment::enter(env);
%}

/* set_functions(makeError, wake); see environment.h. */
%native(set_functions) Napi::Value set_functions(const Napi::CallbackInfo&);
/* See op_backend.h. */
%native(op_backend_register)
    Napi::Value op_backend_register(const Napi::CallbackInfo&);
%native(op_backend_unregister)
    Napi::Value op_backend_unregister(const Napi::CallbackInfo&);
%native(op_backend_serve)
    Napi::Value op_backend_serve(const Napi::CallbackInfo&);
%native(op_name) Napi::Value op_name(const Napi::CallbackInfo&);

%define runcible_output_handle(TYPE)
%typemap(in, numinputs=0) TYPE** (TYPE* made = NULL) {
  runcible_in_use = 1;
  $1 = &made;
}
%typemap(argout) TYPE** {
  runcible_append(env, &jsresult,
                  SWIG_NAPI_NewPointerObj(env, *$1, $descriptor(TYPE*),
                                          SWIG_POINTER_OWN));
}
/* Releases a proxy's reference now; to the library it is NULL then. */
%typemap(in) TYPE* CLOSED {
  void* self = NULL;
  const int status = SWIG_ConvertPtr($input, &self, $descriptor(TYPE*),
                                     SWIG_POINTER_RELEASE);
  if (!SWIG_IsOK(status)) {
    SWIG_exception_fail(SWIG_TypeError, "close of something else");
  }
  $1 = static_cast<TYPE*>(self);
}
%inline %{
static void close_ ## TYPE(TYPE* CLOSED) {
  if (!runcible_forked) TYPE ## _release(CLOSED);
}
%}
%enddef

/* Numbers: none is truncated or rounded silently. */
%define runcible_whole_number(TYPE)
%typemap(in) TYPE { $1 = runcible_whole<TYPE>($input, "$1_name"); }
%enddef
runcible_whole_number(int32_t)
runcible_whole_number(uint32_t)
runcible_whole_number(int64_t)
runcible_whole_number(uint64_t)
runcible_whole_number(size_t)
%typemap(in) float {
  $1 = static_cast<float>(runcible_real($input, "$1_name"));
}

%define runcible_number(TYPE)
%typemap(out) TYPE {
  jsresult = Napi::Number::New(env, static_cast<double>($1));
}
%typemap(in, numinputs=0) TYPE* OUTPUT (TYPE number = 0) { $1 = &number; }
%typemap(argout) TYPE* OUTPUT {
  runcible_append(env, &jsresult,
                  Napi::Number::New(env, static_cast<double>(*$1)));
}
%enddef
runcible_number(int32_t)
runcible_number(int64_t)
runcible_number(size_t)
/* Counts and bytes, all below 2^53; events report seeds as bigints. */
runcible_number(uint64_t)

%typemap(in) (const char* TEXT, size_t LENGTH) (std::string kept) {
  kept = runcible_bytes($input, "$1_name");
  $1 = ($1_ltype)kept.data();
  $2 = kept.size();
}

%typemap(in) const char* NAME (std::string kept) {
  if ($input.IsNull()) {
    $1 = NULL;
  } else {
    kept = runcible_c_string($input, "$1_name");
    $1 = ($1_ltype)kept.c_str();
  }
}

%typemap(in, numinputs=0) const char** BORROWED (const char* text = NULL) {
  $1 = ($1_ltype)&text;
}
%typemap(argout) const char** BORROWED {
  runcible_append(env, &jsresult, runcible_text(env, *$1, strlen(*$1)));
}

%typemap(in, numinputs=0) (const char** BORROWED, size_t* LENGTH)
    (const char* text = NULL, size_t length = 0) {
  $1 = ($1_ltype)&text;
  $2 = &length;
}
%typemap(argout) (const char** BORROWED, size_t* LENGTH) {
  runcible_append(env, &jsresult, runcible_text(env, *$1, *$2));
}

/* A result that the library allocated, freed by rc_free. */
%define runcible_freed(POINTER, VALUE)
  const std::unique_ptr<void, void (*)(void*)> freed(POINTER, rc_free);
  runcible_append(env, &jsresult, VALUE);
%enddef

%typemap(in, numinputs=0) char** OWNED (char* text = NULL) { $1 = &text; }
%typemap(argout) char** OWNED {
  runcible_freed(*$1, runcible_text(env, *$1, strlen(*$1)))
}

%typemap(in, numinputs=0) (char** OWNED, size_t* LENGTH)
    (char* text = NULL, size_t length = 0) {
  $1 = &text;
  $2 = &length;
}
%typemap(argout) (char** OWNED, size_t* LENGTH) {
  runcible_freed(*$1, runcible_array<Napi::Uint8Array>(
                          env, reinterpret_cast<uint8_t*>(*$1), *$2))
}

%typemap(in) (const int32_t* TOKENS, size_t COUNT)
    (std::vector<int32_t> kept) {
  kept = runcible_wholes<int32_t>($input, "$1_name");
  $1 = ($1_ltype)kept.data();
  $2 = kept.size();
}

%typemap(in, numinputs=0) (int32_t** TOKENS, size_t* COUNT)
    (int32_t* tokens = NULL, size_t count = 0) {
  $1 = &tokens;
  $2 = &count;
}
%typemap(argout) (int32_t** TOKENS, size_t* COUNT) {
  runcible_freed(*$1, runcible_array<Napi::Int32Array>(env, *$1, *$2))
}

/* The memory of any typed array. */
%typemap(in) (const void* BYTES, size_t SIZE) {
  if (!$input.IsTypedArray()) {
    throw Napi::TypeError::New(env, "$1_name must be a typed array, not " +
                                        runcible_shown($input));
  }
  const auto array = $input.As<Napi::TypedArray>();
  $2 = array.ByteLength();
  $1 = $2 == 0 ? NULL
               : static_cast<uint8_t*>(array.ArrayBuffer().Data()) +
                     array.ByteOffset();
}

%typemap(in, numinputs=0) (void** BYTES, size_t* SIZE)
    (void* data = NULL, size_t size = 0) {
  $1 = &data;
  $2 = &size;
}
%typemap(argout) (void** BYTES, size_t* SIZE) {
  runcible_freed(*$1, runcible_array<Napi::Uint8Array>(
                          env, static_cast<uint8_t*>(*$1), *$2))
}

/* The library writes directly into a new ArrayBuffer. */
%typemap(in) (void* ROOM, size_t SIZE) (Napi::ArrayBuffer made) {
  $2 = runcible_whole<size_t>($input, "$2_name");
  made = Napi::ArrayBuffer::New(env, $2);
  $1 = made.Data();
}
%typemap(argout) (void* ROOM, size_t SIZE) {
  runcible_append(env, &jsresult, made$argnum);
}

/* [Float32Array, rows, columns] */
%typemap(in, numinputs=0) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS)
    (const float* floats = NULL, size_t rows = 0, size_t columns = 0) {
  $1 = ($1_ltype)&floats;
  $2 = &rows;
  $3 = &columns;
}
%typemap(argout) (const float** FLOATS, size_t* ROWS, size_t* COLUMNS) {
  runcible_append(env, &jsresult, runcible_array<Napi::Float32Array>(
                                      env, *$1, *$2 * *$3));
  runcible_append(env, &jsresult,
                  Napi::Number::New(env, static_cast<double>(*$2)));
  runcible_append(env, &jsresult,
                  Napi::Number::New(env, static_cast<double>(*$3)));
}

%typemap(in) (const int64_t* SHAPE, int32_t RANK)
    (std::vector<int64_t> kept) {
  kept = runcible_shape_in($input, "$1_name");
  $2 = static_cast<int32_t>(kept.size());
  kept.resize(RC_TENSOR_MAX_RANK);
  $1 = ($1_ltype)kept.data();
}
%typemap(in, numinputs=0) (int64_t* SHAPE, int32_t* RANK)
    (int64_t shape[RC_TENSOR_MAX_RANK], int32_t rank = 0) {
  $1 = shape;
  $2 = &rank;
}
%typemap(argout) (int64_t* SHAPE, int32_t* RANK) {
  runcible_append(env, &jsresult, runcible_shape(env, $1, *$2));
}

%typemap(in, numinputs=0) rc_event* EVENT (rc_event event) {
  rc_event_init(&event, sizeof(event));
  event.type = -1;
  $1 = &event;
}
%typemap(argout) rc_event* EVENT {
  if ($1->type >= 0) {
    runcible_event_list list(env);
    list.add(0, *$1);
    runcible_append(env, &jsresult, list.value());
  }
}

%typemap(in, numinputs=0) kept_events* EVENTS (kept_events events = {NULL}) {
  $1 = &events;
}
%typemap(argout) kept_events* EVENTS {
  const std::unique_ptr<kept_events, void (*)(kept_events*)> freed(
      $1, kept_events_free);
  runcible_append(env, &jsresult, runcible_events(env, *$1));
}

/* The mailbox of the environment is not an argument. */
%typemap(in, numinputs=0) mailbox* box {
  $1 = runcible_environment::of(env).box();
}
%ignore mailbox_create;
%ignore mailbox_descriptor;
%ignore mailbox_wait;

%wrapper %{
Napi::Value set_functions(const Napi::CallbackInfo& info) {
  runcible_environment::of(info.Env())
      .set_functions(info[0].As<Napi::Function>(),
                     info[1].As<Napi::Function>());
  return info.Env().Undefined();
}
Napi::Value op_backend_register(const Napi::CallbackInfo& info) {
  return runcible_op_backend::add(info);
}
Napi::Value op_backend_unregister(const Napi::CallbackInfo& info) {
  return runcible_op_backend::remove(info);
}
Napi::Value op_backend_serve(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), runcible_js_thread::here()->serve());
}
Napi::Value op_name(const Napi::CallbackInfo& info) {
  const char* name = rc_op_name(info[0].As<Napi::Number>().Int32Value());
  if (name == nullptr) return info.Env().Null();
  return Napi::String::New(info.Env(), name);
}
%}
