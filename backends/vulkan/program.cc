#include "vulkan/program.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace rc::vulkan {
namespace {

// Multiply-adds per row after which a segment ends.
constexpr double kSegmentWork = 4e6;

uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

bool overlap(const Region& region, const std::vector<Region>& others) {
  return std::any_of(others.begin(), others.end(), [&](const Region& other) {
    return region.overlaps(other);
  });
}

}  // namespace

Program::Program(Device& device, const plugin::GivenProgram& program)
    : device_(device), ops_(program.ops), limits_(program.limits()) {
  program.check(
      [](const rc_plugin_weight* handle) -> plugin::WeightShape {
        const auto* weight = reinterpret_cast<const Weight*>(handle);
        return {weight->dtype, weight->shape};
      },
      [](const rc_plugin_buffer* handle) {
        return reinterpret_cast<const Buffer*>(handle)->bytes();
      });
  for (const Op& op : ops_) check_supported(device, op, program.values);
  place_values(program);
  for (size_t i = 0; i < ops_.size(); ++i) {
    append_dispatches(device, ops_[i], static_cast<int32_t>(i), values_,
                      limits_, &dispatches_, &kept_);
  }
  control_ = Buffer(
      device,
      kCommandsOffset + dispatches_.size() * sizeof(VkDispatchIndirectCommand),
      MemoryUse::kToDevice);
  std::vector<Pipelines::Variant> variants;
  for (const Dispatch& dispatch : dispatches_) {
    variants.emplace_back(dispatch.shader, dispatch.constants);
  }
  device.pipelines().prepare(variants);
  for (const Pipelines::Variant& variant : variants) {
    pipelines_.push_back(device.pipelines().get(variant));
  }
  make_descriptors();
  for (Submission& submission : submissions_) {
    VkFenceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    VkFence fence = VK_NULL_HANDLE;
    check(device.vk().vkCreateFence(device.get(), &info, nullptr, &fence),
          "vkCreateFence");
    submission.fence = device.own(fence, device.vk().vkDestroyFence);
  }
  record();
}

Program::~Program() {
  if (run_ != nullptr) end();
}

void Program::place_values(const plugin::GivenProgram& program) {
  const uint64_t scale = std::max<uint64_t>(device_.alignment() / 64, 1);
  if (program.scratch_bytes > UINT64_MAX / 1024) {
    fail(RC_E_DEVICE_MEMORY, program.scratch_bytes,
         " bytes of scratch are more than any device has");
  }
  // A program without scratch, inputs or outputs, such as one tensor op, takes
  // no memory for them.
  if (std::any_of(program.values.begin(), program.values.end(),
                  [](const rc_plugin_value& value) {
                    return value.storage == RC_STORAGE_SCRATCH;
                  })) {
    scratch_ =
        Buffer(device_, program.scratch_bytes * scale, MemoryUse::kDevice);
  }
  input_values_.resize(program.input_count);
  output_values_.resize(program.output_count);
  input_regions_.resize(program.input_count);
  output_regions_.resize(program.output_count);
  values_.resize(program.values.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    Placed& placed = values_[i];
    placed.value = program.values[i];
    const rc_plugin_value& value = placed.value;
    const uint64_t bytes = value_bytes(value, limits_).value();
    if (bytes > UINT64_MAX / 1024) {
      fail(RC_E_DEVICE_MEMORY, "value ", i, ", ", value_text(value),
           ", is larger than any device");
    }
    switch (value.storage) {
      case RC_STORAGE_WEIGHT:
        placed.weight = reinterpret_cast<Weight*>(program.weights[value.index]);
        break;
      case RC_STORAGE_CACHE:
        placed.region = {reinterpret_cast<Buffer*>(program.caches[value.index]),
                         value.offset, bytes};
        break;
      case RC_STORAGE_INPUT:
        input_values_[value.index] = value;
        input_regions_[value.index].bytes = bytes;
        break;
      case RC_STORAGE_SCRATCH:
        placed.region = {&scratch_, value.offset * scale, bytes};
        break;
      default:
        output_values_[value.index] = value;
        output_regions_[value.index].bytes = bytes;
    }
  }
  const auto place = [&](std::vector<Region>& regions, MemoryUse where,
                         Buffer* buffer) {
    uint64_t bytes = 0;
    for (Region& region : regions) {
      region.buffer = buffer;
      region.offset = bytes;
      bytes += aligned(region.bytes);
    }
    if (!regions.empty()) *buffer = Buffer(device_, bytes, where);
  };
  place(input_regions_, MemoryUse::kToDevice, &inputs_);
  place(output_regions_, MemoryUse::kToHost, &outputs_);
  for (Placed& placed : values_) {
    if (placed.value.storage == RC_STORAGE_INPUT) {
      placed.region = input_regions_[placed.value.index];
    } else if (placed.value.storage == RC_STORAGE_OUTPUT) {
      placed.region = output_regions_[placed.value.index];
    }
  }
}

