// Files of which parts are there, on disks that are full too.
#include "hub/partial_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "base/error.h"
#include "file_size_limit.h"
#include "hub/fake_hub.h"

namespace {
// Bytes until the disk is full; negative: it never is.
std::atomic<int64_t> g_room{-1};
}  // namespace

// In place of the C library's.
extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t size,
                          off_t offset) {
  if (g_room >= 0 && g_room < static_cast<int64_t>(size)) {
    errno = ENOSPC;
    return -1;
  }
  if (g_room >= 0) g_room -= static_cast<int64_t>(size);
  return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

namespace rc::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSize = 250;
constexpr uint64_t kPart = 100;

class PartialFileTest : public testing::Test {
 protected:
  ~PartialFileTest() override { g_room = -1; }

  hub::PartialFile open(const std::string& version = "one",
                        bool beginning = false) const {
    return hub::PartialFile(path(), kSize, version, kPart, beginning);
  }
  std::string path() const { return folder_.path() / "file.incomplete"; }
  std::string name() const { return folder_.path() / "file"; }
  void append(hub::PartialFile* file, size_t part, size_t bytes) const {
    const uint64_t from = file->part_lacks_from(part);
    file->append(part, std::as_bytes(std::span(content_)).subspan(from, bytes));
  }
  // The status of opening it.
  rc_status failure() const {
    try {
      open();
    } catch (const Error& error) {
      return error.status();
    }
    return RC_OK;
  }

  const TemporaryFolder folder_;
  const std::string content_ = noise(kSize, 1);
};

TEST_F(PartialFileTest, ResumesPartsInAnyOrder) {
  {
    hub::PartialFile file = open();
    EXPECT_EQ(file.part_count(), 3u);
    EXPECT_EQ(file.part_end(2), kSize);
    append(&file, 2, 50);
    append(&file, 0, 30);
    file.save();
  }
  {
    hub::PartialFile file = open();
    EXPECT_EQ(file.present(), 80u);
    EXPECT_EQ(file.part_lacks_from(0), 30u);
    append(&file, 0, 70);
    append(&file, 1, 100);
    EXPECT_TRUE(file.complete());
    EXPECT_FALSE(fs::exists(name()));
    file.publish(name());
  }
  EXPECT_EQ(content_of_file(name()), content_);
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(PartialFileTest, AnotherVersionIsDropped) {
  {
    hub::PartialFile file = open();
    append(&file, 0, 30);
    file.save();
  }
  EXPECT_EQ(open("two").present(), 0u);
  EXPECT_EQ(open("one").present(), 0u);
}

TEST_F(PartialFileTest, KeepsTheBeginningWrittenByOthers) {
  std::ofstream(path(), std::ios::binary) << content_.substr(0, 130);
  {
    hub::PartialFile file = open("one", true);
    EXPECT_EQ(file.present(), 130u);
    EXPECT_EQ(file.part_lacks_from(1), 130u);
    append(&file, 1, 70);
    append(&file, 2, 50);
    file.publish(name());
  }
  EXPECT_EQ(content_of_file(name()), content_);
  std::ofstream(path(), std::ios::binary) << content_.substr(0, 130);
  EXPECT_EQ(open().present(), 0u);
}

TEST_F(PartialFileTest, InconsistentTablesAreDropped) {
  {
    hub::PartialFile file = open();
    append(&file, 0, 30);
    file.save();
  }
  const std::string good = content_of_file(path());
  ASSERT_GT(good.size(), kSize);
  for (size_t at = kSize; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x80);
    std::ofstream(path(), std::ios::binary) << bad;
    const hub::PartialFile file = open();
    EXPECT_TRUE(file.present() == 0 || file.present() == 30) << at;
  }
  for (size_t size = kSize + 1; size < good.size(); ++size) {
    std::ofstream(path(), std::ios::binary) << good.substr(0, size);
    EXPECT_EQ(open().present(), 0u) << size;
  }
}

TEST_F(PartialFileTest, OtherKindsOfFilesAreRefused) {
  const std::string other = folder_.path() / "other";
  std::ofstream(other) << "precious";
  fs::create_symlink(other, path());
  EXPECT_EQ(failure(), RC_E_IO);
  EXPECT_EQ(content_of_file(other), "precious");
  fs::remove(path());
  fs::create_directory(path());
  EXPECT_EQ(failure(), RC_E_IO);
  fs::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(failure(), RC_E_IO);
}

TEST_F(PartialFileTest, SecondOpeningIsRefused) {
  const hub::PartialFile file = open();
  EXPECT_EQ(failure(), RC_E_BUSY);
}

TEST_F(PartialFileTest, SizesBeyondTheDiskAreRefused) {
  try {
    hub::PartialFile file(path(), uint64_t{1} << 49, "one", kPart, false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_IO);
    EXPECT_NE(error.message().find("the disk has room for"), std::string::npos)
        << error.message();
  }
}

TEST_F(PartialFileTest, ImpossibleSizesAreRefused) {
  for (const uint64_t size : {UINT64_MAX, UINT64_MAX - 1000, uint64_t{1} << 63,
                              (uint64_t{1} << 50) + 1}) {
    EXPECT_THROW(hub::PartialFile(path(), size, "one", kPart, false), Error);
    EXPECT_FALSE(fs::exists(path()));
  }
}

TEST_F(PartialFileTest, FullDiskIsReported) {
  hub::PartialFile file = open();
  g_room = 60;
  append(&file, 0, 50);
  try {
    append(&file, 0, 50);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_IO);
    EXPECT_NE(error.message().find("free some room"), std::string::npos)
        << error.message();
  }
  EXPECT_EQ(file.present(), 50u);
  g_room = -1;
  append(&file, 0, 50);
  EXPECT_EQ(file.present(), 100u);
}

