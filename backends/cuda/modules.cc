#include "cuda/modules.h"

#include <algorithm>
#include <string_view>

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

// Both of a text that identifies the variant.
std::string description(const char* kernel, const Compiled& made) {
  std::string text = cat(kernel, ' ', made.definitions);
  for (const OpenConstant& constant : made.open) {
    text += cat(" -D", constant.name, '=', constant.value);
  }
  return text;
}

}  // namespace

std::string complete_ptx(const gpu::Variant& variant) {
  const char* const kernel = gpu::kernel_name(variant.first);
  const Compiled made = compiled(variant);
  const std::string_view text = ptx_of(kernel, made.definitions);
  if (text.empty()) {
    fail(RC_E_UNSUPPORTED, "the kernel ", description(kernel, made),
         " was not compiled for cuda");
  }
  return filled(text, made.open);
}

Modules::~Modules() {
  const MaybeCurrent current(context_);
  if (!current) return;
  for (const auto& [name, loaded] : loaded_) {
    static_cast<void>(api().ModuleUnload(loaded.module));
  }
}

CUfunction Modules::function(const gpu::Variant& variant) {
  const char* const kernel = gpu::kernel_name(variant.first);
  const std::string name = description(kernel, compiled(variant));
  const auto known = loaded_.find(name);
  if (known != loaded_.end()) return known->second.function;
  const std::string text = complete_ptx(variant);
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  Loaded made;
  const CUresult result =
      api().ModuleLoadDataEx(&made.module, text.c_str(), 2, options, values);
  if (result != CUDA_SUCCESS && log[0] != '\0') {
    fail(RC_E_DEVICE, "the driver does not compile ", name, ": ",
         result_name(api(), result), ": ", static_cast<const char*>(log));
  }
  check(result, "cuModuleLoadDataEx");
  const CUresult found =
      api().ModuleGetFunction(&made.function, made.module, kernel);
  if (found != CUDA_SUCCESS) {
    static_cast<void>(api().ModuleUnload(made.module));
  }
  check(found, "cuModuleGetFunction");
  loaded_.emplace(name, made);
  return made.function;
}

}  // namespace rc::cuda
