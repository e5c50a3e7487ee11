// The op vocabulary of plugin_ops.h: ops as the library and its backends
// represent them, their names, and the rules that the values of every op obey.
// Code that builds, plans or compiles programs checks them here.
#pragma once

#include <cstdint>
#include <span>

#include "runcible/plugin.h"
#include "tensor/op_schema.h"
#include "tensor/value.h"

namespace rc {

// An rc_plugin_op with everything that it points to.
struct Op {
  int32_t code = 0;
  // Numbers of values; -1 for an absent one and beyond the op's last one.
  int32_t inputs[kMaxInputs] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  int32_t outputs[kMaxOutputs] = {-1, -1};
  // `{}` would leave what is beyond the first member of the union as it is.
  rc_plugin_params params = rc_plugin_params();
};

// The op as a plugin sees it, pointing into `op`.
rc_plugin_op plugin_op(const Op& op);
// The op that a plugin was given. Throws RC_E_UNSUPPORTED if it has more inputs
// or outputs than any op that is known here.
Op op_from(const rc_plugin_op& given);

// "LINEAR"; "unknown op" for a number that is none. Static storage.
const char* op_name(int32_t code);

// Throws RC_E_INVALID_ARGUMENT, naming op, values and shapes, unless every
// value that the op names exists, and types, shapes and parameters are as
// plugin.h says.
void check_op(const Op& op, std::span<const rc_plugin_value> values);

// Whether it is an op on tensors, all of whose shapes are fixed. An op that can
// be on rows as well is, where the value that deciding_value names has a fixed
// number of rows; for the others, that is -1. Accepts any numbers in the op.
int32_t deciding_value(const Op& op);
bool is_tensor_op(const Op& op, const rc_plugin_value* deciding);
bool is_tensor_op(const Op& op, std::span<const rc_plugin_value> values);

// Whether it is an op on tensors whose numbers are not F32 (see
// plugin_tensor_ops.h), which plugins are asked for from version 4 of their ABI
// on. The op names values that exist.
bool has_other_numbers(const Op& op, const rc_plugin_value* values);

// Whether plugin.h lets the output of the op take the bytes of this input.
bool may_share(int32_t code, int input);

}  // namespace rc
