#include "webgpu/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/error.h"

namespace rc::webgpu {
namespace {

constexpr const char* kLibraryVariable = "RUNCIBLE_WEBGPU_LIBRARY";
#ifdef __APPLE__
constexpr const char* kNames[] = {"libwgpu_native.dylib",
                                  "libwebgpu_dawn.dylib"};
#else
constexpr const char* kNames[] = {"libwgpu_native.so", "libwebgpu_dawn.so"};
#endif

// What has neither is older than the layout of the structures in abi.h: the
// youngest function of the interface, and one that Dawn had before it.
constexpr const char* kYoungest[] = {
    "wgpuTextureGetTextureBindingViewDimension",
    "wgpuComputePassEncoderSetImmediateData"};

struct Library {
  abi::Functions functions = {};
  std::string implementation;
};

std::string implementation_of(void* handle, const std::string& file) {
  // What wgpu-native has beyond the standard: its version, a byte to a part.
  using Version = uint32_t (*)();
  const auto version =
      reinterpret_cast<Version>(dlsym(handle, "wgpuGetVersion"));
  if (version == nullptr) return file;
  const uint32_t parts = version();
  return cat("wgpu-native ", parts >> 24, ".", parts >> 16 & 0xFFu, ".",
             parts >> 8 & 0xFFu, ".", parts & 0xFFu);
}

void* open(std::string* file) {
  // A loaded one stays so: it has threads.
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  if (const char* wanted = std::getenv(kLibraryVariable);
      wanted != nullptr && *wanted != '\0') {
    *file = wanted;
    void* handle = dlopen(wanted, kFlags);
    if (handle == nullptr) {
      const char* reason = dlerror();
      fail(RC_E_BACKEND_UNAVAILABLE, "RUNCIBLE_WEBGPU_LIBRARY: ",
           reason != nullptr ? reason : "it cannot be loaded");
    }
    return handle;
  }
  for (const char* name : kNames) {
    *file = name;
    if (void* handle = dlopen(name, kFlags)) return handle;
  }
  fail(RC_E_BACKEND_UNAVAILABLE,
       "no implementation of WebGPU is installed; install ", kNames[0], " or ",
       kNames[1], ", or set ", kLibraryVariable, " to the path of one");
}

Library* load() {
  std::string file;
  void* handle = open(&file);
  auto library = std::make_unique<Library>();
  library->implementation = implementation_of(handle, file);
  const std::string version = library->implementation == file
                                  ? ""
                                  : cat(" (", library->implementation, ")");
  const auto lack = [&](const char* name) {
    fail(RC_E_BACKEND_UNAVAILABLE, file, version,
         " has another interface than the standard one of 2026: ", "it lacks ",
         name, "; use a newer one, such as wgpu-native 29");
  };
  const auto find = [&](const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) lack(name);
    return symbol;
  };
#define RC_WEBGPU_FIND(name, result, parameters) \
  library->functions.name =                      \
      reinterpret_cast<decltype(library->functions.name)>(find("wgpu" #name));
  RC_WEBGPU_FUNCTIONS(RC_WEBGPU_FIND)
#undef RC_WEBGPU_FIND
  if (std::none_of(std::begin(kYoungest), std::end(kYoungest),
                   [&](const char* name) { return dlsym(handle, name); })) {
    lack(kYoungest[0]);
  }
  return library.release();
}

const Library& library() {
  // A failure is tried again at the next call. It is never destroyed, for
  // other threads may still be using it.
  static Library* const loaded = load();
  return *loaded;
}

}  // namespace

const abi::Functions& wgpu() { return library().functions; }

const std::string& implementation() { return library().implementation; }

void pause(int looks) {
  // What is over at once costs no sleep.
  if (looks < 20) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min(50 * (looks - 19), 1000)));
  }
}

}  // namespace rc::webgpu
