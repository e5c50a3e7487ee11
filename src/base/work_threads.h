// Threads that wait for work, so that handing some over starts none.
//
// While a thread works another one waits: it was started by the first of them,
// not by the one that has the work. A caller on an event loop is therefore held
// up by no start of a thread, once prepare_work_threads() was called.
#pragma once

#include <functional>

namespace rc {

// Starts a thread that waits, if there is none; for what makes event loops. If
// the system refuses the thread, run_on_work_thread() tries again.
void prepare_work_threads() noexcept;

// Calls the function once, on a thread with a deep stack (deep_stack.h) that
// is one of the library's (library_thread.h) and computes for long
// (compute_thread.h). The function must not throw, but may end the thread. It
// is called when a thread is free, which is at once unless the system refuses
// more of them. Throws RC_E_OUT_OF_MEMORY if there is no thread and the system
// refuses one, and std::bad_alloc; the function is then not called. Programs
// without threads (threads.h) must not call this.
void run_on_work_thread(std::function<void()> function);

}  // namespace rc
