#include "text/grammar/uri.h"

#include <gtest/gtest.h>

#include <utility>

namespace rc::text::grammar {
namespace {

// The examples of section 5.4 of RFC 3986, without fragments.
TEST(Uris, MatchTheExamplesOfRfc3986) {
  const std::pair<const char*, const char*> cases[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/./x", "http://a/b/c/g"},
      {"http:g", "http:g"}};
  for (const auto& [reference, expected] : cases) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), expected)
        << reference;
  }
}

TEST(Uris, ResolveAgainstOtherBases) {
  EXPECT_EQ(resolve_uri("", "a/b#c"), "a/b");
  EXPECT_EQ(resolve_uri("", ""), "");
  EXPECT_EQ(resolve_uri("a/b", "c"), "a/c");
  EXPECT_EQ(resolve_uri("a", "c"), "c");
  EXPECT_EQ(resolve_uri("http://a", "c"), "http://a/c");
  EXPECT_EQ(resolve_uri("urn:x:y", "#z"), "urn:x:y");
}

TEST(Uris, FragmentsAreDecoded) {
  EXPECT_EQ(uri_fragment("a"), "");
  EXPECT_EQ(uri_fragment("a#"), "");
  EXPECT_EQ(uri_fragment("#/b"), "/b");
  EXPECT_EQ(uri_fragment("a#b#c"), "b#c");
  EXPECT_EQ(uri_fragment("#%41%20%fF%00"), std::string("A \xFF\0", 4));
  EXPECT_EQ(uri_fragment("#%4"), "%4");
  EXPECT_EQ(uri_fragment("#%"), "%");
  EXPECT_EQ(uri_fragment("#%4g%g4"), "%4g%g4");
  EXPECT_EQ(uri_fragment("#%2541"), "%41");
}

}  // namespace
}  // namespace rc::text::grammar
