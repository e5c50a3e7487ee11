%module(package="runcible") Native
%include "typemaps.i"

/* SWIG puts what shall run at the beginning behind the wrappers as it is: into
 * a function that the loader calls. */
%init %{
__attribute__((constructor)) static void runcible_begin(void) {
%}
%include "runcible.i"
%init %{
}
%}

/* A tensor of the memory of a direct ByteBuffer, which the library keeps. */
%typemap(jni) jobject BUFFER "jobject"
%typemap(jtype) jobject BUFFER "java.nio.ByteBuffer"
%typemap(jstype) jobject BUFFER "java.nio.ByteBuffer"
%typemap(javain) jobject BUFFER "$javainput"
%inline %{
static rc_status tensor_borrow(JNIEnv* jenv, rc_backend* backend,
                               rc_dtype dtype, const int64_t* shape,
                               int32_t rank, jobject BUFFER,
                               rc_tensor** tensor) {
  return runcible::borrow(jenv, backend, dtype, shape, rank, BUFFER, tensor);
}
%}
