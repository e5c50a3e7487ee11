// Where a session is: the engine to which its calls and requests go. It changes
// when the session moves (engine/session_move.h).
//
// Any thread may call every function; none waits for a step.
#pragma once

#include <memory>
#include <mutex>

#include "engine/command_queue.h"
#include "engine/engine.h"

namespace rc::engine {

class Home {
 public:
  // `options` are the session's, with its context_length. The engine is kept
  // alive until release(); nullptr: by others.
  Home(std::shared_ptr<Engine> engine, std::shared_ptr<CommandQueue> commands,
       const SessionOptions& options);

  // Where another session is.
  Home(const Home& other) { follow(other); }
  Home& operator=(const Home&) = delete;

  // nullptr once it is released.
  std::shared_ptr<Engine> engine() const noexcept;
  SessionOptions options() const noexcept;
  // Whether it is at the engine with these commands, also if it is released.
  bool is_at(const CommandQueue& commands) const noexcept;

  // Sends a command about the session to the engine where it is when the
  // command is executed.
  void post(Command& command) noexcept;
  // As those of CommandQueue.
  void wake() noexcept;
  void wake_for_cancelled() noexcept;

  // The last handle of the session is gone: returns what it kept alive. Jobs
  // alone do so from now on.
  std::shared_ptr<Engine> release() noexcept;
  // Goes where another session is, whose engine is executing a command.
  void follow(const Home& other) noexcept;
  // Moves to another engine; the one before is between two steps. `arrival` is
  // executed first there, then the commands that the one before has not.
  void move(const std::shared_ptr<Engine>& engine,
            std::shared_ptr<CommandQueue> commands,
            const SessionOptions& options, Command& arrival) noexcept;

 private:
  mutable std::mutex mutex_;  // held for moments only
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<CommandQueue> commands_;
  SessionOptions options_;
};

}  // namespace rc::engine
