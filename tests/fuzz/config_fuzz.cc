// Configuration files: whatever they hold, they are read or refused with
// RC_E_FORMAT.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/config/file.h"
#include "base/error.h"
#include "small_stack.h"

namespace {

void run_input(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& [name, value] : rc::config::parse(text, "x.toml")) {
      if (rc::config::find_key(name) == nullptr || value.line == 0) {
        __builtin_trap();
      }
      rc::config::file_text(value.value);
    }
  } catch (const rc::Error& error) {
    if (error.status() != RC_E_FORMAT) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
