// A limit on what is used per minute: a token bucket, which fills at that rate
// up to what may be used at once.
#pragma once

#include <chrono>

namespace rc::engine {

class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // Work begins when `least` units are left, or a whole burst if that is less.
  explicit RateLimit(double least = 0) : least_(least) {}

  // 0 units per minute: no limit. After a pause the units of `burst` may be
  // used at once. What was used before the change still counts.
  void set(double per_minute, std::chrono::duration<double> burst,
           Clock::time_point now) noexcept;
  double per_minute() const { return per_second_ * 60; }

  // Work that has begun may use more than is left: its debt is paid by
  // waiting.
  void use(double units, Clock::time_point now) noexcept;
  // When work may begin: `now`, or later.
  Clock::time_point free_at(Clock::time_point now) const noexcept;

 private:
  double left(Clock::time_point now) const noexcept;

  const double least_;
  double per_second_ = 0;  // 0: no limit
  double most_ = 0;
  double left_ = 0;  // at that time
  Clock::time_point at_;
};

}  // namespace rc::engine
