#include "base/library.h"

#include <gtest/gtest.h>

namespace rc {
namespace {

TEST(Library, HasTheFunctionsThatItExports) {
  const Library library = Library::load("libm.so.6");
  ASSERT_TRUE(library.is_loaded()) << library.failure();
  double (*root)(double) = nullptr;
  ASSERT_TRUE(library.find(root, "sqrt"));
  EXPECT_EQ(root(9.0), 3.0);
  EXPECT_FALSE(library.find(root, "there_is_no_such_function"));
  EXPECT_EQ(root, nullptr);
}

TEST(Library, ReportsWhyLoadingFails) {
  const Library library = Library::load("/there/is/none.so");
  EXPECT_FALSE(library.is_loaded());
  EXPECT_NE(library.failure().find("/there/is/none.so"), std::string::npos);
}

TEST(Library, IsOwnedByOneObject) {
  Library first = Library::load("libm.so.6");
  Library second = std::move(first);
  EXPECT_FALSE(first.is_loaded());
  EXPECT_TRUE(second.is_loaded());
  first = std::move(second);
  EXPECT_TRUE(first.is_loaded());
}

}  // namespace
}  // namespace rc
