// A stack that is deep enough for other people's code. Callers may have little
// (64 KB is common in threads of event loops and language runtimes), and
// drivers compile programs.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

namespace rc {

// Runs function(data) on a new thread with a stack of several megabytes and
// returns when it has returned. Exceptions of the function are thrown here. If
// the calling thread already has such a stack, it calls the function itself: in
// web pages a finished thread frees its worker only when the program returns to
// the event loop. The new thread receives no signals to the process. Throws
// RC_E_DEVICE if the system refuses the thread; the function has not run then.
void on_deep_stack(void (*function)(void* data), void* data);

// Starts a thread with such a stack that calls function(data), which may end
// the thread, and is not waited for. Throws RC_E_OUT_OF_MEMORY if the system
// refuses the thread.
void start_deep_thread(void (*function)(void* data), void* data);

// The same as on_deep_stack for anything that can be called; gives what it
// returns, if anything.
template <class Function>
auto on_deep_stack(Function function) {
  using Result = decltype(function());
  if constexpr (std::is_void_v<Result>) {
    on_deep_stack([](void* data) { (*static_cast<Function*>(data))(); },
                  &function);
  } else {
    struct Call {
      Function& function;
      std::optional<Result> result;
    } call = {function, std::nullopt};
    on_deep_stack(
        [](void* data) {
          auto* given = static_cast<Call*>(data);
          given->result.emplace(given->function());
        },
        &call);
    return std::move(*call.result);
  }
}

}  // namespace rc
