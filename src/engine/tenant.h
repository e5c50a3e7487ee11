// A tenant: the weight with which it shares devices, its limits per minute, and
// what it has used. All backend handles of a tenant share it; its address
// identifies it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/rate_limit.h"
#include "engine/usage.h"
#include "runtime/turn_queue.h"

namespace rc::engine {

class CommandQueue;

class Tenant : public runtime::Payer {
 public:
  using Clock = RateLimit::Clock;

  // Limits per minute; 0: none.
  struct Rates {
    double prompt_tokens = 0;  // evaluated, not those of the prefix cache
    double generated_tokens = 0;
    double device_seconds = 0;
    // After a pause so much of each may be used at once.
    std::chrono::duration<double> burst{60};
  };
  enum class Rate { kPromptTokens, kGeneratedTokens, kDeviceSeconds };

  // Seconds that a step with its streams may last because of prompts.
  static constexpr double kUsualStall = 0.040;
  std::atomic<double> max_stall{kUsualStall};

  // Takes effect at once, also for engines that wait.
  void set(const Rates& rates) noexcept;
  // By any rate.
  bool is_limited() const noexcept { return limited_.load(); }

  // When a job of the tenant may have its next rows: `now` or earlier if it
  // may have them at once.
  Clock::time_point may_step_at(bool decoding,
                                Clock::time_point now) const noexcept;
  // The limit that would hold up a new request for longest, and until when.
  struct Exhausted {
    Rate rate;
    double per_minute;
    Clock::time_point until;
  };
  std::optional<Exhausted> exhausted(Clock::time_point now) const noexcept;
  // Of ops of tensors, which use no tokens.
  std::optional<Exhausted> exhausted_time(Clock::time_point now) const noexcept;

  // Wakes an engine that waits for the time of may_step_at() when that changes.
  void wake_on_change(const std::shared_ptr<CommandQueue>& engine) noexcept;

  // The counts of a model on devices, whose seconds do not matter, at an
  // address that stays. Throws std::bad_alloc.
  ModelUsage* usage_of(const std::string& model,
                       const std::vector<DeviceUsage>& devices);
  // Adds to them, and to what the limits are about. `evaluated`: of the prompt
  // tokens, those that were not cached.
  void add(ModelUsage& usage, const Counts& counts,
           uint64_t evaluated) noexcept;
  void add_wait(ModelUsage& usage, double seconds) noexcept;
  // For so long the device of that index has worked.
  void add_work(ModelUsage& usage, size_t device, double seconds) noexcept;

  // A copy, all of one moment. Throws std::bad_alloc.
  std::vector<ModelUsage> usage() const;

 private:
  // Under the lock.
  std::optional<Exhausted> longest(std::initializer_list<Rate> rates,
                                   Clock::time_point now) const noexcept;
  const RateLimit& limit(Rate rate) const;

  std::atomic<bool> limited_{false};
  mutable std::mutex mutex_;
  RateLimit prompt_tokens_{1};
  RateLimit generated_tokens_{1};
  RateLimit device_seconds_;
  std::vector<std::weak_ptr<CommandQueue>> waiting_;
  std::list<ModelUsage> usage_;
};

}  // namespace rc::engine
