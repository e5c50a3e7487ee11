// Kernels of the stand-in for HIP: their sources, which are compiled for the
// host and run with work-items in a random order.
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "code.h"
#include "group_runner.h"
#include "hip_api.h"
#include "kernel_library.h"

using namespace rc::rocm;
namespace stand_in = rc::stand_in;

namespace {

struct Module {
  std::string definitions;
  std::string source;
  uint64_t items = 0;  // of a group
};

struct Function {
  std::string name;
  HostKernel* kernel;
  uint64_t items;
};

// Kernels of the host run one at a time.
struct Machine {
  std::mutex mutex;
  rc::host::KernelLibrary library;
  rc::host::GroupRunner runner{
      static_cast<uint64_t>(stand_in::setting("seed", 1))};
  std::vector<std::unique_ptr<Function>> functions;
};
Machine& machine() {
  static auto* const one = new Machine;
  return *one;
}

std::unique_ptr<Module> parsed(std::string_view text) {
  if (!text.starts_with(kMark)) return nullptr;
  text.remove_prefix(std::strlen(kMark));
  auto module = std::make_unique<Module>();
  static_cast<void>(rc::take_line(text));
  std::string_view definitions = rc::take_line(text).value_or("");
  module->definitions = definitions;
  module->source = text;
  constexpr std::string_view kItems = "-DGROUP_ITEMS=";
  while (auto word = rc::take_word(definitions)) {
    if (!word->starts_with(kItems)) continue;
    word->remove_prefix(kItems.size());
    module->items = rc::take_number<uint64_t>(*word).value_or(0);
  }
  return module;
}

void run(const rc::host::Launch& launch) {
  if (stand_in::lost != 0) return;
  const std::lock_guard lock(machine().mutex);
  try {
    machine().runner.run(launch);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stand-in of ROCm: %s\n", error.what());
    stand_in::lost = hipErrorLaunchFailure;
  }
}

}  // namespace

RC_STAND_IN hipError_t hipModuleLoadData(hipModule_t* module,
                                         const void* image) {
  RC_BEGIN_ON_DEVICE("hipModuleLoadData");
  std::unique_ptr<Module> made = parsed(static_cast<const char*>(image));
  if (made == nullptr) return kInvalidImage;
  *module = reinterpret_cast<hipModule_t>(made.release());
  return hipSuccess;
}
RC_STAND_IN hipError_t hipModuleUnload(hipModule_t module) {
  ++stand_in::calls;
  delete reinterpret_cast<Module*>(module);
  return hipSuccess;
}
RC_STAND_IN hipError_t hipModuleGetFunction(hipFunction_t* function,
                                            hipModule_t module,
                                            const char* name) {
  RC_BEGIN_ON_DEVICE("hipModuleGetFunction");
  const Module& content = *reinterpret_cast<Module*>(module);
  const std::lock_guard lock(machine().mutex);
  auto made = std::make_unique<Function>();
  try {
    *made = {
        name,
        machine().library.kernel(content.source, name, content.definitions),
        content.items};
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stand-in of ROCm: %s\n", error.what());
    return kNotFound;
  }
  *function = reinterpret_cast<hipFunction_t>(made.get());
  machine().functions.push_back(std::move(made));
  return hipSuccess;
}

RC_STAND_IN hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned x,
                                             unsigned y, unsigned z,
                                             unsigned items_x, unsigned items_y,
                                             unsigned items_z, unsigned,
                                             hipStream_t stream, void**,
                                             void** extra) {
  RC_BEGIN_ON_DEVICE("hipModuleLaunchKernel");
  const Function& launched = *reinterpret_cast<Function*>(function);
  constexpr unsigned kMostGroups = 65535;
  if (x == 0 || y == 0 || z == 0 || y > kMostGroups || z > kMostGroups ||
      items_x != launched.items || items_y != 1 || items_z != 1) {
    return kInvalidValue;
  }
  if (extra == nullptr || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
      extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END) {
    return kInvalidValue;
  }
  // The first block of rows is last, in half a word; kernels for the host know
  // it as the place of the range.
  const size_t bytes = *static_cast<const size_t*>(extra[3]);
  if (bytes % sizeof(uint64_t) != sizeof(uint32_t)) return kInvalidValue;
  std::vector<uint64_t> arguments(bytes / sizeof(uint64_t));
  std::memcpy(arguments.data(), extra[1], arguments.size() * sizeof(uint64_t));
  uint32_t first = 0;
  std::memcpy(&first, static_cast<const char*>(extra[1]) + bytes - sizeof first,
              sizeof first);
  stream_of(stream)->add([&launched, arguments, x, y, z, first] {
    rc::host::Launch launch;
    launch.name = launched.name;
    launch.kernel = launched.kernel;
    launch.arguments = arguments;
    launch.items = launched.items;
    launch.groups[0] = x;
    launch.groups[1] = y;
    launch.groups[2] = z;
    launch.first_row = first;
    run(launch);
  });
  return hipSuccess;
}
