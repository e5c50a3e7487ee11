// Metadata as nobody should write it.
#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "text/text_util.h"

namespace rc::text {
namespace {

// The message with which the spoilt vocabulary is refused, or "".
std::string refusal(Vocabulary v, const std::function<void(Vocabulary&)>& spoil,
                    rc_status status = RC_E_FORMAT) {
  EXPECT_NE(Tokenizer::create(v), nullptr);
  spoil(v);
  try {
    Tokenizer::create(v);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.message();
  }
  return "";
}

TEST(Vocabulary, RefusalsNameFileKeyValueAndLimit) {
  const auto spm = sentencepiece_vocabulary();
  const auto bpe = byte_level_vocabulary();
  EXPECT_EQ(refusal(spm, [](auto& v) { v.tokens.clear(); }),
            "small.gguf: tokenizer.ggml.tokens is missing or empty; the "
            "tokenizer 'llama' needs it");
  EXPECT_EQ(refusal(spm, [](auto& v) { v.scores.clear(); }),
            "small.gguf: tokenizer.ggml.scores is missing; the tokenizer "
            "'llama' needs a score for each of its 8 tokens");
  EXPECT_EQ(refusal(unigram_vocabulary(), [](auto& v) { v.scores.clear(); }),
            "small.gguf: tokenizer.ggml.scores is missing; the tokenizer "
            "'t5' needs a score for each of its 8 tokens");
  EXPECT_EQ(refusal(spm, [](auto& v) { v.scores.pop_back(); }),
            "small.gguf: tokenizer.ggml.scores has 7 elements, but "
            "tokenizer.ggml.tokens has 8; they must agree");
  EXPECT_EQ(refusal(spm, [](auto& v) { v.types.push_back({}); }),
            "small.gguf: tokenizer.ggml.token_type has 9 elements, but "
            "tokenizer.ggml.tokens has 8; they must agree");
  EXPECT_EQ(refusal(spm, [](auto& v) { v.bos = 8; }),
            "small.gguf: tokenizer.ggml.bos_token_id is 8, but there are 8 "
            "tokens; ids begin at 0");
  EXPECT_EQ(refusal(spm, [](auto& v) { v.tokens[3].assign(4097, 'x'); }),
            "small.gguf: tokenizer.ggml.tokens[3] has 4097 bytes; the limit is "
            "4096");
  EXPECT_EQ(refusal(bpe, [](auto& v) { v.merges.clear(); }),
            "small.gguf: tokenizer.ggml.merges is missing or empty; the "
            "tokenizer 'gpt2' needs it");
  for (const char* merge : {"", "a", "ab", "a ", " ", " a"}) {
    EXPECT_EQ(refusal(bpe, [&](auto& v) { v.merges.push_back(merge); }),
              "small.gguf: tokenizer.ggml.merges[1] is '" + std::string(merge) +
                  "'; it must be two pieces with a space between");
  }
  for (const float score : {std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(), -2e20F}) {
    EXPECT_NE(refusal(spm, [&](auto& v) { v.scores[4] = score; })
                  .find("tokenizer.ggml.scores[4] is "),
              std::string::npos);
  }
  EXPECT_NE(refusal(wordpiece_vocabulary(),
                    [](auto& v) { v.tokens[0] = "[UNKNOWN]"; })
                .find("no token is '[UNK]'"),
            std::string::npos);
}

TEST(Vocabulary, WhatIsNotKnownIsNamedWithWhatIs) {
  EXPECT_EQ(refusal(
                byte_level_vocabulary(), [](auto& v) { v.model = "rwkv"; },
                RC_E_UNSUPPORTED),
            "small.gguf: tokenizer.ggml.model is 'rwkv'; known tokenizers "
            "are llama, gpt2, bert, t5");
  const std::string message = refusal(
      byte_level_vocabulary(), [](auto& v) { v.pre = "gpt-9"; },
      RC_E_UNSUPPORTED);
  EXPECT_TRUE(message.starts_with(
      "small.gguf: tokenizer.ggml.pre is 'gpt-9'; known pre-tokenizers are"))
      << message;
  for (const char* name :
       {"default", "gpt-2", "llama-bpe", "llama3", "llama-v3", "qwen2",
        "qwen35", "starcoder", "falcon", "deepseek-llm", "deepseek-coder",
        "mpt", "refact", "smollm", "tekken", "gpt-4o"}) {
    EXPECT_NE((message + " ").find(" " + std::string(name) + " "),
              std::string::npos)
        << name;
    Vocabulary v = byte_level_vocabulary();
    v.pre = name;
    EXPECT_NE(Tokenizer::create(v), nullptr);
  }
}

TEST(Vocabulary, HostileCharacterMaps) {
  const auto with_map = [](std::string map) {
    Vocabulary v = unigram_vocabulary();
    v.charsmap = std::move(map);
    return v;
  };
  for (const std::string& map :
       {std::string("\1"), std::string("\5\0\0\0abcd", 8),
        std::string("\10\0\0\0abcd", 8), std::string("\xFF\xFF\xFF\xFF", 4)}) {
    EXPECT_THROW(Tokenizer::create(with_map(map)), Error) << map;
  }
  // Units and offsets that point anywhere.
  unsigned seed = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string map("\x40\0\0\0", 4);
    for (int i = 0; i < 80; ++i) {
      seed = seed * 1664525 + 1013904223;
      map += static_cast<char>(seed >> (i % 2 == 0 ? 24 : 30));
    }
    const auto tokenizer = Tokenizer::create(with_map(map));
    tokenizer->tokenize(std::string("abc \0\1\2\x80\xFF xyz", 13), {});
  }
}

TEST(Vocabulary, DuplicatesAndEmptyPieces) {
  for (Vocabulary v : {sentencepiece_vocabulary(), unigram_vocabulary()}) {
    for (const char* text : {"", "ab", "a"}) {
      v.tokens.push_back(text);
      v.scores.push_back(0);
      v.types.push_back(TokenType::kNormal);
    }
    const auto ids =
        Tokenizer::create(v)->tokenize("ab", {.add_special = false});
    EXPECT_EQ(ids, (std::vector<TokenId>{3, 6}));
  }
}

}  // namespace
}  // namespace rc::text
