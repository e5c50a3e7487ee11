// The search for texts that are too long for the standard library's, on texts
// that repeat themselves.
#include "text/chat/search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/chat/chat_util.h"

namespace rc::text::chat {
namespace {

TEST(Search, FindsRepetitiveTexts) {
  std::vector<std::string> texts;
  for (const char* part : {"a", "ab", "aab", "abaab", "abcab"}) {
    for (const size_t times : {30, 70, 140}) {
      texts.push_back(repeated(part, times));
      texts.push_back(repeated(part, times) + "a");
      texts.push_back(repeated(part, times) + "ba");
      texts.push_back("b" + repeated(part, times));
    }
  }
  int longer = 0;
  for (const std::string& what : texts) {
    longer += what.size() > 64 ? 1 : 0;
    for (const std::string& before : texts) {
      for (const std::string& text : {before, before + what}) {
        for (const size_t from : {size_t{0}, size_t{1}, text.size()}) {
          EXPECT_EQ(find_first(text, what, from), text.find(what, from))
              << text << " " << what << " " << from;
        }
      }
    }
  }
  EXPECT_GT(longer, 30);
}

}  // namespace
}  // namespace rc::text::chat
