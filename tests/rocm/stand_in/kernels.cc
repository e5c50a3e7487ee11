// Kernels of the stand-in for HIP: their sources, which are compiled for the
// host and run with work-items in a random order.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
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
  uint64_t items[3] = {0, 1, 1};  // of a group
  uint64_t tensors = 0;           // of a kernel that the caller wrote
};

struct Function {
  std::string name;
  HostKernel* kernel;
  const Module* module;
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
  const std::pair<std::string_view, uint64_t*> numbers[] = {
      {"-DGROUP_ITEMS=", &module->items[0]},
      {"-DGROUP_ITEMS_1=", &module->items[1]},
      {"-DGROUP_ITEMS_2=", &module->items[2]},
      {"-DTENSORS=", &module->tensors}};
  while (auto word = rc::take_word(definitions)) {
    for (const auto& [name, number] : numbers) {
      if (!word->starts_with(name)) continue;
      std::string_view digits = word->substr(name.size());
      *number = rc::take_number<uint64_t>(digits).value_or(0);
    }
  }
  return module;
}

// Words of arguments as kernels for the host take them. Those of the kernels of
// the backend are words, and in half a word at the end the first block of rows,
// which is the place of the range.
bool take_arguments(const std::byte* bytes, size_t count,
                    std::vector<uint64_t>* words, uint32_t* first_row) {
  if (count % sizeof(uint64_t) != sizeof(uint32_t)) return false;
  words->resize(count / sizeof(uint64_t));
  std::memcpy(words->data(), bytes, words->size() * sizeof(uint64_t));
  std::memcpy(first_row, bytes + count - sizeof *first_row, sizeof *first_row);
  return true;
}
// Those of one that the caller wrote: an address and a place of each tensor,
// and numbers of half a word.
bool take_arguments(const std::byte* bytes, size_t count, uint64_t tensors,
                    std::vector<uint64_t>* words) {
  const size_t whole = 2 * tensors * sizeof(uint64_t);
  if (count < whole || (count - whole) % sizeof(uint32_t) != 0) return false;
  words->resize(2 * tensors);
  std::memcpy(words->data(), bytes, whole);
  for (size_t at = whole; at < count; at += sizeof(uint32_t)) {
    uint32_t number = 0;
    std::memcpy(&number, bytes + at, sizeof number);
    words->push_back(number);
  }
  return true;
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
        &content};
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
      !std::ranges::equal(std::array<uint64_t, 3>{items_x, items_y, items_z},
                          launched.module->items)) {
    return kInvalidValue;
  }
  if (extra == nullptr || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
      extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END) {
    return kInvalidValue;
  }
  const size_t bytes = *static_cast<const size_t*>(extra[3]);
  const auto* given = static_cast<const std::byte*>(extra[1]);
  const uint64_t tensors = launched.module->tensors;
  std::vector<uint64_t> arguments;
  uint32_t first = 0;
  if (!(tensors == 0 ? take_arguments(given, bytes, &arguments, &first)
                     : take_arguments(given, bytes, tensors, &arguments))) {
    return kInvalidValue;
  }
  stream_of(stream)->add([&launched, arguments, x, y, z, first] {
    rc::host::Launch launch;
    launch.name = launched.name;
    launch.kernel = launched.kernel;
    launch.arguments = arguments;
    std::ranges::copy(launched.module->items, launch.items);
    launch.groups[0] = x;
    launch.groups[1] = y;
    launch.groups[2] = z;
    launch.first_row = first;
    run(launch);
  });
  return hipSuccess;
}
