// Calls as the callers of base.h make them: on a thread with 64 KB of stack and
// a guard page below. An overflow ends the process, which is how a fuzz target
// reports a defect.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <cstdlib>
#include <semaphore>
#include <utility>
#include <vector>

namespace rc::fuzz {

// Sanitizers put the objects of a frame apart and keep those that optimization
// would let share their place: frames are ten times as large and more. Only a
// build without them finds what overflows the real size; see CMakeLists.txt.
#if defined(__SANITIZE_ADDRESS__)
#define RC_FUZZ_STACK_SCALE 16
#else
#define RC_FUZZ_STACK_SCALE 1
#endif
inline constexpr size_t kSmallStack = size_t{64} << 10;

// A thread that makes one call after the other. Its stack has as many bytes,
// times the scale above.
class SmallStack {
 public:
  explicit SmallStack(size_t bytes) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, RC_FUZZ_STACK_SCALE * bytes) !=
            0 ||
        pthread_create(&thread, &attributes, run, this) != 0) {
      __builtin_trap();
    }
  }
  SmallStack(const SmallStack&) = delete;
  SmallStack& operator=(const SmallStack&) = delete;

  template <class Function>
  void call(Function function) {
    function_ = [](void* data) { (*static_cast<Function*>(data))(); };
    data_ = &function;
    given_.release();
    done_.acquire();
  }

 private:
  static void* run(void* data) {
    // The fuzzer writes down the input on it when the stack has overflowed.
    static std::vector<char> signal_stack(size_t{1} << 16);
    stack_t stack = {};
    stack.ss_sp = signal_stack.data();
    stack.ss_size = signal_stack.size();
    sigaltstack(&stack, nullptr);
    auto& self = *static_cast<SmallStack*>(data);
    for (;;) {
      self.given_.acquire();
      self.function_(self.data_);
      self.done_.release();
    }
  }

  std::binary_semaphore given_{0};
  std::binary_semaphore done_{0};
  void (*function_)(void*) = nullptr;
  void* data_ = nullptr;
};

// Calls function(), which must not throw.
template <class Function>
void on_small_stack(Function function, size_t bytes = kSmallStack) {
  // Never ends: the fuzzer's process does not either before its time is over.
  static auto& thread = *new SmallStack(bytes);
  thread.call(std::move(function));
}

}  // namespace rc::fuzz
