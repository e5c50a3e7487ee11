// Where an op writes its result, if the caller has a tensor for it.
#pragma once

#include "compute/tensor.h"

namespace rc::compute {

struct Destination {
  const Tensor& tensor;
  const char* op;  // "add", for messages
};

// The tensor of the destination with the numbers of a result that `op` computed
// elsewhere or had no need to compute; a result that is in its place is only
// given. Throws RC_E_INVALID_ARGUMENT if it does not fit there.
Tensor deliver(const Tensor& result, const Destination& into);

}  // namespace rc::compute
