%module native
%include "typemaps.i"
%include "runcible.i"
%include "later.i"

/* A tensor over the memory of a typed array, which the library keeps. */
%{
#include "borrow.h"
%}
%typemap(in) Napi::Value OWNER { $1 = $input; }
%inline %{
static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank,
                               const void* data, size_t bytes,
                               Napi::Value OWNER, rc_tensor** tensor) {
  return runcible_loan::borrow(backend, dtype, shape, rank, data, bytes, OWNER,
                               tensor);
}
%}

/* Pinned memory as an ArrayBuffer; reading into an array. */
%{
#include "pinned.h"
%}
%typemap(in, numinputs=0) Napi::Value* SHOWN (Napi::Value made) {
  made = info.Env().Undefined();
  $1 = &made;
}
%typemap(argout) Napi::Value* SHOWN {
  runcible_append(env, &jsresult, *$1);
}
%inline %{
static rc_status pinned_show(rc_pinned* pinned, Napi::Value* SHOWN) {
  return runcible_show_pinned(pinned, SHOWN);
}

static void pinned_hide(Napi::Value OWNER) { runcible_hide_pinned(OWNER); }

static rc_status tensor_read_into(rc_tensor* tensor, const void* data,
                                  size_t bytes) {
  return rc_tensor_read(tensor, const_cast<void*>(data), bytes);
}
%}

/* Custom ops: rc_custom_op_create with a JavaScript function, and calls of ops
 * and graphs that block the JavaScript thread and run its functions. */
%{
#include "custom_op.h"
typedef rc_status served_status;
static thread_local std::string runcible_served_message;
%}
%typemap(out) served_status {
  if ($1 != RC_OK) {
    runcible_raise($1, runcible_served_message.c_str());
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}
%typemap(in) Napi::Value FUNCTION { $1 = $input; }
%inline %{
static rc_status custom_op_of_function(rc_custom_op_options* options,
                                       Napi::Value FUNCTION,
                                       rc_custom_op** op) {
  return runcible_custom_function::create(options, FUNCTION, op);
}

static served_status custom_op_compute_serving(rc_custom_op* op,
                                               const tensor_list* inputs,
                                               const number_list* numbers,
                                               int32_t count,
                                               tensor_list* made) {
  return runcible_serving(
      [&] { return custom_op_compute(op, inputs, numbers, count, made); },
      &runcible_served_message);
}

static served_status graph_compute_serving(rc_graph* graph,
                                           const tensor_list* inputs,
                                           int64_t deadline_ms,
                                           tensor_list* made) {
  return runcible_serving(
      [&] { return graph_compute(graph, inputs, deadline_ms, made); },
      &runcible_served_message);
}
%}
