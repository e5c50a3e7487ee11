// The op vocabulary of plugin.h: names of ops, and the rules that the values of
// every op obey. Whoever builds, plans or compiles programs checks them here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runcible/plugin.h"

namespace rc {

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
void check_op(const rc_plugin_op& op, std::span<const rc_plugin_value> values);

// check_op for the tensor ops (tensor_op.cc), which op.cc hands on.
bool is_tensor_op(int32_t code);
const char* tensor_op_name(int32_t code);
void check_tensor_op(const rc_plugin_op& op,
                     std::span<const rc_plugin_value> values);

// Whether plugin.h lets the output of the op take the bytes of this input.
bool may_share(int32_t code, int input);

}  // namespace rc
