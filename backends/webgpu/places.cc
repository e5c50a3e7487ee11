#include "webgpu/places.h"

#include <algorithm>
namespace rc::webgpu {

std::vector<ScratchMap::Part> ScratchMap::find(uint64_t offset,
                                               uint64_t bytes) const {
  const uint64_t end = offset + bytes;
  std::vector<Part> written;
  for (const Part& part : parts_) {
    if (part.end <= offset || end <= part.begin) continue;
    written.push_back(part);
  }
  std::sort(written.begin(), written.end(),
            [](const Part& a, const Part& b) { return a.begin < b.begin; });
  std::vector<Part> found;
  for (const Part& part : written) {
    if (found.empty() || found.back().number != part.number) {
      if (!found.empty()) found.back().end = part.begin;
      found.push_back({part.begin, end, part.number});
    }
  }
  if (found.empty()) found.push_back({offset, end, 0});
  found.front().begin = offset;
  return found;
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
