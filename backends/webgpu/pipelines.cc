#include "webgpu/pipelines.h"

#include <bit>
#include <string_view>

#include "base/error.h"
#include "webgpu/shaders.h"

namespace rc::webgpu {
namespace {

// Parameters with arrays, which uniform buffers do not hold as words do, lie in
// a storage buffer: the text says so.
bool has_arrays(gpu::Kernel kernel) {
  const std::string_view text = shader_text(kernel);
  const size_t binding = text.find("@binding(31)");
  static_assert(kParametersSlot == 31);
  return binding != text.npos &&
         text.substr(text.find("var<", binding)).starts_with("var<storage");
}

bool is_output(gpu::Kernel kernel, uint32_t slot) {
  return (gpu::slots_of(kernel).outputs >> slot & 1) != 0;
}

uint32_t binding_type(gpu::Kernel kernel, uint32_t slot) {
  if (slot == kCountsSlot) return abi::kBindUniform;
  if (slot == kParametersSlot) {
    return has_arrays(kernel) ? abi::kBindReadOnly : abi::kBindUniform;
  }
  return is_output(kernel, slot) ? abi::kBindStorage : abi::kBindReadOnly;
}

}  // namespace

uint32_t storage_buffers(gpu::Kernel kernel) {
  const gpu::Slots slots = gpu::slots_of(kernel);
  const int bound = std::popcount(slots.inputs | slots.outputs) - 1;
  return static_cast<uint32_t>(bound) + (has_arrays(kernel) ? 1 : 0);
}

std::string shader_source(const gpu::Variant& variant) {
  const auto& [kernel, constants] = variant;
  std::string source;
  for (size_t i = 0; i < constants.size(); ++i) {
    source += cat("const constant_", i, ": u32 = ", constants[i], "u;\n");
  }
  // "@binding(3)", then "var<storage, read_write>".
  constexpr std::string_view kBinding = "@binding(";
  constexpr std::string_view kWritten = "var<storage, read_write>";
  std::string_view rest = shader_text(kernel);
  for (;;) {
    const size_t at = rest.find(kBinding);
    if (at == rest.npos) break;
    uint32_t slot = 0;
    size_t end = at + kBinding.size();
    for (; rest[end] >= '0' && rest[end] <= '9'; ++end) {
      slot = 10 * slot + static_cast<uint32_t>(rest[end] - '0');
    }
    const size_t variable = rest.find("var<", end);
    source += rest.substr(0, variable);
    rest.remove_prefix(variable);
    if (rest.starts_with(kWritten) && !is_output(kernel, slot)) {
      source += "var<storage, read>";
      rest.remove_prefix(kWritten.size());
    }
  }
  source += rest;
  return source;
}

void Pipelines::make_layout(gpu::Kernel kernel, Layout* made) const {
  const gpu::Slots slots = gpu::slots_of(kernel);
  const uint32_t all = slots.inputs | slots.outputs | 1u << kParametersSlot;
  std::vector<abi::BindGroupLayoutEntry> entries;
  for (uint32_t slot = 0; slot < 32; ++slot) {
    if ((all >> slot & 1) == 0) continue;
    abi::BindGroupLayoutEntry entry = {};
    entry.binding = slot;
    entry.stages = abi::kComputeStage;
    entry.buffer.type = binding_type(kernel, slot);
    entries.push_back(entry);
  }
  const Lock lock;
  abi::BindGroupLayoutDescription groups = {};
  groups.count = entries.size();
  groups.entries = entries.data();
  made->groups = GroupLayoutHandle(
      wgpu().DeviceCreateBindGroupLayout(device_.get(), &groups));
  const abi::BindGroupLayout group = made->groups.get();
  abi::PipelineLayoutDescription layout = {};
  layout.count = 1;
  layout.groups = &group;
  made->layout =
      LayoutHandle(wgpu().DeviceCreatePipelineLayout(device_.get(), &layout));
  device_.check(gpu::kernel_name(kernel));
}

PipelineHandle Pipelines::compiled(const gpu::Variant& variant,
                                   const Layout& layout) const {
  const std::string source = shader_source(variant);
  const char* name = gpu::kernel_name(variant.first);
  const Lock lock;
  abi::WgslSource wgsl = {};
  wgsl.chain.kind = abi::kKindWgsl;
  wgsl.code = {source.data(), source.size()};
  abi::Description description = {};
  description.next = &wgsl.chain;
  const ModuleHandle module(
      wgpu().DeviceCreateShaderModule(device_.get(), &description));
  device_.check(name);
  abi::PipelineDescription pipeline = {};
  pipeline.layout = layout.layout.get();
  pipeline.compute.module = module.get();
  pipeline.compute.entry = {"main", 4};
  PipelineHandle made(
      wgpu().DeviceCreateComputePipeline(device_.get(), &pipeline));
  device_.check(name);
  return made;
}

Pipeline Pipelines::get(const gpu::Variant& variant) {
  Layout& layout = layouts_[static_cast<size_t>(variant.first)];
  if (!layout.layout) make_layout(variant.first, &layout);
  PipelineHandle& pipeline = pipelines_[variant];
  // An empty one was left by a failure.
  if (!pipeline) pipeline = compiled(variant, layout);
  return {pipeline.get(), layout.groups.get()};
}

}  // namespace rc::webgpu
