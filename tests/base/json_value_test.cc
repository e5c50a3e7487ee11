// JSON texts that are refused, by the message, and the nearest ones that are
// read.
#include "base/json_value.h"

#include <gtest/gtest.h>

#include <string>

#include "expect_error.h"

namespace rc {
namespace {

void expect_refused(const std::string& start, const std::string& json,
                    size_t max_depth = 3) {
  test::expect_error(RC_E_INVALID_ARGUMENT, start, "", [&] {
    static_cast<void>(parse_json(json, "metadata", max_depth));
  });
}

void expect_read(const std::string& json, size_t max_depth = 3) {
  EXPECT_EQ(json_text(parse_json(json, "metadata", max_depth)), json);
}

TEST(JsonValue, DuplicateMembersAreRefused) {
  const std::string start = "metadata: an object has two members 'a'";
  expect_refused(start, R"({"a":1,"a":1})");
  expect_refused(start, R"({"a":1,"b":2,"a":3})");
  expect_refused(start, R"({"b":{"a":1,"a":2}})");
  expect_refused(start, R"({"b":{},"a":1,"\u0061":2})");
  expect_read(R"({"a":1,"A":1})");
  expect_read(R"({"a":{"a":1},"b":{"a":2}})");
  expect_read(R"([{"a":1},{"a":2}])");
}

TEST(JsonValue, DepthIsLimited) {
  const std::string start = "metadata: values nest deeper than 3 levels";
  expect_read(R"([{"a":[1]}])");
  expect_refused(start, R"([{"a":[[]]}])");
  expect_refused(start, R"([[[{}]]])");
  expect_read("[[],[],[],[]]");
  expect_read("1", 0);
  expect_refused("metadata: values nest deeper than 0 levels", "[]", 0);
}

TEST(JsonValue, TextMustBeOneCompleteValue) {
  for (const char* json : {"", "[1", "[1]]", "nul", R"({"a"})"}) {
    expect_refused("metadata: not JSON at byte ", json);
  }
}

// As RFC 6901 says.
TEST(JsonValue, PointersEscapeTheirSpecialCharacters) {
  EXPECT_EQ(pointer_to("", ""), "/");
  EXPECT_EQ(pointer_to("", "a/b"), "/a~1b");
  EXPECT_EQ(pointer_to("", "m~n"), "/m~0n");
  EXPECT_EQ(pointer_to("/a", "/~1"), "/a/~1~01");
  EXPECT_EQ(pointer_to("/a~1", "b"), "/a~1/b");
}

TEST(JsonValue, TypesHaveNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", "null"},   {"true", "a boolean"}, {"false", "a boolean"},
      {"1", "a number"},  {"\"\"", "a string"},  {"[]", "an array"},
      {"{}", "an object"}};
  for (const auto& [json, name] : cases) {
    EXPECT_STREQ(type_name(parse_json(json, "x", 3)), name) << json;
  }
}

}  // namespace
}  // namespace rc
