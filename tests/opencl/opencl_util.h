// Devices of the opencl backend for the tests of this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/device.h"

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

// Why there is no device; "" if there is one.
std::string why_no_device();

// To be the first line of a test that needs a device.
#define RC_NEEDS_OPENCL()                                      \
  if (const std::string why = why_no_device(); !why.empty()) { \
    GTEST_SKIP() << "no OpenCL device: " << why;               \
  }

// How GPUs are driven, in small: work-items stand for the lanes, and share
// columns, vectors and heads.
inline constexpr char kGpuTuning[] =
    "lanes=1,tile=32,rows=4,tiled_from=3,linear=8,slices=3,norm=16,"
    "attention=4,elements=16";

}  // namespace rc::test
