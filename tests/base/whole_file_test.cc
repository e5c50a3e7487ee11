#include "base/whole_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

constexpr auto kBoth = {read_whole_file, read_own_file};

class WholeFile : public testing::Test {
 protected:
  std::string make(const char* name, const std::string& content) const {
    const fs::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    return path.string();
  }
  const test::TemporaryFolder folder_;
};

TEST_F(WholeFile, ReadsEveryLengthUpToTheLargest) {
  for (const size_t size : {0, 1, 4095, 4096, 4097, 9000}) {
    const std::string content(size, 'x');
    const std::string path = make("file", content);
    for (const auto read : kBoth) {
      EXPECT_EQ(read(path, 9000), content) << size;
      EXPECT_EQ(read(path, size), content) << size;
      if (size > 0) {
        EXPECT_EQ(read(path, size - 1), std::nullopt) << size;
      }
    }
  }
}

TEST_F(WholeFile, OtherThanRegularFilesAreNotReadAndDoNotBlock) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const fs::path socket_file = folder_.path() / "socket";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_file.c_str(),
               sizeof address.sun_path - 1);
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address),
                 sizeof address),
            0);
  for (const auto read : kBoth) {
    for (const fs::path& path :
         {pipe, socket_file, folder_.path(), folder_.path() / "absent",
          fs::path("/dev/zero"), fs::path("/dev/tty")}) {
      EXPECT_EQ(read(path.string(), 100), std::nullopt) << path;
    }
  }
  close(listening);
}

TEST_F(WholeFile, ReadsSystemFilesWithoutASize) {
  const auto text = read_whole_file("/proc/self/status", 1 << 20);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("Pid:"), std::string::npos);
}

TEST_F(WholeFile, OwnFileMustNotBeWritableByOthers) {
  const std::string path = make("file", "mine");
  EXPECT_EQ(read_own_file(path, 100), "mine");
  for (const auto others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(path, fs::perms::owner_read | others);
    EXPECT_EQ(read_own_file(path, 100), std::nullopt);
    EXPECT_EQ(read_whole_file(path, 100), "mine");
  }
  fs::permissions(path, fs::perms::owner_read);
  const std::string link = (folder_.path() / "link").string();
  fs::create_symlink(path, link);
  EXPECT_EQ(read_own_file(link, 100), std::nullopt);
  EXPECT_EQ(read_whole_file(link, 100), "mine");
  // Only root can give a file away; others see root's own.
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path.c_str(), 1, 1), 0);
    EXPECT_EQ(read_own_file(path, 100), std::nullopt);
  } else {
    EXPECT_EQ(read_own_file("/etc/passwd", 1 << 20), std::nullopt);
  }
}

}  // namespace
}  // namespace rc
