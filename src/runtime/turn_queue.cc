#include "runtime/turn_queue.h"

#include <algorithm>
#include <new>

namespace rc::runtime {
namespace {

constexpr PaidPart kCommonPayer[] = {{nullptr, 1.0}};

std::span<const PaidPart> parts_of(std::span<const PaidPart> paid) {
  return paid.empty() ? std::span<const PaidPart>(kCommonPayer) : paid;
}

}  // namespace

void TurnQueue::begin(std::span<const PaidPart> paid) {
  std::unique_lock lock(mutex_);
  if (!busy_) {
    busy_ = true;
    return;
  }
  if (first_ == nullptr && used_up_.empty()) began_ = clock_();
  Waiter waiter;
  waiter.paid = paid;
  Waiter** last = &first_;
  while (*last != nullptr) last = &(*last)->behind;
  *last = &waiter;
  waiter.changed.wait(lock, [&] { return waiter.is_next; });
}

void TurnQueue::end(std::span<const PaidPart> paid) noexcept {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) {
    // The next payer competes with none that had less.
    busy_ = false;
    used_up_.clear();
    return;
  }
  const Clock::time_point now = clock_();
  charge(paid, std::chrono::duration<double>(now - began_).count());
  Waiter** next = &first_;
  double start = start_of(first_->paid);
  for (Waiter** one = &first_->behind; *one != nullptr; one = &(*one)->behind) {
    const double its = start_of((*one)->paid);
    if (its >= start) continue;
    next = one;
    start = its;
  }
  Waiter& chosen = **next;
  *next = chosen.behind;
  now_ = start;
  began_ = now;
  chosen.is_next = true;
  // Under the lock: the waiter is gone as soon as it may go on.
  chosen.changed.notify_one();
}

size_t TurnQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const Waiter* one = first_; one != nullptr; one = one->behind) ++count;
  return count;
}

double TurnQueue::start_of(std::span<const PaidPart> paid) const {
  double start = 0.0;
  bool first = true;
  for (const PaidPart& part : parts_of(paid)) {
    const auto found = used_up_.find(part.payer);
    const double used_up =
        found == used_up_.end() ? now_ : std::max(found->second, now_);
    // A turn that several pay for is as urgent as for the one who has had
    // least.
    start = first ? used_up : std::min(start, used_up);
    first = false;
  }
  return start;
}

void TurnQueue::charge(std::span<const PaidPart> paid,
                       double seconds) noexcept {
  try {
    for (const PaidPart& part : parts_of(paid)) {
      double& used_up = used_up_.try_emplace(part.payer, now_).first->second;
      const double weight =
          part.payer == nullptr ? 1.0 : part.payer->weight.load();
      used_up = std::max(used_up, now_) + seconds * part.part / weight;
    }
    // The others are where those are that are not known.
    std::erase_if(used_up_, [&](const auto& one) { return one.second < now_; });
  } catch (const std::bad_alloc&) {
    // Then this turn is charged to no payer.
  }
}

}  // namespace rc::runtime
