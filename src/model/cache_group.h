// The caches of a resident model that are cut alike: into pages, pages of
// layers with a window, or slots. Numbers count these, bytes are those of all
// the caches together, one cache after the other, on whichever device they lie.
//
// Belongs to the thread of the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device.h"

namespace rc::model {

class CacheGroup {
 public:
  // `name` is that of one of them, for messages: "page".
  CacheGroup(const char* name, int64_t count) : name_(name), count_(count) {}
  // The cache has `count` equal parts.
  void add(std::shared_ptr<runtime::Buffer> cache);

  int64_t count() const { return count_; }
  // Of one page or slot.
  uint64_t bytes() const { return bytes_; }

  // Each throws RC_E_INVALID_ARGUMENT for a number or size out of range, and
  // what the device throws.
  void copy(int64_t target, int64_t source);
  void download(int64_t number, std::span<std::byte> target) const;
  void upload(int64_t number, std::span<const std::byte> source);

 private:
  struct Part {
    std::shared_ptr<runtime::Buffer> cache;
    uint64_t bytes;  // of one page or slot
  };
  void check(int64_t number) const;
  void check_size(size_t bytes) const;

  const char* name_;
  int64_t count_;
  uint64_t bytes_ = 0;
  std::vector<Part> parts_;
};

}  // namespace rc::model
