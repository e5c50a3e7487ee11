// Memory of programs that are gone, for the next ones.
//
// A single op is a program for one call. What it packs its operands into would
// be new memory each time, whose pages the system gives and clears one by one.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cpu/memory.h"

namespace rc::cpu {

class SpareMemory {
 public:
  // Smaller blocks are not kept.
  static constexpr uint64_t kLeastBytes = uint64_t{1} << 14;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 26;  // of all
  static constexpr size_t kMostBlocks = 8;

  struct Block {
    Memory64 memory;
    uint64_t bytes = 0;
  };

  // At least so many bytes, with anything in them. Any thread may call.
  Block take(uint64_t bytes);
  // Keeps the block, in place of older ones, or frees it.
  void give_back(Block block) noexcept;

  uint64_t kept_bytes();

 private:
  std::mutex mutex_;
  Block kept_[kMostBlocks];  // the oldest first
  size_t count_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace rc::cpu
