// An op next to its schema: whether its values are as that says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "tensor/op.h"
#include "tensor/op_schema.h"
#include "tensor/shape_pattern.h"

namespace rc {

// Every method that finds a fault throws RC_E_INVALID_ARGUMENT with the name of
// the op and, where shapes differ, both of them.
class OpMatch {
 public:
  // Throws RC_E_UNSUPPORTED if there is no such op.
  OpMatch(const Op& op, std::span<const rc_plugin_value> values);

  // In this order.
  void match_inputs();
  void match_outputs();
  // Parameters, and what the op's own rule says.
  void check_rest() const;

  // Type and shape of an output, which follow from the inputs once they have
  // matched. Of ROUTE, CHOOSE and SPARSE_MIX "k" is to be bound first.
  Dimensions& dimensions() { return dimensions_; }
  rc_plugin_value output_schema(int slot) const;

  // For rules.
  const rc_plugin_params& params() const { return op_.params; }
  bool has_input(int slot) const { return op_.inputs[slot] != -1; }
  const rc_plugin_value& input(int slot) const {
    return values_[op_.inputs[slot]];
  }
  const rc_plugin_value& output() const { return values_[op_.outputs[0]]; }
  int64_t operator[](std::string_view name) const;
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(RC_E_INVALID_ARGUMENT, schema_.name, ": ", parts...);
  }

 private:
  const rc_plugin_value& value(int32_t number, const char* role) const;
  void match(int32_t number, const ValueSchema& wanted);
  void check_place(const rc_plugin_value& value,
                   const ValueSchema& wanted) const;
  void check_type(const rc_plugin_value& value, const ValueSchema& wanted);
  [[noreturn]] void refuse_value(const rc_plugin_value& value,
                                 const ValueSchema& wanted) const;
  std::string others(const ValueSchema& wanted) const;
  void check_parameter(const ParameterSchema& parameter) const;

  const Op& op_;
  std::span<const rc_plugin_value> values_;
  const OpSchema& schema_;
  const OpForm& form_;
  Dimensions dimensions_;
  // T or D, once a value has it.
  std::optional<rc_dtype> number_;
};

}  // namespace rc
