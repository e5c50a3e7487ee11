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

// Never destroyed: models may be released while the process ends.
Tenant::Ledger& Tenant::ledger() {
  static Ledger& instance = *new Ledger;
  return instance;
}

void Tenant::pay(const engine::Engine& engine) {
  limited_memory_ += limited_bytes(engine);
  memory_ += engine.memory().total();
  peak_memory_ = std::max(peak_memory_, memory_);
}

void Tenant::take_back(const engine::Engine& engine) noexcept {
  limited_memory_ -= limited_bytes(engine);
  memory_ -= engine.memory().total();
}

Tenant::Charge::Charge(std::shared_ptr<Tenant> tenant,
                       std::shared_ptr<engine::Engine> engine)
    : tenant_(std::move(tenant)), engine_(std::move(engine)) {
  const std::lock_guard ledger_lock(ledger().mutex);
  const std::lock_guard lock(tenant_->mutex_);
  const auto known = tenant_->engines_.find(engine_.get());
  if (known != tenant_->engines_.end()) {
    ++known->second;
    return;
  }
  const auto holders = ledger().holders.try_emplace(engine_.get()).first;
  const bool pays = holders->second.empty();
  try {
    const uint64_t bytes = limited_bytes(*engine_);
    const uint64_t limit = tenant_->memory_limit_;
    if (pays && limit != 0 &&
        (bytes > limit || tenant_->limited_memory_ > limit - bytes)) {
      fail(RC_E_DEVICE_MEMORY, "the model takes ", bytes, " bytes of ",
           engine_->device()->id(),
           "; of the backend handle's memory_limit of ", limit, " bytes, ",
           tenant_->limited_memory_, " are in use");
    }
    holders->second.reserve(holders->second.size() + 1);
    tenant_->engines_.emplace(engine_.get(), 1);
  } catch (...) {
    if (pays) ledger().holders.erase(holders);
    throw;
  }
  holders->second.push_back(tenant_.get());
  if (pays) tenant_->pay(*engine_);
}

Tenant::Charge::~Charge() {
  const std::lock_guard ledger_lock(ledger().mutex);
  {
    const std::lock_guard lock(tenant_->mutex_);
    const auto known = tenant_->engines_.find(engine_.get());
    if (--known->second > 0) return;
    tenant_->engines_.erase(known);
  }
  const auto entry = ledger().holders.find(engine_.get());
  std::vector<Tenant*>& holders = entry->second;
  const bool paid = holders.front() == tenant_.get();
  std::erase(holders, tenant_.get());
  if (paid) {
    const std::lock_guard lock(tenant_->mutex_);
    tenant_->take_back(*engine_);
  }
  if (holders.empty()) {
    ledger().holders.erase(entry);
  } else if (paid) {
    const std::lock_guard lock(holders.front()->mutex_);
    holders.front()->pay(*engine_);
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
