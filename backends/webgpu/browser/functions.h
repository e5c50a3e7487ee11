// The functions of abi.h as a browser has them, by what they are about.
#pragma once

#include "webgpu/abi.h"

namespace rc::webgpu {

void add_device_functions(abi::Functions* functions);
void add_command_functions(abi::Functions* functions);

// Calls back for what went wrong on devices.
void tell_trouble();

}  // namespace rc::webgpu
