#include "opencl/pocl.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "base/words.h"

namespace rc::opencl {
namespace {

// The version of PoCL from which on a failing linker is the end of a kernel; in
// those before it is that of the process (POCL_ABORT in
// lib/CL/devices/common.c).
constexpr int kFirstThatReports = 7;

// PoCL has the driver of Clang run the linker. The driver looks for "ld" in
// these folders and in some built-in ones, which are empty on usual systems.
constexpr const char* kPaths[] = {"PATH", "COMPILER_PATH"};

}  // namespace

bool has_linker(const std::string& path) {
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (folder.empty()) continue;
    if (is_executable(std::string(folder) + "/ld")) return true;
  }
  return false;
}

bool ends_without_linker(const std::string& platform,
                         const std::string& version) {
  if (platform != "Portable Computing Language") return false;
  // "OpenCL 3.0 PoCL 3.1+debian  Linux, ..."; "OpenCL 1.2 pocl 1.1 ...".
  std::string_view rest = version;
  while (const auto word = take_word(rest)) {
    if (*word != "PoCL" && *word != "pocl") continue;
    const auto major = take_number<int>(rest);
    return major && *major < kFirstThatReports;
  }
  return false;
}

std::string missing_linker(cl_platform_id platform) {
  if (!ends_without_linker(platform_text(platform, CL_PLATFORM_NAME),
                           platform_text(platform, CL_PLATFORM_VERSION))) {
    return "";
  }
  for (const char* name : kPaths) {
    const char* path = std::getenv(name);
    if (path != nullptr && has_linker(path)) return "";
  }
  return "there is no linker (ld) in PATH, without which PoCL ends the process "
         "when it compiles; install binutils, or put its folder into PATH";
}

}  // namespace rc::opencl
