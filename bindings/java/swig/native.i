%module(package="runcible") Native
%include "typemaps.i"

/* SWIG copies this code behind the wrappers unchanged. The loader calls the
 * function. */
%init %{
__attribute__((constructor)) static void runcible_begin(void) {
%}
%include "runcible.i"
%init %{
}
%}

%inline %{
/* Returns whether the result of the rc_custom_call at this address is no longer
 * needed. */
static int32_t custom_call_stopped(int64_t call) {
  const rc_custom_call* under_way = (const rc_custom_call*)(intptr_t)call;
  return under_way->should_stop(under_way->stop_user);
}
%}

/* Direct ByteBuffers; see buffers.hh. */
%typemap(jni) jobject BUFFER "jobject"
%typemap(jtype) jobject BUFFER "java.nio.ByteBuffer"
%typemap(jstype) jobject BUFFER "java.nio.ByteBuffer"
%typemap(javain) jobject BUFFER "$javainput"
%typemap(in, numinputs=0) jobject* SHOWN (jobject made = NULL) "$1 = &made;"
%typemap(argout) jobject* SHOWN "$result = *$1;"
%inline %{
static rc_status tensor_borrow(JNIEnv* jenv, rc_backend* backend,
                               rc_dtype dtype, const int64_t* shape,
                               int32_t rank, jobject BUFFER,
                               rc_tensor** tensor) {
  return runcible::borrow(jenv, backend, dtype, shape, rank, BUFFER, tensor);
}

static rc_status tensor_of_buffer(JNIEnv* jenv, rc_backend* backend,
                                  rc_dtype dtype, const int64_t* shape,
                                  int32_t rank, jobject BUFFER,
                                  rc_tensor** tensor) {
  return runcible::copy_from(jenv, backend, dtype, shape, rank, BUFFER, tensor);
}

static rc_status tensor_read_into(JNIEnv* jenv, rc_tensor* tensor,
                                  jobject BUFFER) {
  return runcible::read_into(jenv, tensor, BUFFER);
}

static rc_status pinned_show(JNIEnv* jenv, rc_pinned* pinned, jobject* SHOWN) {
  return runcible::show(jenv, pinned, SHOWN);
}
%}
