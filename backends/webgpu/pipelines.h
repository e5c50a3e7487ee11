// The pipelines of a device, each made at its first use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/dispatch.h"
#include "gpu/kernel.h"
#include "webgpu/webgpu_device.h"

namespace rc::webgpu {

struct Pipeline {
  abi::Pipeline pipeline;
  abi::BindGroupLayout groups;
};

// Where the counts of a run and the parameters of a dispatch are bound.
inline constexpr uint32_t kCountsSlot = 0;
inline constexpr uint32_t kParametersSlot = 31;

// Storage buffers that a kernel binds at most.
uint32_t storage_buffers(gpu::Kernel kernel);

// Pairs of a slot and an earlier slot with the same region, in the order of the
// former. Absent operands are bound all the same, and caches of one range are
// bound four times. The kernel then reads the latter slot.
using Aliases = std::vector<std::pair<uint32_t, uint32_t>>;

// Returns the aliases of kernels that may bind more buffers than the standard
// guarantees, and none for other kernels.
Aliases aliases_of(const gpu::Dispatch& dispatch);

// The text of a kernel with the constants and the access of its buffers.
std::string shader_source(const gpu::Variant& variant,
                          const Aliases& aliases = {});

class Pipelines {
 public:
  explicit Pipelines(const WebGpuDevice& device) : device_(device) {}

  // Valid as long as this.
  Pipeline get(const gpu::Variant& variant, const Aliases& aliases);

 private:
  struct Layout {
    GroupLayoutHandle groups;
    LayoutHandle layout;
  };
  void make_layout(gpu::Kernel kernel, const Aliases& aliases,
                   Layout* made) const;
  PipelineHandle compiled(const gpu::Variant& variant, const Aliases& aliases,
                          const Layout& layout) const;

  const WebGpuDevice& device_;
  std::map<std::pair<gpu::Kernel, Aliases>, Layout> layouts_;
  std::map<std::pair<gpu::Variant, Aliases>, PipelineHandle> pipelines_;
};

// Bits of the slots that are bound, with that of the counts.
uint32_t bound_slots(gpu::Kernel kernel, const Aliases& aliases);

}  // namespace rc::webgpu
