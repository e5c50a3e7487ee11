// A backend around another's table, under another name: it has the ops and the
// memory that a test chooses, counts its resources, and lets the test step in
// before and after each run. Its results equal those of the wrapped backend,
// bit for bit.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/device.h"

namespace rc::test {

// To be changed by the test while the device is idle.
struct WrappedState {
  const rc_plugin* inner = nullptr;
  std::set<int32_t> missing_ops;  // RC_OP_*
  uint64_t free_memory = 0;       // reported; 0: unknown
  rc_device_kind kind = RC_DEVICE_GPU_DISCRETE;

  // Called instead of the inner function, which it may call or leave.
  std::function<rc_status(const rc_plugin_run& run, char* message,
                          const std::function<rc_status()>& inner)>
      on_run;
  std::function<rc_status(int64_t timeout_ms, char* message,
                          const std::function<rc_status()>& inner)>
      on_wait;

  // Bytes that are there now, and calls so far.
  std::atomic<uint64_t> weights{0};
  std::atomic<uint64_t> buffers{0};
  std::atomic<uint64_t> scratch{0};
  std::atomic<int> programs{0};  // compiled and not destroyed
  std::atomic<int> runs{0};

  std::mutex mutex;
  std::unordered_map<const void*, uint64_t> sizes;  // by handle
};

// A backend `name` around the built-in `inner`, registered at the first call
// of that name; later ones find it as it was left, but for the members above
// that a test sets, which are as in a new one. At most eight in a process.
WrappedState& wrap_backend(const std::string& name, const std::string& inner);

// Its device, opened with one thread.
std::shared_ptr<runtime::Device> open_wrapped(const std::string& name);

}  // namespace rc::test
