#include "vulkan/program.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace rc::vulkan {
namespace {

// A submission takes about so long.
constexpr double kSubmissionSeconds = 0.02;
// One that took so long tells how fast the device is.
constexpr double kMinTimedSeconds = 0.002;
// should_stop is asked at least so often while the host waits.
constexpr int64_t kAskMs = 10;
// Multiply-adds per row after which a segment ends.
constexpr double kSegmentWork = 4e6;
// The counts come first in the control buffer, then what shaders refuse (see
// Slots), then the indirect commands.
constexpr uint64_t kFaultOffset = 256;
constexpr uint64_t kCommandsOffset = 512;

void check_count(const char* what, int64_t count, int64_t limit) {
  if (count < 0 || count > limit) {
    fail(RC_E_INVALID_ARGUMENT, "a run of ", count, " ", what,
         "; the program was compiled for 0 to ", limit);
  }
}

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
      Place::kToDevice);
  std::vector<Pipelines::Variant> variants;
  for (const Dispatch& dispatch : dispatches_) {
    variants.emplace_back(dispatch.shader, dispatch.constants);
  }
  device.pipelines().prepare(variants);
  for (const Pipelines::Variant& variant : variants) {
    pipelines_.push_back(device.pipelines().get(variant));
  }
  make_descriptors();
  for (Flight& flight : flights_) {
    VkFenceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    VkFence fence = VK_NULL_HANDLE;
    check(device.vk().vkCreateFence(device.get(), &info, nullptr, &fence),
          "vkCreateFence");
    flight.fence = device.own(fence, device.vk().vkDestroyFence);
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
    scratch_ = Buffer(device_, program.scratch_bytes * scale, Place::kDevice);
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
  const auto place = [&](std::vector<Region>& regions, Place where,
                         Buffer* buffer) {
    uint64_t bytes = 0;
    for (Region& region : regions) {
      region.buffer = buffer;
      region.offset = bytes;
      bytes += aligned(region.bytes);
    }
    if (!regions.empty()) *buffer = Buffer(device_, bytes, where);
  };
  place(input_regions_, Place::kToDevice, &inputs_);
  place(output_regions_, Place::kToHost, &outputs_);
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

void Program::start(const rc_plugin_run& run) {
  if (run_ != nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "a run of this program is under way");
  }
  check_count("rows", run.rows, limits_.rows);
  check_count("outputs", run.outputs, limits_.outputs);
  check_count("sequences", run.sequences, limits_.sequences);
  rows_ = {run.rows, run.outputs, run.sequences};
  for (size_t i = 0; i < input_values_.size(); ++i) {
    if (input_values_[i].rank == 0) continue;  // no op has it
    const uint64_t bytes = value_bytes(input_values_[i], rows_).value();
    if (bytes == 0) continue;
    if (run.inputs[i] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "input ", i, " of a run is NULL");
    }
    inputs_.write(input_regions_[i].offset, run.inputs[i], bytes);
  }
  const uint32_t counts[4] = {static_cast<uint32_t>(run.rows),
                              static_cast<uint32_t>(run.outputs),
                              static_cast<uint32_t>(run.sequences), 0};
  control_.write(0, counts, sizeof counts);
  std::memset(control_.mapped() + kFaultOffset, 0, 16);
  auto* commands = reinterpret_cast<VkDispatchIndirectCommand*>(
      control_.mapped() + kCommandsOffset);
  for (const Dispatch& dispatch : dispatches_) {
    const uint32_t rows = dispatch.rows.count(rows_);
    *commands++ = rows == 0 ? VkDispatchIndirectCommand{0, 0, 0}
                            : VkDispatchIndirectCommand{
                                  dispatch.x,
                                  (rows + dispatch.batch - 1) / dispatch.batch,
                                  dispatch.z};
  }
  times_.clear();
  run_ = &run;
  next_segment_ = 0;
  stopping_ = false;
  oldest_ = 0;
  try {
    submit_more();
  } catch (...) {
    end();
    throw;
  }
}

double Program::work_of(const Segment& segment) const {
  double work = 0;
  for (size_t i = segment.first; i < segment.last; ++i) {
    work += dispatches_[i].row_work * dispatches_[i].rows.count(rows_);
  }
  return work;
}

