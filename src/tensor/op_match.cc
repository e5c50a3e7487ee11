#include "tensor/op_match.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "tensor/dtype.h"
#include "tensor/value.h"

namespace rc {
namespace {

const OpSchema& schema_of(const Op& op) {
  const OpSchema* found = find_op(op.code);
  if (found == nullptr) {
    fail(RC_E_UNSUPPORTED, "op number ", op.code, " is not known");
  }
  return *found;
}

bool is_batch_row(const rc_plugin_value& value) {
  return value.shape[0] == RC_DIM_ROWS || value.shape[0] == RC_DIM_OUTPUTS;
}

bool may_be_at(const rc_plugin_value& value, ValuePlace place) {
  const int32_t storage = value.storage;
  const bool written = storage == RC_STORAGE_INPUT ||
                       storage == RC_STORAGE_SCRATCH ||
                       storage == RC_STORAGE_OUTPUT;
  switch (place) {
    case ValuePlace::kRows:
      return written;
    case ValuePlace::kWeight:
      return storage == RC_STORAGE_WEIGHT;
    case ValuePlace::kWeightOrRows:
      return storage == RC_STORAGE_WEIGHT ||
             (written && is_batch_row(value) && value.dtype == RC_DTYPE_F32);
    case ValuePlace::kCache:
      return storage == RC_STORAGE_CACHE;
    case ValuePlace::kInput:
      return storage == RC_STORAGE_INPUT;
    case ValuePlace::kAnywhere:
      return true;
    case ValuePlace::kResult:
      return written && storage != RC_STORAGE_INPUT;
    case ValuePlace::kTensor:
      return storage != RC_STORAGE_WEIGHT;
    case ValuePlace::kTensorResult:
      return storage != RC_STORAGE_WEIGHT && storage != RC_STORAGE_INPUT;
  }
  return false;
}

const char* place_text(ValuePlace place) {
  switch (place) {
    case ValuePlace::kRows:
      return "rows that the host or an op has written";
    case ValuePlace::kWeight:
      return "a weight";
    case ValuePlace::kWeightOrRows:
      return "a weight, or F32 rows,";
    case ValuePlace::kCache:
      return "a cache";
    case ValuePlace::kInput:
      return "an input of the program";
    case ValuePlace::kAnywhere:
      return "a value";
    case ValuePlace::kResult:
      return "scratch or an output of the program";
    case ValuePlace::kTensor:
      return "a tensor";
    case ValuePlace::kTensorResult:
      return "a tensor, but no input of the program,";
  }
  return "";
}

bool may_be_of(DType dtype, ValueType type) {
  switch (type) {
    case ValueType::kF32:
      return dtype == RC_DTYPE_F32;
    case ValueType::kI32:
      return dtype == RC_DTYPE_I32;
    case ValueType::kT:
      return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F64 ||
             dtype == RC_DTYPE_F16 || dtype == RC_DTYPE_BF16;
    case ValueType::kD:
      return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F64;
    case ValueType::kCache:
      return dtype == RC_DTYPE_F32 || dtype == RC_DTYPE_F16 ||
             dtype == RC_DTYPE_Q8_0;
    case ValueType::kDecodable:
    case ValueType::kAny:
      return true;
  }
  return false;
}

bool is_number(ValueType type) {
  return type == ValueType::kT || type == ValueType::kD;
}

const char* type_text(ValueType type) {
  switch (type) {
    case ValueType::kF32:
      return "F32 ";
    case ValueType::kI32:
      return "I32 ";
    case ValueType::kT:
      return "F32, F64, F16 or BF16 ";
    case ValueType::kD:
      return "F32 or F64 ";
    case ValueType::kCache:
      return "F32, F16 or Q8_0 ";
    case ValueType::kDecodable:
    case ValueType::kAny:
      return "";
  }
  return "";
}

}  // namespace

OpMatch::OpMatch(const Op& op, std::span<const rc_plugin_value> values)
    : op_(op),
      values_(values),
      schema_(schema_of(op)),
      form_(is_tensor_op(op, values) ? schema_.tensors : schema_.rows) {}

int64_t OpMatch::operator[](std::string_view name) const {
  const int64_t* number = dimensions_.find(name);
  if (number == nullptr) {
    throw std::logic_error(cat(schema_.name, ": ", name, " is not bound"));
  }
  return *number;
}

const rc_plugin_value& OpMatch::value(int32_t number, const char* role) const {
  if (number < 0 || static_cast<size_t>(number) >= values_.size()) {
    refuse(role, " is value ", number, ", but the program has ",
           values_.size());
  }
  check_value(values_[number]);
  return values_[number];
}

void OpMatch::refuse_value(const rc_plugin_value& value,
                           const ValueSchema& wanted) const {
  // All numbers of an op have the type of the first that is known.
  const bool known = number_ && is_number(wanted.type);
  refuse(wanted.role, " is ", value_text(value), " where ",
         known ? cat(dtype_name(*number_), " ") : type_text(wanted.type),
         dimensions_.text(wanted.pattern), " is needed", others(wanted));
}

// Those that the shape has to fit.
std::string OpMatch::others(const ValueSchema& wanted) const {
  std::string text;
  for (int i = 0; i < kMaxInputs; ++i) {
    const ValueSchema& input = form_.inputs[i];
    if (input.role == nullptr || &input == &wanted) break;
    if (op_.inputs[i] == -1) continue;
    text += cat(text.empty() ? "; " : ", ", input.role, " is ",
                value_text(this->input(i)));
  }
  return text;
}

void OpMatch::check_place(const rc_plugin_value& value,
                          const ValueSchema& wanted) const {
  if (!may_be_at(value, wanted.place)) {
    refuse(wanted.role, " is ", storage_text(value.storage), " ",
           value_text(value), " where ", place_text(wanted.place),
           " is needed");
  }
}

void OpMatch::check_type(const rc_plugin_value& value,
                         const ValueSchema& wanted) {
  if (!may_be_of(value.dtype, wanted.type)) refuse_value(value, wanted);
  if (is_number(wanted.type)) {
    if (number_ && *number_ != value.dtype) refuse_value(value, wanted);
    number_ = value.dtype;
  }
  if (wanted.type == ValueType::kDecodable &&
      find_decoder(value.dtype) == nullptr) {
    fail(RC_E_UNSUPPORTED, schema_.name, ": ", wanted.role, " is ",
         value_text(value), ", a type that cannot be decoded");
  }
}

void OpMatch::match(int32_t number, const ValueSchema& wanted) {
  if (wanted.optional && number == -1) return;
  const rc_plugin_value& found = value(number, wanted.role);
  check_place(found, wanted);
  check_type(found, wanted);
  if (!dimensions_.match(wanted.pattern, found)) refuse_value(found, wanted);
}

void OpMatch::match_inputs() {
  for (int i = 0; i < kMaxInputs; ++i) {
    if (form_.inputs[i].role != nullptr) {
      match(op_.inputs[i], form_.inputs[i]);
    } else if (op_.inputs[i] != -1) {
      refuse("takes ", schema_.inputs(), " inputs at most");
    }
  }
}

void OpMatch::match_outputs() {
  for (int i = 0; i < kMaxOutputs; ++i) {
    if (form_.outputs[i].role != nullptr) {
      match(op_.outputs[i], form_.outputs[i]);
    } else if (op_.outputs[i] != -1) {
      const int count = schema_.outputs();
      refuse("has ", count, count == 1 ? " output" : " outputs");
    }
  }
}

rc_plugin_value OpMatch::output_schema(int slot) const {
  const ValueSchema& schema = form_.outputs[slot];
  if (schema.role == nullptr) {
    throw std::logic_error(cat(schema_.name, " has no output ", slot));
  }
  rc_plugin_value value = {};
  value.dtype = schema.type == ValueType::kI32 ? RC_DTYPE_I32
                : is_number(schema.type)       ? number_.value_or(RC_DTYPE_F32)
                                               : RC_DTYPE_F32;
  dimensions_.apply(schema.pattern, value);
  return value;
}

void OpMatch::check_parameter(const ParameterSchema& parameter) const {
  const char* at =
      reinterpret_cast<const char*>(&op_.params) + parameter.offset;
  const auto read = [at](auto number) {
    std::memcpy(&number, at, sizeof number);
    return number;
  };
  switch (parameter.kind) {
    case ParameterSchema::kFinite:
    case ParameterSchema::kNotNegative:
    case ParameterSchema::kPositive: {
      const float number = read(float{});
      if (!std::isfinite(number) ||
          (parameter.kind == ParameterSchema::kNotNegative && number < 0) ||
          (parameter.kind == ParameterSchema::kPositive && number <= 0)) {
        refuse(parameter.name, " is ", number);
      }
      return;
    }
    case ParameterSchema::kFlag: {
      const int32_t flag = read(int32_t{});
      if (flag != 0 && flag != 1) {
        refuse(parameter.name, " is ", flag, ", neither 0 nor 1");
      }
      return;
    }
    case ParameterSchema::kFunction: {
      const int32_t number = read(int32_t{});
      if (number < parameter.least || number > parameter.most) {
        refuse(parameter.name, " is number ", number, "; ", parameter.least,
               " to ", parameter.most, " are known");
      }
      return;
    }
    case ParameterSchema::kCount: {
      const int64_t count = read(int64_t{});
      if (count < 0) refuse(parameter.name, " is ", count);
      return;
    }
  }
}

void OpMatch::check_rest() const {
  for (const ParameterSchema& parameter : schema_.parameters) {
    if (parameter.name != nullptr) check_parameter(parameter);
  }
  if (form_.rule != nullptr) form_.rule(*this);
}

}  // namespace rc
