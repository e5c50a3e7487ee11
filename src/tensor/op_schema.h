// The ops of plugin_ops.h and plugin_tensor_ops.h, as data: the one place where
// inputs, outputs, types, shapes and parameters are written. Checks
// (op_check.h), the outputs of the program builder and the signatures in
// plugin_ops.h come from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runcible/plugin.h"
#include "tensor/shape_pattern.h"

namespace rc {

inline constexpr int kMaxInputs = 10;
inline constexpr int kMaxOutputs = 2;
inline constexpr int kMaxParameters = 6;
// RC_OP_* are below.
inline constexpr int kMaxOpCodes = 64;

class OpMatch;

enum class ValueType : uint8_t {
  kF32,
  kI32,
  kT,          // F32, F64, F16 or BF16: the same one, T, in all values of an op
  kD,          // F32 or F64, D, alike
  kCache,      // F32, F16 or Q8_0
  kDecodable,  // whatever find_decoder knows
  kAny
};

// Where a value has to live.
enum class ValuePlace : uint8_t {
  kRows,          // what an op or the host has written
  kWeight,        // weights
  kWeightOrRows,  // a weight of any type, or F32 rows
  kCache,         // memory that lives between runs
  kInput,         // an input of the program
  kAnywhere,
  kResult,       // scratch or an output of the program
  kTensor,       // anything but a weight, of a fixed shape
  kTensorResult  // that and no input
};

struct ValueSchema {
  const char* role = nullptr;  // nullptr: the op has no such value
  ShapePattern pattern;
  ValueType type = ValueType::kF32;
  ValuePlace place = ValuePlace::kRows;
  bool optional = false;
};

struct ParameterSchema {
  enum Kind : uint8_t {
    kFinite,       // a float
    kNotNegative,  // a finite float
    kPositive,     // a finite float
    kFlag,         // an int32_t, 0 or 1
    kFunction,     // an int32_t of an enumeration from `least` to `most`
    kCount         // an int64_t of at least 0
  };
  const char* name = nullptr;
  Kind kind = kFinite;
  size_t offset = 0;  // in rc_plugin_params
  int32_t least = 0;
  int32_t most = 0;
  float example = 1.0f;  // of a float, for tests of devices

  bool is_float() const { return kind <= kPositive; }
};

// An op on rows, or one on tensors.
struct OpForm {
  ValueSchema inputs[kMaxInputs] = {};
  ValueSchema outputs[kMaxOutputs] = {};
  // The rule beyond types and shapes: throws if it does not hold.
  void (*rule)(const OpMatch& op) = nullptr;

  bool exists() const { return inputs[0].role != nullptr; }
};

struct OpSchema {
  int32_t code;      // RC_OP_*
  const char* name;  // "LINEAR"
  ParameterSchema parameters[kMaxParameters] = {};
  OpForm rows = {};
  OpForm tensors = {};
  // Of rows, bit i: the output may take the bytes of input i.
  uint32_t may_share = 0;
  // Of an op with both forms: the input whose first dimension, symbolic or not,
  // says which is meant.
  int deciding_input = 0;

  bool has_both_forms() const { return rows.exists() && tensors.exists(); }
  // As many as plugin_ops.h names for the op, absent ones too.
  int inputs() const;
  int outputs() const;
};

// nullptr for a number that is no op.
const OpSchema* find_op(int32_t code);

// Returns the text of plugin_ops.h on the values of a form: "inputs: x [R, k],
// weight [n, k] of any type; output [R, n]".
std::string op_signature(const OpSchema& op, const OpForm& form);

}  // namespace rc
