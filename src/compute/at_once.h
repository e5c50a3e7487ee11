// The most frequent small ops: functions of single elements of F32 tensors that
// lie densely on one device, all of one shape. They need few checks, and
// further checks would take longer than the ops do.
#pragma once

#include <initializer_list>
#include <optional>

#include "compute/tensor.h"
#include "tensor/op.h"

namespace rc::compute {

// Does such an op, of which code and parameters are given. nullopt: it is
// another, or the device had better compile it; nothing has been done.
std::optional<Tensor> at_once(Op op,
                              std::initializer_list<const Tensor*> operands);

// The work of a context's device for an op goes to the account when this is
// destroyed, also for an op that fails.
struct Work {
  // Throws as Account::need_time.
  explicit Work(const Context& of)
      : context(of), account(*of.pool()->account()) {
    account.need_time();
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() { account.charge_work(*context.device(), spent_ns); }
  const Context& context;
  Account& account;
  int64_t spent_ns = 0;
};

}  // namespace rc::compute
