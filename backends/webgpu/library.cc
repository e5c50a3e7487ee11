#include "webgpu/library.h"

#include <cstring>

namespace rc::webgpu {

std::recursive_mutex& mutex() {
  static auto* const made = new std::recursive_mutex;
  return *made;
}

std::string string(const abi::Text& text) {
  if (text.data == nullptr) return "";
  // The length may be left to a zero at the end.
  const size_t length =
      text.length == SIZE_MAX ? std::strlen(text.data) : text.length;
  return std::string(text.data, length);
}

}  // namespace rc::webgpu
