// Hostile files, deep and long ones, read on a small stack.
#include "small_stack.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "files/folder/config.h"
#include "files/gguf/bytes.h"
#include "files/safetensors/header.h"
#include "files/sentencepiece/model.h"

namespace rc {
namespace {

std::string nested(std::string_view open, std::string_view inner,
                   std::string_view close, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += open;
  result += inner;
  for (size_t i = 0; i < count; ++i) result += close;
  return result;
}

TEST(SmallStack, ReadsNestedGgufArrays) {
  for (const int depth : {3, 4, 5, 100'000}) {
    gguf::test::Bytes bytes;
    bytes.header(0, 1).key("a", gguf::ValueType::kArray);
    for (int i = 0; i < depth; ++i) bytes.array(gguf::ValueType::kArray, 1);
    bytes.array(gguf::ValueType::kU8, 0);
    EXPECT_TRUE(test::fits_small_stack([&] { bytes.open(); })) << depth;
  }
}

TEST(SmallStack, ReadsNestedJson) {
  for (const size_t depth : {8, 14, 31, 100'000}) {
    for (const std::string& text :
         {nested("[", "1", "]", depth), nested(R"({"a": )", "1", "}", depth),
          nested(R"({"a": [)", "1", "]}", depth)}) {
      const std::string member = R"({"model_type": )" + text + "}";
      EXPECT_TRUE(test::fits_small_stack([&] {
        folder::Config::parse(member, "config.json");
      })) << depth;
      EXPECT_TRUE(test::fits_small_stack([&] {
        safetensors::parse_header(member, 0, "x.safetensors");
      })) << depth;
    }
  }
}

TEST(SmallStack, ReadsNestedSentencePieceMessages) {
  // Messages within messages: each says how long the next is.
  std::string model;
  for (int i = 0; i < 20'000; ++i) {
    std::string length;
    size_t left = model.size();
    for (; left >= 0x80; left >>= 7) {
      length += static_cast<char>((left & 0x7F) | 0x80);
    }
    length += static_cast<char>(left);
    model.insert(0, "\x0A" + length);
  }
  EXPECT_TRUE(test::fits_small_stack(
      [&] { sentencepiece::parse_model(model, "tokenizer.model"); }));
}

}  // namespace
}  // namespace rc
