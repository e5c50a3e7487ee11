// An opened device: the primary context, a stream for runs and one for
// transfers, so that weights can be created and destroyed from any thread at
// any time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "cuda/api.h"
#include "cuda/context.h"
#include "cuda/handles.h"
#include "cuda/modules.h"
#include "cuda/tuning.h"
#include "gpu/byte_packing.h"
#include "gpu/device.h"
#include "runcible/plugin.h"

namespace rc::cuda {

class CudaDevice final : public gpu::Device {
 public:
  CudaDevice(CUdevice device, const rc_plugin_open_options& options);

  CUcontext context() const { return context_.get(); }
  CUstream runs() const { return runs_.get(); }
  Modules& modules() { return modules_; }
  bool profile() const { return profile_; }

  const Tuning& tuning() const override { return tuning_; }
  const gpu::Packing& packing() const override { return packing_; }
  // Kernels are given offsets. Vectors of a value may be loaded at once.
  uint64_t alignment() const override { return 16; }
  uint64_t largest_buffer() const override { return total_memory_; }
  uint32_t most_groups(int dimension) const override {
    // Rows, dimension 1, are cut into pieces.
    return dimension == 2 ? tuning_.groups : INT32_MAX;
  }
  std::unique_ptr<gpu::Buffer> allocate(uint64_t bytes,
                                        gpu::MemoryUse use) override;
  bool copies_pinned() const override { return true; }
  void copy(gpu::Buffer& target, uint64_t target_offset, gpu::Buffer& source,
            uint64_t source_offset, uint64_t bytes) override;
  void check_supported(const Op& op,
                       std::span<const rc_plugin_value> values) const override;
  std::unique_ptr<gpu::Recording> record(
      const gpu::PlacedProgram& program) override;

 private:
  Context context_;
  Stream runs_;
  Stream transfers_;
  Modules modules_;
  Tuning tuning_;
  gpu::BytePacking packing_;
  uint64_t total_memory_;
  bool profile_;
};

}  // namespace rc::cuda
