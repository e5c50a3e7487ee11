// Memory by lifetime: blocks are placed in one area so that those which live at
// the same time do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rc::runtime {

struct Block {
  static constexpr uint64_t kAlignment = 64;

  // Numbers of the steps that write it first and read it last.
  size_t first = 0;
  size_t last = 0;
  uint64_t bytes = 0;   // a multiple of kAlignment
  uint64_t offset = 0;  // the result
};

// Sets the offsets: largest first, each into the smallest gap that is free
// during its whole life. Returns the bytes of the area. Throws
// RC_E_INVALID_ARGUMENT if that is beyond 64 bits. The order of the blocks
// becomes undefined.
uint64_t place_blocks(std::span<Block*> blocks);

}  // namespace rc::runtime
