// Where tests find their files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace rc::test {

// A file or folder of the repository.
inline std::filesystem::path source_path(const std::string& relative) {
  return std::filesystem::path(RC_SOURCE_DIR) / relative;
}

// A file or folder of the larger collection of test data, which is optional:
// RUNCIBLE_TEST_DATA, or ../shared/data next to the source tree. Empty if it is
// missing; then skip with RC_NEED_SHARED.
inline std::filesystem::path shared_path(const std::string& relative) {
  const char* variable = std::getenv("RUNCIBLE_TEST_DATA");
  std::filesystem::path root = variable != nullptr
                                   ? std::filesystem::path(variable)
                                   : source_path("../shared/data");
  std::filesystem::path path = root / relative;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace rc::test

#define RC_NEED_SHARED(path)                                            \
  if ((path).empty())                                                   \
  GTEST_SKIP() << "the collection of test data is not here; put it at " \
                  "../shared/data or set RUNCIBLE_TEST_DATA"
