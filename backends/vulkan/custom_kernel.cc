#include "vulkan/custom_kernel.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "vulkan/memory.h"
#include "vulkan/once.h"

namespace rc::vulkan {
namespace {

void check_limits(const VkPhysicalDeviceLimits& limits,
                  const rc_plugin_kernel_info& info) {
  const uint64_t items =
      uint64_t{info.group[0]} * info.group[1] * info.group[2];
  for (int i = 0; i < 3; ++i) {
    if (info.group[i] <= limits.maxComputeWorkGroupSize[i] &&
        items <= limits.maxComputeWorkGroupInvocations) {
      continue;
    }
    fail(RC_E_UNSUPPORTED, info.name, ": a work-group of ", info.group[0],
         " x ", info.group[1], " x ", info.group[2],
         " work-items; the device has ", limits.maxComputeWorkGroupInvocations,
         " at most, of them ", limits.maxComputeWorkGroupSize[i],
         " along dimension ", i);
  }
  if (info.parameter_words * sizeof(uint32_t) > limits.maxPushConstantsSize) {
    fail(RC_E_UNSUPPORTED, info.name, ": ", info.parameter_words,
         " parameters; the device has room for ",
         limits.maxPushConstantsSize / sizeof(uint32_t));
  }
  if (info.buffer_count > limits.maxPerStageDescriptorStorageBuffers) {
    fail(RC_E_UNSUPPORTED, info.name, ": ", info.buffer_count,
         " tensors; a kernel of the device has ",
         limits.maxPerStageDescriptorStorageBuffers, " at most");
  }
}

}  // namespace

CustomKernel::CustomKernel(VulkanDevice& device,
                           const rc_plugin_kernel_info& info)
    : gpu::CustomKernel(info.buffer_count, info.parameter_words),
      device_(device) {
  check_limits(device.limits(), info);
  const auto& vk = device.vk();
  VkShaderModuleCreateInfo module_info = {};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = info.source_bytes;
  module_info.pCode = static_cast<const uint32_t*>(info.source);
  VkShaderModule module = VK_NULL_HANDLE;
  check(vk.vkCreateShaderModule(device.get(), &module_info, nullptr, &module),
        "vkCreateShaderModule");
  module_ = device.own(module, vk.vkDestroyShaderModule);
  make_layout();
  VkComputePipelineCreateInfo pipeline_info = {};
  pipeline_info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  pipeline_info.stage.sType =
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  pipeline_info.stage.module = module;
  pipeline_info.stage.pName = "main";
  pipeline_info.layout = layout_.get();
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(vk.vkCreateComputePipelines(device.get(), VK_NULL_HANDLE, 1,
                                    &pipeline_info, nullptr, &pipeline),
        "vkCreateComputePipelines");
  pipeline_ = device.own(pipeline, vk.vkDestroyPipeline);
  make_set();
}

void CustomKernel::make_layout() {
  const auto& vk = device_.vk();
  std::vector<VkDescriptorSetLayoutBinding> bindings(tensors());
  for (uint32_t i = 0; i < tensors(); ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set_info = {};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set_info.bindingCount = tensors();
  set_info.pBindings = bindings.data();
  VkDescriptorSetLayout sets = VK_NULL_HANDLE;
  check(
      vk.vkCreateDescriptorSetLayout(device_.get(), &set_info, nullptr, &sets),
      "vkCreateDescriptorSetLayout");
  sets_ = device_.own(sets, vk.vkDestroyDescriptorSetLayout);

  VkPushConstantRange range = {};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = words() * static_cast<uint32_t>(sizeof(uint32_t));
  VkPipelineLayoutCreateInfo layout_info = {};
  layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout_info.setLayoutCount = 1;
  layout_info.pSetLayouts = &sets;
  layout_info.pushConstantRangeCount = 1;
  layout_info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check(
      vk.vkCreatePipelineLayout(device_.get(), &layout_info, nullptr, &layout),
      "vkCreatePipelineLayout");
  layout_ = device_.own(layout, vk.vkDestroyPipelineLayout);
}

void CustomKernel::make_set() {
  const auto& vk = device_.vk();
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     tensors()};
  VkDescriptorPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = 1;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  VkDescriptorPool made = VK_NULL_HANDLE;
  check(vk.vkCreateDescriptorPool(device_.get(), &pool, nullptr, &made),
        "vkCreateDescriptorPool");
  descriptors_ = device_.own(made, vk.vkDestroyDescriptorPool);
  const VkDescriptorSetLayout layout = sets_.get();
  VkDescriptorSetAllocateInfo allocate = {};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = made;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  check(vk.vkAllocateDescriptorSets(device_.get(), &allocate, &set_),
        "vkAllocateDescriptorSets");
}

void CustomKernel::bind(const gpu::KernelRun& run) const {
  const uint64_t most = device_.limits().maxStorageBufferRange;
  std::vector<VkWriteDescriptorSet> writes(tensors());
  std::vector<VkDescriptorBufferInfo> infos(tensors());
  for (uint32_t i = 0; i < tensors(); ++i) {
    const gpu::Region& tensor = run.tensors[i];
    // Whole words; buffers are as long as whole quads.
    const uint64_t bytes = (tensor.bytes + 3) / 4 * 4;
    if (bytes > most) {
      fail(RC_E_UNSUPPORTED, "a tensor of ", tensor.bytes,
           " bytes; kernels of the device see ", most, " bytes at most");
    }
    infos[i] = {static_cast<const Buffer*>(tensor.buffer)->get(), tensor.offset,
                bytes};
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set_;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &infos[i];
  }
  device_.vk().vkUpdateDescriptorSets(device_.get(), tensors(), writes.data(),
                                      0, nullptr);
}

bool CustomKernel::run(const gpu::KernelRun& run) {
  for (int i = 0; i < 3; ++i) {
    const uint32_t most = device_.limits().maxComputeWorkGroupCount[i];
    if (run.groups[i] > most) {
      fail(RC_E_UNSUPPORTED, run.groups[i], " work-groups along dimension ", i,
           "; the device has ", most, " at most");
    }
  }
  bind(run);
  const auto& vk = device_.vk();
  return once(
      device_,
      [&](VkCommandBuffer commands) {
        vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                             pipeline_.get());
        vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                   layout_.get(), 0, 1, &set_, 0, nullptr);
        vk.vkCmdPushConstants(
            commands, layout_.get(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
            static_cast<uint32_t>(run.words.size_bytes()), run.words.data());
        vk.vkCmdDispatch(commands, run.groups[0], run.groups[1], run.groups[2]);
      },
      run.timeout_ms);
}

}  // namespace rc::vulkan
