#include "engine/row_collector.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/turns.h"

namespace rc::engine {
namespace {

// Enough for the next steps of the engine to be full.
constexpr size_t kMostUnderWay = 1024;
// The time that a thread waits before it asks whether to stop.
constexpr std::chrono::milliseconds kPatience{10};

}  // namespace

class RowCollector::Listener final : public PoolListener {
 public:
  Listener(std::shared_ptr<Shared> shared, size_t number, const char* what)
      : shared_(std::move(shared)), number_(number), what_(what) {}

  void pooled(std::span<const float> row, rc_status status,
              const char* message) noexcept override {
    const std::lock_guard lock(shared_->mutex);
    if (status == RC_OK) {
      keep(row);
    } else {
      set_failure(status, message);
    }
    --shared_->under_way;
    shared_->changed.notify_all();
  }

 private:
  void keep(std::span<const float> row) noexcept {
    const std::span<const float> kept = row.first(shared_->columns);
    // A NaN would be compared with others as if it were a number.
    if (!std::all_of(kept.begin(), kept.end(),
                     [](float x) { return std::isfinite(x); })) {
      set_failure(RC_E_FORMAT,
                  "the model gives numbers that are not finite; its weights, "
                  "or their type, are not fit for it");
      return;
    }
    std::copy(kept.begin(), kept.end(),
              shared_->values.begin() +
                  static_cast<ptrdiff_t>(number_ * shared_->columns));
  }

  void set_failure(rc_status status, const char* message) noexcept {
    if (shared_->failure || shared_->out_of_memory) return;
    try {
      shared_->failure.emplace(status, cat(what_, " ", number_, ": ", message));
    } catch (...) {
      shared_->out_of_memory = true;
    }
  }

  const std::shared_ptr<Shared> shared_;
  const size_t number_;
  const char* const what_;
};

RowCollector::RowCollector(Engine& engine, std::shared_ptr<Account> account,
                           size_t count, size_t columns,
                           const RowOptions& options, const char* what)
    : engine_(engine),
      account_(std::move(account)),
      options_(options),
      what_(what),
      shared_(std::make_shared<Shared>()) {
  if constexpr (!kThreads) Turns::check_outside();
  shared_->columns = columns;
  shared_->values.resize(count * columns);
  requests_.reserve(count);
}

RowCollector::~RowCollector() {
  for (const auto& request : requests_) {
    if (const auto held = request.lock()) held->cancel();
  }
  std::unique_lock lock(shared_->mutex);
  engine::wait(shared_->changed, lock, [&] { return shared_->under_way == 0; });
}

void RowCollector::add(PoolOptions text) {
  wait_below(kMostUnderWay);
  text.priority = options_.priority;
  text.deadline = options_.deadline;
  auto listener = std::make_shared<Listener>(shared_, next_++, what_);
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->under_way;
  }
  try {
    requests_.push_back(
        engine_.pool(std::move(text), std::move(listener), account_));
  } catch (...) {
    const std::lock_guard lock(shared_->mutex);
    --shared_->under_way;
    throw;
  }
}

std::vector<float> RowCollector::take() {
  wait_below(1);
  return std::move(shared_->values);
}

void RowCollector::wait_below(size_t limit) {
  for (;;) {
    if (options_.should_stop && options_.should_stop()) {
      fail(RC_E_CANCELLED, "the request was cancelled");
    }
    std::unique_lock lock(shared_->mutex);
    const bool enough =
        wait_until(shared_->changed, lock,
                   std::chrono::steady_clock::now() + kPatience, [&] {
                     return shared_->under_way < limit || shared_->failure ||
                            shared_->out_of_memory;
                   });
    throw_failure();
    if (enough) return;
  }
}

// Under the lock.
void RowCollector::throw_failure() {
  if (shared_->out_of_memory) throw std::bad_alloc();
  if (shared_->failure) throw Error(*shared_->failure);
}

}  // namespace rc::engine
