// Weights and buffers: memory of the host's, as it is given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace rc::blas {

// At least 64-byte aligned, contents undefined.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(uint64_t bytes)
      : data_(static_cast<std::byte*>(::operator new(
            std::max<uint64_t>(bytes, 1), std::align_val_t(kAlignment)))) {}
  std::byte* data() const { return data_.get(); }

 private:
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* p) const {
      ::operator delete(p, std::align_val_t(kAlignment));
    }
  };
  std::unique_ptr<std::byte, Free> data_;
};

struct Weight {
  DType dtype = RC_DTYPE_F32;
  std::vector<int64_t> shape;
  AlignedMemory copy;  // nothing if the host keeps the bytes
  const std::byte* bytes = nullptr;
};

struct Buffer {
  AlignedMemory own;  // nothing if the host keeps the bytes
  std::span<std::byte> bytes;
};

}  // namespace rc::blas
