#include "model/cache_group.h"

#include <utility>

#include "base/error.h"

namespace rc::model {

void CacheGroup::add(std::shared_ptr<runtime::Buffer> cache) {
  const uint64_t bytes = cache->bytes() / static_cast<uint64_t>(count_);
  parts_.push_back({std::move(cache), bytes});
  bytes_ += bytes;
}

void CacheGroup::copy(int64_t target, int64_t source) {
  check(target);
  check(source);
  if (target == source) return;
  for (const auto& [cache, bytes] : parts_) {
    cache->copy(static_cast<uint64_t>(target) * bytes,
                static_cast<uint64_t>(source) * bytes, bytes);
  }
}

void CacheGroup::download(int64_t number, std::span<std::byte> target) const {
  check(number);
  check_size(target.size());
  std::byte* end = target.data();
  for (const auto& [cache, bytes] : parts_) {
    cache->download(static_cast<uint64_t>(number) * bytes, end, bytes);
    end += bytes;
  }
}

void CacheGroup::upload(int64_t number, std::span<const std::byte> source) {
  check(number);
  check_size(source.size());
  const std::byte* next = source.data();
  for (const auto& [cache, bytes] : parts_) {
    cache->upload(static_cast<uint64_t>(number) * bytes, next, bytes);
    next += bytes;
  }
}

void CacheGroup::check(int64_t number) const {
  if (number < 0 || number >= count_) {
    fail(RC_E_INVALID_ARGUMENT, name_, " ", number, " is not within 0 to ",
         count_ - 1);
  }
}

void CacheGroup::check_size(size_t bytes) const {
  if (bytes != bytes_) {
    fail(RC_E_INVALID_ARGUMENT, "a ", name_, " has ", bytes_, " bytes, not ",
         bytes);
  }
}

}  // namespace rc::model
