// A kernel that the caller wrote; see rc_plugin_kernel_info.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/buffer.h"
#include "runcible/plugin.h"

namespace rc::gpu {

// Throws RC_E_UNSUPPORTED for work-groups of more work-items than a device has.
void check_group(const rc_plugin_kernel_info& info, uint64_t most);

struct KernelRun {
  std::span<const Region> tensors;
  std::span<const uint32_t> words;
  const uint32_t* groups;  // three
  int64_t timeout_ms;      // negative: no limit
};

// For one thread at a time, as runs are.
class CustomKernel {
 public:
  CustomKernel(uint32_t tensors, uint32_t words)
      : tensors_(tensors), words_(words) {}
  virtual ~CustomKernel() = default;
  CustomKernel(const CustomKernel&) = delete;
  CustomKernel& operator=(const CustomKernel&) = delete;

  uint32_t tensors() const { return tensors_; }
  uint32_t words() const { return words_; }
  // Waits for the end. False: it is not over in time, and what it uses must
  // stay.
  virtual bool run(const KernelRun& run) = 0;

 private:
  const uint32_t tensors_;
  const uint32_t words_;
};

}  // namespace rc::gpu
