// A checksum of the bytes of a file, to notice that they have changed.
//
// 64 bits, at some gigabytes per second. A change within one
// aligned word of 8 bytes always changes it; another one goes unnoticed once in
// 2^64. It is no protection against changes made on purpose.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rc {

class Checksum {
 public:
  Checksum();
  // In any number of pieces. For one thread.
  void add(std::span<const std::byte> bytes);
  // Of the bytes so far.
  uint64_t value() const;

 private:
  static constexpr size_t kLanes = 4;
  static constexpr size_t kBlock = kLanes * sizeof(uint64_t);
  using Lanes = std::array<uint64_t, kLanes>;
  static void mix(Lanes* lanes, const std::byte* block);

  Lanes lanes_;
  std::array<std::byte, kBlock> block_ = {};  // the last bytes, not mixed yet
  uint64_t size_ = 0;                         // of all
};

uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace rc
