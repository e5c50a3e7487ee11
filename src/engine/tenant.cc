#include "engine/tenant.h"

#include <algorithm>
#include <new>

#include "engine/command_queue.h"

namespace rc::engine {

void Tenant::set(const Rates& rates) noexcept {
  const Clock::time_point now = Clock::now();
  std::vector<std::weak_ptr<CommandQueue>> waiting;
  {
    const std::lock_guard lock(mutex_);
    prompt_tokens_.set(rates.prompt_tokens, rates.burst, now);
    generated_tokens_.set(rates.generated_tokens, rates.burst, now);
    device_seconds_.set(rates.device_seconds, rates.burst, now);
    limited_.store(rates.prompt_tokens > 0 || rates.generated_tokens > 0 ||
                   rates.device_seconds > 0);
    waiting.swap(waiting_);
  }
  for (const auto& engine : waiting) {
    if (const auto queue = engine.lock()) queue->wake();
  }
}

const RateLimit& Tenant::limit(Rate rate) const {
  switch (rate) {
    case Rate::kPromptTokens:
      return prompt_tokens_;
    case Rate::kGeneratedTokens:
      return generated_tokens_;
    case Rate::kDeviceSeconds:
      break;
  }
  return device_seconds_;
}

std::optional<Tenant::Exhausted> Tenant::longest(
    std::initializer_list<Rate> rates, Clock::time_point now) const noexcept {
  std::optional<Exhausted> found;
  for (const Rate rate : rates) {
    const Clock::time_point until = limit(rate).free_at(now);
    if (until <= (found ? found->until : now)) continue;
    found = {rate, limit(rate).per_minute(), until};
  }
  return found;
}

Tenant::Clock::time_point Tenant::may_step_at(
    bool decoding, Clock::time_point now) const noexcept {
  if (!limited_.load()) return now;
  const std::lock_guard lock(mutex_);
  const auto exhausted =
      longest({decoding ? Rate::kGeneratedTokens : Rate::kPromptTokens,
               Rate::kDeviceSeconds},
              now);
  return exhausted ? exhausted->until : now;
}

std::optional<Tenant::Exhausted> Tenant::exhausted(
    Clock::time_point now) const noexcept {
  if (!limited_.load()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return longest(
      {Rate::kPromptTokens, Rate::kGeneratedTokens, Rate::kDeviceSeconds}, now);
}

std::optional<Tenant::Exhausted> Tenant::exhausted_time(
    Clock::time_point now) const noexcept {
  if (!limited_.load()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return longest({Rate::kDeviceSeconds}, now);
}

void Tenant::wake_on_change(
    const std::shared_ptr<CommandQueue>& engine) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [](const auto& known) { return known.expired(); });
  const bool known =
      std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& one) {
        return !one.owner_before(engine) && !engine.owner_before(one);
      });
  if (known) return;
  try {
    waiting_.push_back(engine);
  } catch (const std::bad_alloc&) {
    // It looks again at the time that it knows.
  }
}

ModelUsage* Tenant::usage_of(const std::string& model,
                             const std::vector<DeviceUsage>& devices) {
  const auto same = [](const DeviceUsage& a, const DeviceUsage& b) {
    return a.device == b.device;
  };
  const std::lock_guard lock(mutex_);
  for (ModelUsage& known : usage_) {
    if (known.model == model &&
        std::equal(known.devices.begin(), known.devices.end(), devices.begin(),
                   devices.end(), same)) {
      return &known;
    }
  }
  ModelUsage& made = usage_.emplace_back();
  try {
    made.model = model;
    made.devices = devices;
  } catch (...) {
    usage_.pop_back();
    throw;
  }
  for (DeviceUsage& device : made.devices) device.seconds = 0;
  return &made;
}

void Tenant::add(ModelUsage& usage, const Counts& counts,
                 uint64_t evaluated) noexcept {
  const std::lock_guard lock(mutex_);
  usage.counts += counts;
  if (!limited_.load()) return;
  const Clock::time_point now = Clock::now();
  prompt_tokens_.use(static_cast<double>(evaluated), now);
  generated_tokens_.use(static_cast<double>(counts.generated_tokens), now);
}

void Tenant::add_wait(ModelUsage& usage, double seconds) noexcept {
  const std::lock_guard lock(mutex_);
  usage.waits.add(seconds);
}

void Tenant::add_work(ModelUsage& usage, size_t device,
                      double seconds) noexcept {
  const std::lock_guard lock(mutex_);
  usage.devices[device].seconds += seconds;
  if (limited_.load()) device_seconds_.use(seconds, Clock::now());
}

std::vector<ModelUsage> Tenant::usage() const {
  const std::lock_guard lock(mutex_);
  return {usage_.begin(), usage_.end()};
}

}  // namespace rc::engine
