#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/folder.h"
#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "file").string();

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
};

TEST_F(File, HasAStatusOfItsKindAndSize) {
  std::ofstream(path_) << "1234567";
  const std::string link = (folder_.path() / "link").string();
  fs::create_symlink("file", link);
  const std::string pipe = (folder_.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto file = file_status(path_);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_file());
  EXPECT_EQ(file->size, 7u);
  EXPECT_TRUE(is_own(*file));
  EXPECT_FALSE(is_executable(path_));
  EXPECT_TRUE(file_status(link)->is_same_file(*file));
  EXPECT_TRUE(link_status(link)->is_link());
  EXPECT_FALSE(link_status(link)->is_same_file(*file));
  EXPECT_TRUE(file_status(folder_.path().string())->is_folder());
  EXPECT_EQ(file_status(pipe)->kind, FileStatus::Kind::kOther);
  EXPECT_FALSE(file_status(path_ + "x"));
  EXPECT_EQ(errno, ENOENT);
  fs::permissions(path_, fs::perms(0720));
  EXPECT_TRUE(file_status(path_)->others_may_write);
  EXPECT_TRUE(is_executable(path_));
}

TEST_F(File, IsCreatedOnce) {
  EXPECT_TRUE(make_file(path_, 0600).is_open());
  EXPECT_FALSE(make_file(path_, 0600).is_open());
  EXPECT_EQ(errno, EEXIST);
  EXPECT_FALSE(file_status(path_)->others_may_write);
}

TEST_F(File, RefusesLinksWhenAsked) {
  const std::string link = (folder_.path() / "link").string();
  fs::create_symlink("file", link);
  std::ofstream(path_) << "x";
  EXPECT_TRUE(open_for_reading(link, Links::kFollow).is_open());
  EXPECT_FALSE(open_for_reading(link, Links::kRefuse).is_open());
  EXPECT_FALSE(open_for_update(link).is_open());
}

TEST_F(File, ReadsAndWritesAtOffsets) {
  const Descriptor file = open_for_update(path_);
  ASSERT_TRUE(file.is_open());
  EXPECT_EQ(write_some(file, bytes("abc")), 3);
  EXPECT_EQ(write_some_at(file, 5, bytes("xy")), 2);
  EXPECT_TRUE(set_file_size(file, 6));
  EXPECT_TRUE(flush_file(file));
  std::vector<std::byte> read(10);
  EXPECT_EQ(read_some_at(file, 1, read), 5);
  EXPECT_EQ(read[1], std::byte{'c'});
  EXPECT_EQ(read[2], std::byte{0});
  EXPECT_EQ(read[4], std::byte{'x'});
  EXPECT_EQ(read_some_at(file, 6, read), 0);
  const Descriptor closed;
  EXPECT_LT(read_some(closed, read), 0);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(File, IsLockedByOneDescriptor) {
  Descriptor first = open_for_update(path_);
  const Descriptor second = open_for_update(path_);
  EXPECT_EQ(lock_file(first), FileLocking::kLocked);
  EXPECT_EQ(lock_file(second), FileLocking::kHeld);
  EXPECT_TRUE(first.close());
  EXPECT_FALSE(first.is_open());
  EXPECT_EQ(lock_file(second), FileLocking::kLocked);
  EXPECT_EQ(lock_file(first), FileLocking::kFailed);
}

TEST_F(File, LinksAreReplacedAndNotFollowed) {
  const std::string root = folder_.path().string();
  link_below(root, "a/b/link", "one");
  EXPECT_EQ(fs::read_symlink(root + "/a/b/link"), "one");
  link_below(root, "a/b/link", "two");
  EXPECT_EQ(fs::read_symlink(root + "/a/b/link"), "two");
  EXPECT_EQ(names_in_folder(root + "/a/b"), std::vector<std::string>{"link"});
  fs::create_symlink(root, root + "/out");
  EXPECT_ANY_THROW(link_below(root, "out/link", "three"));
  EXPECT_FALSE(is_there(root + "/link"));
}

}  // namespace
}  // namespace rc
