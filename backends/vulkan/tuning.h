// The choices for each device: which of the two kinds of shaders (see
// common.glsl), and how many lanes do which work.
//
// RUNCIBLE_VULKAN_TUNING replaces choices: names and numbers, separated by
// commas, as in "texels=0,parts=8,batch=4". The names are those of members of
// gpu::Tuning. RUNCIBLE_VULKAN_RANGE is the largest number of bytes that are
// bound as one buffer, if less than the device's own limit.
#pragma once

#include "gpu/tuning.h"
#include "vulkan/api.h"

namespace rc::vulkan {

// Throws RC_E_INVALID_ARGUMENT for a variable of the environment that is not
// understood or not possible here.
gpu::Tuning choose_tuning(VkPhysicalDevice device);

}  // namespace rc::vulkan
