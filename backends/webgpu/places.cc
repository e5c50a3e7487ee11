#include "webgpu/places.h"

#include <algorithm>

#include "base/error.h"

namespace rc::webgpu {

uint32_t ScratchMap::find(uint64_t offset, uint64_t bytes) const {
  bool found = false;
  uint32_t number = 0;
  for (const Part& part : parts_) {
    if (part.end <= offset || offset + bytes <= part.begin) continue;
    if (found && part.number != number) {
      fail(RC_E_UNSUPPORTED,
           "an op reads what two others have written as one value");
    }
    found = true;
    number = part.number;
  }
  return number;
}

void ScratchMap::write(uint64_t offset, uint64_t bytes, uint32_t number) {
  const uint64_t end = offset + bytes;
  std::vector<Part> left;
  for (const Part& part : parts_) {
    if (part.end <= offset || end <= part.begin) {
      left.push_back(part);
      continue;
    }
    if (part.begin < offset) left.push_back({part.begin, offset, part.number});
    if (end < part.end) left.push_back({end, part.end, part.number});
  }
  left.push_back({offset, end, number});
  parts_ = std::move(left);
  buffers_ = std::max(buffers_, number + 1);
}

uint32_t least_without(const std::vector<uint32_t>& numbers) {
  uint32_t least = 0;
  while (std::find(numbers.begin(), numbers.end(), least) != numbers.end()) {
    ++least;
  }
  return least;
}

}  // namespace rc::webgpu
