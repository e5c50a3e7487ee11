// Devices of the vulkan backend for the tests of this folder.
//
// With RUNCIBLE_VULKAN_VALIDATION=1 in the environment the program fails if the
// validation layer had anything to say.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runcible/plugin.h"

namespace rc::test {

// An environment variable that has a value while this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

// A folder that goes with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Why there is no device; "" if there is one.
std::string why_no_device();

// To be the first line of a test that needs a device.
#define RC_NEEDS_VULKAN()                                      \
  if (const std::string why = why_no_device(); !why.empty()) { \
    GTEST_SKIP() << "no Vulkan device: " << why;               \
  }

// How GPUs are driven, in small, and everything by pieces: the cache of the
// fable model is bound in three ranges, its table in five, rows by the dozen.
inline constexpr char kGpuTuning[] =
    "texels=0,tile=16,parts=2,chunk=2,batch=4,few=2,reduce=32,attention=16";
inline constexpr char kSmallRange[] = "98304";

}  // namespace rc::test
