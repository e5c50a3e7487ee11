#include "vulkan/recording.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace rc::vulkan {
namespace {

using gpu::Dispatch;
using gpu::Region;

// Multiply-adds per row after which a segment ends. A run can be stopped
// between segments, and each costs a microsecond, of which a token has few on a
// discrete GPU.
constexpr double kSegmentWork = 4e6;
constexpr double kSegmentWorkOfDiscrete = 64e6;
// The caller of wait is asked at least so often whether to stop.
constexpr int64_t kAskMs = 10;

VkBuffer handle_of(const Region& region) {
  return static_cast<const Buffer*>(region.buffer)->get();
}

}  // namespace

Recording::Recording(VulkanDevice& device, const gpu::PlacedProgram& program)
    : device_(device),
      op_count_(program.op_count),
      dispatches_(program.dispatches) {
  control_ = device.take_control(
      kCommandsOffset + dispatches_.size() * sizeof(VkDispatchIndirectCommand));
  make_pipelines();
  if (!dispatches_.empty()) make_descriptors();
  make_fences();
  make_commands();
  record();
}

void Recording::rebind() {
  views_.clear();
  write_sets();
  // Commands are void once a set that they bind is written.
  check(device_.vk().vkResetCommandPool(device_.get(), commands_.get(), 0),
        "vkResetCommandPool");
  for (const Segment& segment : segments_) spare_.push_back(segment.commands);
  segments_.clear();
  after_barrier_ = 0;
  record();
}

Recording::~Recording() { device_.give_back_control(std::move(control_)); }

void Recording::make_pipelines() {
  std::vector<gpu::Variant> variants;
  for (const Dispatch& dispatch : dispatches_) {
    variants.emplace_back(dispatch.kernel, dispatch.constants);
  }
  device_.pipelines().prepare(variants);
  for (const gpu::Variant& variant : variants) {
    pipelines_.push_back(device_.pipelines().get(variant));
  }
}

void Recording::make_fences() {
  const auto& vk = device_.vk();
  for (Handle<VkFence>& owner : fences_) {
    VkFenceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    VkFence fence = VK_NULL_HANDLE;
    check(vk.vkCreateFence(device_.get(), &info, nullptr, &fence),
          "vkCreateFence");
    owner = device_.own(fence, vk.vkDestroyFence);
  }
}

