#include "api/tenant.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace rc::api {

Tenant::Slot::Slot(std::shared_ptr<Tenant> tenant)
    : tenant_(std::move(tenant)) {
  // A refused request is not counted even for a moment, in which another
  // request would be refused for it.
  int64_t before = tenant_->requests_;
  do {
    if (tenant_->max_requests_ != 0 && before >= tenant_->max_requests_) {
      fail(RC_E_QUOTA, "the backend handle has ", before,
           " requests in flight and max_requests is ", tenant_->max_requests_,
           "; wait for one to end");
    }
  } while (!tenant_->requests_.compare_exchange_weak(before, before + 1));
}

void Tenant::Slot::release() noexcept {
  if (held_.exchange(false)) tenant_->requests_.fetch_sub(1);
}

// Never destroyed: models may be released while the process ends.
Tenant::Ledger& Tenant::ledger() {
  static Ledger& instance = *new Ledger;
  return instance;
}

void Tenant::pay(uint64_t bytes, bool limited) noexcept {
  const std::lock_guard lock(mutex_);
  count(bytes, limited ? bytes : 0);
}

void Tenant::count(uint64_t bytes, uint64_t limited) noexcept {
  limited_memory_ += limited;
  memory_ += bytes;
  peak_memory_ = std::max(peak_memory_, memory_);
}

void Tenant::take_back(uint64_t bytes, bool limited) noexcept {
  const std::lock_guard lock(mutex_);
  if (limited) limited_memory_ -= bytes;
  memory_ -= bytes;
}

void Tenant::pay_within_limit(const Bill& bill, const std::string& device,
                              SetAside* from) {
  const uint64_t own =
      from == nullptr ? 0 : std::min(from->bytes_, bill.limited);
  const auto lock = make_room(bill.limited - own);
  if (!has_room(bill.limited - own)) {
    fail(RC_E_DEVICE_MEMORY, "the model takes ", bill.limited, " bytes of ",
         device, "; of the backend handle's memory_limit of ", memory_limit_,
         " bytes, ", counted(), " are in use");
  }
  if (from != nullptr) from->bytes_ -= own;
  reserved_ -= own;
  count(bill.bytes, bill.limited);
}

void Tenant::hold(const model::Resource& resource, bool limited, Bill& bill) {
  std::map<const void*, std::vector<Holder>>& all = ledger().holders;
  const auto [entry, added] = all.try_emplace(resource.identity);
  std::vector<Holder>& holders = entry->second;
  for (Holder& holder : holders) {
    if (holder.tenant != this) continue;
    ++holder.engines;
    return;
  }
  try {
    holders.push_back({this, limited, 1});
  } catch (...) {
    if (added) all.erase(entry);
    throw;
  }
  if (!added) return;
  bill.bytes += resource.bytes;
  if (limited) bill.limited += resource.bytes;
}

void Tenant::let_go(const model::Resource& resource, bool paid) noexcept {
  const auto entry = ledger().holders.find(resource.identity);
  std::vector<Holder>& holders = entry->second;
  const auto own =
      std::find_if(holders.begin(), holders.end(),
                   [&](const Holder& holder) { return holder.tenant == this; });
  if (--own->engines > 0) return;
  const bool paid_by_this = paid && own == holders.begin();
  if (paid_by_this) take_back(resource.bytes, own->limited);
  holders.erase(own);
  if (holders.empty()) {
    ledger().holders.erase(entry);
  } else if (paid_by_this) {
    const Holder& next = holders.front();
    next.tenant->pay(resource.bytes, next.limited);
  }
}

Tenant::Charge::Charge(std::shared_ptr<Tenant> tenant,
                       std::shared_ptr<engine::Engine> engine, SetAside* from)
    : tenant_(std::move(tenant)), engine_(std::move(engine)) {
  const std::lock_guard ledger_lock(ledger().mutex);
  {
    const std::lock_guard lock(tenant_->mutex_);
    if (++tenant_->engines_[engine_.get()] > 1) return;
  }
  const std::vector<model::Resource>& resources = engine_->resources();
  size_t held = 0;
  try {
    Bill bill;
    for (; held < resources.size(); ++held) {
      tenant_->hold(resources[held],
                    resources[held].device == engine_->device().get(), bill);
    }
    tenant_->pay_within_limit(bill, engine_->device()->id(), from);
  } catch (...) {
    for (size_t i = 0; i < held; ++i) tenant_->let_go(resources[i], false);
    const std::lock_guard lock(tenant_->mutex_);
    tenant_->engines_.erase(engine_.get());
    throw;
  }
}

Tenant::Charge::~Charge() {
  const std::lock_guard ledger_lock(ledger().mutex);
  {
    const std::lock_guard lock(tenant_->mutex_);
    const auto known = tenant_->engines_.find(engine_.get());
    if (--known->second > 0) return;
    tenant_->engines_.erase(known);
  }
  for (const model::Resource& resource : engine_->resources()) {
    tenant_->let_go(resource, true);
  }
}

