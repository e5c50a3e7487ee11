#include "model/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace rc::model {
namespace {

using std::string_literals::operator""s;

TEST(Builtin, OtherPathsAreUnchanged) {
  for (const char* path : {"model.gguf", "./builtin:fable", "a/builtin:fable",
                           "Builtin:fable", "builtin", "", " builtin:x"}) {
    EXPECT_EQ(file_of(path), path);
  }
}

TEST(Builtin, NamesAreChecked) {
  for (const std::string& name :
       {"fable"s, "Fable-2_b.q8"s, "7"s, std::string(64, 'x')}) {
    EXPECT_NO_THROW(check_builtin_name("builtin:" + name)) << name;
  }
  for (const std::string& name :
       {""s, "."s, ".."s, ".hidden"s, "../fable"s, "a/b"s, "/etc/passwd"s,
        "a b"s, "a\\b"s, "a:b"s, "f\303\244ble"s, "fable\n"s, "fable\0"s,
        "fable\0.x"s, std::string(65, 'x'), std::string(100000, 'x')}) {
    try {
      static_cast<void>(file_of("builtin:" + name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT) << name;
      EXPECT_LT(error.message().size(), 500u);
      EXPECT_NE(error.message().find("./"), std::string::npos);
    }
  }
}

TEST(Builtin, DataFoldersAreTheLibraryFolderAndThePrefix) {
  const std::filesystem::path prefix = "/some/where";
  for (const char* folder : {"lib", "bin"}) {
    const auto folders = data_folders(prefix / folder);
    EXPECT_EQ(folders.front(), prefix / folder);
    EXPECT_EQ(
        std::count(folders.begin(), folders.end(), prefix / "share/runcible"),
        1);
    EXPECT_EQ(std::set(folders.begin(), folders.end()).size(), folders.size());
  }
  const auto folders = data_folders("");
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_TRUE(folders.front().is_absolute());
}

}  // namespace
}  // namespace rc::model