VkBufferView Recording::view(const Region& region, VkFormat format) {
  VkBufferViewCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO;
  info.buffer = handle_of(region);
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

void Recording::make_descriptors() {
  const auto& vk = device_.vk();
  uint32_t inputs = 0;
  uint32_t buffers = 0;
  for (const Dispatch& dispatch : dispatches_) {
    const gpu::Slots slots = gpu::slots_of(dispatch.kernel);
    inputs += static_cast<uint32_t>(std::popcount(slots.inputs));
    buffers += static_cast<uint32_t>(std::popcount(slots.outputs));
  }
  std::vector<VkDescriptorPoolSize> sizes;
  if (device_.tuning().texels != 0) {
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
  allocate_sets();
  write_sets();
}

void Recording::write_sets() {
  for (size_t i = 0; i < dispatches_.size(); ++i) write_set(i);
}

void Recording::allocate_sets() {
  std::vector<VkDescriptorSetLayout> layouts;
  for (const Pipeline& pipeline : pipelines_) layouts.push_back(pipeline.sets);
  sets_.resize(dispatches_.size());
  VkDescriptorSetAllocateInfo allocate = {};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = descriptors_.get();
  allocate.descriptorSetCount = static_cast<uint32_t>(layouts.size());
  allocate.pSetLayouts = layouts.data();
  check(device_.vk().vkAllocateDescriptorSets(device_.get(), &allocate,
                                              sets_.data()),
        "vkAllocateDescriptorSets");
}

void Recording::write_set(size_t number) {
  const bool texels = device_.tuning().texels != 0;
  std::vector<gpu::Binding> bindings = dispatches_[number].bindings;
  const gpu::Slots slots = gpu::slots_of(dispatches_[number].kernel);
  bindings.push_back({0, {&*control_, 0, 16}});
  if (slots.fault) {
    bindings.push_back({gpu::kFaultSlot, {&*control_, kFaultOffset, 16}});
  }
  std::vector<VkWriteDescriptorSet> writes(bindings.size());
  std::vector<VkDescriptorBufferInfo> infos(bindings.size());
  std::vector<VkBufferView> views(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    const gpu::Binding& binding = bindings[i];
    VkWriteDescriptorSet& write = writes[i];
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = sets_[number];
    write.dstBinding = binding.slot;
    write.descriptorCount = 1;
    if (texels && (slots.inputs >> binding.slot & 1) != 0) {
      views[i] =
          view(binding.region, binding.quads ? VK_FORMAT_R32G32B32A32_UINT
                                             : VK_FORMAT_R32_UINT);
      write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
      write.pTexelBufferView = &views[i];
    } else {
      infos[i] = {handle_of(binding.region), binding.region.offset,
                  std::max<uint64_t>((binding.region.bytes + 3) / 4 * 4, 4)};
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &infos[i];
    }
  }
  device_.vk().vkUpdateDescriptorSets(device_.get(),
                                      static_cast<uint32_t>(writes.size()),
                                      writes.data(), 0, nullptr);
}

void Recording::barrier(VkCommandBuffer commands, VkPipelineStageFlags to,
                        VkAccessFlags access) const {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = access;
  device_.vk().vkCmdPipelineBarrier(commands,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, to, 0,
                                    1, &barrier, 0, nullptr, 0, nullptr);
}

void Recording::make_commands() {
  const auto& vk = device_.vk();
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = device_.family();
  VkCommandPool made = VK_NULL_HANDLE;
  check(vk.vkCreateCommandPool(device_.get(), &pool, nullptr, &made),
        "vkCreateCommandPool");
  commands_ = device_.own(made, vk.vkDestroyCommandPool);
  if (device_.profile() && op_count_ != 0) {
    VkQueryPoolCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = static_cast<uint32_t>(2 * op_count_);
    VkQueryPool queries = VK_NULL_HANDLE;
    check(vk.vkCreateQueryPool(device_.get(), &info, nullptr, &queries),
          "vkCreateQueryPool");
    queries_ = device_.own(queries, vk.vkDestroyQueryPool);
  }
}

void Recording::record() {
  const double segment_work =
      device_.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU
          ? kSegmentWorkOfDiscrete
          : kSegmentWork;
  // Segments end between ops, and within those of fixed rows, which may take
  // long.
  size_t first = 0;
  double work = 0;
  for (size_t i = 0; i < dispatches_.size(); ++i) {
    const Dispatch& dispatch = dispatches_[i];
    const bool fixed = dispatch.rows.symbol == gpu::kFixedRows;
    // Of the two for few and many rows one is done.
    if (dispatch.rows.at_most == UINT32_MAX) {
      work += dispatch.work.each * (fixed ? dispatch.rows.limit : 1);
    }
    const bool last = i + 1 == dispatches_.size();
    const bool may_end = fixed || last || dispatches_[i + 1].op != dispatch.op;
    if (last || (may_end && work >= segment_work)) {
      record_segment(first, i + 1);
      first = i + 1;
      work = 0;
    }
  }
}

void Recording::separate(VkCommandBuffer commands, size_t number) {
  bool waits = bool{queries_};
  for (size_t i = number; i == number || (i < dispatches_.size() &&
                                          !gpu::begins_stage(dispatches_, i));
       ++i) {
    const std::vector<uint32_t>& earlier = dispatches_[i].waits;
    waits = waits || (!earlier.empty() && earlier.back() >= after_barrier_);
  }
  if (!waits) return;
  barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  after_barrier_ = number;
}

void Recording::write_timestamp(VkCommandBuffer commands,
                                uint32_t query) const {
  device_.vk().vkCmdWriteTimestamp(
      commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_.get(), query);
}

void Recording::record_dispatch(VkCommandBuffer commands, size_t number) {
  const auto& vk = device_.vk();
  const Dispatch& dispatch = dispatches_[number];
  const Pipeline& pipeline = pipelines_[number];
  vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                       pipeline.pipeline);
  vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                             pipeline.layout, 0, 1, &sets_[number], 0, nullptr);
  vk.vkCmdPushConstants(commands, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                        0,
                        static_cast<uint32_t>(dispatch.parameters.size() * 4),
                        dispatch.parameters.data());
  vk.vkCmdDispatchIndirect(
      commands, control_->get(),
      kCommandsOffset + number * sizeof(VkDispatchIndirectCommand));
}

