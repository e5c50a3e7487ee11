// The implementation of WebGPU that a browser has.
#include "webgpu/library.h"

#include <memory>

#include "webgpu/browser/channel.h"
#include "webgpu/browser/functions.h"

namespace rc::webgpu {

const abi::Functions& wgpu() {
  static const abi::Functions* const made = [] {
    auto functions = std::make_unique<abi::Functions>();
    add_device_functions(functions.get());
    add_command_functions(functions.get());
    return functions.release();
  }();
  return *made;
}

const std::string& implementation() { return Channel::instance().browser(); }

void pause(int) { Channel::instance().wait_for_answers(); }

}  // namespace rc::webgpu
