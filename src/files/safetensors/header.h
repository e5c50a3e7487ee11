// The header of a safetensors file: JSON that names its tensors and says where
// the data of each lies.
//
// Format: https://github.com/huggingface/safetensors#format
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rc::safetensors {

// Limits, which bound memory and time. That of a header is the format's own.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr size_t kMaxTensors = size_t{1} << 20;
inline constexpr size_t kMaxNameBytes = 512;
inline constexpr size_t kMaxRank = 8;

// A type of elements.
struct Type {
  std::string_view name;  // "BF16"
  uint64_t bits;          // of one element
};

// The type of that name; nullptr if the format defines none.
const Type* find_type(std::string_view name);

struct Tensor {
  std::string name;
  const Type* type;
  std::vector<int64_t> shape;  // slowest dimension first; rank 0 to kMaxRank
  uint64_t bytes;              // of the data
  uint64_t offset;  // of the data, from the start of the data of all tensors
};

// The tensors of a header, by name. `file` is for messages. Throws RC_E_FORMAT
// naming file and tensor unless names differ, shapes and sizes agree, and the
// tensors cover all `data_bytes` behind the header without overlaps and holes;
// RC_E_UNSUPPORTED for a type that the format does not define.
std::vector<Tensor> parse_header(std::string_view json, uint64_t data_bytes,
                                 const std::string& file);

}  // namespace rc::safetensors
