#include "base/folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

template <class Function>
rc_status status_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.status();
  }
  return RC_OK;
}

TEST(Folder, ListsNamesOfEveryKindInOrder) {
  const test::TemporaryFolder folder;
  const fs::path& path = folder.path();
  EXPECT_TRUE(names_in_folder(path.string()).empty());
  std::ofstream(path / "b");
  fs::create_directory(path / "a");
  fs::create_symlink("nowhere", path / "c");
  ASSERT_EQ(mkfifo((path / ".d").c_str(), 0600), 0);
  const std::vector<std::string> all = {".d", "a", "b", "c"};
  EXPECT_EQ(names_in_folder(path.string()), all);
}

TEST(Folder, NonFoldersAreNotFound) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  const fs::path pipe = folder.path() / "pipe";
  std::ofstream(file.string());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path : {file, pipe, folder.path() / "absent"}) {
    EXPECT_EQ(status_of([&] { names_in_folder(path.string()); }),
              RC_E_NOT_FOUND)
        << path;
  }
}

TEST(Folder, RealPathsHaveNoLinks) {
  const test::TemporaryFolder folder;
  const std::string real = fs::canonical(folder.path()).string();
  fs::create_symlink(".", folder.path() / "link");
  EXPECT_EQ(real_path((folder.path() / "link/link/.").string()), real);
  EXPECT_EQ(status_of([&] { real_path(real + "/absent"); }), RC_E_NOT_FOUND);
}

}  // namespace
}  // namespace rc
