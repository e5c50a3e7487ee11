// The pipelines of a device, each made at its first use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gpu/kernel.h"
#include "webgpu/device.h"

namespace rc::webgpu {

struct Pipeline {
  abi::Pipeline pipeline;
  abi::BindGroupLayout groups;
};

// Where the counts of a run and the parameters of a dispatch are bound.
inline constexpr uint32_t kCountsSlot = 0;
inline constexpr uint32_t kParametersSlot = 31;

// Storage buffers that a kernel binds.
uint32_t storage_buffers(gpu::Kernel kernel);

// The text of a kernel with the constants and the access of its buffers.
std::string shader_source(const gpu::Variant& variant);

class Pipelines {
 public:
  explicit Pipelines(const Device& device) : device_(device) {}

  // Valid as long as this.
  Pipeline get(const gpu::Variant& variant);

 private:
  struct Layout {
    GroupLayoutHandle groups;
    LayoutHandle layout;
  };
  void make_layout(gpu::Kernel kernel, Layout* made) const;
  PipelineHandle compiled(const gpu::Variant& variant,
                          const Layout& layout) const;

  const Device& device_;
  Layout layouts_[static_cast<size_t>(gpu::Kernel::kCount)];
  std::map<gpu::Variant, PipelineHandle> pipelines_;
};

}  // namespace rc::webgpu
