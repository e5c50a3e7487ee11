%module "runcible::native"

%include "typemaps.i"
%include "long_calls.i"
%include "runcible.i"

%{
static void runcible_free_tensor(void* data) {
  rc_tensor* tensor = (rc_tensor*)data;
  if (runcible_forked || tensor == NULL) return;
  runcible_weigh(tensor, -1);
  rc_tensor_release(tensor);
}
%}

/* A tensor of the memory of an IO::Buffer; see borrow.h. */
%{
#include "borrow.h"
%}
%inline %{
static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank, VALUE buffer,
                               rc_tensor** tensor) {
  return runcible_borrow(backend, dtype, shape, rank, buffer, tensor);
}
%}

/* IO::Buffers; see pinned.h. */
%{
#include "pinned.h"
%}
%typemap(in, numinputs=0) VALUE* SHOWN (VALUE made = Qnil) "$1 = &made;"
%typemap(argout) VALUE* SHOWN { runcible_result(*$1) }
%inline %{
static rc_status tensor_of_buffer(rc_backend* backend, rc_dtype dtype,
                                  const int64_t* shape, int32_t rank,
                                  VALUE buffer, rc_tensor** tensor) {
  return runcible_copy_buffer(backend, dtype, shape, rank, buffer, tensor);
}

static rc_status tensor_read_into(rc_tensor* tensor, VALUE buffer) {
  return runcible_read_buffer(tensor, buffer);
}

static rc_status pinned_show(rc_pinned* pinned, VALUE* SHOWN) {
  return runcible_show_pinned(pinned, SHOWN);
}

static void pinned_hide(VALUE buffer) { runcible_hide_pinned(buffer); }
%}

/* Releases a handle before the collector finds its proxy, which is then empty.
 * Calls in other threads that use the handle run to their end. */
%exception drop "$action"
%inline %{
static void drop(VALUE proxy) {
  swig_ruby_owntype own = {NULL, 0};
  void* handle = NULL;
  const int result = SWIG_Ruby_ConvertPtrAndOwn(proxy, &handle, NULL,
                                                SWIG_POINTER_RELEASE, &own);
  if (!SWIG_IsOK(result)) {
    rb_raise(rb_eTypeError, "a %" PRIsVALUE " owns no handle",
             rb_obj_class(proxy));
  }
  if (handle != NULL) own.datafree(handle);
  runcible_sweep_loans();
}
%}

/* rc_backend_open, rc_backend_switch and rc_model_load with `progress`, nil or
 * an object to call; see long_calls.h. */
%typemap(check) const rc_model_options* loading,
                const rc_backend_options* opening,
                const rc_backend_switch_options* switching {
  if ($1 == NULL) rb_raise(rb_eArgError, "options must not be nil");
}
%inline %{
static rc_status open_backend(const char* spec,
                              const rc_backend_options* opening,
                              VALUE progress, rc_backend** backend) {
  return runcible_open(spec, opening, progress, backend);
}

static rc_status switch_backend(rc_backend* backend, const char* spec,
                                const rc_backend_switch_options* switching,
                                VALUE progress) {
  return runcible_switch(backend, spec, switching, progress);
}

static rc_status load_model(rc_backend* backend, const char* path,
                            const rc_model_options* loading, VALUE progress,
                            rc_model** model) {
  return runcible_load(backend, path, loading, progress, model);
}
%}

/* Custom ops whose function is a Ruby function; see functions.h. */
%{
#include "functions.h"
%}
%typemap(in, numinputs=0) runcible_server server (runcible_waiting waiting) {
  $1 = &waiting;
}
%include "served.i"
%inline %{
static rc_status custom_op_of_function(rc_custom_op_options* options,
                                       VALUE FUNCTION, rc_custom_op** op) {
  return runcible_custom_op(options, FUNCTION, op);
}
%}
