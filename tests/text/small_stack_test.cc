// Hostile texts, deep and long ones, read on a small stack.
#include "small_stack.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json_value.h"
#include "text/tokenizer_json/json_tokenizer.h"

namespace rc::text {
namespace {

std::string nested(std::string_view open, std::string_view inner,
                   std::string_view close, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += open;
  result += inner;
  for (size_t i = 0; i < count; ++i) result += close;
  return result;
}

std::string tokenizer_json(std::string_view part, std::string_view text) {
  return std::string(
             R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, ")") +
         std::string(part) + "\": " + std::string(text) + "}";
}

void expect_read(const std::string& json) {
  EXPECT_TRUE(test::fits_small_stack([&] {
    Vocabulary known;
    known.source = "hostile";
    make_json_tokenizer(json, known)->tokenize("a b", {});
  })) << json.substr(0, 100);
}

TEST(SmallStack, CopiesAndFreesNestedJson) {
  // As deep as an argument may be.
  constexpr size_t kDepth = 200;
  for (const std::string& text :
       {nested("[", "1", "]", kDepth), nested("{\"a\":", "1", "}", kDepth),
        nested("[", "1", "]", 100'000), nested("[1,", "1", "]", kDepth)}) {
    EXPECT_TRUE(test::fits_small_stack([&] {
      const JsonValue value = parse_json(text, "text", kDepth + 2);
      JsonValue other = value;
      if (!(other == value) || json_text(value) != text) std::abort();
      other = JsonValue();
      other = value;
    })) << text.substr(0, 20);
  }
}

TEST(SmallStack, ReadsNestedTokenizerJson) {
  for (const size_t depth : {12, 14, 30, 50'000}) {
    expect_read(tokenizer_json(
        "normalizer", nested(R"({"type": "Sequence", "normalizers": [)",
                             R"({"type": "NFC"})", "]}", depth)));
    expect_read(tokenizer_json(
        "pre_tokenizer", nested(R"({"type": "Sequence", "pretokenizers": [)",
                                R"({"type": "ByteLevel"})", "]}", depth)));
    expect_read(tokenizer_json(
        "decoder", nested(R"({"type": "Sequence", "decoders": [)",
                          R"({"type": "ByteLevel"})", "]}", depth)));
    expect_read(tokenizer_json(
        "post_processor", nested(R"({"type": "Sequence", "processors": [)",
                                 R"({"type": "ByteLevel"})", "]}", depth)));
    expect_read(tokenizer_json("added_tokens", nested("[", "1", "]", depth)));
  }
}

TEST(SmallStack, CompilesNestedPatterns) {
  const auto expect_pattern = [](const std::string& pattern) {
    expect_read(tokenizer_json(
        "pre_tokenizer",
        R"({"type": "Split", "behavior": "Isolated", "invert": false,
            "pattern": {"Regex": )" +
            json_text(pattern) + "}}"));
  };
  for (const size_t depth : {8, 100, 240, 20'000}) {
    expect_pattern(nested("(", "a", ")", depth));
    expect_pattern(nested("(?:a|", "b", ")*", depth));
    expect_pattern(nested("(?=a", "b", ")", depth));
    expect_pattern(nested("[a&&", "[b]", "]", depth));
    expect_pattern(nested("[", "b", "]", depth));
  }
  expect_pattern(nested("a", "b", "c", 20'000));
}

}  // namespace
}  // namespace rc::text
