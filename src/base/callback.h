// Calling functions of the host's, which may end in any way.
//
// An exception that leaves one must not run on through frames of C or of other
// requests: it ends here. The unwinding of a thread that ends itself
// (pthread_exit) cannot be held up; it may be watched on its way, and every
// frame between a callback and the root of its thread lets it pass.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

#include "base/caller_thread.h"

namespace rc {

#if defined(__GLIBCXX__)
// A handler that catches it must throw it on.
using ThreadEnd = abi::__forced_unwind;
#else
struct ThreadEnd {};  // elsewhere a thread ends without unwinding
#endif

// Calls function(). If it does not return, calls failed(message), which must
// not throw; the message begins with the name of the callback and takes no
// memory to make.
inline constexpr size_t kCallbackMessage = 512;
template <class Function, class Failed>
void call_out(const char* name, Function&& function, Failed&& failed) {
  char message[kCallbackMessage];
  try {
    const CallerFloats outside;
    std::forward<Function>(function)();
  } catch (const ThreadEnd&) {
    std::snprintf(message, sizeof message,
                  "%s ended its thread; it has to return", name);
    failed(message);
    throw;
  } catch (const std::exception& error) {
    std::snprintf(message, sizeof message,
                  "%s threw an exception: %s; it has to return", name,
                  error.what());
    failed(message);
  } catch (...) {
    std::snprintf(message, sizeof message,
                  "%s threw an exception that is no std::exception; it has to "
                  "return",
                  name);
    failed(message);
  }
}

}  // namespace rc
