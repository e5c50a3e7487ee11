#include "engine/home.h"

#include <utility>

namespace rc::engine {

Home::Home(std::shared_ptr<Engine> engine,
           std::shared_ptr<CommandQueue> commands,
           const SessionOptions& options)
    : engine_(std::move(engine)),
      commands_(std::move(commands)),
      options_(options) {}

std::shared_ptr<Engine> Home::engine() const noexcept {
  const std::lock_guard lock(mutex_);
  return engine_;
}

SessionOptions Home::options() const noexcept {
  const std::lock_guard lock(mutex_);
  return options_;
}

bool Home::is_at(const CommandQueue& commands) const noexcept {
  const std::lock_guard lock(mutex_);
  return commands_.get() == &commands;
}

void Home::post(Command& command) noexcept {
  const std::lock_guard lock(mutex_);
  command.home_ = this;
  command.keep(engine_);
  commands_->post(command);
}

void Home::wake() noexcept {
  const std::lock_guard lock(mutex_);
  commands_->wake();
}

void Home::wake_for_cancelled() noexcept {
  const std::lock_guard lock(mutex_);
  commands_->wake_for_cancelled();
}

std::shared_ptr<Engine> Home::release() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(engine_, nullptr);
}

void Home::follow(const Home& other) noexcept {
  const std::scoped_lock lock(mutex_, other.mutex_);
  engine_ = other.engine_;
  commands_ = other.commands_;
  options_ = other.options_;
}

void Home::move(const std::shared_ptr<Engine>& engine,
                std::shared_ptr<CommandQueue> commands,
                const SessionOptions& options, Command& arrival) noexcept {
  const std::lock_guard lock(mutex_);
  commands->post(arrival);
  commands_->hand_over(*this, *commands, engine);
  commands_ = std::move(commands);
  options_ = options;
  if (engine_ != nullptr) engine_ = engine;
}

}  // namespace rc::engine
