#include "webgpu/pipelines.h"

#include <algorithm>
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

// The limit that WebGPU promises for every device.
constexpr uint32_t kPromised = 8;

constexpr std::string_view kWritten = "var<storage, read_write>";

// "@group(0) @binding(3)", then "var<storage, read_write> name: type;".
struct Declaration {
  size_t begin, end;  // in the text
  uint32_t slot;
  std::string_view name;
  std::string_view element;  // what the type has, "words: array<u32>"
};

// Returns the members of the structure of this name.
std::string_view members(std::string_view text, std::string_view type) {
  const std::string head = cat("struct ", type, " {");
  const size_t begin = text.find(head);
  if (begin == text.npos) return {};
  const size_t end = text.find('}', begin);
  return text.substr(begin + head.size(), end - begin - head.size());
}

// By their slots.
std::map<uint32_t, Declaration> declarations(std::string_view text) {
  constexpr std::string_view kGroup = "@group(0) @binding(";
  std::map<uint32_t, Declaration> all;
  for (size_t at = text.find(kGroup); at != text.npos;
       at = text.find(kGroup, at)) {
    Declaration made = {at, 0, 0, {}, {}};
    for (at += kGroup.size(); text[at] != ')'; ++at) {
      made.slot = 10 * made.slot + static_cast<uint32_t>(text[at] - '0');
    }
    const size_t name = text.find("> ", text.find("var<", at)) + 2;
    const size_t colon = text.find(':', name);
    made.end = at = text.find(';', colon) + 1;
    made.name = text.substr(name, colon - name);
    made.element = members(text, text.substr(colon + 2, at - colon - 3));
    all.emplace(made.slot, made);
  }
  return all;
}

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

// A text in which names are others.
void append_renamed(std::string_view text,
                    const std::map<std::string_view, std::string_view>& names,
                    std::string* result) {
  while (!names.empty() && !text.empty()) {
    size_t end = 0;
    while (end < text.size() && is_of_name(text[end])) ++end;
    const auto other = names.find(text.substr(0, end));
    *result += other == names.end() ? text.substr(0, end) : other->second;
    while (end < text.size() && !is_of_name(text[end])) *result += text[end++];
    text.remove_prefix(end);
  }
  *result += text;
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

Aliases aliases_of(const gpu::Dispatch& dispatch) {
  Aliases aliases;
  if (storage_buffers(dispatch.kernel) <= kPromised) return aliases;
  const uint32_t inputs = gpu::slots_of(dispatch.kernel).inputs;
  const auto declared = declarations(shader_text(dispatch.kernel));
  std::vector<const gpu::Binding*> first;  // that has its region
  for (const gpu::Binding& binding : dispatch.bindings) {
    if ((inputs >> binding.slot & 1) == 0) continue;
    const auto same = [&](const gpu::Binding* other) {
      const gpu::Region &a = binding.region, &b = other->region;
      return a.buffer == b.buffer && a.offset == b.offset &&
             a.bytes == b.bytes &&
             declared.at(binding.slot).element ==
                 declared.at(other->slot).element;
    };
    const auto found = std::find_if(first.begin(), first.end(), same);
    if (found == first.end()) {
      first.push_back(&binding);
    } else {
      aliases.emplace_back(binding.slot, (*found)->slot);
    }
  }
  std::sort(aliases.begin(), aliases.end());
  return aliases;
}

uint32_t bound_slots(gpu::Kernel kernel, const Aliases& aliases) {
  const gpu::Slots slots = gpu::slots_of(kernel);
  uint32_t all = slots.inputs | slots.outputs;
  for (const auto& [slot, other] : aliases) all &= ~(1u << slot);
  return all;
}

std::string shader_source(const gpu::Variant& variant, const Aliases& aliases) {
  const auto& [kernel, constants] = variant;
  std::string source;
  for (size_t i = 0; i < constants.size(); ++i) {
    source += cat("const constant_", i, ": u32 = ", constants[i], "u;\n");
  }
  const std::string_view text = shader_text(kernel);
  const auto declared = declarations(text);
  std::map<std::string_view, std::string_view> names;  // by those that go
  std::map<size_t, const Declaration*> by_begin;
  for (const auto& [slot, declaration] : declared) {
    by_begin[declaration.begin] = &declaration;
  }
  for (const auto& [slot, other] : aliases) {
    names[declared.at(slot).name] = declared.at(other).name;
  }
  size_t at = 0;
  for (const auto& [begin, declaration] : by_begin) {
    append_renamed(text.substr(at, begin - at), names, &source);
    at = declaration->end;
    if (names.count(declaration->name) != 0) continue;
    std::string_view whole = text.substr(begin, at - begin);
    const size_t access = whole.find(kWritten);
    if (access != whole.npos && !is_output(kernel, declaration->slot)) {
      source += cat(whole.substr(0, access), "var<storage, read>",
                    whole.substr(access + kWritten.size()));
    } else {
      source += whole;
    }
  }
  append_renamed(text.substr(at), names, &source);
  return source;
}

void Pipelines::make_layout(gpu::Kernel kernel, const Aliases& aliases,
                            Layout* made) const {
  const uint32_t all = bound_slots(kernel, aliases) | 1u << kParametersSlot;
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
                                   const Aliases& aliases,
                                   const Layout& layout) const {
  const std::string source = shader_source(variant, aliases);
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

Pipeline Pipelines::get(const gpu::Variant& variant, const Aliases& aliases) {
  Layout& layout = layouts_[{variant.first, aliases}];
  if (!layout.layout) make_layout(variant.first, aliases, &layout);
  PipelineHandle& pipeline = pipelines_[{variant, aliases}];
  // An empty one was left by a failure.
  if (!pipeline) pipeline = compiled(variant, aliases, layout);
  return {pipeline.get(), layout.groups.get()};
}

}  // namespace rc::webgpu
