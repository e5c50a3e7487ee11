#include "vulkan/instance.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace rc::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

std::atomic<Instance::Log> g_log = nullptr;

VKAPI_ATTR VkBool32 VKAPI_CALL
report(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
       const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  const Instance::Log log = g_log;
  if (log != nullptr) log(RC_LOG_ERROR, data->pMessage);
  return VK_FALSE;
}

bool has_validation_layer() {
  uint32_t count = 0;
  check(vkEnumerateInstanceLayerProperties(&count, nullptr),
        "vkEnumerateInstanceLayerProperties");
  std::vector<VkLayerProperties> layers(count);
  check(vkEnumerateInstanceLayerProperties(&count, layers.data()),
        "vkEnumerateInstanceLayerProperties");
  return std::any_of(layers.begin(), layers.end(), [](const auto& layer) {
    return std::strcmp(layer.layerName, kValidationLayer) == 0;
  });
}

// Returns the elements that vkEnumerate... functions give.
template <class T, class Function>
std::vector<T> enumerate(const char* call, Function function) {
  uint32_t count = 0;
  check(function(&count, static_cast<T*>(nullptr)), call);
  std::vector<T> all(count);
  check(function(&count, all.data()), call);
  all.resize(count);
  return all;
}

// "0123...": two digits for each byte.
std::string hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

rc_device_kind kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return RC_DEVICE_SOFTWARE;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return RC_DEVICE_GPU_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return RC_DEVICE_GPU_INTEGRATED;
    default:
      return RC_DEVICE_OTHER;
  }
}

}  // namespace

Instance& Instance::get() {
  // A constructor that throws is tried again at the next call.
  static Instance* const instance = new Instance;
  return *instance;
}

void Instance::log_to(Log log) { g_log = log; }

Instance::Instance() {
  if (volkInitialize() != VK_SUCCESS) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "the Vulkan loader, libvulkan.so.1, is not installed");
  }
  if (volkGetInstanceVersion() < VK_API_VERSION_1_1) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "the Vulkan loader is older than version 1.1");
  }
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "runcible";
  application.pEngineName = "runcible";
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;

  VkDebugUtilsMessengerCreateInfoEXT messenger = {};
  messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = report;
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const char* wanted = std::getenv("RUNCIBLE_VULKAN_VALIDATION");
  if (wanted != nullptr && std::strcmp(wanted, "1") == 0) {
    if (!has_validation_layer()) {
      fail(RC_E_BACKEND_UNAVAILABLE, "RUNCIBLE_VULKAN_VALIDATION is set, but ",
           kValidationLayer, " is not installed");
    }
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &extension;
    info.pNext = &messenger;
  }
  const VkResult result = vkCreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    fail(RC_E_BACKEND_UNAVAILABLE, "no Vulkan driver is installed");
  }
  check(result, "vkCreateInstance");
  volkLoadInstanceOnly(instance_);
  try {
    if (info.pNext != nullptr) {
      VkDebugUtilsMessengerEXT made = VK_NULL_HANDLE;
      check(
          vkCreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &made),
          "vkCreateDebugUtilsMessengerEXT");
    }
    const auto all = enumerate<VkPhysicalDevice>(
        "vkEnumeratePhysicalDevices", [&](auto* count, auto* devices) {
          return vkEnumeratePhysicalDevices(instance_, count, devices);
        });
    for (VkPhysicalDevice device : all) {
      VkPhysicalDeviceProperties properties;
      vkGetPhysicalDeviceProperties(device, &properties);
      if (properties.apiVersion >= VK_API_VERSION_1_1 &&
          compute_family(device) >= 0) {
        devices_.push_back(device);
      }
    }
  } catch (...) {
    vkDestroyInstance(instance_, nullptr);
    throw;
  }
}

VkPhysicalDevice Instance::device(int index) const {
  if (index < 0 || static_cast<size_t>(index) >= devices_.size()) {
    fail(RC_E_NOT_FOUND, "there is no device vulkan:", index, "; there are ",
         devices_.size());
  }
  return devices_[index];
}

Extensions::Extensions(VkPhysicalDevice device)
    : all_(enumerate<VkExtensionProperties>(
          "vkEnumerateDeviceExtensionProperties",
          [&](auto* count, auto* extensions) {
            return vkEnumerateDeviceExtensionProperties(device, nullptr, count,
                                                        extensions);
          })) {}

