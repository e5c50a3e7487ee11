#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "mapped_memory.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() {
    std::string pattern = fs::temp_directory_path() / "runcible-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~MappedFileTest() override { fs::remove_all(folder_); }

  std::string make(const char* name, const char* content) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << content;
    return path.string();
  }
  static void expect_refused(const std::string& path, rc_status status,
                             const char* text) {
    try {
      MappedFile::open(path);
      ADD_FAILURE() << path << " was mapped";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.message();
      EXPECT_NE(error.message().find(text), std::string::npos)
          << error.message();
    }
  }

  fs::path folder_;
};

TEST_F(MappedFileTest, HoldsTheBytes) {
  const auto file = MappedFile::open(make("file", "hello"));
  ASSERT_EQ(file->bytes().size(), 5u);
  EXPECT_EQ(file->bytes()[4], std::byte{'o'});
  EXPECT_NO_THROW(file->check_unchanged());
}

TEST_F(MappedFileTest, DropsMemoryAndKeepsTheBytes) {
  std::string content(1 << 20, 'x');
  for (size_t i = 0; i < content.size(); ++i) content[i] += i % 7;
  const std::string path = make("file", content.c_str());
  const auto file = MappedFile::open(path);
  const auto same = [&] {
    return std::memcmp(file->bytes().data(), content.data(), content.size()) ==
           0;
  };
  ASSERT_TRUE(same());
  const uint64_t all = test::mapped_memory(path);
  EXPECT_GE(all, content.size());
  file->drop({});
  file->drop(file->bytes().subspan(100, content.size() / 2));
  EXPECT_LE(test::mapped_memory(path), all - content.size() / 2);
  EXPECT_TRUE(same());
  file->drop(file->bytes());
  EXPECT_EQ(test::mapped_memory(path), 0u);
  EXPECT_TRUE(same());
}

TEST_F(MappedFileTest, ReplacingTheFileLeavesTheMapping) {
  const std::string path = make("file", "hello");
  const auto file = MappedFile::open(path);
  fs::rename(make("other", "x"), path);
  EXPECT_EQ(file->bytes()[0], std::byte{'h'});
  EXPECT_NO_THROW(file->check_unchanged());
}

TEST_F(MappedFileTest, RefusesWhatCannotBeMapped) {
  expect_refused("", RC_E_INVALID_ARGUMENT, "empty");
  expect_refused(std::string("a\0b", 3), RC_E_INVALID_ARGUMENT, "zero byte");
  expect_refused((folder_ / "none").string(), RC_E_NOT_FOUND, "no such file");
  expect_refused(make("file", "x") + "/below", RC_E_NOT_FOUND, "no such file");
  expect_refused(folder_.string(), RC_E_IO, "is a directory");
  expect_refused(make("empty", ""), RC_E_FORMAT, "file is empty");
  expect_refused("/dev/zero", RC_E_IO, "not a regular file");
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, RC_E_IO, "not a regular file");
}

TEST_F(MappedFileTest, RefusesWhatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const std::string path = make("secret", "x");
  fs::permissions(path, fs::perms::none);
  expect_refused(path, RC_E_IO, "cannot be opened");
}

TEST_F(MappedFileTest, NoticesAnotherLength) {
  const std::string path = make("file", "hello");
  const auto file = MappedFile::open(path);
  fs::resize_file(path, 3);
  try {
    file->check_unchanged();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_IO);
    EXPECT_NE(error.message().find("from 5 to 3 bytes"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace rc
