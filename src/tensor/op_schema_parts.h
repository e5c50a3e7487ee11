// Functions with which the rows of the table of ops are written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/op_schema.h"

namespace rc::schema_parts {

using enum ValueType;

constexpr ValueSchema rows(const char* role, const char* pattern,
                           ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kRows};
}
constexpr ValueSchema weight(const char* role, const char* pattern,
                             ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kWeight};
}
constexpr ValueSchema cache(const char* role, const char* pattern,
                            ValueType type) {
  return {role, pattern, type, ValuePlace::kCache};
}
// Numbers of rows, sequences, pages and the like.
constexpr ValueSchema indices(const char* role, const char* pattern,
                              ValuePlace place = ValuePlace::kAnywhere) {
  return {role, pattern, kI32, place};
}
constexpr ValueSchema result(const char* role, const char* pattern,
                             ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kResult};
}
constexpr ValueSchema tensor(const char* role, const char* pattern,
                             ValueType type = kF32) {
  return {role, pattern, type, ValuePlace::kTensor};
}
constexpr ValueSchema tensor_result(const char* pattern,
                                    ValueType type = kF32) {
  return {"output", pattern, type, ValuePlace::kTensorResult};
}
constexpr ValueSchema optional(ValueSchema value) {
  value.optional = true;
  return value;
}

constexpr ParameterSchema number(
    const char* name, size_t offset,
    ParameterSchema::Kind kind = ParameterSchema::kFinite) {
  return {name, kind, offset};
}
constexpr ParameterSchema example(ParameterSchema parameter, float value) {
  parameter.example = value;
  return parameter;
}
constexpr ParameterSchema counted(const char* name, size_t offset) {
  return {name, ParameterSchema::kCount, offset};
}
constexpr ParameterSchema flag(const char* name, size_t offset) {
  return {name, ParameterSchema::kFlag, offset};
}
constexpr ParameterSchema choice(const char* name, size_t offset, int32_t least,
                                 int32_t most) {
  return {name, ParameterSchema::kFunction, offset, least, most};
}
// RC_FUNCTION_*; RC_FUNCTION_NONE only where it is the least.
constexpr ParameterSchema function(size_t offset, int32_t least) {
  return choice("function", offset, least, RC_FUNCTION_GELU_QUICK);
}

}  // namespace rc::schema_parts