// Fills the free flights.
void Program::submit_more() {
  for (int i = 0; i < 2; ++i) {
    Flight& flight = flights_[(oldest_ + i) % 2];
    if (flight.busy || stopping_ || next_segment_ == segments_.size()) continue;
    std::vector<VkCommandBuffer> commands;
    flight.work = 0;
    while (next_segment_ < segments_.size() &&
           (commands.empty() ||
            flight.work < device_.speed * kSubmissionSeconds)) {
      flight.work += work_of(segments_[next_segment_]);
      commands.push_back(segments_[next_segment_++].commands);
    }
    VkFence fence = flight.fence.get();
    check(device_.vk().vkResetFences(device_.get(), 1, &fence),
          "vkResetFences");
    flight.begin = Clock::now();
    device_.submit(commands.data(), static_cast<uint32_t>(commands.size()),
                   fence);
    flight.busy = true;
  }
}

bool Program::wait(int64_t timeout_ms) {
  if (run_ == nullptr) {
    fail(RC_E_INVALID_ARGUMENT, "no run is under way");
  }
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(timeout_ms < 0 ? 0 : timeout_ms);
  try {
    for (;;) {
      if (!stopping_ && run_->should_stop != nullptr &&
          run_->should_stop(run_->user) != 0) {
        stopping_ = true;
        // What has begun may see it or not.
        const uint32_t stop = 1;
        control_.write(3 * sizeof stop, &stop, sizeof stop);
      }
      submit_more();
      Flight& flight = flights_[oldest_];
      if (!flight.busy) break;
      int64_t ms = run_->should_stop != nullptr ? kAskMs : 1000;
      if (timeout_ms >= 0) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                              deadline - Clock::now())
                              .count();
        ms = std::clamp<int64_t>(left, 0, ms);
      }
      const VkFence fence = flight.fence.get();
      const VkResult result =
          device_.vk().vkWaitForFences(device_.get(), 1, &fence, VK_TRUE,
                                       static_cast<uint64_t>(ms) * 1000000);
      check(result, "vkWaitForFences");
      if (result == VK_TIMEOUT) {
        if (timeout_ms >= 0 && Clock::now() >= deadline) return false;
        continue;
      }
      flight.busy = false;
      const auto now = Clock::now();
      const std::chrono::duration<double> took = now - flight.begin;
      // Of a short flight most is the way there and back: the device is at
      // least as fast.
      const double speed = flight.work / std::max(took.count(), 1e-6);
      if (flight.work > 0 && !stopping_ &&
          (took.count() > kMinTimedSeconds || speed > device_.speed)) {
        device_.speed = 0.5 * device_.speed + 0.5 * speed;
      }
      oldest_ = 1 - oldest_;
      // The other one began to run only now.
      flights_[oldest_].begin = now;
    }
    if (stopping_) fail(RC_E_CANCELLED, "the run was cancelled");
    finish();
  } catch (...) {
    end();
    throw;
  }
  end();
  return true;
}

void Program::check_fault() const {
  uint32_t fault[3];
  control_.read(kFaultOffset, fault, sizeof fault);
  if (fault[0] == 0) return;
  const Op& op = ops_[fault[0] - 1];
  fail(RC_E_INVALID_ARGUMENT, op_name(op.code), ": row ", fault[1],
       " asks for number ", static_cast<int32_t>(fault[2]), " of a table of ",
       values_[op.inputs[0]].value.shape[0]);
}

void Program::finish() {
  check_fault();
  for (size_t i = 0; i < output_values_.size(); ++i) {
    if (output_values_[i].rank == 0) continue;
    const uint64_t bytes = value_bytes(output_values_[i], rows_).value();
    if (bytes == 0) continue;
    if (run_->outputs_data[i] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "output ", i, " of a run is NULL");
    }
    outputs_.read(output_regions_[i].offset, run_->outputs_data[i], bytes);
  }
  if (queries_) read_times();
}

void Program::read_times() {
  std::vector<uint8_t> known(ops_.size(), 0);
  for (const Dispatch& dispatch : dispatches_) known[dispatch.op] = 1;
  const double period = device_.limits().timestampPeriod;
  uint64_t origin = 0;
  for (size_t op = 0; op < ops_.size(); ++op) {
    if (known[op] == 0) continue;
    uint64_t both[2];
    check(device_.vk().vkGetQueryPoolResults(
              device_.get(), queries_.get(), static_cast<uint32_t>(2 * op), 2,
              sizeof both, both, sizeof both[0],
              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    if (times_.empty()) origin = both[0];
    const auto time = [&](uint64_t tick) {
      return static_cast<int64_t>(static_cast<double>(tick - origin) * period);
    };
    times_.push_back({sizeof(rc_plugin_op_time), static_cast<int64_t>(op),
                      time(both[0]), time(both[1])});
  }
}

void Program::end() noexcept {
  bool busy = false;
  for (Flight& flight : flights_) {
    busy = busy || flight.busy;
    flight.busy = false;
  }
  if (busy) device_.wait_idle();
  run_ = nullptr;
}

}  // namespace rc::vulkan
