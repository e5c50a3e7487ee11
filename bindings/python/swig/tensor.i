/* The base of runcible.Tensor. */
%header %{
#include "tensor_methods.h"
%}
%init %{
  if (runcible_add_tensor(m) != 0) return RUNCIBLE_INIT_FAILED;
%}
