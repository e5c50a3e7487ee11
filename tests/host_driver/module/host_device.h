// The host as a device of the C dialect of kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gpu/byte_packing.h"
#include "gpu/device.h"
#include "group_runner.h"
#include "kernel_library.h"
#include "runcible/plugin.h"

namespace rc::host {

class HostDevice final : public gpu::Device {
 public:
  // RUNCIBLE_HOST_TUNING changes the tuning: names of members with numbers, as
  // in "tile=8,parts=2", and "seed". Throws RC_E_INVALID_ARGUMENT for what is
  // not like that or cannot work.
  explicit HostDevice(const rc_plugin_open_options& options);

  KernelLibrary& library() { return library_; }
  GroupRunner& runner() { return *runner_; }
  bool profile() const { return profile_; }

  const gpu::Tuning& tuning() const override { return tuning_; }
  const gpu::Packing& packing() const override { return packing_; }
  uint64_t alignment() const override { return 16; }
  uint64_t largest_buffer() const override { return uint64_t{1} << 40; }
  uint32_t most_groups(int) const override { return INT32_MAX; }
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
  gpu::Tuning tuning_;
  gpu::BytePacking packing_;
  bool profile_;
  KernelLibrary library_;
  std::unique_ptr<GroupRunner> runner_;
};

}  // namespace rc::host
