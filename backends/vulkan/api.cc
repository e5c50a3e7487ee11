#define VOLK_IMPLEMENTATION
#include "vulkan/api.h"

#include "base/error.h"

namespace rc::vulkan {

const char* result_name(VkResult result) {
  switch (result) {
#define RC_NAME(name) \
  case name:          \
    return #name
    RC_NAME(VK_SUCCESS);
    RC_NAME(VK_NOT_READY);
    RC_NAME(VK_TIMEOUT);
    RC_NAME(VK_INCOMPLETE);
    RC_NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
    RC_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    RC_NAME(VK_ERROR_INITIALIZATION_FAILED);
    RC_NAME(VK_ERROR_DEVICE_LOST);
    RC_NAME(VK_ERROR_MEMORY_MAP_FAILED);
    RC_NAME(VK_ERROR_LAYER_NOT_PRESENT);
    RC_NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
    RC_NAME(VK_ERROR_FEATURE_NOT_PRESENT);
    RC_NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
    RC_NAME(VK_ERROR_TOO_MANY_OBJECTS);
    RC_NAME(VK_ERROR_FRAGMENTED_POOL);
    RC_NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
#undef RC_NAME
    default:
      return "an unknown result";
  }
}

void check(VkResult result, const char* call) {
  if (result >= 0) return;
  rc_status status = RC_E_DEVICE;
  switch (result) {
    case VK_ERROR_DEVICE_LOST:
      status = RC_E_DEVICE_LOST;
      break;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_TOO_MANY_OBJECTS:
      status = RC_E_DEVICE_MEMORY;
      break;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      status = RC_E_OUT_OF_MEMORY;
      break;
    default:
      break;
  }
  fail(status, call, " answered ", result_name(result), " (",
       static_cast<int>(result), ")");
}

}  // namespace rc::vulkan
