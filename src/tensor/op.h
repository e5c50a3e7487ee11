// The op vocabulary of plugin.h: ops as the library and its own backends hold
// them, their names, and the rules that the values of every op obey. Whoever
// builds, plans or compiles programs checks them here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runcible/plugin.h"

namespace rc {

inline constexpr int kMaxInputs = 8;
inline constexpr int kMaxOutputs = 2;

// An rc_plugin_op with everything that it points to.
struct Op {
  int32_t code = 0;
  // Numbers of values; -1 for an absent one and beyond the op's last one.
  int32_t inputs[kMaxInputs] = {-1, -1, -1, -1, -1, -1, -1, -1};
  int32_t outputs[kMaxOutputs] = {-1, -1};
  rc_plugin_params params = {};
};

// The op as a plugin sees it, pointing into `op`.
rc_plugin_op plugin_op(const Op& op);
// The op that a plugin was given. Throws RC_E_UNSUPPORTED if it has more inputs
// or outputs than any op that is known here.
Op op_from(const rc_plugin_op& given);

// "LINEAR"; "unknown op" for a number that is none. Static storage.
const char* op_name(int32_t code);

// "Q4_K [rows, 8, 64]", for messages. Accepts any bytes.
std::string value_text(const rc_plugin_value& value);

// The numbers that stand for the symbolic dimensions.
struct Rows {
  int64_t rows = 0;
  int64_t outputs = 0;
  int64_t sequences = 0;
};

// A dimension with its symbol, if it is one, replaced.
int64_t resolve_dimension(int64_t dimension, const Rows& rows);

// Bytes of a whole value; nullopt if type or shape are impossible or the
// product overflows.
std::optional<uint64_t> value_bytes(const rc_plugin_value& value,
                                    const Rows& rows);

// Throws RC_E_INVALID_ARGUMENT, naming op, values and shapes, unless type,
// rank, dimensions and storage of the value are possible.
void check_value(const rc_plugin_value& value);

// The same for an op: every value it names exists, and types, shapes and
// parameters are as plugin.h says.
void check_op(const Op& op, std::span<const rc_plugin_value> values);

// check_op for the tensor ops (tensor_op.cc), which op.cc hands on.
bool is_tensor_op(int32_t code);
void check_tensor_op(const Op& op, std::span<const rc_plugin_value> values);

// Whether plugin.h lets the output of the op take the bytes of this input.
bool may_share(int32_t code, int input);

}  // namespace rc
