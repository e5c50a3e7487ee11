// The commands for the engine thread, in the order in which they were posted.
//
// Any thread posts, the engine thread takes. Posting never allocates: commands
// bring their own link.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace rc::engine {

class Core;
class Engine;
class Home;

class Command {
 public:
  virtual ~Command() = default;
  // On the engine thread, once. May destroy the command.
  virtual void execute(Core& core) noexcept = 0;
  // Keeps the engine alive that is to execute it, in place of another. For
  // commands that no caller waits for.
  virtual void keep(std::shared_ptr<Engine> /*engine*/) noexcept {}

 private:
  friend class CommandQueue;
  friend class Home;
  Command* next_ = nullptr;
  const Home* home_ = nullptr;  // of the session that it is about, if any
};

class CommandQueue {
 public:
  // The command must live until it is executed.
  void post(Command& command) noexcept;
  // Makes wait() return although there is no command.
  void wake() noexcept;
  // The same, as some job was cancelled.
  void wake_for_cancelled() noexcept;
  // Whether any job was since take_cancelled().
  bool cancelled() const noexcept { return cancelled_.load(); }
  bool take_cancelled() noexcept { return cancelled_.exchange(false); }
  // Asks the engine thread to end; wait() returns at once from now on.
  void stop() noexcept;

  // Blocks, using no CPU, until there is a command or a wake-up, or the time
  // has come.
  void wait(
      std::optional<std::chrono::steady_clock::time_point> until) noexcept;
  // Takes the oldest command; nullptr if there is none.
  Command* take() noexcept;
  // Moves the commands about a session to the queue of another engine, in their
  // order.
  void hand_over(const Home& home, CommandQueue& to,
                 const std::shared_ptr<Engine>& engine) noexcept;
  bool stopping() noexcept;
  // Only true once every command has been taken.
  bool stopped() noexcept;

 private:
  // Under the lock.
  void call_engine() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  Command* first_ = nullptr;
  Command* last_ = nullptr;
  bool woken_ = false;
  bool stopping_ = false;
  std::atomic<bool> cancelled_{false};
};

}  // namespace rc::engine
