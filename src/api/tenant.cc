#include "api/tenant.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "api/guard.h"
#include "api/handle_account.h"
#include "api/options.h"
#include "base/error.h"
#include "base/utf8.h"

namespace rc::api {
namespace {

using Clock = engine::Tenant::Clock;

constexpr rc_tenant_options kUnsetTenant = RC_TENANT_OPTIONS_INIT;
constexpr float kLeastWeight = 0.001f;
constexpr float kMostWeight = 1000.0f;
constexpr int32_t kLongestBurst = 3600;
constexpr int32_t kLongestStall = 10000;

bool is_set(const char* value) { return value != nullptr; }
bool is_set(float value) { return value != RC_UNSET_FLOAT; }
bool is_set(int32_t value) { return value != RC_UNSET_INT32; }
bool is_set(int64_t value) { return value != RC_UNSET_INT64; }
bool is_set(uint64_t value) { return value != RC_UNSET_UINT64; }

template <class T>
void need_limit(T value, const char* name) {
  if (is_set(value)) need_at_least_zero(value, name);
}

std::vector<runtime::SpecItem> parse_devices(const char* devices) {
  if (*devices == '\0') return {};
  std::vector<runtime::SpecItem> items = runtime::parse_spec(devices);
  for (const runtime::SpecItem& item : items) {
    if (item.name != "auto") continue;
    fail(RC_E_INVALID_ARGUMENT, "options->devices: \"", devices,
         "\" names auto, which is no device; \"\" allows all");
  }
  return items;
}

// Throws RC_E_INVALID_ARGUMENT.
void check(const rc_tenant_options& options) {
  if (is_set(options.name) && valid_utf8(options.name) != options.name) {
    fail(RC_E_INVALID_ARGUMENT, "options->name: invalid UTF-8");
  }
  if (is_set(options.weight)) {
    need_range(options.weight, kLeastWeight, kMostWeight, "options->weight");
  }
  need_limit(options.max_requests, "options->max_requests");
  need_limit(options.max_sessions, "options->max_sessions");
  need_limit(options.max_models, "options->max_models");
  need_limit(options.prompt_tokens_per_minute,
             "options->prompt_tokens_per_minute");
  need_limit(options.generated_tokens_per_minute,
             "options->generated_tokens_per_minute");
  need_limit(options.device_ms_per_minute, "options->device_ms_per_minute");
  if (is_set(options.burst_seconds)) {
    need_range(options.burst_seconds, 1, kLongestBurst,
               "options->burst_seconds");
  }
  if (is_set(options.max_stall_ms)) {
    need_range(options.max_stall_ms, 1, kLongestStall, "options->max_stall_ms");
  }
  if (options.devices != nullptr) parse_devices(options.devices);
}

struct CountText {
  const char* limit;
  const char* many;
};
constexpr CountText kCountTexts[Tenant::kCounted] = {
    {"max_requests", "requests in flight"},
    {"max_sessions", "sessions"},
    {"max_models", "models"}};

struct RateText {
  const char* limit;
  double units;  // of the option in one of the engine's
};
RateText text_of(engine::Tenant::Rate rate) {
  switch (rate) {
    case engine::Tenant::Rate::kPromptTokens:
      return {"prompt_tokens_per_minute", 1};
    case engine::Tenant::Rate::kGeneratedTokens:
      return {"generated_tokens_per_minute", 1};
    case engine::Tenant::Rate::kDeviceSeconds:
      break;
  }
  return {"device_ms_per_minute", 1000};
}

// Those that Tenant::create has made. Never destroyed: some may live on while
// the process ends.
struct Created {
  std::mutex mutex;
  std::vector<std::weak_ptr<Tenant>> tenants;
};
Created& created() {
  static Created& instance = *new Created;
  return instance;
}

}  // namespace

Tenant::Tenant(const rc_tenant_options& options) {
  check(options);
  if (options.name != nullptr) name_ = options.name;
  set(options);
}

std::shared_ptr<Tenant> Tenant::create(const rc_tenant_options& options) {
  auto made = std::make_shared<Tenant>(options);
  const std::lock_guard lock(created().mutex);
  std::erase_if(created().tenants,
                [](const auto& known) { return known.expired(); });
  created().tenants.push_back(made);
  return made;
}

std::vector<std::shared_ptr<Tenant>> Tenant::all() {
  const std::lock_guard lock(created().mutex);
  std::vector<std::shared_ptr<Tenant>> found;
  for (const auto& known : created().tenants) {
    if (auto tenant = known.lock()) found.push_back(std::move(tenant));
  }
  return found;
}

std::string Tenant::subject() const {
  return name_.empty() ? "the tenant" : cat("the tenant '", name_, "'");
}

void Tenant::change(const rc_tenant_options& options) {
  check(options);
  set(options);
}

void Tenant::set(const rc_tenant_options& options) {
  std::optional<std::vector<runtime::SpecItem>> devices;
  if (is_set(options.devices)) devices = parse_devices(options.devices);
  const std::lock_guard lock(mutex_);
  if (devices) devices_.swap(*devices);
  const int32_t limits[kCounted] = {options.max_requests, options.max_sessions,
                                    options.max_models};
  for (size_t i = 0; i < kCounted; ++i) {
    if (is_set(limits[i])) limits_[i] = limits[i];
  }
  if (is_set(options.memory_limit)) memory_limit_ = options.memory_limit;
  if (is_set(options.prompt_tokens_per_minute)) {
    rates_.prompt_tokens =
        static_cast<double>(options.prompt_tokens_per_minute);
  }
  if (is_set(options.generated_tokens_per_minute)) {
    rates_.generated_tokens =
        static_cast<double>(options.generated_tokens_per_minute);
  }
  if (is_set(options.device_ms_per_minute)) {
    rates_.device_seconds =
        static_cast<double>(options.device_ms_per_minute) / 1000;
  }
  if (is_set(options.burst_seconds)) {
    rates_.burst = std::chrono::seconds(options.burst_seconds);
  }
  if (is_set(options.weight)) {
    payer_->weight.store(static_cast<double>(options.weight));
  }
  if (is_set(options.max_stall_ms)) {
    payer_->max_stall.store(static_cast<double>(options.max_stall_ms) / 1000);
  }
  payer_->set(rates_);
}

Tenant::Slot::Slot(std::shared_ptr<Tenant> tenant, Counted counted)
    : tenant_(std::move(tenant)), counted_(counted) {
  const auto i = static_cast<size_t>(counted);
  std::unique_lock lock(tenant_->mutex_);
  const int64_t limit = tenant_->limits_[i];
  int64_t& count = tenant_->counts_[i];
  if (limit == 0 || count < limit) {
    ++count;
    return;
  }
  const int64_t have = count;
  lock.unlock();
  ++tenant_->refused_;
  fail(RC_E_QUOTA, tenant_->subject(), " has ", have, " ", kCountTexts[i].many,
       " and its ", kCountTexts[i].limit, " is ", limit,
       "; wait until there are fewer");
}

void Tenant::Slot::release() noexcept {
  if (!held_.exchange(false)) return;
  const std::lock_guard lock(tenant_->mutex_);
  --tenant_->counts_[static_cast<size_t>(counted_)];
}

void Tenant::check_rates() { need_rate(payer_->exhausted(Clock::now())); }

void Tenant::check_time() { need_rate(payer_->exhausted_time(Clock::now())); }

void Tenant::need_rate(
    const std::optional<engine::Tenant::Exhausted>& exhausted) {
  if (!exhausted) return;
  ++refused_;
  const RateText text = text_of(exhausted->rate);
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(
      exhausted->until - Clock::now());
  const int64_t ms = std::max<int64_t>(wait.count(), 0);
  Error error(RC_E_QUOTA,
              cat(subject(), " has used up its ", text.limit, " of ",
                  std::llround(exhausted->per_minute * text.units),
                  "; try again in ", ms, " ms"));
  error.set_retry_after_ms(ms);
  throw error;
}

std::vector<runtime::SpecItem> Tenant::devices() const {
  const std::lock_guard lock(mutex_);
  return devices_;
}

void Tenant::add(HandleAccount& account) {
  const std::lock_guard lock(mutex_);
  accounts_.push_back(&account);
}

void Tenant::remove(HandleAccount& account) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(accounts_, &account);
}

