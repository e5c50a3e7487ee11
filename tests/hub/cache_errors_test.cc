// The cache of fetched models where folders, links and locks are not what they
// should be, and partial files that another program has changed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "base/error.h"
#include "expect_error.h"
#include "hub/cache.h"
#include "hub/cache_list.h"
#include "hub/partial_file.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;
using hub::CachedRepository;

class CacheErrors : public testing::Test {
 protected:
  CachedRepository repository() const {
    return {cache(), hub::parse_reference("hf:o/m")};
  }
  std::string cache() const { return folder_.path() / "hub"; }
  std::string model() const { return cache() + "/models--o--m"; }
  std::string snapshot() const { return model() + "/snapshots/" + commit_; }
  // A repository with one file.
  void fill() const {
    repository().make_folders();
    std::ofstream(repository().blob("tag")) << "content";
    repository().link(commit_, "m.gguf", "tag");
    repository().set_commit("main", commit_);
  }

  const TemporaryFolder folder_;
  const std::string commit_ = std::string(40, 'c');
};

TEST_F(CacheErrors, FailedFoldersAreNamed) {
  std::ofstream(cache()) << "a file";
  expect_error(RC_E_IO,
               model() + ": the folder cannot be made: Not a directory",
               [&] { repository().make_folders(); });
  fs::remove(cache());
  repository().make_folders();
  EXPECT_TRUE(fs::is_directory(model() + "/blobs"));
  EXPECT_TRUE(fs::is_directory(model() + "/snapshots"));
  EXPECT_TRUE(fs::is_directory(cache() + "/.locks/models--o--m"));
}

TEST_F(CacheErrors, FailedSubfoldersAreNamed) {
  fill();
  const std::string longest(255, 'f');
  expect_error(RC_E_IO,
               snapshot() + "/" + longest +
                   "f/x: its folder cannot be made: File name too long",
               [&] { repository().link(commit_, longest + "f/x", "tag"); });
  repository().link(commit_, longest + "/x", "tag");
  EXPECT_EQ(fs::read_symlink(snapshot() + "/" + longest + "/x"),
            "../../../blobs/tag");
  // A link in place of a folder is not followed.
  fs::create_directory_symlink(folder_.path(), snapshot() + "/sub");
  for (const char* name : {"sub/x", "m.gguf/x"}) {
    expect_error(RC_E_IO,
                 snapshot() + "/" + name +
                     ": its folder cannot be opened: Not a directory",
                 [&] { repository().link(commit_, name, "tag"); });
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "x"));
}

TEST_F(CacheErrors, FailedLinksAreNamed) {
  fill();
  expect_error(
      RC_E_IO, snapshot() + "/x: cannot be linked: File name too long",
      [&] { repository().link(commit_, "x", std::string(5000, 't')); });
  fs::create_directories(snapshot() + "/taken/by");
  expect_error(RC_E_IO, snapshot() + "/taken: cannot be linked: Is a directory",
               [&] { repository().link(commit_, "taken", "tag"); });
  // Neither call has left anything behind: only the file and the folder exist.
  EXPECT_EQ(std::distance(fs::directory_iterator(snapshot()),
                          fs::directory_iterator()),
            2);
  // A file that has the name gives way.
  std::ofstream(snapshot() + "/old") << "old";
  repository().link(commit_, "old", "tag");
  EXPECT_EQ(fs::read_symlink(snapshot() + "/old"), "../../blobs/tag");
  EXPECT_TRUE(repository().has(commit_, "old", 7));
  EXPECT_FALSE(repository().has(commit_, "old", 6));
}

TEST_F(CacheErrors, FilesAreAtMostSixteenFoldersDeep) {
  fill();
  std::string folder;
  for (int i = 0; i < 17; ++i) {
    folder += "d/";
    repository().link(commit_, folder + "x", "tag");
  }
  const auto files = repository().files_of(commit_);
  EXPECT_EQ(files.size(), 1u + 16u);
  for (const auto& file : files) EXPECT_EQ(file.size, 7u) << file.name;
}

TEST_F(CacheErrors, MissingModelErrorNamesARemedy) {
  const std::string advice =
      "\" or rc_model_fetch (nothing is fetched by itself)";
  const auto find = [&](const std::string& text) {
    return hub::find_in_cache(text, cache());
  };
  expect_error(RC_E_NOT_FOUND,
               "'hf:o/m': it is not among the models in " + cache() +
                   "; fetch it first, by \"runcible pull hf:o/m" + advice,
               [&] { find("hf:o/m"); });
  fill();
  expect_error(RC_E_NOT_FOUND,
               "'hf:o/m@v2': that revision is not among the models in " +
                   cache() + "; fetch it first, by \"runcible pull hf:o/m@v2" +
                   advice,
               [&] { find("hf:o/m@v2"); });
  expect_error(RC_E_NOT_FOUND,
               snapshot() +
                   ": there is no file and no quantization 'Q8_0'; there are: "
                   "'m.gguf' (7 bytes); fetch it first, by \"runcible pull "
                   "hf:o/m:Q8_0" +
                   advice,
               [&] { find("hf:o/m:Q8_0"); });
  for (const std::string text : {"hf:o/m", "hf:o/m@main", "hf:o/m:m.gguf"}) {
    EXPECT_EQ(find(text), snapshot() + "/m.gguf");
  }
  EXPECT_EQ(find("hf:o/m@" + commit_), snapshot() + "/m.gguf");
}

