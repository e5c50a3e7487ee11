// Folders made by hand, also such as nobody should have.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/gguf/file.h"
#include "files/safetensors/bytes.h"
#include "temporary.h"

namespace rc::folder::test {

// A copy of one of tests/golden/folders that may be changed.
class FolderTest : public ::testing::Test {
 protected:
  // Puts the files there in place of those of before.
  void copy(const std::string& name);
  std::filesystem::path path(const std::string& name = "") const {
    return name.empty() ? folder_ : folder_ / name;
  }
  void write(const std::string& name, std::string_view text) const {
    safetensors::test::write_file(folder_ / name, text);
  }
  // With a change, a JSON merge patch, of a file that holds JSON; null takes a
  // member away.
  void change(const std::string& name, std::string_view patch) const;
  std::shared_ptr<const gguf::File> open() const;
  // Opening fails so, or so does the engine with the folder.
  void expect_refused(rc_status status, std::string_view message) const;

 private:
  rc::test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path() / "model";
};

}  // namespace rc::folder::test
