// The dispatches of a program as command buffers.
//
// Every dispatch is indirect, and the host writes its work-groups and the
// counts that the shaders read before each run, so that one recording serves
// every number of rows. The commands are recorded in segments, of which a
// portion submits some; shaders that begin after a stop do nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/dispatch.h"
#include "vulkan/memory.h"
#include "vulkan/pipelines.h"
#include "vulkan/vulkan_device.h"

namespace rc::vulkan {

class Recording final : public gpu::Recording {
 public:
  Recording(VulkanDevice& device, const gpu::PlacedProgram& program);
  ~Recording() override;

  void rebind() override;
  void begin(const gpu::RunSize& size, std::span<const gpu::Transfer> inputs,
             std::span<const gpu::Transfer> outputs) override;
  double submit(int portion, double work) override;
  bool submitted() const override { return next_segment_ == segments_.size(); }
  bool wait(int portion, int64_t timeout_ms) override;
  void stop() override;
  void finish() override;
  gpu::Fault fault() const override;
  void wait_idle() noexcept override { device_.wait_idle(); }
  std::vector<rc_plugin_op_time> op_times() const override;

 private:
  // The counts come first in the control buffer, then what shaders refuse (see
  // gpu::Slots), then the indirect commands.
  static constexpr uint64_t kFaultOffset = 256;
  static constexpr uint64_t kCommandsOffset = 512;

  struct Segment {
    VkCommandBuffer commands;
    size_t first, last;  // dispatches, the last exclusive
  };

  void make_pipelines();
  void make_descriptors();
  void allocate_sets();
  void write_set(size_t number);
  VkBufferView view(const gpu::Region& region, VkFormat format);
  void write_sets();
  void make_fences();
  void make_commands();
  void record();
  void record_segment(size_t first, size_t last);
  void record_dispatch(VkCommandBuffer commands, size_t number);
  // A barrier before a stage, if a dispatch of it waits for one that none has
  // been recorded after.
  void separate(VkCommandBuffer commands, size_t number);
  void write_timestamp(VkCommandBuffer commands, uint32_t query) const;
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags to,
               VkAccessFlags access) const;
  double work_of(const Segment& segment) const;

  VulkanDevice& device_;
  size_t op_count_;
  const std::span<const gpu::Dispatch> dispatches_;
  std::unique_ptr<Buffer> control_;
  std::vector<Handle<VkBufferView>> views_;
  Handle<VkDescriptorPool> descriptors_;
  std::vector<VkDescriptorSet> sets_;  // by dispatch
  std::vector<Pipeline> pipelines_;    // by dispatch
  Handle<VkCommandPool> commands_;
  Handle<VkQueryPool> queries_;
  std::vector<Segment> segments_;
  std::vector<VkCommandBuffer> spare_;  // to record segments in
  Handle<VkFence> fences_[2];           // by portion

  size_t after_barrier_ = 0;  // dispatches from there on have none behind them

  // The run that has begun.
  gpu::RunSize size_;
  std::span<const gpu::Transfer> outputs_;
  size_t next_segment_ = 0;
};

}  // namespace rc::vulkan
