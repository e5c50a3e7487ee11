// The kernels of a page are fetched as a separate file with its first device.
#include "webgpu/shaders.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "webgpu/browser/channel.h"
#include "webgpu/library.h"

namespace rc::webgpu {
namespace {

struct Kernels {
  bool there = false;
  std::string texts[static_cast<size_t>(gpu::Kernel::kCount)];
};

// Never destroyed: devices may be open while the program ends. Under the lock
// until it is there.
Kernels& kernels() {
  static auto* const made = new Kernels;
  return *made;
}

// The line that backends/webgpu/CMakeLists.txt puts before each, as in
// "//@kernel attention".
constexpr std::string_view kMark = "//@kernel ";

// Where src/web/in_module.js says that the file is.
constexpr const char* kVariable = "RUNCIBLE_WEBGPU_SHADERS";

std::string fetched() {
  const char* url = std::getenv(kVariable);
  if (url == nullptr) {
    fail(RC_E_BACKEND_UNAVAILABLE, kVariable,
         " does not say where runcible-webgpu.wgsl is");
  }
  Channel& channel = Channel::instance();
  const auto answer =
      channel.ask(Request::k_fetch_kernels,
                  {address(url), static_cast<uint32_t>(std::strlen(url))});
  if (answer->status != Answer::kSuccess) {
    fail(RC_E_BACKEND_UNAVAILABLE,
         "the kernels of webgpu cannot be fetched: ", answer->message);
  }
  std::string text(answer->values[0], '\0');
  channel.ask(Request::k_take_kernels, {address(text.data())});
  return text;
}

}  // namespace

void load_shaders() {
  const Lock lock;
  Kernels& made = kernels();
  if (made.there) return;
  const std::string all = fetched();
  std::string_view rest = all;
  for (;;) {
    const size_t mark = rest.find(kMark);
    if (mark == rest.npos) break;
    rest.remove_prefix(mark + kMark.size());
    const size_t end = rest.find('\n');
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end, rest.size()));
    for (size_t i = 0; i < std::size(made.texts); ++i) {
      if (name != gpu::kernel_name(static_cast<gpu::Kernel>(i))) continue;
      made.texts[i] = rest.substr(0, rest.find(kMark));
    }
  }
  for (size_t i = 0; i < std::size(made.texts); ++i) {
    if (!made.texts[i].empty()) continue;
    fail(RC_E_BACKEND_UNAVAILABLE, "runcible-webgpu.wgsl has no kernel ",
         gpu::kernel_name(static_cast<gpu::Kernel>(i)),
         "; it belongs to the files of the package");
  }
  made.there = true;
}

const char* shader_text(gpu::Kernel kernel) {
  return kernels().texts[static_cast<size_t>(kernel)].c_str();
}

}  // namespace rc::webgpu
