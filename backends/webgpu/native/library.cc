#include "webgpu/library.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/library.h"

namespace rc::webgpu {
namespace {

constexpr const char* kLibraryVariable = "RUNCIBLE_WEBGPU_LIBRARY";
#ifdef __APPLE__
constexpr const char* kNames[] = {"libwgpu_native.dylib",
                                  "libwebgpu_dawn.dylib"};
#else
constexpr const char* kNames[] = {"libwgpu_native.so", "libwebgpu_dawn.so"};
#endif

// A library that has neither is older than the layout of the structures in
// abi.h: the youngest function of the interface, and one that Dawn had before
// it.
constexpr const char* kYoungest[] = {
    "wgpuTextureGetTextureBindingViewDimension",
    "wgpuComputePassEncoderSetImmediateData"};

struct Implementation {
  abi::Functions functions = {};
  std::string name;
};

std::string implementation_of(const Library& library, const std::string& file) {
  // The version of wgpu-native, which is beyond the standard, a byte to a part.
  uint32_t (*version)() = nullptr;
  if (!library.find(version, "wgpuGetVersion")) return file;
  const uint32_t parts = version();
  return cat("wgpu-native ", parts >> 24, ".", parts >> 16 & 0xFFu, ".",
             parts >> 8 & 0xFFu, ".", parts & 0xFFu);
}

Library open(std::string* file) {
  if (const char* wanted = std::getenv(kLibraryVariable);
      wanted != nullptr && *wanted != '\0') {
    *file = wanted;
    Library library = Library::load(wanted);
    if (!library.is_loaded()) {
      const std::string& reason = library.failure();
      fail(RC_E_BACKEND_UNAVAILABLE, "RUNCIBLE_WEBGPU_LIBRARY: ",
           reason.empty() ? "it cannot be loaded" : reason);
    }
    return library;
  }
  for (const char* name : kNames) {
    *file = name;
    Library library = Library::load(name);
    if (library.is_loaded()) return library;
  }
  fail(RC_E_BACKEND_UNAVAILABLE,
       "no implementation of WebGPU is installed; install ", kNames[0], " or ",
       kNames[1], ", or set ", kLibraryVariable, " to the path of one");
}

Implementation* load() {
  std::string file;
  Library library = open(&file);
  library.keep();  // it has threads
  auto found = std::make_unique<Implementation>();
  found->name = implementation_of(library, file);
  const std::string version =
      found->name == file ? "" : cat(" (", found->name, ")");
  const auto fail_without = [&](const char* name) {
    fail(RC_E_BACKEND_UNAVAILABLE, file, version,
         " has another interface than the standard one of 2026: it does not "
         "define ",
         name, "; use a newer one, such as wgpu-native 29");
  };
#define RC_WEBGPU_FIND(name, result, parameters)          \
  if (!library.find(found->functions.name, "wgpu" #name)) \
    fail_without("wgpu" #name);
  RC_WEBGPU_FUNCTIONS(RC_WEBGPU_FIND)
#undef RC_WEBGPU_FIND
  if (std::none_of(std::begin(kYoungest), std::end(kYoungest),
                   [&](const char* name) { return library.find(name); })) {
    fail_without(kYoungest[0]);
  }
  return found.release();
}

const Implementation& loaded_implementation() {
  // A failure is tried again at the next call. It is never destroyed, for
  // other threads may still be using it.
  static Implementation* const loaded = load();
  return *loaded;
}

}  // namespace

const abi::Functions& wgpu() { return loaded_implementation().functions; }

const std::string& implementation() { return loaded_implementation().name; }

void pause(int looks) {
  // A wait that is over at once costs no sleep.
  if (looks < 20) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min(50 * (looks - 19), 1000)));
  }
}

}  // namespace rc::webgpu
