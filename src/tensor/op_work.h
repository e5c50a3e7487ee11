// The work of a tensor op, from which its time can be estimated by times that
// were measured before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tensor/op.h"

namespace rc {

// Ops whose time is the same function of one number, their units.
enum class OpFamily : uint8_t {
  kElements,       // + - * / and their like; bytes read and written
  kExponentials,   // exp, tanh and what is made of them; elements
  kSpecials,       // erf and the logarithm; elements
  kPowers,         // elements
  kCopies,         // of strided views; bytes written
  kConversions,    // among types without blocks; elements
  kDecoding,       // of types with blocks; elements
  kEncoding,       // into types with blocks; elements
  kGathering,      // bytes written
  kTurning,        // rotary positions; elements
  kNorms,          // elements
  kSoftmaxLines,   // over the last dimension; elements
  kSoftmaxAcross,  // over another one; elements
  kReduceLines,    // over the last dimension, many results; elements
  kReduceAcross,   // over another one; elements
  kReduceWhole,    // few results; elements
  kArgmaxLines,    // as for reductions
  kArgmaxAcross,
  kArgmaxWhole,
  // Products of many rows: multiplications; by the type of the right one.
  kProductsF32,
  kProductsF16,  // and other types without blocks
  kProductsQ8,   // Q8_0
  kProductsQ4,   // and other types with blocks
  // Products of one row: elements of the right one.
  kVectorsF32,
  kVectorsF16,
  kVectorsQ8,
  kVectorsQ4,
  kConvolutions,  // multiplications
  kDepthwise,     // of few channels a group; multiplications
  kAttention,     // multiplications
};
inline constexpr size_t kOpFamilies =
    static_cast<size_t>(OpFamily::kAttention) + 1;

// "products_f32", as files have it.
const char* op_family_name(OpFamily family);
std::optional<OpFamily> find_op_family(std::string_view name);

// The types by which rates of multiplying differ most.
enum class NumberKind : uint8_t { kF32, kF16, kBlocks };
inline constexpr size_t kNumberKinds = 3;
const char* number_kind_name(NumberKind kind);  // "f32"

struct OpWork {
  struct Part {
    OpFamily family = OpFamily::kElements;
    double units = 0;
  };
  // The op takes as long as the longer of its parts: a product is held up by
  // multiplying, or by reading the right one.
  std::array<Part, 2> parts;
  int part_count = 0;
  double bytes = 0;            // read and written, each value once
  double multiplications = 0;  // of products and convolutions
  NumberKind kind = NumberKind::kF32;
};

// `op` obeys check_op and is an op on tensors; nullopt if it is none.
std::optional<OpWork> work_of(const Op& op,
                              std::span<const rc_plugin_value> values);

}  // namespace rc
