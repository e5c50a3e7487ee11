// The tokenizer of a file, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf/file.h"

namespace rc::text {

using TokenId = int32_t;
inline constexpr TokenId kNoToken = -1;

// Numbered as in tokenizer.ggml.token_type.
enum class TokenType : uint8_t {
  kNormal = 1,
  kUnknown = 2,      // stands for text that has no token
  kControl = 3,      // never comes from plain text
  kUserDefined = 4,  // always found in text, before anything else is tried
  kUnused = 5,       // not produced, but may be a step of a merge
  kByte = 6,         // <0xNN>, one byte of text that has no token
};

// Values of the metadata keys tokenizer.ggml.*; an optional without a value is
// an absent key.
struct Vocabulary {
  std::string source;  // the file's name, for messages
  std::string model;   // "llama", "gpt2", "bert", "t5", "rwkv"
  std::string pre;     // the pre-tokenizer's name, "" if absent
  std::vector<std::string> tokens;
  std::vector<float> scores;        // empty, or one per token
  std::vector<TokenType> types;     // empty, or one per token
  std::vector<std::string> merges;  // "left right", best first
  std::string charsmap;             // normalisation rules of SentencePiece
  TokenId bos = kNoToken;
  TokenId eos = kNoToken;
  TokenId eot = kNoToken;
  TokenId eom = kNoToken;
  std::vector<TokenId> ends;  // more tokens that end a text, or the same
  TokenId unknown = kNoToken;
  TokenId separator = kNoToken;
  TokenId classify = kNoToken;
  std::optional<bool> add_bos;
  std::optional<bool> add_eos;
  std::optional<bool> add_space_prefix;
  std::optional<bool> remove_extra_whitespaces;
  std::optional<bool> lowercase;
  std::optional<bool> strip_accents;
  std::optional<bool> nfc;

  // Requires: `types` is not empty. A file may have no types.
  TokenType type(TokenId id) const { return types[static_cast<size_t>(id)]; }
};

// Reads and checks the vocabulary; nothing if the file has none
// (tokenizer.ggml.model is absent, "none" or "no_vocab"). Throws RC_E_FORMAT
// with file, key, value and limit: afterwards lengths agree, types are known,
// scores are finite and special tokens exist.
std::optional<Vocabulary> read_vocabulary(const gguf::File& file);

// The part of it that other kinds of tokenizers have too: source, the ids of
// special tokens, add_bos and add_eos. The ids are not checked.
Vocabulary read_special_tokens(const gguf::File& file);

// Tokens that the model must never generate (tokenizer.ggml.suppress_tokens),
// of those below `count`, in order and each once. Others can't be generated
// anyway. Throws RC_E_FORMAT if the key has another type.
std::vector<TokenId> read_suppressed_tokens(const gguf::File& file,
                                            int64_t count);

// The checks of read_vocabulary that concern the values.
void check_vocabulary(const Vocabulary& vocabulary);

}  // namespace rc::text
