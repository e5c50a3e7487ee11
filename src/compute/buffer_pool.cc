#include "compute/buffer_pool.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rc::compute {
namespace {

// Below this a device need not be asked how much it has.
constexpr uint64_t kLarge = uint64_t{1} << 30;

// More than a device has must not be tried out.
void check_device_has(const runtime::Device& device, uint64_t bytes) {
  if (bytes < kLarge) return;
  const rc_plugin_device_info info = device.info();
  const uint64_t most =
      info.free_memory != 0 ? info.free_memory : info.total_memory;
  if (most == 0 || bytes <= most) return;
  fail(RC_E_DEVICE_MEMORY, "a tensor of ", bytes, " bytes; ", device.id(),
       " has ", most);
}

}  // namespace

BufferPool::BufferPool(std::shared_ptr<Account> account)
    : account_(std::move(account)) {
  kept_.reserve(kMostBuffers);
}

std::shared_ptr<runtime::Buffer> BufferPool::take(runtime::Device& device,
                                                  uint64_t bytes, bool zeroed) {
  if (bytes >= kLeast && !zeroed) {
    if (auto found = find(device, bytes)) return found;
  }
  Reservation reservation(*account_, bytes);
  std::shared_ptr<runtime::Buffer> buffer;
  if (bytes < kLeast && !zeroed) buffer = find_small(device, bytes);
  if (buffer != nullptr) {
    reservation.use();
    return buffer;
  }
  check_device_has(device, bytes);
  try {
    buffer = device.create_buffer(bytes);
  } catch (const Error& error) {
    const bool full = error.status() == RC_E_DEVICE_MEMORY ||
                      error.status() == RC_E_OUT_OF_MEMORY;
    if (!full || !trim()) throw;
    buffer = device.create_buffer(bytes);
  }
  reservation.use();
  return buffer;
}

std::shared_ptr<runtime::Buffer> BufferPool::find(const runtime::Device& device,
                                                  uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  // The newest is the likeliest to be in a processor's caches still.
  for (size_t i = kept_.size(); i-- > 0;) {
    const uint64_t found = kept_[i]->bytes();
    if (found < bytes || found - bytes > bytes / 8 ||
        &kept_[i]->device() != &device) {
      continue;
    }
    auto buffer = std::move(kept_[i]);
    kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(i));
    kept_bytes_ -= found;
    return buffer;
  }
  return nullptr;
}

// Results of a loop have the same few sizes.
std::shared_ptr<runtime::Buffer> BufferPool::find_small(
    const runtime::Device& device, uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  for (size_t i = small_count_; i-- > 0;) {
    if (small_[i]->bytes() != bytes || &small_[i]->device() != &device) {
      continue;
    }
    auto buffer = std::move(small_[i]);
    std::move(small_ + i + 1, small_ + small_count_, small_ + i);
    --small_count_;
    return buffer;
  }
  return nullptr;
}

// Takes the buffer, or the oldest in its place.
void BufferPool::keep_small(std::shared_ptr<runtime::Buffer>& buffer) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  std::shared_ptr<runtime::Buffer> oldest;
  if (small_count_ == kMostSmall) {
    oldest = std::move(small_[0]);
    std::move(small_ + 1, small_ + small_count_, small_);
    --small_count_;
  }
  small_[small_count_++] = std::move(buffer);
  buffer = std::move(oldest);
}

void BufferPool::give_back(std::shared_ptr<runtime::Buffer> buffer) noexcept {
  const uint64_t bytes = buffer->bytes();
  const bool lost = buffer->device().lost();
  if (bytes < kLeast) {
    if (!lost) keep_small(buffer);
    buffer.reset();
    account_->give_back(bytes);
    return;
  }
  const bool worth_it = bytes <= kMostBytes && !lost;
  while (worth_it) {
    std::shared_ptr<runtime::Buffer> oldest;
    {
      const std::lock_guard lock(mutex_);
      if (closed_) break;
      if (kept_.size() < kMostBuffers && kept_bytes_ <= kMostBytes - bytes) {
        kept_.push_back(std::move(buffer));
        kept_bytes_ += bytes;
        return;
      }
      oldest = std::move(kept_.front());
      kept_.erase(kept_.begin());
      kept_bytes_ -= oldest->bytes();
    }
    const uint64_t given_up = oldest->bytes();
    oldest.reset();
    account_->give_back(given_up);
  }
  buffer.reset();
  account_->give_back(bytes);
}

bool BufferPool::trim() noexcept {
  uint64_t bytes = 0;
  std::shared_ptr<runtime::Buffer> small[kMostSmall];
  {
    const std::lock_guard lock(mutex_);
    std::move(small_, small_ + small_count_, small);
    bytes += small_count_;
    small_count_ = 0;
  }
  for (auto& each : small) each.reset();
  for (;;) {
    std::shared_ptr<runtime::Buffer> last;
    {
      const std::lock_guard lock(mutex_);
      if (kept_.empty()) return bytes > 0;
      last = std::move(kept_.back());
      kept_.pop_back();
      kept_bytes_ -= last->bytes();
    }
    const uint64_t given_up = last->bytes();
    last.reset();
    account_->give_back(given_up);
    bytes += given_up;
  }
}

void BufferPool::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  trim();
}

}  // namespace rc::compute
