// An opened device.
//
// Runs and transfers use separate queues, so that weights can be created and
// destroyed from any thread at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gpu/byte_packing.h"
#include "gpu/device.h"
#include "opencl/api.h"
#include "opencl/library.h"
#include "opencl/tuning.h"
#include "runcible/plugin.h"

namespace rc::opencl {

class OpenClDevice final : public gpu::Device {
 public:
  OpenClDevice(cl_device_id id, const rc_plugin_open_options& options);

  cl_context context() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }
  cl_command_queue transfers() const { return transfers_.get(); }
  Library& library() { return library_; }
  bool doubles() const { return doubles_; }
  bool profile() const { return profile_; }

  const Tuning& tuning() const override { return tuning_; }
  const gpu::Packing& packing() const override { return packing_; }
  // Kernels are given offsets.
  uint64_t alignment() const override { return sizeof(cl_uint); }
  uint64_t largest_buffer() const override { return largest_buffer_; }
  uint32_t most_groups(int) const override {
    // A run enqueues as many as the tuning says.
    return INT32_MAX;
  }
  std::unique_ptr<gpu::Buffer> allocate(uint64_t bytes,
                                        gpu::MemoryUse use) override;
  void copy(gpu::Buffer& target, uint64_t target_offset, gpu::Buffer& source,
            uint64_t source_offset, uint64_t bytes) override;
  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const override;
  std::unique_ptr<gpu::Recording> record(
      const gpu::PlacedProgram& program) override;
  int32_t kernel_language() const override { return RC_KERNEL_OPENCL_C; }
  std::unique_ptr<gpu::CustomKernel> create_kernel(
      const rc_plugin_kernel_info& info) override;

 private:
  Queue make_queue(cl_command_queue_properties properties) const;

  cl_device_id id_;
  Tuning tuning_;
  uint64_t largest_buffer_;
  bool doubles_;
  gpu::BytePacking packing_;
  bool profile_;
  Context context_;
  Queue queue_;
  Queue transfers_;
  Library library_;
};

}  // namespace rc::opencl
