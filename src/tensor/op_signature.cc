#include <string_view>

#include "base/error.h"
#include "tensor/op_schema.h"
#include "tensor/shape_pattern.h"

namespace rc {
namespace {

// Those that plugin.h says once to be weights.
bool is_called_weight(std::string_view role) {
  return role == "table" || role == "weight" || role == "bias" ||
         role == "frequencies";
}

std::string value_signature(const ValueSchema& value) {
  std::string text = value.role;
  if (value.type == ValueType::kI32) text += " I32";
  text += cat(" ", pattern_text(value.pattern));
  switch (value.type) {
    case ValueType::kF32:
      if (value.place == ValuePlace::kCache) text += " of F32";
      break;
    case ValueType::kI32:
      break;
    case ValueType::kT:
      text += " of T";
      break;
    case ValueType::kD:
      text += " of D";
      break;
    case ValueType::kCache:
      text += " of F32, F16 or Q8_0";
      break;
    case ValueType::kDecodable:
      text += " of any type that can be decoded";
      break;
    case ValueType::kAny:
      text += " of any type";
      break;
  }
  if (value.place == ValuePlace::kWeight && !is_called_weight(value.role)) {
    text += " (a weight)";
  }
  if (value.place == ValuePlace::kWeightOrRows) text += " (or F32 rows)";
  if (value.place == ValuePlace::kInput) text += " (an input of the program)";
  if (value.optional) text += " or absent";
  return text;
}

template <size_t N>
std::string list(const ValueSchema (&values)[N]) {
  std::string text;
  for (const ValueSchema& value : values) {
    if (value.role == nullptr) break;
    text += cat(text.empty() ? "" : ", ", value_signature(value));
  }
  return text;
}

}  // namespace

std::string op_signature(const OpSchema& op, const OpForm& form) {
  const int outputs = op.outputs();
  std::string text = cat("inputs: ", list(form.inputs), "; ",
                         outputs == 0   ? "no output"
                         : outputs == 1 ? ""
                                        : "outputs: ",
                         list(form.outputs));
  if (&form == &op.tensors || op.may_share == 0) return text;
  const char* between = ", may be ";
  for (int i = 0; i < op.inputs(); ++i) {
    if ((op.may_share >> i & 1) == 0) continue;
    text += cat(between, form.inputs[i].role);
    between = " or ";
  }
  return text;
}

}  // namespace rc
