// A stack that is large enough for the command, however small the limit of the
// process is (ulimit -s).
#pragma once

namespace cli {

// Runs function(argc, argv) on a thread with a large stack and returns what it
// returns; that thread receives the signals of the process. Threads that are
// started from then on have a large stack by default, where the system allows
// to set that. Throws Failure if the thread cannot be started.
int run_on_large_stack(int (*function)(int argc, char** argv) noexcept,
                       int argc, char** argv);

}  // namespace cli
