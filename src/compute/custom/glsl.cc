#include "compute/custom/glsl.h"

#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/library.h"
#include "base/program_run.h"

// The compiler's handles are opaque pointers. The functions and numbers are
// those of shaderc.h of version 2023.2, whose C ABI is kept.
struct shaderc_compiler;
struct shaderc_compile_options;
struct shaderc_compilation_result;

namespace rc::compute {
namespace {

constexpr const char* kLibrary = "libshaderc.so.1";
constexpr int kComputeShader = 2;  // shaderc_compute_shader
constexpr int kTargetVulkan = 0;   // shaderc_target_env_vulkan
constexpr uint32_t kVulkan11 = (1u << 22) | (1u << 12);
constexpr int kSuccess = 0;  // shaderc_compilation_status_success

struct Compiler {
  shaderc_compiler* (*compiler_initialize)();
  void (*compiler_release)(shaderc_compiler*);
  shaderc_compile_options* (*compile_options_initialize)();
  void (*compile_options_release)(shaderc_compile_options*);
  void (*compile_options_set_target_env)(shaderc_compile_options*, int target,
                                         uint32_t version);
  shaderc_compilation_result* (*compile_into_spv)(
      const shaderc_compiler*, const char* text, size_t bytes, int kind,
      const char* file, const char* entry, const shaderc_compile_options*);
  void (*result_release)(shaderc_compilation_result*);
  size_t (*result_get_length)(const shaderc_compilation_result*);
  const char* (*result_get_bytes)(const shaderc_compilation_result*);
  int (*result_get_compilation_status)(const shaderc_compilation_result*);
  const char* (*result_get_error_message)(const shaderc_compilation_result*);

  std::string failure;  // "": it is there
};

Compiler load() {
  Compiler made = {};
  Library library = Library::load(kLibrary);
  if (!library.is_loaded()) {
    made.failure = cat(
        "kernels in GLSL need a compiler: the command glslc (of Debian's "
        "package glslc), which is not found, or ",
        kLibrary, " (libshaderc1), which cannot be loaded: ",
        library.failure().empty() ? "no reason is given" : library.failure());
    return made;
  }
  const auto find = [&](auto& function, const char* name) {
    if (!library.find(function, name) && made.failure.empty()) {
      made.failure = cat(kLibrary, " has no function ", name);
    }
  };
  find(made.compiler_initialize, "shaderc_compiler_initialize");
  find(made.compiler_release, "shaderc_compiler_release");
  find(made.compile_options_initialize, "shaderc_compile_options_initialize");
  find(made.compile_options_release, "shaderc_compile_options_release");
  find(made.compile_options_set_target_env,
       "shaderc_compile_options_set_target_env");
  find(made.compile_into_spv, "shaderc_compile_into_spv");
  find(made.result_release, "shaderc_result_release");
  find(made.result_get_length, "shaderc_result_get_length");
  find(made.result_get_bytes, "shaderc_result_get_bytes");
  find(made.result_get_compilation_status,
       "shaderc_result_get_compilation_status");
  find(made.result_get_error_message, "shaderc_result_get_error_message");
  library.keep();
  return made;
}

constexpr const char* kCommand = "glslc";

// Some packages of the library, such as Debian's version 2023.2, have undefined
// symbols and can only be loaded by the package of the command.
bool has_command() {
  static const bool found = [] {
    const auto run = run_program(kCommand, {"--version"}, "");
    return run && run->succeeded;
  }();
  return found;
}

std::vector<uint32_t> words_of(const char* bytes, size_t count) {
  std::vector<uint32_t> words(count / sizeof(uint32_t));
  std::memcpy(words.data(), bytes, words.size() * sizeof(uint32_t));
  return words;
}

[[noreturn]] void fail_to_compile(const std::string& name,
                                  const std::string& said) {
  fail(RC_E_FORMAT, name, ": the kernel in GLSL does not compile: ", said);
}

std::vector<uint32_t> compile_by_command(const std::string& name,
                                         const std::string& text) {
  const auto run = run_program(
      kCommand,
      {"-fshader-stage=compute", "--target-env=vulkan1.1", "-o", "-", "-"},
      text);
  if (!run) fail(RC_E_UNSUPPORTED, kCommand, " does not start");
  if (!run->succeeded) fail_to_compile(name, run->errors);
  return words_of(run->output.data(), run->output.size());
}

const Compiler& compiler() {
  // Stays loaded: nothing of it may run while the process ends.
  static const Compiler& loaded = *new Compiler(load());
  return loaded;
}

}  // namespace

std::string lacking_glsl_compiler() {
  return compiler().failure.empty() || has_command() ? "" : compiler().failure;
}

std::vector<uint32_t> compile_glsl(const std::string& name,
                                   const std::string& text) {
  const Compiler& api = compiler();
  if (!api.failure.empty()) {
    if (!has_command()) fail(RC_E_UNSUPPORTED, api.failure);
    return compile_by_command(name, text);
  }
  const std::unique_ptr<shaderc_compiler, decltype(api.compiler_release)> made(
      api.compiler_initialize(), api.compiler_release);
  const std::unique_ptr<shaderc_compile_options,
                        decltype(api.compile_options_release)>
      options(api.compile_options_initialize(), api.compile_options_release);
  if (made == nullptr || options == nullptr) {
    fail(RC_E_OUT_OF_MEMORY, kLibrary, " does not start");
  }
  api.compile_options_set_target_env(options.get(), kTargetVulkan, kVulkan11);
  const std::unique_ptr<shaderc_compilation_result,
                        decltype(api.result_release)>
      result(api.compile_into_spv(made.get(), text.data(), text.size(),
                                  kComputeShader, name.c_str(), "main",
                                  options.get()),
             api.result_release);
  if (result == nullptr) fail(RC_E_OUT_OF_MEMORY, kLibrary, " gives no result");
  if (api.result_get_compilation_status(result.get()) != kSuccess) {
    fail_to_compile(name, api.result_get_error_message(result.get()));
  }
  return words_of(api.result_get_bytes(result.get()),
                  api.result_get_length(result.get()));
}

}  // namespace rc::compute
