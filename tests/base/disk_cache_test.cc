#include "base/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class DiskCache : public testing::Test {
 protected:
  fs::path only_file() const {
    return fs::directory_iterator(cache_ / "runcible")->path();
  }
  const test::TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const test::TemporaryVariable variable_{"XDG_CACHE_HOME", cache_.string()};
};

TEST_F(DiskCache, RecallsTheLastValue) {
  EXPECT_EQ(recall("key"), std::nullopt);
  remember("key", "one");
  remember("key", "two\nlines");
  remember("another", "");
  EXPECT_EQ(recall("key"), "two\nlines");
  EXPECT_EQ(recall("another"), "");
  EXPECT_EQ(recall("ke"), std::nullopt);
}

TEST_F(DiskCache, ForeignFileIsIgnored) {
  remember("key", "fact");
  for (const char* content : {"", "3", "3 yek\nfact", "3 key"}) {
    std::ofstream(only_file(), std::ios::trunc) << content;
    EXPECT_EQ(recall("key"), std::nullopt) << content;
  }
  std::ofstream(only_file(), std::ios::trunc) << "3 key\n"
                                              << std::string(1 << 20, 'x');
  EXPECT_EQ(recall("key"), std::nullopt);
}

TEST_F(DiskCache, DamagedFileIsIgnored) {
  remember("key", "a fact");
  std::ifstream in(only_file(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto expect_nothing = [&](const std::string& content) {
    std::ofstream(only_file(), std::ios::trunc | std::ios::binary) << content;
    EXPECT_EQ(recall("key"), std::nullopt) << content;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    expect_nothing(whole.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      expect_nothing(changed);
    }
  }
  expect_nothing(whole + "x");
  std::ofstream(only_file(), std::ios::trunc | std::ios::binary) << whole;
  EXPECT_EQ(recall("key"), "a fact");
}

// Other programs may write to the folder, on purpose or by mistake.
TEST_F(DiskCache, OtherKindsOfFilesAreReplaced) {
  remember("key", "fact");
  const fs::path file = only_file();
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(recall("key"), std::nullopt);
  remember("key", "fact");
  EXPECT_EQ(recall("key"), "fact");
  fs::rename(file, cache_ / "elsewhere");
  fs::create_symlink(cache_ / "elsewhere", file);
  EXPECT_EQ(recall("key"), std::nullopt);
  remember("key", "fact");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(recall("key"), std::nullopt);
}

TEST_F(DiskCache, FilesAreReadableByTheirOwnerOnly) {
  const mode_t before = umask(0);
  remember("key", "fact");
  umask(before);
  EXPECT_EQ(fs::status(only_file()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(recall("key"), "fact");
}

TEST_F(DiskCache, UnusableFolderIsNoError) {
  std::ofstream(cache_).put('x');  // a file where the folder should be
  remember("key", "fact");
  EXPECT_EQ(recall("key"), std::nullopt);
  fs::remove(cache_);
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", cache_.c_str(), 1);
  remember("key", "at home");
  EXPECT_EQ(recall("key"), "at home");
  EXPECT_FALSE(fs::exists("relative"));
  EXPECT_TRUE(fs::exists(cache_ / ".cache" / "runcible"));
}

// Files would go to whatever folder the program runs in.
TEST_F(DiskCache, RelativeFoldersAreIgnored) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  {
    const test::TemporaryVariable home("HOME", "here");
    const test::TemporaryVariable cache("XDG_CACHE_HOME", "here");
    remember("key", "fact");
    EXPECT_EQ(recall("key"), std::nullopt);
    forget("key");
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  fs::current_path(before);
}

}  // namespace
}  // namespace rc
