// Paths that no file can be written to, and those that no link leads to.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/folder.h"
#include "base/new_file.h"
#include "expect_error.h"
#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

template <class Call>
void expect_refused(rc_status status, const std::string& start,
                    const Call& call) {
  test::expect_error(status, start, "", call);
}

TEST(PathErrors, NewFilesNameTheirPath) {
  const test::TemporaryFolder folder;
  const fs::path& path = folder.path();
  const auto refused = [](rc_status status, const std::string& start,
                          const std::string& file) {
    expect_refused(status, start, [&] { const NewFile made(file); });
  };
  refused(RC_E_INVALID_ARGUMENT, "the path of a file is empty", "");
  refused(RC_E_INVALID_ARGUMENT, "the path 'a", std::string("a\0b", 3));
  const std::string lost = path / "lost" / "file";
  refused(RC_E_NOT_FOUND, lost + ": there is no such folder", lost);
  std::ofstream(path / "plain");
  const std::string within = path / "plain" / "file";
  refused(RC_E_NOT_FOUND, within + ": there is no such folder", within);
  fs::create_symlink("circle", path / "circle");
  const std::string around = path / "circle" / "file";
  refused(RC_E_IO, around + ": cannot be created: ", around);
  const std::string name(1000, 'x');
  const std::string named = path / name;
  refused(RC_E_IO, named + ": cannot be created: ", named);
  const std::string below = path / name / "file";
  refused(RC_E_IO, below + ": cannot be created: ", below);
  NewFile made(path / "x");
  made.commit();
  EXPECT_TRUE(fs::is_regular_file(path / "x"));
}

TEST(PathErrors, AFolderIsNotReplaced) {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "taken";
  fs::create_directory(path);
  expect_refused(RC_E_IO, path.string() + ": cannot be replaced: ", [&] {
    const NewFile made(path.string());
  });
  EXPECT_TRUE(fs::is_directory(path));
  // Nothing is left of the file.
  EXPECT_EQ(names_in_folder(folder.path().string()),
            std::vector<std::string>{"taken"});
}

TEST(PathErrors, RealPathsNameTheirPath) {
  const test::TemporaryFolder folder;
  const fs::path& path = folder.path();
  fs::create_symlink("nowhere", path / "dangling");
  fs::create_symlink("circle", path / "circle");
  std::ofstream(path / "plain");
  const auto refused = [](rc_status status, const std::string& given) {
    expect_refused(status, given + ": cannot be found: ", [&] {
      static_cast<void>(real_path(given));
    });
  };
  refused(RC_E_NOT_FOUND, path / "nowhere");
  refused(RC_E_NOT_FOUND, path / "dangling");
  refused(RC_E_NOT_FOUND, path / "plain" / "file");
  refused(RC_E_IO, path / "circle");
  fs::create_symlink("plain", path / "link");
  EXPECT_EQ(real_path(path / "link"), fs::canonical(path / "plain").string());
}

}  // namespace
}  // namespace rc