TEST_F(CacheErrors, RemovingAMissingModelIsAnError) {
  fill();
  const auto remove = [&](const std::string& text) {
    return hub::remove_from_cache(text, cache());
  };
  expect_error(RC_E_NOT_FOUND, "hf:o/n is not among the models in " + cache(),
               [&] { remove("hf:o/n"); });
  for (const std::string text : {"hf:o/m@v2", "hf:o/m:Q8_0", "hf:o/m:x.gguf"}) {
    expect_error(RC_E_NOT_FOUND, "'" + text + "' is not in " + model(),
                 [&] { remove(text); });
  }
  {
    const hub::FileLock lock(repository().lock_path("tag"));
    ASSERT_TRUE(lock.owned());
    EXPECT_FALSE(hub::FileLock(repository().lock_path("tag")).owned());
    expect_error(RC_E_BUSY, "hf:o/m: it is being fetched; remove it after that",
                 [&] { remove("hf:o/m"); });
  }
  remove("hf:o/m:m.gguf");
  EXPECT_FALSE(fs::exists(model()));
}

TEST_F(CacheErrors, TreesAreRemovedThirtyTwoFoldersDeep) {
  for (const int depth : {32, 33}) {
    fill();
    std::string deepest = model();
    for (int i = 0; i < depth; ++i) deepest += "/d";
    fs::create_directories(deepest);
    if (depth == 33) {
      expect_error(RC_E_IO, deepest + ": folders lie too deep in each other",
                   [&] { hub::remove_from_cache("hf:o/m", cache()); });
      EXPECT_TRUE(fs::exists(deepest));
    } else {
      hub::remove_from_cache("hf:o/m", cache());
      EXPECT_FALSE(fs::exists(model()));
    }
  }
}

class PartialFileErrors : public testing::Test {
 protected:
  std::string path() const { return folder_.path() / "file"; }
  const TemporaryFolder folder_;
};

TEST_F(PartialFileErrors, ImpossibleSizesAreNamed) {
  constexpr uint64_t kMost = uint64_t{1} << 50;
  const auto make = [&](uint64_t size) {
    hub::PartialFile(path(), size, "one", 100, false);
  };
  for (const uint64_t size : {kMost + 1, UINT64_MAX}) {
    expect_error(
        RC_E_IO,
        path() + ": no disk holds a file of " + std::to_string(size) + " bytes",
        [&] { make(size); });
  }
  // The disk is asked only about sizes that there are.
  try {
    make(kMost);
    ADD_FAILURE() << "there was room";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_IO);
    EXPECT_EQ(
        error.message().find(path() + ": 1125899906842624 bytes are still to "
                                      "come, and the disk has room for "),
        0u)
        << error.message();
  }
}

TEST_F(PartialFileErrors, PartRefusesMoreThanItsMissingBytes) {
  hub::PartialFile file(path(), 250, "one", 100, false);
  const std::string bytes(101, 'x');
  const auto append = [&](size_t part, size_t count) {
    file.append(part, std::as_bytes(std::span(bytes)).first(count));
  };
  append(0, 60);
  expect_error(RC_E_INTERNAL, path() + ": more than part 0 has room for",
               [&] { append(0, 41); });
  expect_error(RC_E_INTERNAL, path() + ": more than part 2 has room for",
               [&] { append(2, 51); });
  EXPECT_EQ(file.present(), 60u);
  append(0, 40);
  append(1, 100);
  append(2, 50);
  EXPECT_TRUE(file.complete());
}

TEST_F(PartialFileErrors, ShortenedFileIsNotReadAsWhole) {
  hub::PartialFile file(path(), 250, "one", 100, false);
  const std::string bytes(100, 'x');
  file.append(0, std::as_bytes(std::span(bytes)));
  std::string found(100, ' ');
  const auto read = [&] {
    file.read(0, std::as_writable_bytes(std::span(found)));
    return found;
  };
  fs::resize_file(path(), 100);
  EXPECT_EQ(read(), bytes);
  fs::resize_file(path(), 99);
  expect_error(RC_E_IO, path() + ": it was cut short meanwhile", read);
}

}  // namespace
}  // namespace rc::test
