#include "text/chat/replies/json_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace rc::text::chat {
namespace {

TEST(JsonScanner, AgreesWithAParser) {
  const std::vector<std::string> texts = {
      "{}",
      "[]",
      R"({"a": [1, -0.5e+3, true, false, null, "\u00e9\n"]})",
      "[1,]",
      "{,}",
      "[01]",
      "[1.]",
      "[-]",
      "[1e]",
      R"({"a" 1})",
      R"({"a"})",
      R"(["\x"])",
      "[tru]",
      "[\"a\nb\"]",
      "[[]",
      "[]]",
      "{]",
      "[1 2]",
      "[1}",
      " [ { } , [ ] ] ",
      "[1e5]",
      "[0]",
      "[-0]",
      "[0.0]",
      "[00]",
      "[+1]"};
  for (const std::string& text : texts) {
    JsonScanner scanner;
    auto result = JsonScanner::Result::kMore;
    size_t at = 0;
    while (at < text.size() && result == JsonScanner::Result::kMore) {
      result = scanner.feed(text[at++]);
    }
    const bool good = result == JsonScanner::Result::kDone &&
                      text.find_first_not_of(' ', at) == std::string::npos;
    EXPECT_EQ(good, nlohmann::json::accept(text)) << text;
  }
}

}  // namespace
}  // namespace rc::text::chat
