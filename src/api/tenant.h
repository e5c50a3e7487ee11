// The limits and the meter of a backend handle: the resources that it may use
// and has used. Shared by the handle, the models loaded through it, their
// sessions and requests. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compute/tensor.h"
#include "engine/engine.h"
#include "runtime/explain.h"

namespace rc::api {

class LoadedModel;

class Tenant : public compute::Account,
               public std::enable_shared_from_this<Tenant> {
 public:
  // max_requests and memory_limit (bytes of the handle's device): 0 is no
  // limit.
  Tenant(int32_t max_requests, uint64_t memory_limit)
      : payer_(std::make_shared<engine::Tenant>()),
        max_requests_(max_requests),
        memory_limit_(memory_limit) {}

  // As engines know it.
  const std::shared_ptr<engine::Tenant>& payer() const { return payer_; }

  // Microseconds that devices have worked for it.
  uint64_t compute_us() const {
    return payer_->meter.compute_us + static_cast<uint64_t>(op_ns_ / 1000);
  }

  // The right to have one request in flight, as long as it lives.
  class Slot {
   public:
    explicit Slot(std::shared_ptr<Tenant> tenant);  // throws RC_E_QUOTA
    ~Slot() { release(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    void release() noexcept;

   private:
    std::atomic<bool> held_{true};
    std::shared_ptr<Tenant> tenant_;
  };

  // Memory within the limit that is kept for models which are about to be
  // loaded.
  class SetAside {
   public:
    // Throws RC_E_DEVICE_MEMORY if so much is not left.
    SetAside(std::shared_ptr<Tenant> tenant, uint64_t bytes,
             const std::string& device);
    ~SetAside();
    SetAside(const SetAside&) = delete;
    SetAside& operator=(const SetAside&) = delete;

   private:
    friend class Tenant;
    const std::shared_ptr<Tenant> tenant_;
    uint64_t bytes_;  // that are left of it; used by one thread
  };

  // Holds an engine for this tenant, and with it the resources of the engine:
  // its weights, which engines of the same file share, and its private memory.
  // A resource is paid once, by the tenant that has held it longest; other
  // holders pay nothing. When the payer releases it, the next tenant pays.
  class Charge {
   public:
    // Takes bytes from `from` first, if it is given. Throws RC_E_DEVICE_MEMORY
    // if the rest exceeds the limit.
    Charge(std::shared_ptr<Tenant> tenant,
           std::shared_ptr<engine::Engine> engine, SetAside* from = nullptr);
    ~Charge();
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

   private:
    std::shared_ptr<Tenant> tenant_;
    std::shared_ptr<engine::Engine> engine_;
  };

  // Models on the account, as long as they live.
  void add(const std::shared_ptr<LoadedModel>& model);
  std::vector<std::shared_ptr<LoadedModel>> loaded_models() const;

  // While the handle is switched: what its models take of the device that it
  // leaves does not count within the limit.
  class SwitchAllowance {
   public:
    explicit SwitchAllowance(std::shared_ptr<Tenant> tenant);
    ~SwitchAllowance();
    SwitchAllowance(const SwitchAllowance&) = delete;
    SwitchAllowance& operator=(const SwitchAllowance&) = delete;

   private:
    const std::shared_ptr<Tenant> tenant_;
  };

  // Memory of tensors.
  void reserve(uint64_t bytes) override;
  void use(uint64_t bytes) noexcept override;
  void cancel(uint64_t bytes) noexcept override;
  void give_back(uint64_t bytes) noexcept override;
  void charge_work(int64_t nanoseconds) noexcept override {
    op_ns_ += nanoseconds;
  }

  // Memory that the tenant's tensors do not need now: given up before anything
  // is refused for the limit.
  void set_spare(std::weak_ptr<compute::BufferPool> spare) {
    const std::lock_guard lock(mutex_);
    spare_ = std::move(spare);
  }

  // Options with what is left of the memory limit; good while this lives.
  engine::EngineOptions limit(engine::EngineOptions options,
                              const SetAside* own = nullptr) const;

  // The rest of the memory limit, with the memory that was set aside for the
  // caller, for EngineOptions: 0 is no limit, so that 1 means that nothing is
  // left. Spare memory is given up for it.
  uint64_t memory_left(const SetAside* own = nullptr) const;
  // Of all devices together.
  uint64_t memory() const;
  uint64_t peak_memory() const;
  // Whether an engine, or a weight, is on the account already.
  bool holds(const engine::Engine& engine) const;
  bool holds(const runtime::Weight& weight) const;
  // Of the models on the account, for rc_backend_explain.
  std::vector<runtime::Explanation::Model> models() const;

 private:
  // A tenant of a resource.
  struct Holder {
    Tenant* tenant;
    bool limited;     // the resource lies on the tenant's own device
    int64_t engines;  // of the tenant's that use it
  };
  struct Ledger {
    std::mutex mutex;  // taken before a tenant's
    // By resource, in the order in which they came: the first one pays.
    std::map<const void*, std::vector<Holder>> holders;
  };
  static Ledger& ledger();

  // Amounts that were not paid yet. Under the mutex of the ledger.
  struct Bill {
    uint64_t bytes = 0;
    uint64_t limited = 0;  // of those, on the tenant's own device
  };
  void hold(const model::Resource& resource, bool limited, Bill& bill);
  void let_go(const model::Resource& resource, bool paid) noexcept;

  // Throws RC_E_DEVICE_MEMORY beyond the limit.
  void pay_within_limit(const Bill& bill, const std::string& device,
                        SetAside* from);
  // A lock of mutex_. So many bytes more of the device are within the limit
  // then, if giving up spare memory can bring that about.
  std::unique_lock<std::mutex> make_room(uint64_t bytes) const;
  bool has_room(uint64_t bytes) const;  // under the mutex, as the next three
  uint64_t counted() const;
  void count(uint64_t bytes, uint64_t limited) noexcept;
  std::shared_ptr<compute::BufferPool> spare() const { return spare_.lock(); }
  void pay(uint64_t bytes, bool limited) noexcept;
  void take_back(uint64_t bytes, bool limited) noexcept;

  const std::shared_ptr<engine::Tenant> payer_;
  const int32_t max_requests_;
  const uint64_t memory_limit_;
  std::weak_ptr<compute::BufferPool> spare_;
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> op_ns_{0};  // of tensors and graphs, on all devices
  mutable std::mutex mutex_;
  std::map<const engine::Engine*, int64_t> engines_;  // times loaded
  std::vector<std::weak_ptr<LoadedModel>> models_;
  uint64_t leaving_ = 0;         // of the next
  uint64_t limited_memory_ = 0;  // of the handle's device
  // The same, for what is being made or about to be loaded.
  uint64_t reserved_ = 0;
  uint64_t memory_ = 0;
  uint64_t peak_memory_ = 0;
};

}  // namespace rc::api
