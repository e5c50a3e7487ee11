#include "tensor/op_parameters.h"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "base/error.h"

namespace rc {
namespace parameters {
namespace {

constexpr const char* kFunctions[] = {"none",      "relu",      "sigmoid",
                                      "tanh",      "silu",      "gelu",
                                      "gelu_tanh", "gelu_quick"};
constexpr const char* kUnary[] = {"exp", "log", "sqrt", "abs", "neg"};
constexpr const char* kBinary[] = {
    "add",       "mul",     "sub",          "div",  "pow",
    "minimum",   "maximum", "equal",        "less", "less_equal",
    "not_equal", "greater", "greater_equal"};
constexpr const char* kReduce[] = {"sum", "mean", "max"};
constexpr const char* kStyles[] = {"adjacent", "halves"};
constexpr const char* kScores[] = {"softmax", "sigmoid"};

// Those without a name, which newer constants are, stay numbers.
std::string named(std::span<const char* const> names, int32_t first,
                  int32_t number) {
  const int64_t place = int64_t{number} - first;
  if (place < 0 || place >= static_cast<int64_t>(names.size())) {
    return cat(number);
  }
  return cat('"', names[static_cast<size_t>(place)], '"');
}

std::string choice(const OpSchema& schema, std::string_view name,
                   int32_t number) {
  if (name == "style") return named(kStyles, 0, number);
  if (name == "score") return named(kScores, 0, number);
  if (name != "function") return cat(number);
  if (schema.code == RC_OP_BINARY) return named(kBinary, 0, number);
  if (schema.code == RC_OP_REDUCE) return named(kReduce, 0, number);
  if (schema.code == RC_OP_UNARY && number >= RC_UNARY_EXP) {
    return named(kUnary, RC_UNARY_EXP, number);
  }
  return named(kFunctions, 0, number);
}

template <class T>
T read(const Op& op, size_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&op.params) + offset,
              sizeof value);
  return value;
}

std::string real(float value) {
  char text[32];
  // Nine digits identify every float; the point does not depend on the locale.
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  for (char& c : text) {
    if (c == ',') c = '.';
  }
  return text;
}

std::string value_of(const OpSchema& schema, const ParameterSchema& parameter,
                     const Op& op) {
  switch (parameter.kind) {
    case ParameterSchema::kFlag:
      return read<int32_t>(op, parameter.offset) != 0 ? "true" : "false";
    case ParameterSchema::kFunction:
      return choice(schema, parameter.name,
                    read<int32_t>(op, parameter.offset));
    case ParameterSchema::kCount:
      return cat(read<int64_t>(op, parameter.offset));
    default:
      return real(read<float>(op, parameter.offset));
  }
}

template <class T>
std::string list(std::span<const T> numbers) {
  std::string text = "[";
  for (const T number : numbers)
    text += cat(text.size() > 1 ? "," : "", number);
  return text + "]";
}

}  // namespace
}  // namespace parameters

std::string parameters_json(const Op& op) {
  using namespace parameters;
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += cat(text.empty() ? "{" : ",", '"', name, "\":", value);
  };
  const OpSchema* schema = find_op(op.code);
  if (schema != nullptr) {
    for (const ParameterSchema& parameter : schema->parameters) {
      if (parameter.name == nullptr) break;
      add(parameter.name, value_of(*schema, parameter, op));
    }
  }
  // Those that the schema checks by rules, or need not check.
  const auto flag = [&](int32_t value) {
    return value != 0 ? "true" : "false";
  };
  switch (op.code) {
    case RC_OP_ROUTE:
      add("normalize", flag(op.params.route.normalize));
      break;
    case RC_OP_CHOOSE:
      add("normalize", flag(op.params.choose.normalize));
      break;
    case RC_OP_CHOOSE_IN_GROUPS:
      add("normalize", flag(op.params.choose_in_groups.normalize));
      add("groups", cat(op.params.choose_in_groups.groups));
      add("groups_used", cat(op.params.choose_in_groups.groups_used));
      break;
    case RC_OP_COPY:
      add("strides", list<int64_t>(op.params.copy.strides));
      break;
    case RC_OP_CONV2D:
      add("stride", list<int32_t>(op.params.conv2d.stride));
      add("padding", list<int32_t>(op.params.conv2d.padding));
      add("dilation", list<int32_t>(op.params.conv2d.dilation));
      add("groups", cat(op.params.conv2d.groups));
      break;
    default:
      break;
  }
  return text.empty() ? "{}" : text + "}";
}

}  // namespace rc
