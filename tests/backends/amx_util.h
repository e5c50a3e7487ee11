// Emulates AMX on processors without it: its instructions trap, and a signal
// handler executes them as Intel's manual defines. So the kernels run as they
// were compiled.
#pragma once

#include <cstdint>

namespace rc::cpu_test {

// Emulates the instructions that the kernels use, on the threads of the
// process, as long as it lives; one at a time. What the processor would refuse
// ends the process by the signal, with a line on stderr before.
class AmxEmulator {
 public:
  AmxEmulator();
  ~AmxEmulator();
  AmxEmulator(const AmxEmulator&) = delete;
  AmxEmulator& operator=(const AmxEmulator&) = delete;

  // Return, for this thread, the number of products of matrices so far, and
  // whether registers have shapes now.
  static int64_t products();
  static bool configured();
};

}  // namespace rc::cpu_test
