// Kernels and functions of custom ops on a device.
#include <algorithm>
#include <chrono>
#include <string>

#include "base/error.h"
#include "base/time_limit.h"
#include "runtime/device.h"

namespace rc::runtime {
namespace {

using KernelClock = std::chrono::steady_clock;

// A kernel that is over time gets so long to end before the device is given up.
constexpr int64_t kKernelGraceMs = 5000;

int64_t ns_since(KernelClock::time_point start) {
  return std::chrono::nanoseconds(KernelClock::now() - start).count();
}

}  // namespace

int32_t Device::kernel_language() const {
  if (plugin_.kernel_language == nullptr || plugin_.create_kernel == nullptr ||
      plugin_.destroy_kernel == nullptr || plugin_.run_kernel == nullptr) {
    return RC_KERNEL_NONE;
  }
  const auto mine = turn();
  int32_t language = RC_KERNEL_NONE;
  Message message;
  check(*this, "report the language of its kernels",
        plugin_.kernel_language(handle_, &language, message.buffer()), message);
  return language;
}

rc_plugin_kernel* Device::create_kernel(rc_plugin_kernel_info info) {
  std::string said;
  info.struct_size = sizeof info;
  info.log_user = &said;
  info.log = [](void* user, const char* text) {
    try {
      *static_cast<std::string*>(user) += text;
    } catch (...) {
      // Without memory for its words the message alone remains.
    }
  };
  const auto mine = turn();
  rc_plugin_kernel* kernel = nullptr;
  Message message;
  const rc_status status = call_compiler([&] {
    return plugin_.create_kernel(handle_, &info, &kernel, message.buffer());
  });
  if (status == RC_E_FORMAT) {
    fail(RC_E_FORMAT, info.name, " on ", id(),
         ": the kernel does not compile: ",
         said.empty() ? message.text() : said.c_str());
  }
  check(*this, "compile a kernel", status, message);
  if (kernel == nullptr) {
    fail(RC_E_DEVICE, id(), ": the plugin gave no handle for a kernel");
  }
  try {
    kernels_.insert(kernel);
  } catch (...) {
    plugin_.destroy_kernel(handle_, kernel);
    throw;
  }
  return kernel;
}

void Device::destroy_kernel(rc_plugin_kernel* kernel) noexcept {
  try {
    const auto mine = turn();
    if (kernels_.erase(kernel) > 0) plugin_.destroy_kernel(handle_, kernel);
  } catch (...) {
    // A device that was given up keeps what it may still use.
    leak_deliberately(kernel);
  }
}

void Device::destroy_kernels() noexcept {
  for (rc_plugin_kernel* kernel : kernels_) {
    try {
      plugin_.destroy_kernel(handle_, kernel);
    } catch (...) {
      leak_deliberately(kernel);
    }
  }
  kernels_.clear();
}

void Device::run_kernel(rc_plugin_kernel* kernel, rc_plugin_kernel_run run,
                        int64_t timeout_ms, int64_t& spent_ns) {
  run.struct_size = sizeof run;
  run.timeout_ms = timeout_ms < 0 || timeout_ms > kLongestMs
                       ? -1
                       : timeout_ms + kKernelGraceMs;
  const auto mine = turn();
  const auto start = KernelClock::now();
  Message message;
  const rc_status status =
      plugin_.run_kernel(handle_, kernel, &run, message.buffer());
  const int64_t spent = ns_since(start);
  add_work(spent);
  if (status == RC_E_TIMEOUT) {
    abandon();
    fail(RC_E_TIMEOUT, id(), ": a kernel was not over after ", timeout_ms,
         " ms; it does not stop, so the device is given up");
  }
  check(*this, "run a kernel", status, message);
  spent_ns += spent;
  if (run.timeout_ms >= 0 && spent / 1'000'000 > timeout_ms) {
    fail(RC_E_TIMEOUT, id(), ": a kernel was not over after ", timeout_ms,
         " ms");
  }
}

void Device::run_ranges(int64_t count,
                        void (*function)(void* user, int64_t begin,
                                         int64_t end),
                        void* user, int64_t& spent_ns) {
  const auto mine = turn();
  const auto start = KernelClock::now();
  if (plugin_.run_ranges == nullptr || count < 2) {
    if (count > 0) function(user, 0, count);
  } else {
    Message message;
    check(*this, "divide work",
          plugin_.run_ranges(handle_, count, function, user, message.buffer()),
          message);
  }
  const int64_t spent = ns_since(start);
  add_work(spent);
  spent_ns += spent;
}

}  // namespace rc::runtime
