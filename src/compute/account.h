// The account that pays for memory and work of devices.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace rc::runtime {
class Device;
}

namespace rc::compute {

// Thread-safe. Memory is reserved before it is made, in use once it is there,
// and given back.
class Account {
 public:
  virtual ~Account() = default;
  // So many bytes count within the limit from now on. Throws RC_E_DEVICE_MEMORY
  // beyond it.
  virtual void reserve(uint64_t bytes) = 0;
  // Of those that were reserved so many are in use now; will not be.
  virtual void use(uint64_t bytes) noexcept = 0;
  virtual void cancel(uint64_t bytes) noexcept = 0;
  // Of those that were in use.
  virtual void give_back(uint64_t bytes) noexcept = 0;
  // Before work of a device: throws RC_E_QUOTA if its time is used up.
  virtual void need_time() = 0;
  // For so many nanoseconds a device has worked.
  virtual void charge_work(const runtime::Device& device,
                           int64_t nanoseconds) noexcept = 0;
};

// Bytes that are reserved as long as it lives, or until they are in use.
class Reservation {
 public:
  Reservation(Account& account, uint64_t bytes)
      : account_(&account), bytes_(bytes) {
    account.reserve(bytes);
  }
  ~Reservation() {
    if (account_ != nullptr) account_->cancel(bytes_);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // From now on the owner of the memory gives it back.
  void use() noexcept { std::exchange(account_, nullptr)->use(bytes_); }

 private:
  Account* account_;  // nullptr: in use
  const uint64_t bytes_;
};

// Bytes that are paid for as long as it lives: reserved, and from use() on in
// use.
class Paid {
 public:
  Paid(std::shared_ptr<Account> account, uint64_t bytes)
      : account_(std::move(account)),
        bytes_(bytes),
        reservation_(std::in_place, *account_, bytes) {}
  ~Paid() {
    if (!reservation_) account_->give_back(bytes_);
  }
  Paid(const Paid&) = delete;
  Paid& operator=(const Paid&) = delete;

  void use() noexcept {
    reservation_->use();
    reservation_.reset();
  }
  uint64_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<Account> account_;
  const uint64_t bytes_;
  std::optional<Reservation> reservation_;
};

}  // namespace rc::compute
