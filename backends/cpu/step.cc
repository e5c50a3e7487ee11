#include "cpu/step.h"

#include <chrono>
#include <cstdarg>
#include <cstdio>

namespace rc::cpu {
namespace {

// Between two questions to the caller whether to stop.
constexpr int64_t kAskNanoseconds = 1000 * 1000;

}  // namespace

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Run::begin(const rc_plugin_run& run, uint8_t* const* caches) {
  run_ = &run;
  caches_ = caches;
  rows_.store(run.rows, std::memory_order_relaxed);
  outputs_.store(run.outputs, std::memory_order_relaxed);
  sequences_.store(run.sequences, std::memory_order_relaxed);
  stopped_ = false;
  failed_ = false;
  status_ = RC_OK;
  message_[0] = '\0';
  asked_ = 0;
}

int64_t Run::rows(int64_t dimension) const {
  switch (dimension) {
    case RC_DIM_ROWS:
      return rows_.load(std::memory_order_relaxed);
    case RC_DIM_OUTPUTS:
      return outputs_.load(std::memory_order_relaxed);
    case RC_DIM_SEQUENCES:
      return sequences_.load(std::memory_order_relaxed);
    default:
      return dimension;
  }
}

void Run::fail(rc_status status, const char* format, ...) {
  if (!failed_.exchange(true)) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message_, sizeof(message_), format, arguments);
    va_end(arguments);
    status_ = status;
  }
  stopped_.store(true, std::memory_order_relaxed);
}

bool Run::stopped(int thread) {
  if (stopped()) return true;
  if (thread == 0 && run_->should_stop != nullptr) {
    const int64_t time = now_ns();
    if (time - asked_ >= kAskNanoseconds) {
      asked_ = time;
      if (run_->should_stop(run_->user) != 0) {
        fail(RC_E_CANCELLED, "stopped by the caller");
      }
    }
  }
  return stopped();
}

}  // namespace rc::cpu