void Recording::record_segment(size_t first, size_t last) {
  const auto& vk = device_.vk();
  VkCommandBuffer commands = VK_NULL_HANDLE;
  if (!spare_.empty()) {
    commands = spare_.back();
    spare_.pop_back();
  } else {
    VkCommandBufferAllocateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = commands_.get();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    check(vk.vkAllocateCommandBuffers(device_.get(), &info, &commands),
          "vkAllocateCommandBuffers");
  }
  segments_.push_back({commands, first, last});
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  check(vk.vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  if (queries_ && first == 0) {
    vk.vkCmdResetQueryPool(commands, queries_.get(), 0,
                           static_cast<uint32_t>(2 * op_count_));
  }
  for (size_t i = first; i < last; ++i) {
    const int32_t op = dispatches_[i].op;
    if (gpu::begins_stage(dispatches_, i)) separate(commands, i);
    if (queries_ && (i == 0 || dispatches_[i - 1].op != op)) {
      write_timestamp(commands, static_cast<uint32_t>(2 * op));
    }
    record_dispatch(commands, i);
    if (queries_ &&
        (i + 1 == dispatches_.size() || dispatches_[i + 1].op != op)) {
      write_timestamp(commands, static_cast<uint32_t>(2 * op + 1));
    }
  }
  if (last == dispatches_.size()) {
    barrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  }
  check(vk.vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

void Recording::begin(const gpu::RunSize& size,
                      std::span<const gpu::Transfer> inputs,
                      std::span<const gpu::Transfer> outputs) {
  size_ = size;
  outputs_ = outputs;
  next_segment_ = 0;
  for (const gpu::Transfer& input : inputs) {
    // Inputs are buffers that the host writes to.
    const auto* buffer = static_cast<const Buffer*>(input.region.buffer);
    std::memcpy(buffer->mapped() + input.region.offset, input.host,
                input.region.bytes);
  }
  const uint32_t counts[4] = {static_cast<uint32_t>(size.rows.rows),
                              static_cast<uint32_t>(size.rows.outputs),
                              static_cast<uint32_t>(size.rows.sequences), 0};
  control_->write(0, counts, sizeof counts);
  std::memset(control_->mapped() + kFaultOffset, 0, 16);
  auto* commands = reinterpret_cast<VkDispatchIndirectCommand*>(
      control_->mapped() + kCommandsOffset);
  for (const Dispatch& dispatch : dispatches_) {
    const uint32_t rows = dispatch.rows.count(size.rows);
    *commands++ = rows == 0 ? VkDispatchIndirectCommand{0, 0, 0}
                            : VkDispatchIndirectCommand{
                                  dispatch.x,
                                  (rows + dispatch.batch - 1) / dispatch.batch,
                                  dispatch.z};
  }
}

double Recording::work_of(const Segment& segment) const {
  double work = 0;
  for (size_t i = segment.first; i < segment.last; ++i) {
    const Dispatch& dispatch = dispatches_[i];
    work +=
        dispatch.work.of(dispatch.rows, size_, dispatch.rows.count(size_.rows));
  }
  return work;
}

double Recording::submit(int portion, double work) {
  std::vector<VkCommandBuffer> commands;
  double taken = 0;
  while (!submitted() && (commands.empty() || taken < work)) {
    const Segment& segment = segments_[next_segment_++];
    taken += work_of(segment);
    commands.push_back(segment.commands);
  }
  VkFence fence = fences_[portion].get();
  check(device_.vk().vkResetFences(device_.get(), 1, &fence), "vkResetFences");
  device_.submit(commands.data(), static_cast<uint32_t>(commands.size()),
                 fence);
  return taken;
}

bool Recording::wait(int portion, int64_t timeout_ms) {
  const VkFence fence = fences_[portion].get();
  const int64_t ms = timeout_ms < 0 ? kAskMs : std::min(timeout_ms, kAskMs);
  const VkResult result = device_.vk().vkWaitForFences(
      device_.get(), 1, &fence, VK_TRUE, static_cast<uint64_t>(ms) * 1000000);
  check(result, "vkWaitForFences");
  return result != VK_TIMEOUT;
}

void Recording::stop() {
  // Commands that have begun may see it or not.
  const uint32_t stop = 1;
  control_->write(3 * sizeof stop, &stop, sizeof stop);
}

gpu::Fault Recording::fault() const {
  uint32_t words[3];
  control_->read(kFaultOffset, words, sizeof words);
  return {words[0], words[1], words[2]};
}

void Recording::finish() {
  for (const gpu::Transfer& output : outputs_) {
    output.region.buffer->read(output.region.offset, output.host,
                               output.region.bytes);
  }
}

std::vector<rc_plugin_op_time> Recording::op_times() const {
  std::vector<rc_plugin_op_time> times;
  if (!queries_) return times;
  std::vector<uint8_t> known(op_count_, 0);
  for (const Dispatch& dispatch : dispatches_) known[dispatch.op] = 1;
  const double period = device_.limits().timestampPeriod;
  uint64_t origin = 0;
  for (size_t op = 0; op < op_count_; ++op) {
    if (known[op] == 0) continue;
    uint64_t both[2];
    check(device_.vk().vkGetQueryPoolResults(
              device_.get(), queries_.get(), static_cast<uint32_t>(2 * op), 2,
              sizeof both, both, sizeof both[0],
              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    if (times.empty()) origin = both[0];
    const auto time = [&](uint64_t tick) {
      return static_cast<int64_t>(static_cast<double>(tick - origin) * period);
    };
    times.push_back({sizeof(rc_plugin_op_time), static_cast<int64_t>(op),
                     time(both[0]), time(both[1])});
  }
  return times;
}

}  // namespace rc::vulkan
