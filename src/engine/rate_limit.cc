#include "engine/rate_limit.h"

#include <algorithm>

namespace rc::engine {

void RateLimit::set(double per_minute, std::chrono::duration<double> burst,
                    Clock::time_point now) noexcept {
  const double used = per_second_ == 0 ? 0 : most_ - left(now);
  per_second_ = per_minute / 60;
  most_ = per_second_ * burst.count();
  left_ = most_ - used;
  at_ = now;
}

void RateLimit::use(double units, Clock::time_point now) noexcept {
  if (per_second_ == 0) return;
  left_ = left(now) - units;
  at_ = now;
}

RateLimit::Clock::time_point RateLimit::free_at(
    Clock::time_point now) const noexcept {
  if (per_second_ == 0) return now;
  const double lacking = std::min(least_, most_) - left(now);
  if (lacking <= 0) return now;
  // Rounded up: a moment too early there would be nothing left.
  constexpr double kMostSeconds = 1e9;
  const auto wait =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
          std::min(lacking / per_second_, kMostSeconds)));
  return now + wait + std::chrono::milliseconds(1);
}

double RateLimit::left(Clock::time_point now) const noexcept {
  const std::chrono::duration<double> passed = now - at_;
  return std::min(most_, left_ + passed.count() * per_second_);
}

}  // namespace rc::engine
