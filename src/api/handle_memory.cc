// The memory that is on the account of a backend handle.
#include <algorithm>
#include <set>

#include "api/handle_account.h"
#include "base/error.h"

namespace rc::api {

// Never destroyed: models may be released while the process ends.
HandleAccount::Ledger& HandleAccount::ledger() {
  static Ledger& instance = *new Ledger;
  return instance;
}

void HandleAccount::pay(uint64_t bytes, bool limited) noexcept {
  const std::lock_guard lock(mutex_);
  count(bytes, limited ? bytes : 0);
}

void HandleAccount::count(uint64_t bytes, uint64_t limited) noexcept {
  limited_.used += limited;
  tenant_->memory().used += limited;
  memory_ += bytes;
  tenant_->count(static_cast<int64_t>(bytes));
  peak_memory_ = std::max(peak_memory_, memory_);
}

void HandleAccount::take_back(uint64_t bytes, bool limited) noexcept {
  const std::lock_guard lock(mutex_);
  if (limited) {
    limited_.used -= bytes;
    tenant_->memory().used -= bytes;
  }
  memory_ -= bytes;
  tenant_->count(-static_cast<int64_t>(bytes));
}

void HandleAccount::reserve_more(int64_t bytes) noexcept {
  limited_.reserved += static_cast<uint64_t>(bytes);
  tenant_->memory().reserved += static_cast<uint64_t>(bytes);
}

void HandleAccount::pay_within_limit(const Bill& bill,
                                     const std::string& device,
                                     SetAside* from) {
  const uint64_t own =
      from == nullptr ? 0 : std::min(from->bytes_, bill.limited);
  const auto lock = make_room(bill.limited - own);
  if (!has_room(bill.limited - own)) {
    refuse("the model takes ", bill.limited, device);
  }
  if (from != nullptr) from->bytes_ -= own;
  reserve_more(-static_cast<int64_t>(own));
  count(bill.bytes, bill.limited);
}

void HandleAccount::refuse(const char* what, uint64_t bytes,
                           const std::string& device) const {
  if (!limited_.has_room(bytes, memory_limit_)) {
    fail(RC_E_DEVICE_MEMORY, what, bytes, " bytes of ", device,
         "; of the backend handle's memory_limit of ", memory_limit_,
         " bytes, ", limited_.counted(), " are in use");
  }
  tenant_->count_refused();
  fail(RC_E_DEVICE_MEMORY, what, bytes, " bytes of ", device, "; of the ",
       tenant_->memory_limit(), " bytes of the memory_limit of ",
       tenant_->subject(), ", ", tenant_->memory().counted(), " are in use");
}

void HandleAccount::Resource::charge(Clock::time_point now) noexcept {
  const std::chrono::duration<double> passed = now - since;
  since = now;
  const auto first_of_tenant = [&](const Holder& holder) {
    return std::find_if(holders.begin(), holders.end(), [&](const auto& other) {
             return other.account->tenant_ == holder.account->tenant_;
           }) == holders.begin() + (&holder - holders.data());
  };
  const auto tenants =
      std::count_if(holders.begin(), holders.end(), first_of_tenant);
  const double part = static_cast<double>(bytes) * passed.count() /
                      static_cast<double>(tenants);
  for (const Holder& holder : holders) {
    if (!first_of_tenant(holder)) continue;
    holder.account->tenant_->add_memory_time(device, part);
  }
}

void HandleAccount::charge_memory() noexcept {
  const std::lock_guard lock(ledger().mutex);
  const Clock::time_point now = Clock::now();
  for (auto& [identity, resource] : ledger().resources) resource.charge(now);
}

void HandleAccount::charge_tensors() noexcept {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> passed = now - tensors_since_;
  tensors_since_ = now;
  if (tensor_bytes_ == 0) return;
  tenant_->add_memory_time(home_usage_,
                           static_cast<double>(tensor_bytes_) * passed.count());
}

void HandleAccount::hold(const model::Resource& resource, bool limited,
                         Bill& bill) {
  auto& all = ledger().resources;
  const auto [entry, added] = all.try_emplace(resource.identity);
  Resource& held = entry->second;
  for (Holder& holder : held.holders) {
    if (holder.account != this) continue;
    ++holder.engines;
    return;
  }
  try {
    held.holders.reserve(held.holders.size() + 1);
    if (added) {
      held.bytes = resource.bytes;
      held.device = {resource.device->id(), resource.device->is_gpu()};
      held.since = Clock::now();
    } else {
      held.charge(Clock::now());
    }
  } catch (...) {
    if (added) all.erase(entry);
    throw;
  }
  held.holders.push_back({this, limited, 1});
  if (!added) return;
  bill.bytes += resource.bytes;
  if (limited) bill.limited += resource.bytes;
}

void HandleAccount::let_go(const model::Resource& resource,
                           bool paid) noexcept {
  const auto entry = ledger().resources.find(resource.identity);
  std::vector<Holder>& holders = entry->second.holders;
  const auto own = std::find_if(
      holders.begin(), holders.end(),
      [&](const Holder& holder) { return holder.account == this; });
  if (--own->engines > 0) return;
  entry->second.charge(Clock::now());
  const bool paid_by_this = paid && own == holders.begin();
  if (paid_by_this) take_back(resource.bytes, own->limited);
  holders.erase(own);
  if (holders.empty()) {
    ledger().resources.erase(entry);
  } else if (paid_by_this) {
    const Holder& next = holders.front();
    next.account->pay(resource.bytes, next.limited);
  }
}

HandleAccount::Charge::Charge(std::shared_ptr<HandleAccount> account,
                              std::shared_ptr<engine::Engine> engine,
                              SetAside* from)
    : account_(std::move(account)), engine_(std::move(engine)) {
  const std::lock_guard ledger_lock(ledger().mutex);
  {
    const std::lock_guard lock(account_->mutex_);
    if (++account_->engines_[engine_.get()] > 1) return;
  }
  const std::vector<model::Resource>& resources = engine_->resources();
  size_t held = 0;
  try {
    Bill bill;
    for (; held < resources.size(); ++held) {
      account_->hold(resources[held],
                     resources[held].device == engine_->device().get(), bill);
    }
    account_->pay_within_limit(bill, engine_->device()->id(), from);
  } catch (...) {
    for (size_t i = 0; i < held; ++i) account_->let_go(resources[i], false);
    const std::lock_guard lock(account_->mutex_);
    account_->engines_.erase(engine_.get());
    throw;
  }
}

HandleAccount::Charge::~Charge() {
  const std::lock_guard ledger_lock(ledger().mutex);
  {
    const std::lock_guard lock(account_->mutex_);
    const auto known = account_->engines_.find(engine_.get());
    if (--known->second > 0) return;
    account_->engines_.erase(known);
  }
  for (const model::Resource& resource : engine_->resources()) {
    account_->let_go(resource, true);
  }
}

void HandleAccount::reserve(uint64_t bytes) {
  const auto lock = make_room(bytes);
  if (!has_room(bytes)) refuse("a tensor takes ", bytes, "device memory");
  reserve_more(static_cast<int64_t>(bytes));
}

void HandleAccount::use(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  charge_tensors();
  tensor_bytes_ += bytes;
  reserve_more(-static_cast<int64_t>(bytes));
  count(bytes, bytes);
}

void HandleAccount::cancel(uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reserve_more(-static_cast<int64_t>(bytes));
}

void HandleAccount::give_back(uint64_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    charge_tensors();
    tensor_bytes_ -= bytes;
  }
  take_back(bytes, true);
}

