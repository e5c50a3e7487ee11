// Tenants: their limits, and how much of these is used, over all of their
// backend handles. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/handle.h"
#include "compute/buffer_pool.h"
#include "engine/tenant.h"
#include "runcible/tenant.h"
#include "runtime/backend_spec.h"

namespace rc::api {

// Memory within a limit: bytes in use, those that are reserved for what is
// being made or about to be loaded, and those in use that are about to be given
// back.
struct LimitedMemory {
  uint64_t used = 0;
  uint64_t reserved = 0;
  uint64_t leaving = 0;

  uint64_t counted() const {
    return used - (used < leaving ? used : leaving) + reserved;
  }
  // `limit` 0: no limit.
  bool has_room(uint64_t bytes, uint64_t limit) const {
    return limit == 0 || (bytes <= limit && counted() <= limit - bytes);
  }
};

class HandleAccount;

// Bytes on a device, times the seconds that they lay there.
struct MemoryUsage {
  std::string device;
  bool is_gpu = false;
  double byte_seconds = 0;
};

struct TenantUsage {
  std::string name;
  double weight = 1;
  rc_tenant_usage_report totals = RC_TENANT_USAGE_REPORT_INIT;
  std::vector<engine::ModelUsage> models;
  std::vector<MemoryUsage> memory;
};

class Tenant : public std::enable_shared_from_this<Tenant> {
 public:
  // Without limits.
  Tenant() = default;
  explicit Tenant(const rc_tenant_options& options);
  // One that is among all().
  static std::shared_ptr<Tenant> create(const rc_tenant_options& options);
  static std::vector<std::shared_ptr<Tenant>> all();

  const std::string& name() const { return name_; }
  // For messages: "the tenant 'acme'".
  std::string subject() const;
  // As engines know it.
  const std::shared_ptr<engine::Tenant>& payer() const { return payer_; }

  void change(const rc_tenant_options& options);

  // Things of which a tenant may have only so many.
  enum class Counted { kRequests, kSessions, kModels };
  static constexpr size_t kCounted = 3;
  // The right to have one, as long as it lives.
  class Slot {
   public:
    // Throws RC_E_QUOTA.
    Slot(std::shared_ptr<Tenant> tenant, Counted counted);
    ~Slot() { release(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    void release() noexcept;

   private:
    std::atomic<bool> held_{true};
    const std::shared_ptr<Tenant> tenant_;
    const Counted counted_;
  };

  // Throw RC_E_QUOTA if a limit per minute is used up: any of them; that of
  // the time of devices.
  void check_rates();
  void check_time();

  // Empty: all devices.
  std::vector<runtime::SpecItem> devices() const;

  // Memory of the handles, of all devices and of those that they opened, under
  // the mutex, which is also that of the accounts of the handles.
  std::mutex& mutex() const { return mutex_; }
  LimitedMemory& memory() { return memory_; }
  uint64_t memory_limit() const { return memory_limit_; }
  void count(int64_t bytes) { all_memory_ += static_cast<uint64_t>(bytes); }
  void count_refused() noexcept { ++refused_; }
  // The accounts of its handles, as long as they live.
  void add(HandleAccount& account);
  void remove(HandleAccount& account) noexcept;
  // Gives up memory that their tensors do not need now.
  void trim() const;

  // Charges bytes that lay on a device, times the seconds that they did.
  void add_memory_time(const engine::DeviceUsage& device,
                       double byte_seconds) noexcept;

  // Returns a snapshot of what it has used so far. Throws std::bad_alloc.
  TenantUsage usage() const;

 private:
  void need_rate(const std::optional<engine::Tenant::Exhausted>& exhausted);
  // Takes what is set of checked options.
  void set(const rc_tenant_options& options);

  std::string name_;
  const std::shared_ptr<engine::Tenant> payer_ =
      std::make_shared<engine::Tenant>();
  std::atomic<uint64_t> refused_{0};
  mutable std::mutex mutex_;
  int64_t limits_[kCounted] = {};  // 0: none
  int64_t counts_[kCounted] = {};
  engine::Tenant::Rates rates_;
  std::vector<runtime::SpecItem> devices_;
  LimitedMemory memory_;
  uint64_t memory_limit_ = 0;
  uint64_t all_memory_ = 0;
  std::vector<HandleAccount*> accounts_;
  mutable std::mutex memory_usage_mutex_;  // taken last
  std::vector<MemoryUsage> memory_usage_;
};

}  // namespace rc::api

struct rc_tenant {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kTenant;
  explicit rc_tenant(std::shared_ptr<rc::api::Tenant> made)
      : tenant(std::move(made)) {}

  const std::shared_ptr<rc::api::Tenant> tenant;
};
