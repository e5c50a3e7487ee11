%module native
%include "typemaps.i"
%include "runcible.i"
%include "later.i"

/* A tensor of the memory of a typed array, which the library keeps. */
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
