// Kernels of the stand-in for NVIDIA's driver library: PTX, which a machine
// runs.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include "control.h"
#include "machine.h"
#include "stream_of.h"
#include "streams/memory.h"

namespace rc::cuda {
namespace {

struct Module {
  ptx::Module content;
};

struct Function {
  const ptx::Module* module;
  const ptx::Entry* entry;
};
std::mutex& function_mutex = *new std::mutex;
auto& functions = *new std::map<const ptx::Entry*, Function>;

std::mt19937_64& random_numbers() {
  static auto& random =
      *new std::mt19937_64(static_cast<uint64_t>(stand_in::setting("seed", 1)));
  return random;
}
std::mutex& machine_mutex = *new std::mutex;

void run(const ptx::Grid& grid) {
  if (stand_in::lost != 0) return;
  const std::lock_guard lock(machine_mutex);
  try {
    ptx::run(grid, stand_in::memory(), &random_numbers());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stand-in of CUDA: %s\n", error.what());
    stand_in::lost = CUDA_ERROR_ILLEGAL_ADDRESS;
  }
}

}  // namespace
}  // namespace rc::cuda

using namespace rc::cuda;

RC_STAND_IN CUresult cuModuleLoadDataEx(CUmodule* module, const void* image,
                                        unsigned count, CUjit_option* options,
                                        void** values) {
  RC_BEGIN_IN_CONTEXT("cuModuleLoadDataEx");
  auto made = std::make_unique<Module>();
  try {
    made->content = rc::ptx::parse(static_cast<const char*>(image));
  } catch (const std::exception& error) {
    for (unsigned i = 0; i + 1 < count; ++i) {
      if (options[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
      std::snprintf(static_cast<char*>(values[i]),
                    reinterpret_cast<size_t>(values[i + 1]), "%s",
                    error.what());
    }
    return kInvalidImage;
  }
  *module = reinterpret_cast<CUmodule>(made.release());
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuModuleUnload(CUmodule module) {
  ++rc::stand_in::calls;
  auto* const ended = reinterpret_cast<Module*>(module);
  const std::lock_guard lock(function_mutex);
  for (const auto& [name, entry] : ended->content.entries) {
    functions.erase(&entry);
  }
  delete ended;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                         const char* name) {
  RC_BEGIN_IN_CONTEXT("cuModuleGetFunction");
  const rc::ptx::Module& content = reinterpret_cast<Module*>(module)->content;
  const auto found = content.entries.find(name);
  if (found == content.entries.end()) return kNotFound;
  const std::lock_guard lock(function_mutex);
  Function& made = functions[&found->second];
  made = {&content, &found->second};
  *function = reinterpret_cast<CUfunction>(&made);
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y,
                                    unsigned z, unsigned threads_x,
                                    unsigned threads_y, unsigned threads_z,
                                    unsigned, CUstream stream, void**,
                                    void** extra) {
  RC_BEGIN_IN_CONTEXT("cuLaunchKernel");
  const Function& launched = *reinterpret_cast<Function*>(function);
  constexpr unsigned kMostGroups = 65535;
  constexpr unsigned kMostThreads = 1024;
  if (x == 0 || y == 0 || z == 0 || y > kMostGroups || z > kMostGroups ||
      threads_x == 0 || threads_x > kMostThreads || threads_y != 1 ||
      threads_z != 1) {
    return kInvalidValue;
  }
  if (extra == nullptr || extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER ||
      extra[2] != CU_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != CU_LAUNCH_PARAM_END) {
    return kInvalidValue;
  }
  const auto* const parameters = static_cast<const std::byte*>(extra[1]);
  const size_t bytes = *static_cast<const size_t*>(extra[3]);
  if (bytes != launched.entry->parameter_bytes ||
      launched.entry->group[0] != threads_x) {
    std::fprintf(stderr,
                 "stand-in of CUDA: kernel %s has %zu bytes of parameters and "
                 "groups of %u; launched with %zu and %u\n",
                 launched.entry->name.c_str(),
                 static_cast<size_t>(launched.entry->parameter_bytes),
                 launched.entry->group[0], bytes, threads_x);
    return kInvalidValue;
  }
  rc::ptx::Grid grid = {launched.module,
                        launched.entry,
                        {x, y, z},
                        threads_x,
                        {parameters, parameters + bytes}};
  stream_of(stream)->add([grid] { run(grid); });
  return CUDA_SUCCESS;
}
