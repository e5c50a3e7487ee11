// The errors of the disk are tested with the GGUF writer (gguf/writer_test.cc).
#include "base/new_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public testing::Test {
 protected:
  NewFileTest() {
    std::string pattern = fs::temp_directory_path() / "runcible-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~NewFileTest() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void append(NewFile* file, const std::string& text) {
    file->append(std::as_bytes(std::span(text)));
  }

  fs::path folder_;
};

TEST_F(NewFileTest, AppearsWhenCommitted) {
  const fs::path path = folder_ / "file";
  NewFile file(path);
  append(&file, "hello, ");
  append(&file, "");
  append(&file, "world");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(read(path), "hello, world");
}

TEST_F(NewFileTest, WithoutCommitTheOldFileStays) {
  const fs::path path = folder_ / "file";
  std::ofstream(path) << "old";
  {
    NewFile file(path);
    append(&file, std::string(3 << 20, 'x'));
  }
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(
      std::distance(fs::directory_iterator(folder_), fs::directory_iterator()),
      1);
}

TEST_F(NewFileTest, PiecesOfAllSizesKeepTheirOrder) {
  const fs::path path = folder_ / "file";
  std::string wanted;
  NewFile file(path);
  for (const size_t size : {1u, 1u << 20, 5u, (1u << 20) - 3, 3u << 20, 7u}) {
    const std::string piece(size, static_cast<char>('a' + wanted.size() % 23));
    append(&file, piece);
    wanted += piece;
  }
  file.commit();
  EXPECT_TRUE(read(path) == wanted);
}

TEST_F(NewFileTest, TwoWritersOfOneFileDoNotMix) {
  const fs::path path = folder_ / "file";
  NewFile first(path), second(path);
  append(&first, "first");
  append(&second, "second");
  first.commit();
  second.commit();
  EXPECT_EQ(read(path), "second");
}

}  // namespace
}  // namespace rc
