// Vocabularies for the tests of text.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "test_data.h"
#include "text/tokenizer.h"

namespace rc::text {

inline std::shared_ptr<const Tokenizer> golden_tokenizer(
    const std::string& name) {
  const auto path =
      test::source_path("tests/golden/tokenizers/" + name + ".gguf");
  return Tokenizer::load(*gguf::File::open(path.string()));
}

// Names of all pre-tokenizers with a recorded vocabulary.
inline const std::vector<std::string>& byte_level_names() {
  static const std::vector<std::string> kNames = {
      "bpe-command-r",   "bpe-deepseek-coder", "bpe-deepseek-llm",
      "bpe-deepseek-v3", "bpe-falcon",         "bpe-gpt-2",
      "bpe-gpt-4o",      "bpe-llama-bpe",      "bpe-mpt",
      "bpe-qwen2",       "bpe-qwen35",         "bpe-refact",
      "bpe-smollm",      "bpe-starcoder",      "bpe-tekken"};
  return kNames;
}

// A small valid vocabulary of each kind, to be spoilt.
inline Vocabulary sentencepiece_vocabulary() {
  Vocabulary v;
  v.source = "small.gguf";
  v.model = "llama";
  v.tokens = {"<unk>", "<s>", "</s>", "\xE2\x96\x81", "a", "b", "ab", "<user>"};
  v.scores = {0, 0, 0, -4, -2, -3, -1, 0};
  v.types = {TokenType::kUnknown, TokenType::kControl,    TokenType::kControl,
             TokenType::kNormal,  TokenType::kNormal,     TokenType::kNormal,
             TokenType::kNormal,  TokenType::kUserDefined};
  return v;
}

inline Vocabulary byte_level_vocabulary() {
  Vocabulary v;
  v.source = "small.gguf";
  v.model = "gpt2";
  v.pre = "gpt-2";
  v.tokens = {"a", "b", "ab", "\xC4\xA0", "<|end|>"};
  v.types = {TokenType::kNormal, TokenType::kNormal, TokenType::kNormal,
             TokenType::kNormal, TokenType::kControl};
  v.merges = {"a b"};
  return v;
}

inline Vocabulary wordpiece_vocabulary() {
  Vocabulary v;
  v.source = "small.gguf";
  v.model = "bert";
  v.tokens = {"[UNK]", "[CLS]", "[SEP]",
              "\xE2\x96\x81"
              "ab",
              "c"};
  v.types = {TokenType::kControl, TokenType::kControl, TokenType::kControl,
             TokenType::kNormal, TokenType::kNormal};
  return v;
}

inline Vocabulary unigram_vocabulary() {
  Vocabulary v = sentencepiece_vocabulary();
  v.model = "t5";
  return v;
}

}  // namespace rc::text
