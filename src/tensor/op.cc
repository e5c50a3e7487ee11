#include "tensor/op.h"

#include <iterator>

#include "base/error.h"
#include "tensor/op_match.h"
#include "tensor/op_schema.h"

namespace rc {

rc_plugin_op plugin_op(const Op& op) {
  const OpSchema* known = find_op(op.code);
  // As many as the op has; more only of an op that is wrong.
  const auto count = [](const auto& numbers, int named) {
    auto last = static_cast<int>(std::size(numbers));
    while (last > named && numbers[last - 1] == -1) --last;
    return static_cast<size_t>(last);
  };
  rc_plugin_op given = {};
  given.code = op.code;
  given.input_count = count(op.inputs, known == nullptr ? 0 : known->inputs());
  given.inputs = op.inputs;
  given.output_count =
      count(op.outputs, known == nullptr ? 0 : known->outputs());
  given.outputs = op.outputs;
  given.params = &op.params;
  return given;
}

Op op_from(const rc_plugin_op& given) {
  Op op;
  op.code = given.code;
  const auto copy = [&](const int32_t* from, size_t count, auto& to) {
    for (size_t i = 0; i < count; ++i) {
      if (i < std::size(to)) {
        to[i] = from[i];
      } else if (from[i] != -1) {
        fail(RC_E_UNSUPPORTED, op_name(op.code), " has ", count,
             " inputs or outputs; ", std::size(to), " are possible");
      }
    }
  };
  copy(given.inputs, given.input_count, op.inputs);
  copy(given.outputs, given.output_count, op.outputs);
  op.params = *given.params;
  return op;
}

const char* op_name(int32_t code) {
  const OpSchema* known = find_op(code);
  return known == nullptr ? "unknown op" : known->name;
}

void check_op(const Op& op, std::span<const rc_plugin_value> values) {
  OpMatch match(op, values);
  match.match_inputs();
  match.match_outputs();
  match.check_rest();
}

int32_t deciding_value(const Op& op) {
  const OpSchema* known = find_op(op.code);
  return known != nullptr && known->has_both_forms()
             ? op.inputs[known->deciding_input]
             : -1;
}

bool is_tensor_op(const Op& op, const rc_plugin_value* deciding) {
  const OpSchema* known = find_op(op.code);
  if (known == nullptr) return false;
  if (!known->has_both_forms()) return known->tensors.exists();
  return deciding != nullptr && deciding->shape[0] > 0;
}

bool is_tensor_op(const Op& op, std::span<const rc_plugin_value> values) {
  const int32_t number = deciding_value(op);
  const bool known = number >= 0 && static_cast<size_t>(number) < values.size();
  return is_tensor_op(op, known ? &values[number] : nullptr);
}

bool has_other_numbers(const Op& op, const rc_plugin_value* values) {
  const OpSchema* known = find_op(op.code);
  if (known == nullptr || !known->tensors.exists()) return false;
  const int32_t deciding = deciding_value(op);
  if (!is_tensor_op(op, deciding < 0 ? nullptr : &values[deciding])) {
    return false;
  }
  const auto other = [&](const ValueSchema& schema, int32_t number) {
    return number >= 0 && values[number].dtype != RC_DTYPE_F32 &&
           (schema.type == ValueType::kT || schema.type == ValueType::kD ||
            op.code == RC_OP_CONVERT);
  };
  const bool of_first = other(known->tensors.inputs[0], op.inputs[0]);
  const bool of_result = other(known->tensors.outputs[0], op.outputs[0]);
  return op.code == RC_OP_CONVERT ? of_first && of_result
                                  : of_first || of_result;
}

bool may_share(int32_t code, int input) {
  const OpSchema* known = find_op(code);
  return known != nullptr && (known->may_share >> input & 1) != 0;
}

}  // namespace rc