// By default the signal of the limit ends the process.
TEST_F(PartialFileTest, SizeLimitIsReported) {
  ASSERT_EQ(std::signal(SIGXFSZ, SIG_DFL), SIG_DFL);
  {
    const FileSizeLimit limit(10);
    try {
      open();
      ADD_FAILURE() << "it was made";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_IO);
      for (const std::string& part :
           {path(), std::string("File too large"), std::string("ulimit -f")}) {
        EXPECT_NE(error.message().find(part), std::string::npos)
            << error.message();
      }
    }
  }
  hub::PartialFile file = open();
  {
    const FileSizeLimit limit(10);
    EXPECT_THROW(append(&file, 0, 50), Error);
  }
  append(&file, 0, 50);
  EXPECT_EQ(file.present(), 50u);
}

// The table lists the present bytes: a damaged one is ignored.
TEST_F(PartialFileTest, DamagedTableIsIgnored) {
  uint64_t size = 0;
  {
    hub::PartialFile file = open();
    size = file.size();
    append(&file, 0, 50);
    file.save();
  }
  const std::string whole = content_of_file(path());
  for (size_t at = size; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      std::ofstream(path(), std::ios::binary | std::ios::trunc) << changed;
      EXPECT_EQ(open().present(), 0u) << "byte " << at << ", bit " << bit;
    }
  }
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << whole;
  EXPECT_EQ(open().present(), 50u);
}

TEST_F(PartialFileTest, FullDiskWhileFetchingIsReported) {
  RC_SKIP_WITHOUT_LIBCURL();
  FakeHub hub;
  const HubEnvironment environment(hub.address());
  hub.put("m.gguf", noise(100000, 2));
  g_room = 50000;
  try {
    hub::fetch(quick_request("hf:o/m"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_IO);
    EXPECT_NE(error.message().find("No space left"), std::string::npos)
        << error.message();
  }
  EXPECT_FALSE(fs::exists(environment.cache() + "/models--o--m/refs/main"));
  g_room = -1;
  EXPECT_EQ(content_of_file(hub::fetch(quick_request("hf:o/m"))),
            hub.content("m.gguf"));
}

}  // namespace
}  // namespace rc::test
