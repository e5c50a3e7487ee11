#include "api/handle_account.h"

#include <algorithm>

#include "base/error.h"

namespace rc::api {
namespace {

double seconds_of(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace

HandleAccount::~HandleAccount() {
  try {
    const std::lock_guard lock(mutex_);
    hand_on_time();
  } catch (const std::bad_alloc&) {
    // Then this time is not part of the tenant's usage.
  }
  tenant_->remove(*this);
}

HandleAccount::Slot::Slot(std::shared_ptr<HandleAccount> account,
                          bool uses_tokens)
    : account_(std::move(account)) {
  if (uses_tokens) {
    account_->tenant_->check_rates();
  } else {
    account_->tenant_->check_time();
  }
  // A refused request is not counted even for a moment, in which another
  // request would be refused for it.
  int64_t before = account_->requests_;
  do {
    if (account_->max_requests_ != 0 && before >= account_->max_requests_) {
      fail(RC_E_QUOTA, "the backend handle has ", before,
           " requests in flight and max_requests is ", account_->max_requests_,
           "; wait for one to end");
    }
  } while (!account_->requests_.compare_exchange_weak(before, before + 1));
  try {
    of_tenant_.emplace(account_->tenant_, Tenant::Counted::kRequests);
  } catch (...) {
    account_->requests_.fetch_sub(1);
    throw;
  }
}

void HandleAccount::Slot::release() noexcept {
  if (!held_.exchange(false)) return;
  account_->requests_.fetch_sub(1);
  of_tenant_->release();
}

void HandleAccount::set_home(const compute::Context& home,
                             engine::DeviceUsage device) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    hand_on_time();
  } catch (const std::bad_alloc&) {
    // Then this time counts for the new device.
  }
  spare_ = home.pool();
  home_.store(home.device().get());
  std::swap(home_usage_, device);
}

void HandleAccount::charge_work(const runtime::Device& device,
                                int64_t nanoseconds) noexcept {
  const bool limited = tenant_->payer()->is_limited();
  const bool at_home = &device == home_.load(std::memory_order_relaxed);
  if (at_home) op_ns_ += nanoseconds;
  if (at_home && !limited) return;
  try {
    const std::lock_guard lock(mutex_);
    if (!at_home) {
      usage_of_other(device).seconds += seconds_of(nanoseconds);
      op_ns_ += nanoseconds;
      handed_on_ns_ += nanoseconds;
    }
    if (limited) hand_on_time();
  } catch (...) {
    // Then this time is not part of the tenant's usage.
  }
}

engine::DeviceUsage& HandleAccount::usage_of_other(
    const runtime::Device& device) {
  const std::string id = device.id();
  for (engine::DeviceUsage& known : others_) {
    if (known.device == id) return known;
  }
  return others_.emplace_back(engine::DeviceUsage{id, device.is_gpu()});
}

void HandleAccount::hand_on_time() {
  charge_tensors();
  engine::Tenant& payer = *tenant_->payer();
  const auto hand_on = [&](const engine::DeviceUsage& device, double seconds) {
    if (seconds == 0) return;
    payer.add_work(*payer.usage_of("", {device}), 0, seconds);
  };
  const int64_t at_home = op_ns_ - handed_on_ns_;
  hand_on(home_usage_, seconds_of(at_home));
  handed_on_ns_ += at_home;
  for (engine::DeviceUsage& other : others_) {
    hand_on(other, std::exchange(other.seconds, 0));
  }
}

void HandleAccount::add(const std::shared_ptr<LoadedModel>& model) {
  const std::lock_guard lock(mutex_);
  std::erase_if(models_, [](const auto& known) { return known.expired(); });
  models_.push_back(model);
}

std::vector<std::shared_ptr<LoadedModel>> HandleAccount::loaded_models() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LoadedModel>> found;
  for (const auto& known : models_) {
    if (auto model = known.lock()) found.push_back(std::move(model));
  }
  return found;
}

std::vector<runtime::Explanation::Model> HandleAccount::models() const {
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

}  // namespace rc::api