bool Extensions::has(const char* name) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& extension) {
    return std::strcmp(extension.extensionName, name) == 0;
  });
}

int compute_family(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  int found = -1;
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    if ((families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) {
      return static_cast<int>(i);
    }
    if (found < 0) found = static_cast<int>(i);
  }
  return found;
}

namespace {

void describe_arithmetic(VkPhysicalDevice device, const Extensions& extensions,
                         rc_plugin_device_info* info) {
  VkPhysicalDeviceShaderFloat16Int8FeaturesKHR halves = {};
  halves.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  if (extensions.has(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME)) {
    features.pNext = &halves;
  }
  vkGetPhysicalDeviceFeatures2(device, &features);
  info->fp16 = halves.shaderFloat16 == VK_TRUE ? 1 : 0;
  info->fp64 = features.features.shaderFloat64 == VK_TRUE ? 1 : 0;

  VkPhysicalDeviceShaderIntegerDotProductPropertiesKHR dot = {};
  dot.sType =
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES_KHR;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  if (extensions.has(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) {
    properties.pNext = &dot;
  }
  vkGetPhysicalDeviceProperties2(device, &properties);
  info->int8_dot =
      dot.integerDotProduct4x8BitPackedSignedAccelerated == VK_TRUE ? 1 : 0;
}

}  // namespace

void describe(VkPhysicalDevice device, rc_plugin_device_info* info) {
  const Extensions extensions(device);
  describe_arithmetic(device, extensions, info);
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {};
  pci.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
  VkPhysicalDeviceDriverPropertiesKHR driver = {};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES_KHR;
  VkPhysicalDeviceSubgroupProperties subgroup = {};
  subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  VkPhysicalDeviceIDProperties id = {};
  id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  id.pNext = &subgroup;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &id;
  const bool has_pci = extensions.has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  const bool has_driver =
      extensions.has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  if (has_pci) {
    pci.pNext = properties.pNext;
    properties.pNext = &pci;
  }
  if (has_driver) {
    driver.pNext = properties.pNext;
    properties.pNext = &driver;
  }
  vkGetPhysicalDeviceProperties2(device, &properties);
  const VkPhysicalDeviceProperties& plain = properties.properties;

  std::snprintf(info->name, sizeof info->name, "%s",
                std::string(plain.deviceName).c_str());
  info->kind = kind_of(plain.deviceType);
  info->unified_memory =
      plain.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ||
      plain.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;

  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory = {};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  const bool has_budget = extensions.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (has_budget) memory.pNext = &budget;
  vkGetPhysicalDeviceMemoryProperties2(device, &memory);
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) continue;
    info->total_memory += heap.size;
    if (has_budget) {
      info->free_memory += budget.heapBudget[i] -
                           std::min(budget.heapBudget[i], budget.heapUsage[i]);
    }
  }

  std::string features = cat("subgroup", subgroup.subgroupSize);
  const std::pair<const char*, const char*> known[] = {
      {VK_KHR_16BIT_STORAGE_EXTENSION_NAME, "16bit_storage"},
      {VK_KHR_8BIT_STORAGE_EXTENSION_NAME, "8bit_storage"},
      {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, "float16_int8"},
      {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, "integer_dot"},
      {VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME, "cooperative_matrix"},
      {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, "timeline_semaphore"},
      {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, "memory_budget"}};
  for (const auto& [extension, name] : known) {
    if (extensions.has(extension)) features += std::string(" ") + name;
  }
  std::snprintf(info->features, sizeof info->features, "%s", features.c_str());

  std::snprintf(info->driver, sizeof info->driver, "%s",
                cat("Vulkan ", VK_API_VERSION_MAJOR(plain.apiVersion), ".",
                    VK_API_VERSION_MINOR(plain.apiVersion), ".",
                    VK_API_VERSION_PATCH(plain.apiVersion), ", ",
                    has_driver ? cat(driver.driverName, " ", driver.driverInfo)
                               : cat("driver ", plain.driverVersion))
                    .c_str());
  if (has_pci) {
    std::snprintf(info->physical_id, sizeof info->physical_id,
                  "pci:%04x:%02x:%02x.%x", pci.pciDomain, pci.pciBus,
                  pci.pciDevice, pci.pciFunction);
  } else {
    std::snprintf(info->physical_id, sizeof info->physical_id, "uuid:%s",
                  hexadecimal(id.deviceUUID, VK_UUID_SIZE).c_str());
  }
}

}  // namespace rc::vulkan
