// Where the regions of a program lie in buffers of WebGPU, which lets no
// dispatch read a buffer that it writes.
//
// Scratch is therefore as many buffers as it takes for every op to write one
// that it does not read, its values at the same offsets in each. Other buffers
// that an op would read and write, such as a tensor that is copied within
// itself, are read from a copy of the region, and so are regions of scratch
// that lie in several buffers (Recording).
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/buffer.h"

namespace rc::webgpu {

// The parts of scratch by what was written last.
class ScratchMap {
 public:
  // Bytes, and the number of the buffer that has them.
  struct Part {
    uint64_t begin, end;
    uint32_t number;
  };

  // Returns the parts of a region, in order. Bytes that were never written join
  // the adjacent part, so that a region that one buffer contains is one part.
  std::vector<Part> find(uint64_t offset, uint64_t bytes) const;
  void write(uint64_t offset, uint64_t bytes, uint32_t number);
  // That are in use so far.
  uint32_t buffers() const { return buffers_; }

 private:
  std::vector<Part> parts_;  // do not overlap
  uint32_t buffers_ = 1;
};

// The least number that is not among those.
uint32_t least_without(const std::vector<uint32_t>& numbers);

}  // namespace rc::webgpu