VkBufferView Program::view(const Region& region, VkFormat format) {
  VkBufferViewCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
  info.buffer = region.buffer->get();
  info.format = format;
  info.offset = region.offset;
  // Whole texels; the buffer is as long as whole quads.
  const uint64_t texel = format == VK_FORMAT_R32_UINT ? 4 : 16;
  info.range = std::max((region.bytes + 3) / 4 * 4 / texel * texel, texel);
  VkBufferView made = VK_NULL_HANDLE;
  check(device_.vk().vkCreateBufferView(device_.get(), &info, nullptr, &made),
        "vkCreateBufferView");
  views_.push_back(device_.own(made, device_.vk().vkDestroyBufferView));
  return made;
}

void Program::make_descriptors() {
  if (dispatches_.empty()) return;
  const auto& vk = device_.vk();
  const bool texels = device_.tuning().texels != 0;
  uint32_t inputs = 0;
  uint32_t buffers = 0;
  for (const Dispatch& dispatch : dispatches_) {
    const Slots slots = slots_of(dispatch.shader);
    inputs += static_cast<uint32_t>(std::popcount(slots.inputs));
    buffers += static_cast<uint32_t>(std::popcount(slots.outputs));
  }
  std::vector<VkDescriptorPoolSize> sizes;
  if (texels) {
    sizes = {{VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, inputs},
             {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers}};
  } else {
    sizes = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, inputs + buffers}};
  }
  VkDescriptorPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = static_cast<uint32_t>(dispatches_.size());
  pool.poolSizeCount = static_cast<uint32_t>(sizes.size());
  pool.pPoolSizes = sizes.data();
  VkDescriptorPool made = VK_NULL_HANDLE;
  check(vk.vkCreateDescriptorPool(device_.get(), &pool, nullptr, &made),
        "vkCreateDescriptorPool");
  descriptors_ = device_.own(made, vk.vkDestroyDescriptorPool);

  std::vector<VkDescriptorSetLayout> layouts;
  for (const Pipeline& pipeline : pipelines_) layouts.push_back(pipeline.sets);
  sets_.resize(dispatches_.size());
  VkDescriptorSetAllocateInfo allocate = {};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = made;
  allocate.descriptorSetCount = static_cast<uint32_t>(layouts.size());
  allocate.pSetLayouts = layouts.data();
  check(vk.vkAllocateDescriptorSets(device_.get(), &allocate, sets_.data()),
        "vkAllocateDescriptorSets");

  for (size_t i = 0; i < dispatches_.size(); ++i) {
    std::vector<Binding> bindings = dispatches_[i].bindings;
    const Slots slots = slots_of(dispatches_[i].shader);
    bindings.push_back({0, {&control_, 0, 16}});
    if (slots.fault) bindings.push_back({9, {&control_, kFaultOffset, 16}});
    std::vector<VkWriteDescriptorSet> writes(bindings.size());
    std::vector<VkDescriptorBufferInfo> infos(bindings.size());
    std::vector<VkBufferView> views(bindings.size());
    for (size_t j = 0; j < bindings.size(); ++j) {
      const Binding& binding = bindings[j];
      VkWriteDescriptorSet& write = writes[j];
      write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
      write.dstSet = sets_[i];
      write.dstBinding = binding.slot;
      write.descriptorCount = 1;
      if (texels && (slots.inputs >> binding.slot & 1) != 0) {
        views[j] =
            view(binding.region, binding.quads ? VK_FORMAT_R32G32B32A32_UINT
                                               : VK_FORMAT_R32_UINT);
        write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
        write.pTexelBufferView = &views[j];
      } else {
        infos[j] = {binding.region.buffer->get(), binding.region.offset,
                    std::max<uint64_t>((binding.region.bytes + 3) / 4 * 4, 4)};
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &infos[j];
      }
    }
    vk.vkUpdateDescriptorSets(device_.get(),
                              static_cast<uint32_t>(writes.size()),
                              writes.data(), 0, nullptr);
  }
}

void Program::barrier(VkCommandBuffer commands, VkPipelineStageFlags to,
                      VkAccessFlags access) const {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = access;
  device_.vk().vkCmdPipelineBarrier(commands,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, to, 0,
                                    1, &barrier, 0, nullptr, 0, nullptr);
}

