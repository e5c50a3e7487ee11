// Invalid and unusual metadata.
#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>

#include "base/error.h"
#include "files/gguf/writer.h"
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
  // Each under the key that gave it: folders write a list's second id as the
  // end of a turn, too.
  EXPECT_EQ(refusal(spm,
                    [](auto& v) {
                      v.ends = {2, 9};
                      v.eot = 9;
                    }),
            "small.gguf: tokenizer.ggml.eos_token_ids[1] is 9, but there are 8 "
            "tokens; ids begin at 0");
  EXPECT_EQ(refusal(spm, [](auto& v) { v.eot = 9; }),
            "small.gguf: tokenizer.ggml.eot_token_id is 9, but there are 8 "
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

TEST(Vocabulary, UnknownValueErrorListsTheKnownOnes) {
  EXPECT_EQ(refusal(
                byte_level_vocabulary(), [](auto& v) { v.model = "towel"; },
                RC_E_UNSUPPORTED),
            "small.gguf: tokenizer.ggml.model is 'towel'; known tokenizers "
            "are llama, gpt2, bert, t5, gemma4, rwkv");
  const std::string message = refusal(
      byte_level_vocabulary(), [](auto& v) { v.pre = "gpt-9"; },
      RC_E_UNSUPPORTED);
  EXPECT_TRUE(message.starts_with(
      "small.gguf: tokenizer.ggml.pre is 'gpt-9'; known pre-tokenizers are"))
      << message;
  for (const char* name :
       {"default", "gpt-2", "llama-bpe", "llama3", "llama-v3", "qwen2",
        "qwen35", "starcoder", "falcon", "deepseek-llm", "deepseek-coder",
        "mpt", "refact", "smollm", "tekken", "gpt-4o", "smaug-bpe",
        "seed-coder"}) {
    EXPECT_NE((message + " ").find(" " + std::string(name) + " "),
              std::string::npos)
        << name;
    Vocabulary v = byte_level_vocabulary();
    v.pre = name;
    EXPECT_NE(Tokenizer::create(v), nullptr);
  }
}

// A file with these entries, written and read again.
std::shared_ptr<const gguf::File> file_with(
    const std::function<void(gguf::Writer&)>& add) {
  gguf::Writer writer;
  add(writer);
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  return gguf::File::from_memory(bytes, *bytes, "made.gguf");
}

void add_sentencepiece(gguf::Writer& writer) {
  const Vocabulary v = sentencepiece_vocabulary();
  writer.add("tokenizer.ggml.model", v.model);
  writer.add_strings("tokenizer.ggml.tokens", v.tokens);
  writer.add_array("tokenizer.ggml.scores", v.scores);
}

TEST(ReadVocabulary, ReadsTheTypesThatWritersUse) {
  const auto vocabulary = read_vocabulary(*file_with([](auto& writer) {
    add_sentencepiece(writer);
    writer.add_array("tokenizer.ggml.token_type",
                     std::array<int32_t, 8>{2, 3, 3, 1, 0, 1, 5, 4});
    writer.add("tokenizer.ggml.bos_token_id", uint32_t{1});
    writer.add("tokenizer.ggml.eos_token_id", int64_t{2});
    writer.add("tokenizer.ggml.eot_token_id", uint32_t{0xFFFFFFFF});
    writer.add("tokenizer.ggml.eom_token_id", int32_t{-1});
    writer.add_array("tokenizer.ggml.eos_token_ids",
                     std::array<int32_t, 5>{2, -1, 5, 6, 7});
    writer.add("tokenizer.ggml.add_eos_token", true);
  }));
  ASSERT_TRUE(vocabulary.has_value());
  EXPECT_EQ(vocabulary->tokens, sentencepiece_vocabulary().tokens);
  EXPECT_EQ(vocabulary->scores, sentencepiece_vocabulary().scores);
  EXPECT_EQ(vocabulary->type(0), TokenType::kUnknown);
  EXPECT_EQ(vocabulary->type(4), TokenType::kNormal);
  EXPECT_EQ(vocabulary->type(7), TokenType::kUserDefined);
  EXPECT_EQ(vocabulary->bos, 1);
  EXPECT_EQ(vocabulary->eos, 2);
  EXPECT_EQ(vocabulary->eot, kNoToken);
  EXPECT_EQ(vocabulary->eom, kNoToken);
  EXPECT_EQ(vocabulary->ends, (std::vector<TokenId>{2, kNoToken, 5, 6, 7}));
  EXPECT_EQ(vocabulary->add_eos, true);
  EXPECT_EQ(vocabulary->add_bos, std::nullopt);
}

TEST(ReadVocabulary, SuppressedTokensOutsideTheVocabularyAreDropped) {
  const auto tokens = [](const std::vector<int32_t>& ids) {
    return read_suppressed_tokens(*file_with([&](auto& writer) {
      writer.add_array("tokenizer.ggml.suppress_tokens", ids);
    }),
                                  8);
  };
  EXPECT_EQ(tokens({7, 3, 3, 8, -1, 0}), (std::vector<TokenId>{0, 3, 7}));
  EXPECT_EQ(tokens({}), std::vector<TokenId>());
  EXPECT_EQ(read_suppressed_tokens(*file_with([](auto&) {}), 8),
            std::vector<TokenId>());
}

TEST(ReadVocabulary, IsOptional) {
  EXPECT_EQ(Tokenizer::load(*file_with([](auto&) {})), nullptr);
  for (const char* model : {"none", "no_vocab"}) {
    EXPECT_EQ(Tokenizer::load(*file_with([&](auto& writer) {
                writer.add("tokenizer.ggml.model", model);
              })),
              nullptr);
  }
}

TEST(ReadVocabulary, RefusesWrongTypesAndValues) {
  const auto message = [](const std::function<void(gguf::Writer&)>& add) {
    const auto file = file_with([&](gguf::Writer& writer) {
      add_sentencepiece(writer);
      add(writer);
    });
    try {
      read_vocabulary(*file);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT);
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(message([](auto& writer) {
              writer.add("tokenizer.ggml.bos_token_id", int64_t{-2});
            }),
            "made.gguf: tokenizer.ggml.bos_token_id is -2; a token id must be "
            "at least 0 and below the number of tokens");
  EXPECT_EQ(message([](auto& writer) {
              writer.add("tokenizer.ggml.eos_token_id", uint64_t{1} << 40);
            }),
            "made.gguf: tokenizer.ggml.eos_token_id is 1099511627776; a token "
            "id must be at least 0 and below the number of tokens");
  EXPECT_EQ(message([](auto& writer) {
              writer.add_array("tokenizer.ggml.token_type",
                               std::array<int32_t, 2>{1, 7});
            }),
            "made.gguf: tokenizer.ggml.token_type[1] is 7; known types are 0 "
            "to 6");
  EXPECT_EQ(message([](auto& writer) {
              writer.add_array("tokenizer.ggml.eos_token_ids",
                               std::array<int64_t, 2>{1, -2});
            }),
            "made.gguf: tokenizer.ggml.eos_token_ids[1] is -2; a token id must "
            "be at least 0 and below the number of tokens");
  for (const char* key :
       {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_ids",
        "tokenizer.ggml.add_bos_token", "tokenizer.ggml.token_type",
        "tokenizer.ggml.merges", "tokenizer.ggml.precompiled_charsmap"}) {
    const std::string text =
        message([&](auto& writer) { writer.add(key, "text"); });
    EXPECT_TRUE(text.starts_with("made.gguf: ")) << text;
    EXPECT_NE(text.find(key), std::string::npos) << text;
  }
}

TEST(Vocabulary, InvalidCharacterMapsAreRefused) {
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

TEST(Vocabulary, DuplicatesAndEmptyPiecesAreHandled) {
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
