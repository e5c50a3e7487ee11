#include "engine/command_queue.h"

#include "engine/turns.h"

namespace rc::engine {

void CommandQueue::post(Command& command) noexcept {
  const std::lock_guard lock(mutex_);
  command.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &command;
  last_ = &command;
  call_engine();
}

void CommandQueue::wake() noexcept {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  call_engine();
}

void CommandQueue::wake_for_cancelled() noexcept {
  cancelled_.store(true);
  wake();
}

void CommandQueue::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  call_engine();
}

void CommandQueue::wait(
    std::optional<std::chrono::steady_clock::time_point> until) noexcept {
  std::unique_lock lock(mutex_);
  const auto called = [&] { return first_ != nullptr || woken_ || stopping_; };
  if (until) {
    changed_.wait_until(lock, *until, called);
  } else {
    changed_.wait(lock, called);
  }
  woken_ = false;
}

Command* CommandQueue::take() noexcept {
  const std::lock_guard lock(mutex_);
  Command* const command = first_;
  if (command == nullptr) return nullptr;
  first_ = command->next_;
  if (first_ == nullptr) last_ = nullptr;
  return command;
}

void CommandQueue::hand_over(const Home& home, CommandQueue& to,
                             const std::shared_ptr<Engine>& engine) noexcept {
  Command* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    Command** end = &found;
    Command** link = &first_;
    last_ = nullptr;
    while (Command* const command = *link) {
      if (command->home_ == &home) {
        *link = command->next_;
        command->next_ = nullptr;
        *end = command;
        end = &command->next_;
      } else {
        last_ = command;
        link = &command->next_;
      }
    }
  }
  while (found != nullptr) {
    Command* const next = found->next_;
    found->keep(engine);
    to.post(*found);
    found = next;
  }
}

bool CommandQueue::stopping() noexcept {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool CommandQueue::stopped() noexcept {
  const std::lock_guard lock(mutex_);
  return stopping_ && first_ == nullptr;
}

void CommandQueue::call_engine() noexcept {
  if constexpr (kThreads) {
    changed_.notify_one();
  } else {
    Turns::want();
  }
}

}  // namespace rc::engine
