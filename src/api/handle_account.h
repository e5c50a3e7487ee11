// The account of a backend handle: its limits within those of its tenant, and
// the resources that it has used. Shared by the handle, the models loaded
// through it, their sessions and requests. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/tenant.h"
#include "compute/tensor.h"
#include "engine/engine.h"
#include "runtime/explain.h"

namespace rc::api {

class LoadedModel;

class HandleAccount : public compute::Account,
                      public std::enable_shared_from_this<HandleAccount> {
 public:
  using Clock = std::chrono::steady_clock;

  // max_requests and memory_limit (bytes of the handle's device): 0 is no
  // limit.
  HandleAccount(std::shared_ptr<Tenant> tenant, int32_t max_requests,
                uint64_t memory_limit)
      : tenant_(std::move(tenant)),
        engine_account_(std::make_shared<engine::Account>(tenant_->payer())),
        max_requests_(max_requests),
        memory_limit_(memory_limit),
        mutex_(tenant_->mutex()) {
    tenant_->add(*this);
  }
  ~HandleAccount() override;

  const std::shared_ptr<Tenant>& tenant() const { return tenant_; }
  // As engines know it.
  const std::shared_ptr<engine::Account>& engine_account() const {
    return engine_account_;
  }

  // Microseconds that devices have worked for it.
  uint64_t compute_us() const {
    return engine_account_->meter.compute_us +
           static_cast<uint64_t>(op_ns_ / 1000);
  }

  // The right to have one request in flight, as long as it lives.
  class Slot {
   public:
    // Throws RC_E_QUOTA for a limit of the handle or of its tenant, of those
    // per minute only if the request `uses_tokens` or the time of devices.
    explicit Slot(std::shared_ptr<HandleAccount> account,
                  bool uses_tokens = true);
    ~Slot() { release(); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    void release() noexcept;

   private:
    std::atomic<bool> held_{true};
    std::shared_ptr<HandleAccount> account_;
    std::optional<Tenant::Slot> of_tenant_;
  };

  // Memory within the limit that is kept for models which are about to be
  // loaded.
  class SetAside {
   public:
    // Throws RC_E_DEVICE_MEMORY if so much is not left.
    SetAside(std::shared_ptr<HandleAccount> account, uint64_t bytes,
             const std::string& device);
    ~SetAside();
    SetAside(const SetAside&) = delete;
    SetAside& operator=(const SetAside&) = delete;

   private:
    friend class HandleAccount;
    const std::shared_ptr<HandleAccount> account_;
    uint64_t bytes_;  // that are left of it; used by one thread
  };

  // Holds an engine for this account, and with it the resources of the engine:
  // its weights, which engines of the same file share, and its private memory.
  // A resource is paid once, by the account that has held it longest; other
  // holders pay nothing. When the payer releases it, the next account pays.
  class Charge {
   public:
    // Takes bytes from `from` first, if it is given. Throws RC_E_DEVICE_MEMORY
    // if the rest exceeds the limit.
    Charge(std::shared_ptr<HandleAccount> account,
           std::shared_ptr<engine::Engine> engine, SetAside* from = nullptr);
    ~Charge();
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

   private:
    std::shared_ptr<HandleAccount> account_;
    std::shared_ptr<engine::Engine> engine_;
  };

  // Charges the memory that is held now to the tenants that hold it, until now.
  static void charge_memory() noexcept;

  // Models on the account, as long as they live.
  void add(const std::shared_ptr<LoadedModel>& model);
  std::vector<std::shared_ptr<LoadedModel>> loaded_models() const;

  // While the handle is switched: what its models take of the device that it
  // leaves does not count within the limit.
  class SwitchAllowance {
   public:
    explicit SwitchAllowance(std::shared_ptr<HandleAccount> account);
    ~SwitchAllowance();
    SwitchAllowance(const SwitchAllowance&) = delete;
    SwitchAllowance& operator=(const SwitchAllowance&) = delete;

   private:
    const std::shared_ptr<HandleAccount> account_;
  };

  // Memory of tensors.
  void reserve(uint64_t bytes) override;
  void use(uint64_t bytes) noexcept override;
  void cancel(uint64_t bytes) noexcept override;
  void give_back(uint64_t bytes) noexcept override;
  void need_time() override { tenant_->check_time(); }
  void charge_work(const runtime::Device& device,
                   int64_t nanoseconds) noexcept override;

  // The device of the handle, `device` being its name, and its memory there
  // that tensors do not need now.
  void set_home(const compute::Context& home,
                engine::DeviceUsage device) noexcept;
  // Under the mutex: returns that memory, which is given up before anything is
  // refused for a limit.
  std::shared_ptr<compute::BufferPool> spare() const { return spare_.lock(); }
  // Under the mutex: adds the time of ops, and of the memory of tensors, to the
  // tenant's usage. Throws std::bad_alloc.
  void hand_on_time();

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
  // One that holds a resource.
  struct Holder {
    HandleAccount* account;
    bool limited;     // the resource lies on the account's own device
    int64_t engines;  // of the account's that use it
  };
  struct Resource {
    // In the order in which they came: the first one's limits count it.
    std::vector<Holder> holders;
    uint64_t bytes = 0;
    engine::DeviceUsage device;  // its name
    Clock::time_point since;     // its tenants were charged until then

    // Charges its bytes, for the time since then, in equal parts to the tenants
    // that hold it.
    void charge(Clock::time_point now) noexcept;
  };
  struct Ledger {
    std::mutex mutex;  // taken before an account's
    std::map<const void*, Resource> resources;
  };
  static Ledger& ledger();

  // Amounts that were not paid yet. Under the mutex of the ledger.
  struct Bill {
    uint64_t bytes = 0;
    uint64_t limited = 0;  // of those, on the account's own device
  };
  void hold(const model::Resource& resource, bool limited, Bill& bill);
  void let_go(const model::Resource& resource, bool paid) noexcept;
  // Under the mutex: the same for the memory of tensors, and the time of a
  // device that is not the handle's.
  void charge_tensors() noexcept;
  engine::DeviceUsage& usage_of_other(const runtime::Device& device);

  // Throws RC_E_DEVICE_MEMORY beyond the limit.
  void pay_within_limit(const Bill& bill, const std::string& device,
                        SetAside* from);
  // A lock of mutex_. So many bytes more of the device are within the limit
  // then, if giving up spare memory can bring that about.
  std::unique_lock<std::mutex> make_room(uint64_t bytes) const;
  // Under the mutex, as the next six.
  bool has_room(uint64_t bytes) const;
  // Throws RC_E_DEVICE_MEMORY, with the limit that has no room for `what`, such
  // as "a tensor takes ".
  [[noreturn]] void refuse(const char* what, uint64_t bytes,
                           const std::string& device) const;
  void reserve_more(int64_t bytes) noexcept;
  // So many bytes are about to be given back.
  void leave(uint64_t bytes) noexcept;
  void count(uint64_t bytes, uint64_t limited) noexcept;
  void pay(uint64_t bytes, bool limited) noexcept;
  void take_back(uint64_t bytes, bool limited) noexcept;

  const std::shared_ptr<Tenant> tenant_;
  const std::shared_ptr<engine::Account> engine_account_;
  const int32_t max_requests_;
  const uint64_t memory_limit_;
  std::weak_ptr<compute::BufferPool> spare_;
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> op_ns_{0};  // of tensors and graphs, on all devices
  // Of that time, the part that was handed on or belongs to other devices than
  // the handle's, and the time of those that was not handed on yet. Under the
  // mutex.
  int64_t handed_on_ns_ = 0;
  std::vector<engine::DeviceUsage> others_;
  std::atomic<const runtime::Device*> home_{nullptr};
  engine::DeviceUsage home_usage_;  // its name
  uint64_t tensor_bytes_ = 0;       // charged until that time
  Clock::time_point tensors_since_;
  std::mutex& mutex_;                                 // the tenant's
  std::map<const engine::Engine*, int64_t> engines_;  // times loaded
  std::vector<std::weak_ptr<LoadedModel>> models_;
  LimitedMemory limited_;  // of the handle's device
  uint64_t memory_ = 0;
  uint64_t peak_memory_ = 0;
};

}  // namespace rc::api