void Tenant::reserve(uint64_t bytes) {
  const auto lock = make_room(bytes);
  if (!has_room(bytes)) {
    fail(RC_E_DEVICE_MEMORY, "a tensor takes ", bytes,
         " bytes of device memory; of the backend handle's memory_limit of ",
         memory_limit_, " bytes, ", counted(), " are in use");
  }
  reserved_ += bytes;
}

void Tenant::use(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reserved_ -= bytes;
  count(bytes, bytes);
}

void Tenant::cancel(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reserved_ -= bytes;
}

void Tenant::give_back(uint64_t bytes) noexcept { take_back(bytes, true); }

bool Tenant::has_room(uint64_t bytes) const {
  return memory_limit_ == 0 ||
         (bytes <= memory_limit_ && counted() <= memory_limit_ - bytes);
}

uint64_t Tenant::counted() const {
  return limited_memory_ - std::min(limited_memory_, leaving_) + reserved_;
}

std::unique_lock<std::mutex> Tenant::make_room(uint64_t bytes) const {
  std::unique_lock lock(mutex_);
  if (has_room(bytes)) return lock;
  const auto given_up = spare();
  lock.unlock();
  if (given_up != nullptr) given_up->trim();
  lock.lock();
  return lock;
}

uint64_t Tenant::memory_left(const SetAside* own) const {
  std::unique_lock lock(mutex_);
  if (const auto given_up = spare()) {
    lock.unlock();
    given_up->trim();
    lock.lock();
  }
  if (memory_limit_ == 0) return 0;
  const uint64_t by_others = counted() - (own == nullptr ? 0 : own->bytes_);
  return by_others < memory_limit_ ? memory_limit_ - by_others : 1;
}

engine::EngineOptions Tenant::limit(engine::EngineOptions options,
                                    const SetAside* own) const {
  options.memory_limit = memory_left(own);
  options.has_weight = [this](const runtime::Weight& weight) {
    return holds(weight);
  };
  return options;
}

void Tenant::add(const std::shared_ptr<LoadedModel>& model) {
  const std::lock_guard lock(mutex_);
  std::erase_if(models_, [](const auto& known) { return known.expired(); });
  models_.push_back(model);
}

std::vector<std::shared_ptr<LoadedModel>> Tenant::loaded_models() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LoadedModel>> found;
  for (const auto& known : models_) {
    if (auto model = known.lock()) found.push_back(std::move(model));
  }
  return found;
}

Tenant::SetAside::SetAside(std::shared_ptr<Tenant> tenant, uint64_t bytes,
                           const std::string& device)
    : tenant_(std::move(tenant)), bytes_(bytes) {
  const auto lock = tenant_->make_room(bytes);
  if (!tenant_->has_room(bytes)) {
    fail(RC_E_DEVICE_MEMORY, "the models take ", bytes, " bytes of ", device,
         "; of the backend handle's memory_limit of ", tenant_->memory_limit_,
         " bytes, ", tenant_->counted(), " are in use");
  }
  tenant_->reserved_ += bytes;
}

Tenant::SetAside::~SetAside() { tenant_->cancel(bytes_); }

Tenant::SwitchAllowance::SwitchAllowance(std::shared_ptr<Tenant> tenant)
    : tenant_(std::move(tenant)) {
  const std::lock_guard ledger_lock(ledger().mutex);
  uint64_t bytes = 0;
  std::set<const void*> counted;
  const std::lock_guard lock(tenant_->mutex_);
  for (const auto& [engine, times] : tenant_->engines_) {
    for (const model::Resource& resource : engine->resources()) {
      const auto& holders = ledger().holders.at(resource.identity);
      const bool pays =
          holders.front().tenant == tenant_.get() && holders.front().limited;
      if (pays && counted.insert(resource.identity).second) {
        bytes += resource.bytes;
      }
    }
  }
  tenant_->leaving_ = bytes;
}

Tenant::SwitchAllowance::~SwitchAllowance() {
  const std::lock_guard lock(tenant_->mutex_);
  tenant_->leaving_ = 0;
}

bool Tenant::holds(const engine::Engine& engine) const {
  std::lock_guard lock(mutex_);
  return engines_.contains(&engine);
}

bool Tenant::holds(const runtime::Weight& weight) const {
  const std::lock_guard lock(ledger().mutex);
  const auto entry = ledger().holders.find(&weight);
  return entry != ledger().holders.end() &&
         std::any_of(
             entry->second.begin(), entry->second.end(),
             [this](const Holder& holder) { return holder.tenant == this; });
}

std::vector<runtime::Explanation::Model> Tenant::models() const {
  std::lock_guard lock(mutex_);
  std::vector<runtime::Explanation::Model> models;
  for (const auto& [engine, times] : engines_) {
    runtime::Explanation::Model& model = models.emplace_back();
    model.file = engine->file().file().name();
    model.context_length = engine->options().context_length;
    model.cache_tokens = engine->options().cache_tokens;
    model.cache_dtype = engine->options().cache_dtype;
    model.fallbacks = engine->fallbacks();
    for (const model::DeviceMemory& here : engine->memory().devices) {
      if (here.total() == 0) continue;
      model.parts.push_back({here.device->id(), here.first_layer, here.layers,
                             here.embedding, here.output, here.expert_layers,
                             here.weights, here.cache + here.states,
                             here.scratch});
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
