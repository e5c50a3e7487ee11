#include "vulkan/pipelines.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

#include "base/error.h"
#include "gpu/cache_file.h"
#include "vulkan/shaders.h"

namespace rc::vulkan {
namespace {

// That compile at once; each may take much memory.
constexpr size_t kMostThreads = 8;

struct Code {
  std::span<const uint32_t> buffers, texels;
};

const Code& code_of(gpu::Kernel kernel) {
#define RC_GPU_KERNEL(kernel, name, inputs, outputs, constants) \
  {shaders::name##_buffers, shaders::name##_texels},
  static const Code kCodes[] = {RC_GPU_KERNELS(RC_GPU_KERNEL)};
#undef RC_GPU_KERNEL
  return kCodes[static_cast<size_t>(kernel)];
}

// "vulkan/DEVICE-DRIVER.cache".
std::string cache_name(VkPhysicalDevice device) {
  VkPhysicalDeviceIDProperties id = {};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &id;
  vkGetPhysicalDeviceProperties2(device, &properties);
  std::string name = "vulkan/";
  for (const uint8_t byte : id.deviceUUID) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    name += digits;
  }
  return cat(name, "-", properties.properties.driverVersion, ".cache");
}

}  // namespace

Pipelines::Pipelines(const VulkanDevice& device)
    : device_(device), file_(gpu::cache_file(cache_name(device.physical()))) {
  const std::string saved = gpu::read_cache_file(file_);
  VkPipelineCacheCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = saved.size();
  info.pInitialData = saved.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  VkResult result =
      device.vk().vkCreatePipelineCache(device.get(), &info, nullptr, &cache);
  if (result != VK_SUCCESS && info.initialDataSize != 0) {
    info.initialDataSize = 0;
    result =
        device.vk().vkCreatePipelineCache(device.get(), &info, nullptr, &cache);
  }
  check(result, "vkCreatePipelineCache");
  cache_ = device.own(cache, device.vk().vkDestroyPipelineCache);
}

Pipelines::~Pipelines() {
  if (!grown_ || file_.empty()) return;
  try {
    const auto& vk = device_.vk();
    size_t size = 0;
    check(
        vk.vkGetPipelineCacheData(device_.get(), cache_.get(), &size, nullptr),
        "vkGetPipelineCacheData");
    std::string data(size, '\0');
    check(vk.vkGetPipelineCacheData(device_.get(), cache_.get(), &size,
                                    data.data()),
          "vkGetPipelineCacheData");
    data.resize(size);
    gpu::write_cache_file(file_, data);
  } catch (...) {
    // It is compiled again next time.
  }
}

Handle<VkShaderModule> Pipelines::module_of(
    std::span<const uint32_t> code) const {
  VkShaderModuleCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = code.size_bytes();
  info.pCode = code.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(
      device_.vk().vkCreateShaderModule(device_.get(), &info, nullptr, &module),
      "vkCreateShaderModule");
  return device_.own(module, device_.vk().vkDestroyShaderModule);
}

void Pipelines::make(gpu::Kernel kernel, Made* made) const {
  const Code& from = code_of(kernel);
  const gpu::Slots slots = gpu::slots_of(kernel);
  const auto& vk = device_.vk();
  const bool texels = device_.tuning().texels != 0;
  made->module = module_of(texels ? from.texels : from.buffers);
  if (kernel == gpu::Kernel::kLinear && device_.tuning().matrices != 0) {
    made->matrices = module_of(shaders::linear_matrices);
  }

  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (uint32_t slot = 0; slot < 32; ++slot) {
    const bool input = (slots.inputs >> slot & 1) != 0;
    if (!input && (slots.outputs >> slot & 1) == 0) continue;
    VkDescriptorSetLayoutBinding binding = {};
    binding.binding = slot;
    binding.descriptorType = input && texels
                                 ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                                 : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    binding.descriptorCount = 1;
    binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    bindings.push_back(binding);
  }
  VkDescriptorSetLayoutCreateInfo set_info = {};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set_info.bindingCount = static_cast<uint32_t>(bindings.size());
  set_info.pBindings = bindings.data();
  VkDescriptorSetLayout sets = VK_NULL_HANDLE;
  check(
      vk.vkCreateDescriptorSetLayout(device_.get(), &set_info, nullptr, &sets),
      "vkCreateDescriptorSetLayout");
  made->sets = device_.own(sets, vk.vkDestroyDescriptorSetLayout);

  VkPushConstantRange range = {};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = gpu::kParameterWords * sizeof(uint32_t);
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
  made->layout = device_.own(layout, vk.vkDestroyPipelineLayout);
}

Handle<VkPipeline> Pipelines::compiled(
    const Made& made, const std::vector<uint32_t>& constants) const {
  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i) {
    entries.push_back({i, i * 4, 4});
  }
  VkSpecializationInfo special = {};
  special.mapEntryCount = static_cast<uint32_t>(entries.size());
  special.pMapEntries = entries.data();
  special.dataSize = constants.size() * 4;
  special.pData = constants.data();
  VkComputePipelineCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = constants.size() > gpu::kWayOfLinear && made.matrices &&
                              constants[gpu::kWayOfLinear] == gpu::kByMatrices
                          ? made.matrices.get()
                          : made.module.get();
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &special;
  info.layout = made.layout.get();
  VkPipeline pipeline = VK_NULL_HANDLE;
  check(device_.vk().vkCreateComputePipelines(device_.get(), cache_.get(), 1,
                                              &info, nullptr, &pipeline),
        "vkCreateComputePipelines");
  return device_.own(pipeline, device_.vk().vkDestroyPipeline);
}

void Pipelines::prepare(const std::vector<gpu::Variant>& variants) {
  struct Missing {
    const Made* made;
    const std::vector<uint32_t>* constants;
    Handle<VkPipeline>* handle;
  };
  std::vector<Missing> missing;
  for (const auto& [kernel, constants] : variants) {
    Made& made = shaders_[static_cast<size_t>(kernel)];
    if (!made.layout) make(kernel, &made);
    const auto added = made.pipelines.try_emplace(constants);
    auto& [key, handle] = *added.first;
    // An empty one was left by a failure.
    if (!added.second && handle) continue;
    const Handle<VkPipeline>* const wanted = &handle;
    const bool twice = std::any_of(
        missing.begin(), missing.end(),
        [&](const Missing& other) { return other.handle == wanted; });
    if (!twice) missing.push_back({&made, &key, &handle});
  }
  if (missing.empty()) return;
  grown_ = true;
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&]() noexcept {
    for (size_t i; (i = next++) < missing.size();) {
      try {
        *missing[i].handle = compiled(*missing[i].made, *missing[i].constants);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = missing.size();
      }
    }
  };
  std::vector<std::thread> helpers;
  const size_t wanted = std::min<size_t>(
      {missing.size(), std::max(std::thread::hardware_concurrency(), 1u),
       kMostThreads});
  try {
    helpers.reserve(wanted);
    while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
  } catch (...) {
    // Those that could be started, and this one, do it all.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

Pipeline Pipelines::get(const gpu::Variant& variant) const {
  const Made& made = shaders_[static_cast<size_t>(variant.first)];
  const auto found = made.pipelines.find(variant.second);
  return {found->second.get(), made.layout.get(), made.sets.get()};
}

}  // namespace rc::vulkan