bool HandleAccount::has_room(uint64_t bytes) const {
  return limited_.has_room(bytes, memory_limit_) &&
         tenant_->memory().has_room(bytes, tenant_->memory_limit());
}

std::unique_lock<std::mutex> HandleAccount::make_room(uint64_t bytes) const {
  std::unique_lock lock(mutex_);
  if (has_room(bytes)) return lock;
  const bool lacking_own = !limited_.has_room(bytes, memory_limit_);
  const auto given_up = spare();
  lock.unlock();
  if (!lacking_own) {
    tenant_->trim();
  } else if (given_up != nullptr) {
    given_up->trim();
  }
  lock.lock();
  return lock;
}

uint64_t HandleAccount::memory_left(const SetAside* own) const {
  std::unique_lock lock(mutex_);
  const bool limited_by_tenant = tenant_->memory_limit() != 0;
  const auto given_up = spare();
  lock.unlock();
  if (limited_by_tenant) {
    tenant_->trim();
  } else if (given_up != nullptr) {
    given_up->trim();
  }
  lock.lock();
  const uint64_t set_aside = own == nullptr ? 0 : own->bytes_;
  const auto left = [&](const LimitedMemory& memory, uint64_t limit) {
    if (limit == 0) return UINT64_MAX;
    const uint64_t by_others = memory.counted() - set_aside;
    return by_others < limit ? limit - by_others : uint64_t{1};
  };
  const uint64_t least =
      std::min(left(limited_, memory_limit_),
               left(tenant_->memory(), tenant_->memory_limit()));
  return least == UINT64_MAX ? 0 : least;
}

