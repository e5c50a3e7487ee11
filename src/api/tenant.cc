#include "api/tenant.h"

#include <algorithm>

#include "base/error.h"

namespace rc::api {
namespace {

uint64_t limited_bytes(const engine::Engine& engine) {
  return engine.memory().devices.front().total();
}

}  // namespace

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
  const uint64_t bytes = limited_bytes(*engine_);
  const uint64_t limit = tenant_->memory_limit_;
  if (limit != 0 &&
      (bytes > limit || tenant_->limited_memory_ > limit - bytes)) {
    fail(RC_E_DEVICE_MEMORY, "the model takes ", bytes, " bytes of ",
         engine_->device()->id(), "; of the backend handle's memory_limit of ",
         limit, " bytes, ", tenant_->limited_memory_, " are in use");
  }
  tenant_->engines_.emplace(engine_.get(), 1);
  tenant_->limited_memory_ += bytes;
  tenant_->memory_ += engine_->memory().total();
  tenant_->peak_memory_ = std::max(tenant_->peak_memory_, tenant_->memory_);
}

Tenant::Charge::~Charge() {
  std::lock_guard lock(tenant_->mutex_);
  const auto known = tenant_->engines_.find(engine_.get());
  if (--known->second == 0) {
    tenant_->limited_memory_ -= limited_bytes(*engine_);
    tenant_->memory_ -= engine_->memory().total();
    tenant_->engines_.erase(known);
  }
}

void Tenant::take(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const uint64_t limit = memory_limit_;
  if (limit != 0 && (bytes > limit || limited_memory_ > limit - bytes)) {
    fail(RC_E_DEVICE_MEMORY, "a tensor takes ", bytes,
         " bytes of device memory; of the backend handle's memory_limit of ",
         limit, " bytes, ", limited_memory_, " are in use");
  }
  limited_memory_ += bytes;
  memory_ += bytes;
  peak_memory_ = std::max(peak_memory_, memory_);
}

void Tenant::give_back(uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  limited_memory_ -= bytes;
  memory_ -= bytes;
}

uint64_t Tenant::memory_left() const {
  if (memory_limit_ == 0) return 0;
  std::lock_guard lock(mutex_);
  return limited_memory_ < memory_limit_ ? memory_limit_ - limited_memory_ : 1;
}

bool Tenant::holds(const engine::Engine& engine) const {
  std::lock_guard lock(mutex_);
  return engines_.contains(&engine);
}

std::vector<runtime::Explanation::Model> Tenant::models() const {
  std::lock_guard lock(mutex_);
  std::vector<runtime::Explanation::Model> models;
  for (const auto& [engine, times] : engines_) {
    runtime::Explanation::Model& model = models.emplace_back();
    model.file = engine->file().file().name();
    model.fallbacks = engine->fallbacks();
    for (const model::DeviceMemory& here : engine->memory().devices) {
      if (here.total() == 0) continue;
      model.parts.push_back({here.device->id(), here.first_layer, here.layers,
                             here.embedding, here.output, here.weights,
                             here.cache, here.scratch});
    }
  }
  return models;
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
