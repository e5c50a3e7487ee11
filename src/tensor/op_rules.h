// What the rules of the ops of both vocabularies are written with.
#pragma once

#include <cmath>
#include <initializer_list>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/op.h"
#include "tensor/op_schema.h"

namespace rc {

// Looks at one op; every method throws RC_E_INVALID_ARGUMENT with the op's name
// and, where shapes differ, both of them.
class OpRules {
 public:
  OpRules(const Op& op, std::span<const rc_plugin_value> values)
      : op_(op), values_(values) {}

 protected:
  using PluginValue = rc_plugin_value;

  ~OpRules() = default;

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(RC_E_INVALID_ARGUMENT, op_name(op_.code), ": ", parts...);
  }

  const PluginValue& value(int32_t number, const char* role) const {
    if (number < 0 || static_cast<size_t>(number) >= values_.size()) {
      refuse(role, " is value ", number, ", but the program has ",
             values_.size());
    }
    check_value(values_[number]);
    return values_[number];
  }
  // The slots beyond those of the op must be empty.
  void check_slots() const {
    const OpSchema* known = find_op(op_.code);
    if (known == nullptr) {
      fail(RC_E_UNSUPPORTED, "op number ", op_.code, " is not known");
    }
    for (int i = known->inputs; i < kMaxInputs; ++i) {
      if (op_.inputs[i] != -1) {
        refuse("takes ", known->inputs, " inputs at most");
      }
    }
    for (int i = known->outputs; i < kMaxOutputs; ++i) {
      if (op_.outputs[i] != -1) {
        refuse("has ", known->outputs,
               known->outputs == 1 ? " output" : " outputs");
      }
    }
  }
  void expect(const PluginValue& value, const char* role, DType dtype,
              std::initializer_list<int64_t> shape) const {
    PluginValue wanted = {};
    wanted.dtype = dtype;
    wanted.rank = static_cast<int32_t>(shape.size());
    int i = 0;
    for (int64_t dimension : shape) wanted.shape[i++] = dimension;
    expect_alike(value, role, wanted);
  }
  void expect_alike(const PluginValue& value, const char* role,
                    const PluginValue& wanted) const {
    bool good = value.dtype == wanted.dtype && value.rank == wanted.rank;
    for (int i = 0; good && i < wanted.rank; ++i) {
      good = value.shape[i] == wanted.shape[i];
    }
    if (!good) {
      refuse(role, " is ", value_text(value), " where ", value_text(wanted),
             " is needed");
    }
  }
  void function(int32_t function, int32_t least, int32_t most) const {
    if (function < least || function > most) {
      refuse("the function is number ", function, "; ", least, " to ", most,
             " are known");
    }
  }
  void finite(const char* name, float number) const {
    if (!std::isfinite(number)) refuse(name, " is ", number);
  }
  void flag(const char* name, int32_t number) const {
    if (number != 0 && number != 1) {
      refuse(name, " is ", number, ", neither 0 nor 1");
    }
  }
  void layer_norm_params() const {
    const float epsilon = op_.params.layer_norm.epsilon;
    finite("epsilon", epsilon);
    if (epsilon < 0) refuse("epsilon is ", epsilon);
    flag("center", op_.params.layer_norm.center);
  }

  const Op& op_;
  std::span<const PluginValue> values_;
};

}  // namespace rc