void HandleAccount::leave(uint64_t bytes) noexcept {
  tenant_->memory().leaving += bytes - limited_.leaving;
  limited_.leaving = bytes;
}

engine::EngineOptions HandleAccount::limit(engine::EngineOptions options,
                                           const SetAside* own) const {
  options.memory_limit = memory_left(own);
  options.has_weight = [this](const runtime::Weight& weight) {
    return holds(weight);
  };
  return options;
}

HandleAccount::SetAside::SetAside(std::shared_ptr<HandleAccount> account,
                                  uint64_t bytes, const std::string& device)
    : account_(std::move(account)), bytes_(bytes) {
  const auto lock = account_->make_room(bytes);
  if (!account_->has_room(bytes)) {
    account_->refuse("the models take ", bytes, device);
  }
  account_->reserve_more(static_cast<int64_t>(bytes));
}

HandleAccount::SetAside::~SetAside() { account_->cancel(bytes_); }

HandleAccount::SwitchAllowance::SwitchAllowance(
    std::shared_ptr<HandleAccount> account)
    : account_(std::move(account)) {
  const std::lock_guard ledger_lock(ledger().mutex);
  uint64_t bytes = 0;
  std::set<const void*> counted;
  const std::lock_guard lock(account_->mutex_);
  for (const auto& [engine, times] : account_->engines_) {
    for (const model::Resource& resource : engine->resources()) {
      const auto& holders = ledger().resources.at(resource.identity).holders;
      const bool pays =
          holders.front().account == account_.get() && holders.front().limited;
      if (pays && counted.insert(resource.identity).second) {
        bytes += resource.bytes;
      }
    }
  }
  account_->leave(bytes);
}

HandleAccount::SwitchAllowance::~SwitchAllowance() {
  const std::lock_guard lock(account_->mutex_);
  account_->leave(0);
}

bool HandleAccount::holds(const engine::Engine& engine) const {
  std::lock_guard lock(mutex_);
  return engines_.contains(&engine);
}

bool HandleAccount::holds(const runtime::Weight& weight) const {
  const std::lock_guard lock(ledger().mutex);
  const auto entry = ledger().resources.find(&weight);
  return entry != ledger().resources.end() &&
         std::any_of(
             entry->second.holders.begin(), entry->second.holders.end(),
             [this](const Holder& holder) { return holder.account == this; });
}

uint64_t HandleAccount::memory() const {
  std::lock_guard lock(mutex_);
  return memory_;
}

uint64_t HandleAccount::peak_memory() const {
  std::lock_guard lock(mutex_);
  return peak_memory_;
}

}  // namespace rc::api
