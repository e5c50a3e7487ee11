#include "base/open_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "failing_disk.h"
#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class OpenFileTest : public testing::Test {
 protected:
  std::string make(const char* name, const char* content) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << content;
    return path.string();
  }

  template <class Call>
  static void expect_refused(const Call& call, rc_status status,
                             const std::string& text) {
    try {
      call();
      ADD_FAILURE() << "no error, but should be: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.message();
      EXPECT_NE(error.message().find(text), std::string::npos)
          << error.message();
    }
  }
  static void expect_not_opened(const std::string& path, rc_status status,
                                const char* text) {
    expect_refused([&] { OpenFile::open(path); }, status, text);
  }

  test::TemporaryFolder folder_;
};

TEST_F(OpenFileTest, ReadsTheBytes) {
  const auto file = OpenFile::open(make("file", "hello"));
  EXPECT_EQ(file->size(), 5u);
  std::array<std::byte, 3> bytes;
  file->read(2, bytes, "the end");
  EXPECT_EQ(bytes[0], std::byte{'l'});
  EXPECT_EQ(bytes[2], std::byte{'o'});
  file->read(5, {}, "nothing");
  file->check_unchanged();
}

TEST_F(OpenFileTest, RefusesPathsThatAreNotFiles) {
  expect_not_opened("", RC_E_INVALID_ARGUMENT, "empty");
  expect_not_opened(std::string("a\0b", 3), RC_E_INVALID_ARGUMENT, "zero byte");
  expect_not_opened((folder_.path() / "none").string(), RC_E_NOT_FOUND,
                    "no such file");
  expect_not_opened(make("file", "x") + "/below", RC_E_NOT_FOUND,
                    "no such file");
  expect_not_opened(folder_.path().string(), RC_E_IO, "is a directory");
  expect_not_opened(make("empty", ""), RC_E_FORMAT, "file is empty");
  expect_not_opened("/dev/zero", RC_E_IO, "not a regular file");
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_not_opened(pipe, RC_E_IO, "not a regular file");
}

TEST_F(OpenFileTest, RefusesUnreadableFiles) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const std::string path = make("secret", "x");
  fs::permissions(path, fs::perms::none);
  expect_not_opened(path, RC_E_IO, "cannot be opened");
}

TEST_F(OpenFileTest, ReplacingTheFileChangesNothing) {
  const std::string path = make("file", "hello");
  const auto file = OpenFile::open(path);
  fs::rename(make("other", "x"), path);
  std::array<std::byte, 5> bytes;
  file->read(0, bytes, "all");
  EXPECT_EQ(bytes[0], std::byte{'h'});
  file->check_unchanged();
}

TEST_F(OpenFileTest, ShortenedFileIsAnError) {
  const std::string path = make("file", "hello");
  const auto file = OpenFile::open(path);
  fs::resize_file(path, 3);
  std::array<std::byte, 5> bytes;
  for (const char* part : {path.c_str(), "tensor 'x'", "had 5 bytes",
                           "ends at byte 3", "cut short"}) {
    expect_refused([&] { file->read(0, bytes, "tensor 'x'"); }, RC_E_IO, part);
  }
  file->read(0, std::span(bytes).first(3), "what is left");
  expect_refused([&] { file->check_length(); }, RC_E_IO, "from 5 to 3 bytes");
  expect_refused([&] { file->check_unchanged(); }, RC_E_IO,
                 "from 5 to 3 bytes");
}

// As when a model is copied over another of the same size.
TEST_F(OpenFileTest, NoticesThatItWasOverwritten) {
  const std::string path = make("file", "hello");
  fs::last_write_time(path,
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto file = OpenFile::open(path);
  make("file", "HELLO");
  file->check_length();
  expect_refused([&] { file->check_unchanged(); }, RC_E_IO, "written to");
}

TEST_F(OpenFileTest, AFailingDiskIsAnError) {
  const std::string path = make("file", "hello");
  const auto file = OpenFile::open(path);
  std::array<std::byte, 5> bytes;
  const test::FailingDisk failing(1);
  file->read(0, bytes, "all");
  for (const char* part :
       {path.c_str(), "all cannot be read", "output error"}) {
    expect_refused([&] { file->read(0, bytes, "all"); }, RC_E_IO, part);
  }
  expect_refused([&] { file->check_length(); }, RC_E_IO, "examined");
  expect_refused([&] { file->check_unchanged(); }, RC_E_IO, "examined");
  expect_not_opened(path, RC_E_IO, "examined");
}

}  // namespace
}  // namespace rc
