#include "api/tenant.h"

#include <algorithm>

#include "base/error.h"

namespace rc::api {

Tenant::Slot::Slot(std::shared_ptr<Tenant> tenant)
    : tenant_(std::move(tenant)) {
  const int64_t before = tenant_->requests_.fetch_add(1);
  if (tenant_->max_requests_ != 0 && before >= tenant_->max_requests_) {
    tenant_->requests_.fetch_sub(1);
    fail(RC_E_QUOTA, "the backend handle has ", before,
         " requests in flight and max_requests is ", tenant_->max_requests_,
         "; wait for one to end");
  }
}

void Tenant::Slot::release() noexcept {
  if (held_.exchange(false)) tenant_->requests_.fetch_sub(1);
}

Tenant::Charge::Charge(std::shared_ptr<Tenant> tenant,
                       std::shared_ptr<engine::Engine> engine)
    : tenant_(std::move(tenant)), engine_(std::move(engine)) {
  std::lock_guard lock(tenant_->mutex_);
  const auto known = tenant_->engines_.find(engine_.get());
  if (known != tenant_->engines_.end()) {
    ++known->second;
    return;
  }
  const uint64_t bytes = engine_->memory().total();
  const uint64_t limit = tenant_->memory_limit_;
  if (limit != 0 && (bytes > limit || tenant_->memory_ > limit - bytes)) {
    fail(RC_E_DEVICE_MEMORY, "the model takes ", bytes,
         " bytes of device memory; of the backend handle's memory_limit of ",
         limit, " bytes, ", tenant_->memory_, " are in use");
  }
  tenant_->engines_.emplace(engine_.get(), 1);
  tenant_->memory_ += bytes;
  tenant_->peak_memory_ = std::max(tenant_->peak_memory_, tenant_->memory_);
}

Tenant::Charge::~Charge() {
  std::lock_guard lock(tenant_->mutex_);
  const auto known = tenant_->engines_.find(engine_.get());
  if (--known->second == 0) {
    tenant_->memory_ -= engine_->memory().total();
    tenant_->engines_.erase(known);
  }
}

uint64_t Tenant::memory_left() const {
  if (memory_limit_ == 0) return 0;
  std::lock_guard lock(mutex_);
  return memory_ < memory_limit_ ? memory_limit_ - memory_ : 1;
}

uint64_t Tenant::memory() const {
  std::lock_guard lock(mutex_);
  return memory_;
}

uint64_t Tenant::peak_memory() const {
  std::lock_guard lock(mutex_);
  return peak_memory_;
}

}  // namespace rc::api
