#include "vocabulary.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <unordered_set>
#include <vector>

#include "random.h"

namespace rc::bench {
namespace {

// tokenizer.ggml.token_type
enum TokenType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kByte = 6,
};

struct Merge {
  std::string left;
  std::string right;
};

// `count` different words: all pairs of letters, then each made by joining two
// earlier ones; only the first part may begin with the mark of a space.
std::vector<Merge> make_words(const std::string& space, size_t count) {
  constexpr size_t kMaxBytes = 14;
  std::vector<std::string> parts;
  for (char letter = 'a'; letter <= 'z'; ++letter)
    parts.emplace_back(1, letter);
  parts.push_back(space);
  const size_t letters = parts.size();
  std::unordered_set<std::string> known;
  std::vector<Merge> merges;
  const auto join = [&](const std::string& left, const std::string& right) {
    std::string word = left + right;
    if (right.starts_with(space) || word.size() > kMaxBytes) return;
    if (merges.size() == count || !known.insert(word).second) return;
    merges.push_back({left, right});
    parts.push_back(std::move(word));
  };
  parts.reserve(letters + count);  // join's arguments stay where they are
  for (size_t i = 0; i < letters; ++i) {
    for (size_t j = 0; j < letters; ++j) join(parts[i], parts[j]);
  }
  Random random(1);
  // The earlier a part, the more often it is taken: short words are common.
  const auto any_part = [&]() -> const std::string& {
    const uint64_t size = parts.size();
    return parts[std::min(random.below(size), random.below(size))];
  };
  while (merges.size() < count) join(any_part(), any_part());
  return merges;
}

std::string utf8(uint32_t code) {  // below U+0800
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | (code >> 6)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

// The characters by which byte-level BPE writes the 256 bytes (Radford et al.
// 2019): printable ones stand for themselves, the rest for U+0100 and on.
std::vector<std::string> byte_characters() {
  std::vector<std::string> characters;
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) ||
                           (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    characters.push_back(utf8(printable ? byte : next++));
  }
  return characters;
}

void add_byte_level_bpe(const Shape& shape, gguf::Writer* writer) {
  std::vector<std::string> tokens = byte_characters();
  const std::string space = tokens[' '];
  const size_t words = static_cast<size_t>(shape.tokens) - tokens.size() -
                       static_cast<size_t>(shape.control_tokens);
  std::vector<std::string> merges;
  for (const Merge& merge : make_words(space, words)) {
    tokens.push_back(merge.left + merge.right);
    merges.push_back(merge.left + " " + merge.right);
  }
  std::vector<int32_t> types(tokens.size(), kNormal);
  const auto first_control = static_cast<uint32_t>(tokens.size());
  tokens.emplace_back("<|endoftext|>");
  for (int64_t i = 1; i < shape.control_tokens; ++i) {
    tokens.push_back("<|reserved_" + std::to_string(i) + "|>");
  }
  types.resize(tokens.size(), kControl);
  writer->add("tokenizer.ggml.model", "gpt2");
  writer->add("tokenizer.ggml.pre", shape.pre_tokenizer);
  writer->add_strings("tokenizer.ggml.tokens", tokens);
  writer->add_array("tokenizer.ggml.token_type", types);
  writer->add_strings("tokenizer.ggml.merges", merges);
  writer->add("tokenizer.ggml.bos_token_id", first_control);
  writer->add("tokenizer.ggml.eos_token_id", first_control);
  writer->add("tokenizer.ggml.add_bos_token", false);
}

void add_sentencepiece(const Shape& shape, gguf::Writer* writer) {
  const std::string space = "\u2581";
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {kUnknown, kControl, kControl};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    tokens.emplace_back(text);
    types.push_back(kByte);
  }
  // As in real files the single characters come last.
  std::vector<std::string> characters = {space};
  for (char c = '!'; c <= '~'; ++c) characters.emplace_back(1, c);
  const size_t first_word = tokens.size();
  const size_t words =
      static_cast<size_t>(shape.tokens) - tokens.size() - characters.size();
  for (const Merge& merge : make_words(space, words)) {
    tokens.push_back(merge.left + merge.right);
  }
  tokens.insert(tokens.end(), characters.begin(), characters.end());
  types.resize(tokens.size(), kNormal);
  // The score is the order in which pieces are joined.
  std::vector<float> scores(tokens.size(), 0.0f);
  for (size_t i = first_word; i < tokens.size(); ++i) {
    scores[i] = -static_cast<float>(i - first_word);
  }
  writer->add("tokenizer.ggml.model", "llama");
  writer->add("tokenizer.ggml.pre", shape.pre_tokenizer);
  writer->add_strings("tokenizer.ggml.tokens", tokens);
  writer->add_array("tokenizer.ggml.scores", scores);
  writer->add_array("tokenizer.ggml.token_type", types);
  writer->add("tokenizer.ggml.bos_token_id", uint32_t{1});
  writer->add("tokenizer.ggml.eos_token_id", uint32_t{2});
  writer->add("tokenizer.ggml.unknown_token_id", uint32_t{0});
  writer->add("tokenizer.ggml.add_bos_token", true);
  writer->add("tokenizer.ggml.add_eos_token", false);
}

}  // namespace

void add_vocabulary(const Shape& shape, gguf::Writer* writer) {
  if (shape.vocabulary == Vocabulary::kSentencePiece) {
    add_sentencepiece(shape, writer);
  } else {
    add_byte_level_bpe(shape, writer);
  }
}

}  // namespace rc::bench
