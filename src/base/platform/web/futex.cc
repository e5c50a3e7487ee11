#include "base/futex.h"

#include <emscripten/threading.h>

#include <climits>
#include <cmath>

namespace rc {

void futex_wait(const std::atomic<uint32_t>& word, uint32_t value,
                std::chrono::nanoseconds most) noexcept {
#if defined(__EMSCRIPTEN_PTHREADS__)
  const double milliseconds =
      std::chrono::duration<double, std::milli>(most).count();
  emscripten_futex_wait(const_cast<std::atomic<uint32_t>*>(&word), value,
                        most.count() > 0 ? milliseconds : INFINITY);
#else
  static_cast<void>(word);
  static_cast<void>(value);
  static_cast<void>(most);
#endif
}

void futex_wake(const std::atomic<uint32_t>& word) noexcept {
#if defined(__EMSCRIPTEN_PTHREADS__)
  emscripten_futex_wake(const_cast<std::atomic<uint32_t>*>(&word), INT_MAX);
#else
  static_cast<void>(word);
#endif
}

}  // namespace rc