void Program::record() {
  const auto& vk = device_.vk();
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = device_.family();
  VkCommandPool made = VK_NULL_HANDLE;
  check(vk.vkCreateCommandPool(device_.get(), &pool, nullptr, &made),
        "vkCreateCommandPool");
  commands_ = device_.own(made, vk.vkDestroyCommandPool);
  if (device_.profile() && !ops_.empty()) {
    VkQueryPoolCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = static_cast<uint32_t>(2 * ops_.size());
    VkQueryPool queries = VK_NULL_HANDLE;
    check(vk.vkCreateQueryPool(device_.get(), &info, nullptr, &queries),
          "vkCreateQueryPool");
    queries_ = device_.own(queries, vk.vkDestroyQueryPool);
  }
  // Segments end between ops, and within those of fixed rows, which may take
  // long.
  size_t first = 0;
  double work = 0;
  for (size_t i = 0; i < dispatches_.size(); ++i) {
    const Dispatch& dispatch = dispatches_[i];
    const bool fixed = dispatch.rows.symbol == kFixedRows;
    // Of the two for few and many rows one is done.
    if (dispatch.rows.at_most == UINT32_MAX) {
      work += dispatch.row_work * (fixed ? dispatch.rows.limit : 1);
    }
    const bool last = i + 1 == dispatches_.size();
    const bool may_end = fixed || last || dispatches_[i + 1].op != dispatch.op;
    if (last || (may_end && work >= kSegmentWork)) {
      record_segment(first, i + 1);
      first = i + 1;
      work = 0;
    }
  }
}

void Program::record_segment(size_t first, size_t last) {
  const auto& vk = device_.vk();
  VkCommandBufferAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = commands_.get();
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(vk.vkAllocateCommandBuffers(device_.get(), &info, &commands),
        "vkAllocateCommandBuffers");
  segments_.push_back({commands, first, last});
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  check(vk.vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  if (queries_ && first == 0) {
    vk.vkCmdResetQueryPool(commands, queries_.get(), 0,
                           static_cast<uint32_t>(2 * ops_.size()));
  }
  for (size_t i = first; i < last; ++i) {
    const Dispatch& dispatch = dispatches_[i];
    const auto begins_stage = [&](size_t j) {
      return j == first || dispatches_[j - 1].op != dispatches_[j].op ||
             dispatches_[j].after;
    };
    if (begins_stage(i)) {
      // What the op reads has been written, and what it writes is no longer
      // read. The dispatches of one stage of an op do not depend on each other.
      std::vector<Region> reads, writes;
      for (size_t j = i; j == i || (j < last && !begins_stage(j)); ++j) {
        const uint32_t inputs = slots_of(dispatches_[j].shader).inputs;
        for (const Binding& binding : dispatches_[j].bindings) {
          ((inputs >> binding.slot & 1) != 0 ? reads : writes)
              .push_back(binding.region);
        }
      }
      const auto conflict = [&](const std::vector<Region>& mine,
                                const std::vector<Region>& theirs) {
        return std::any_of(mine.begin(), mine.end(),
                           [&](const Region& r) { return overlap(r, theirs); });
      };
      if (queries_ || conflict(reads, written_) || conflict(writes, written_) ||
          conflict(writes, read_)) {
        barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
        read_.clear();
        written_.clear();
      }
      read_.insert(read_.end(), reads.begin(), reads.end());
      written_.insert(written_.end(), writes.begin(), writes.end());
    }
    if (queries_ && (i == 0 || dispatches_[i - 1].op != dispatch.op)) {
      vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                             queries_.get(),
                             static_cast<uint32_t>(2 * dispatch.op));
    }
    const Pipeline& pipeline = pipelines_[i];
    vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                         pipeline.pipeline);
    vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                               pipeline.layout, 0, 1, &sets_[i], 0, nullptr);
    vk.vkCmdPushConstants(commands, pipeline.layout,
                          VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>(dispatch.parameters.size() * 4),
                          dispatch.parameters.data());
    vk.vkCmdDispatchIndirect(
        commands, control_.get(),
        kCommandsOffset + i * sizeof(VkDispatchIndirectCommand));
    if (queries_ &&
        (i + 1 == dispatches_.size() || dispatches_[i + 1].op != dispatch.op)) {
      vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                             queries_.get(),
                             static_cast<uint32_t>(2 * dispatch.op + 1));
    }
  }
  barrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  check(vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

}  // namespace rc::vulkan
