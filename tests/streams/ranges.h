// Which memory kernels may access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace rc::stand_in {

// Disjoint ranges of the host's memory.
class Ranges {
 public:
  void add(uint64_t address, uint64_t bytes);
  // The bytes of the range that began there; 0 if there was none.
  uint64_t remove(uint64_t address);
  // The address, if all bytes are within one range; else nullptr.
  std::byte* find(uint64_t address, uint64_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> ranges_;  // bytes by address
};

}  // namespace rc::stand_in
