// Memory of results that are gone, kept for the next ones: fresh pages cost
// more than most ops that fill them.
//
// Kept memory stays on the account that paid for it, but for small buffers,
// which are kept to save the calls that create one, and of which there are few.
// It is bounded, and given back when the account or the device has nothing
// left, and when the pool is closed. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "compute/account.h"
#include "runtime/device.h"

namespace rc::compute {

class BufferPool {
 public:
  // Buffers below kLeast are small.
  static constexpr uint64_t kLeast = uint64_t{1} << 14;
  static constexpr size_t kMostSmall = 16;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 29;
  static constexpr size_t kMostBuffers = 64;

  explicit BufferPool(std::shared_ptr<Account> account);
  ~BufferPool() { close(); }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // A buffer of at least so many bytes of the device, paid for. Its contents
  // are zero if `zeroed`, else anything. Throws what Account::reserve and
  // Device::create_buffer throw.
  std::shared_ptr<runtime::Buffer> take(runtime::Device& device, uint64_t bytes,
                                        bool zeroed);
  // Gives a buffer of take() back, of which nothing else is left.
  void give_back(std::shared_ptr<runtime::Buffer> buffer) noexcept;

  // Gives up what is kept; false: it was nothing.
  bool trim() noexcept;
  // From now on nothing is kept.
  void close() noexcept;

  const std::shared_ptr<Account>& account() const { return account_; }

 private:
  std::shared_ptr<runtime::Buffer> find(const runtime::Device& device,
                                        uint64_t bytes) noexcept;
  std::shared_ptr<runtime::Buffer> find_small(const runtime::Device& device,
                                              uint64_t bytes) noexcept;
  void keep_small(std::shared_ptr<runtime::Buffer>& buffer) noexcept;

  const std::shared_ptr<Account> account_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<runtime::Buffer>>
      kept_;  // the oldest first; has room for kMostBuffers
  uint64_t kept_bytes_ = 0;
  // The oldest first.
  std::shared_ptr<runtime::Buffer> small_[kMostSmall];
  size_t small_count_ = 0;
  bool closed_ = false;
};

}  // namespace rc::compute
