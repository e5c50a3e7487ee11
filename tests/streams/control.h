// The state of a stand-in for the library of a driver whose kernels run in
// streams: what it pretends to be, and which calls fail. Nothing of it is
// destroyed, since devices are closed while the process exits, too.
#pragma once

#include <atomic>

// Before a function that the library exports.
#define RC_STAND_IN extern "C" __attribute__((visibility("default")))

namespace rc::stand_in {

// Of the environment, with names and numbers as in "devices=2,driver=10020".
// Each library defines its name.
extern const char* const settings_variable;

// A number of the settings; `otherwise` if it is not there.
long setting(const char* name, long otherwise);

// Counts a call; the result that it is to fail with, or 0.
int begin_call(const char* name);
// After `after` calls of that function, or of any if it is "", one gives this
// result; negative: none does. Takes back the loss of the device.
void fail_after(const char* function, long after, int result);
extern std::atomic<long> calls;
// The result of all calls after an error of a kernel; 0: there was none.
extern std::atomic<int> lost;

// What a function begins with.
#define RC_BEGIN(name)                                   \
  do {                                                   \
    const int injected = rc::stand_in::begin_call(name); \
    if (injected != 0) return injected;                  \
  } while (false)

}  // namespace rc::stand_in