void Tenant::trim() const {
  std::vector<std::shared_ptr<compute::BufferPool>> spares;
  {
    const std::lock_guard lock(mutex_);
    for (const HandleAccount* account : accounts_) {
      if (auto spare = account->spare()) spares.push_back(std::move(spare));
    }
  }
  for (const auto& spare : spares) spare->trim();
}

void Tenant::add_memory_time(const engine::DeviceUsage& device,
                             double byte_seconds) noexcept {
  const std::lock_guard lock(memory_usage_mutex_);
  for (MemoryUsage& known : memory_usage_) {
    if (known.device != device.device) continue;
    known.byte_seconds += byte_seconds;
    return;
  }
  try {
    memory_usage_.push_back({device.device, device.is_gpu, byte_seconds});
  } catch (const std::bad_alloc&) {
    // Then this time is not part of the tenant's usage.
  }
}

TenantUsage Tenant::usage() const {
  HandleAccount::charge_memory();
  TenantUsage usage;
  usage.name = name_;
  usage.weight = payer_->weight;
  const std::lock_guard lock(mutex_);
  for (HandleAccount* account : accounts_) account->hand_on_time();
  usage.models = payer_->usage();
  {
    const std::lock_guard memory_lock(memory_usage_mutex_);
    usage.memory = memory_usage_;
  }
  rc_tenant_usage_report& totals = usage.totals;
  double seconds = 0;
  for (const engine::ModelUsage& model : usage.models) {
    totals.requests += model.counts.requests;
    totals.prompt_tokens += model.counts.prompt_tokens;
    totals.cached_tokens += model.counts.cached_tokens;
    totals.generated_tokens += model.counts.generated_tokens;
    for (const engine::DeviceUsage& device : model.devices) {
      seconds += device.seconds;
    }
  }
  totals.device_us = static_cast<uint64_t>(seconds * 1e6);
  totals.memory = all_memory_;
  totals.refused = refused_;
  const auto count = [this](Counted counted) {
    return static_cast<int32_t>(counts_[static_cast<size_t>(counted)]);
  };
  totals.requests_in_flight = count(Counted::kRequests);
  totals.sessions = count(Counted::kSessions);
  totals.models = count(Counted::kModels);
  totals.backends = static_cast<int32_t>(accounts_.size());
  return usage;
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;

void rc_tenant_options_init(rc_tenant_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kUnsetTenant);
}

rc_status rc_tenant_create(const rc_tenant_options* options,
                           rc_tenant** tenant) {
  return guard_handle(tenant, "tenant", [&] {
    const rc_tenant_options given =
        rc::api::read_options(options, rc::api::kUnsetTenant, "options");
    return rc::api::add_handle(
        std::make_unique<rc_tenant>(rc::api::Tenant::create(given)));
  });
}

rc_status rc_tenant_change(rc_tenant* tenant,
                           const rc_tenant_options* options) {
  return guard([&] {
    rc::api::Tenant& changed = *need(tenant, "tenant").tenant;
    rc::api::need_pointer(options, "options");
    changed.change(
        rc::api::read_options(options, rc::api::kUnsetTenant, "options"));
  });
}

rc_tenant* rc_tenant_retain(rc_tenant* tenant) {
  return rc::api::retain_handle(tenant, "tenant");
}

void rc_tenant_release(rc_tenant* tenant) {
  rc::api::release_handle(tenant, "tenant");
}
