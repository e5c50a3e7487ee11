// An opened device: a stream for runs and one for transfers, so that weights
// can be created and destroyed from any thread at any time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gpu/byte_packing.h"
#include "gpu/device.h"
#include "gpu/kernel.h"
#include "runcible/plugin.h"
#include "streams/driver.h"
#include "streams/handles.h"
#include "streams/tuning.h"

namespace rc::streams {

class StreamDevice : public gpu::Device {
 public:
  Driver& driver() { return *driver_; }
  StreamHandle runs() const { return runs_.get(); }
  bool profile() const { return profile_; }
  // The kernel of a variant; the device is current.
  virtual FunctionHandle function(const gpu::Variant& variant) = 0;

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

 protected:
  StreamDevice(std::unique_ptr<Driver> driver, const Tuning& tuning,
               uint64_t total_memory, const rc_plugin_open_options& options);

 private:
  std::unique_ptr<Driver> driver_;
  Stream runs_;
  Stream transfers_;
  Tuning tuning_;
  gpu::BytePacking packing_;
  uint64_t total_memory_;
  bool profile_;
};

}  // namespace rc::streams
