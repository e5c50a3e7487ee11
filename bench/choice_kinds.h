// Ops of tensors by a number of elements, for choice.cc.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runcible/runcible.h"

namespace rc::bench {

struct Failure : std::runtime_error {
  explicit Failure(rc_status failed)
      : std::runtime_error(rc_error_message()), status(failed) {}
  rc_status status;
};

inline void check(rc_status status) {
  if (status != RC_OK) throw Failure(status);
}

struct Release {
  void operator()(rc_backend* handle) const { rc_backend_release(handle); }
  void operator()(rc_tensor* handle) const { rc_tensor_release(handle); }
};
using Backend = std::unique_ptr<rc_backend, Release>;
using Tensor = std::unique_ptr<rc_tensor, Release>;

// Calls what makes a tensor as its last argument.
template <class Function, class... Arguments>
Tensor make(Function function, Arguments... arguments) {
  rc_tensor* made = nullptr;
  check(function(arguments..., &made));
  return Tensor(made);
}

// An op, with operands for a number of elements.
struct Kind {
  const char* name;
  std::function<std::vector<Tensor>(rc_backend* backend, double elements)>
      operands;
  std::function<Tensor(const std::vector<Tensor>& operands)> run;
  double growth = 1;  // the power of the elements by which the work grows
  double most = 4e6;  // elements of the mixed calls; more take too long
};

std::vector<Kind> kinds();

}  // namespace rc::bench
