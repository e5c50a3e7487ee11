#include "rocm/code_objects.h"

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "gpu/c_kernels.h"
#include "gpu/cache_file.h"
#include "rocm/comgr.h"
#include "rocm/kernel_files.h"

namespace rc::rocm {
namespace {

KernelText text_of(const gpu::Variant& variant, const std::string& isa) {
  const std::string file = cat(gpu::kernel_name(variant.first), ".cl");
  KernelText text;
  text.name = file;
  text.source = gpu::kernel_source(kKernelFiles, "prelude_rocm.cl") +
                gpu::kernel_source(kKernelFiles, file);
  const std::string definitions = gpu::c_definitions(variant, /*vector=*/1);
  std::string_view rest = definitions;
  while (const auto word = take_word(rest)) {
    text.definitions.emplace_back(*word);
  }
  text.isa = isa;
  return text;
}

std::string hexadecimal(uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(number));
  return digits;
}

// All that decides a code object; a file has it in a line before that.
std::string key_of(const KernelText& text) {
  std::string key = cat("comgr ", comgr().version, ' ', text.isa, ' ',
                        text.name, ' ', hexadecimal(gpu::hash_of(text.source)));
  for (const std::string& definition : text.definitions) {
    key += " " + definition;
  }
  return key + '\n';
}

}  // namespace

std::string description(const gpu::Variant& variant) {
  return gpu::kernel_name(variant.first) + gpu::c_definitions(variant, 1);
}

std::string code_object(const gpu::Variant& variant, const std::string& isa) {
  const KernelText text = text_of(variant, isa);
  const std::string key = key_of(text);
  const std::string path =
      gpu::cache_file(cat("rocm/", gpu::kernel_name(variant.first), '-',
                          hexadecimal(gpu::hash_of(key)), ".cache"));
  std::string kept = gpu::read_cache_file(path);
  if (kept.starts_with(key)) {
    kept.erase(0, key.size());
    return kept;
  }
  Compiled made = compile(text);
  if (made.code.empty()) {
    std::string definitions;
    for (const std::string& one : text.definitions) definitions += " " + one;
    fail(RC_E_DEVICE, "AMD's compiler, version ", comgr().version,
         ", does not compile ", text.name, definitions, " for ", isa, ": ",
         made.log);
  }
  gpu::write_cache_file(path, key + made.code);
  return std::move(made.code);
}

std::string code_object(const rc_plugin_kernel_info& info,
                        const std::string& isa) {
  KernelText text;
  text.is_opencl_c = true;
  text.name = "custom_op.cl";
  text.source.assign(static_cast<const char*>(info.source), info.source_bytes);
  text.isa = isa;
  Compiled made = compile(text);
  if (made.code.empty()) {
    if (info.log != nullptr) info.log(info.log_user, made.log.c_str());
    fail(RC_E_FORMAT, info.name, ": AMD's compiler, version ", comgr().version,
         ", does not compile it for ", isa, ": ", made.log);
  }
  return std::move(made.code);
}

}  // namespace rc::rocm
