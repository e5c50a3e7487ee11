#include "base/remembered.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class Remembered : public testing::Test {
 protected:
  fs::path only_file() const {
    return fs::directory_iterator(cache_ / "runcible")->path();
  }
  const test::TemporaryFolder folder_;
  const fs::path cache_ = folder_.path() / "cache";
  const test::TemporaryVariable variable_{"XDG_CACHE_HOME", cache_.string()};
};

TEST_F(Remembered, WhatWasRememberedLast) {
  EXPECT_EQ(recall("key"), std::nullopt);
  remember("key", "one");
  remember("key", "two\nlines");
  remember("another", "");
  EXPECT_EQ(recall("key"), "two\nlines");
  EXPECT_EQ(recall("another"), "");
  EXPECT_EQ(recall("ke"), std::nullopt);
}

TEST_F(Remembered, AForeignFileIsNothing) {
  remember("key", "fact");
  for (const char* content : {"", "3", "3 yek\nfact", "3 key"}) {
    std::ofstream(only_file(), std::ios::trunc) << content;
    EXPECT_EQ(recall("key"), std::nullopt) << content;
  }
  std::ofstream(only_file(), std::ios::trunc) << "3 key\n"
                                              << std::string(1 << 20, 'x');
  EXPECT_EQ(recall("key"), std::nullopt);
}

TEST_F(Remembered, AFolderThatCannotBeIsNoFailure) {
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

}  // namespace
}  // namespace rc
