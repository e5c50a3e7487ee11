#include "cuda/ptx.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cuda/ptx_files.h"
#include "cuda/variants.h"

namespace rc::cuda {
namespace {

constexpr std::string_view kOpenWord = "RC_OPEN_";

bool is_of_name(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

// Replaces each word RC_OPEN_<name> by the number of that name.
std::string filled(std::string_view text,
                   const std::vector<OpenConstant>& constants) {
  std::string result;
  result.reserve(text.size());
  for (;;) {
    const size_t at = text.find(kOpenWord);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    text.remove_prefix(at + kOpenWord.size());
    const auto end = std::find_if_not(text.begin(), text.end(), is_of_name);
    const std::string_view name =
        text.substr(0, static_cast<size_t>(end - text.begin()));
    text.remove_prefix(name.size());
    const auto found = std::find_if(
        constants.begin(), constants.end(),
        [name](const OpenConstant& constant) { return constant.name == name; });
    if (found == constants.end()) {
      fail(RC_E_INTERNAL, "a kernel has an open constant ", name);
    }
    result += std::to_string(found->value);
  }
}

}  // namespace

std::string description(const gpu::Variant& variant) {
  const Compiled made = compiled(variant);
  std::string text =
      cat(gpu::kernel_name(variant.first), ' ', made.definitions);
  for (const OpenConstant& constant : made.open) {
    text += cat(" -D", constant.name, '=', constant.value);
  }
  return text;
}

std::string complete_ptx(const gpu::Variant& variant) {
  const Compiled made = compiled(variant);
  const std::string_view text =
      ptx_of(gpu::kernel_name(variant.first), made.definitions);
  if (text.empty()) {
    fail(RC_E_UNSUPPORTED, "the kernel ", description(variant),
         " was not compiled for cuda");
  }
  return filled(text, made.open);
}

}  // namespace rc::cuda
