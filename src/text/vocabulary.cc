#include "text/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text {
namespace {

// Several times what any published model has; keeps ids within 32 bits and a
// load's memory within reason.
constexpr size_t kMaxTokens = size_t{1} << 22;
constexpr size_t kMaxMerges = size_t{1} << 23;
// The longest pieces of published vocabularies (runs of spaces) take some
// hundred bytes. The time to look for pieces grows with this.
constexpr size_t kMaxTokenBytes = 4096;
// Sums over any text stay finite.
constexpr float kMaxScore = 1e20F;

constexpr const char* kEndsKey = "tokenizer.ggml.eos_token_ids";

TokenId check_value(const gguf::File& file, const std::string& key,
                    int64_t value) {
  // Some writers store "none" as -1, some of them in an unsigned type.
  if (value == -1 || value == 0xFFFFFFFF) return kNoToken;
  if (value < 0 || value > INT32_MAX) {
    fail(RC_E_FORMAT, file.name(), ": ", key, " is ", value,
         "; a token id must be at least 0 and below the number of tokens");
  }
  return static_cast<TokenId>(value);
}

TokenId read_id(const gguf::File& file, const char* key) {
  const std::optional<int64_t> value = file.find_int(key);
  return value ? check_value(file, key, *value) : kNoToken;
}

std::vector<TokenId> read_ends(const gguf::File& file) {
  std::vector<TokenId> ends;
  const auto values = file.find_ints(kEndsKey);
  if (!values) return ends;
  ends.reserve(values->size());
  for (size_t i = 0; i < values->size(); ++i) {
    ends.push_back(check_value(file, cat(kEndsKey, "[", i, "]"), (*values)[i]));
  }
  return ends;
}

std::vector<std::string> read_texts(const gguf::File& file, const char* key,
                                    size_t limit) {
  const gguf::Entry* entry = file.find(key);
  if (entry != nullptr && entry->count > limit) {
    fail(RC_E_FORMAT, file.name(), ": ", key, " has ", entry->count,
         " elements; the limit is ", limit);
  }
  std::vector<std::string> texts;
  if (const auto views = file.find_strings(key)) {
    texts.assign(views->begin(), views->end());
  }
  return texts;
}

std::vector<TokenType> read_types(const gguf::File& file) {
  constexpr const char* kKey = "tokenizer.ggml.token_type";
  std::vector<TokenType> types;
  const auto values = file.find_ints(kKey);
  if (!values) return types;
  types.reserve(values->size());
  for (size_t i = 0; i < values->size(); ++i) {
    const int64_t value = (*values)[i];
    // 0 is "undefined" and treated as normal by every reader.
    if (value < 0 || value > static_cast<int64_t>(TokenType::kByte)) {
      fail(RC_E_FORMAT, file.name(), ": ", kKey, "[", i, "] is ", value,
           "; known types are 0 to 6");
    }
    types.push_back(value == 0 ? TokenType::kNormal
                               : static_cast<TokenType>(value));
  }
  return types;
}

void check_length(const Vocabulary& v, const char* key, size_t length) {
  if (length != 0 && length != v.tokens.size()) {
    fail(RC_E_FORMAT, v.source, ": ", key, " has ", length,
         " elements, but tokenizer.ggml.tokens has ", v.tokens.size(),
         "; they must agree");
  }
}

void check_id(const Vocabulary& v, const std::string& key, TokenId id) {
  if (id == kNoToken) return;
  if (id < 0 || static_cast<size_t>(id) >= v.tokens.size()) {
    fail(RC_E_FORMAT, v.source, ": ", key, " is ", id, ", but there are ",
         v.tokens.size(), " tokens; ids begin at 0");
  }
}

}  // namespace

Vocabulary read_special_tokens(const gguf::File& file) {
  Vocabulary v;
  v.source = file.name();
  v.bos = read_id(file, "tokenizer.ggml.bos_token_id");
  v.eos = read_id(file, "tokenizer.ggml.eos_token_id");
  v.ends = read_ends(file);
  v.eot = read_id(file, "tokenizer.ggml.eot_token_id");
  v.eom = read_id(file, "tokenizer.ggml.eom_token_id");
  v.unknown = read_id(file, "tokenizer.ggml.unknown_token_id");
  v.separator = read_id(file, "tokenizer.ggml.seperator_token_id");  // sic
  v.classify = read_id(file, "tokenizer.ggml.cls_token_id");
  v.add_bos = file.find_bool("tokenizer.ggml.add_bos_token");
  v.add_eos = file.find_bool("tokenizer.ggml.add_eos_token");
  return v;
}

std::vector<TokenId> read_suppressed_tokens(const gguf::File& file,
                                            int64_t count) {
  std::vector<TokenId> tokens;
  const auto values = file.find_ints("tokenizer.ggml.suppress_tokens");
  if (!values) return tokens;
  for (const int64_t value : *values) {
    if (value >= 0 && value < count) {
      tokens.push_back(static_cast<TokenId>(value));
    }
  }
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

std::optional<Vocabulary> read_vocabulary(const gguf::File& file) {
  const auto model = file.find_string("tokenizer.ggml.model");
  if (!model || *model == "none" || *model == "no_vocab") return std::nullopt;
  Vocabulary v = read_special_tokens(file);
  v.model = *model;
  v.pre = file.find_string("tokenizer.ggml.pre").value_or("");
  v.tokens = read_texts(file, "tokenizer.ggml.tokens", kMaxTokens);
  v.merges = read_texts(file, "tokenizer.ggml.merges", kMaxMerges);
  v.types = read_types(file);
  if (auto scores = file.find_floats("tokenizer.ggml.scores")) {
    v.scores = std::move(*scores);
  }
  if (const auto bytes =
          file.find_bytes("tokenizer.ggml.precompiled_charsmap")) {
    v.charsmap.assign(reinterpret_cast<const char*>(bytes->data()),
                      bytes->size());
  }
  v.add_space_prefix = file.find_bool("tokenizer.ggml.add_space_prefix");
  v.remove_extra_whitespaces =
      file.find_bool("tokenizer.ggml.remove_extra_whitespaces");
  v.lowercase = file.find_bool("tokenizer.ggml.normalizer.lowercase");
  v.strip_accents = file.find_bool("tokenizer.ggml.normalizer.strip_accents");
  v.nfc = file.find_bool("tokenizer.ggml.normalizer.nfc");
  check_vocabulary(v);
  return v;
}

void check_vocabulary(const Vocabulary& v) {
  if (v.tokens.empty()) {
    fail(RC_E_FORMAT, v.source, ": tokenizer.ggml.tokens is ",
         "missing or empty; the tokenizer ", quote(v.model), " needs it");
  }
  if (v.tokens.size() > kMaxTokens) {
    fail(RC_E_FORMAT, v.source, ": tokenizer.ggml.tokens has ", v.tokens.size(),
         " elements; the limit is ", kMaxTokens);
  }
  for (size_t i = 0; i < v.tokens.size(); ++i) {
    if (v.tokens[i].size() > kMaxTokenBytes) {
      fail(RC_E_FORMAT, v.source, ": tokenizer.ggml.tokens[", i, "] has ",
           v.tokens[i].size(), " bytes; the limit is ", kMaxTokenBytes);
    }
  }
  check_length(v, "tokenizer.ggml.scores", v.scores.size());
  check_length(v, "tokenizer.ggml.token_type", v.types.size());
  for (size_t i = 0; i < v.scores.size(); ++i) {
    if (!(std::abs(v.scores[i]) <= kMaxScore)) {  // nor a NaN
      fail(RC_E_FORMAT, v.source, ": tokenizer.ggml.scores[", i, "] is ",
           v.scores[i], "; the limit is ", kMaxScore, " either way");
    }
  }
  check_id(v, "tokenizer.ggml.bos_token_id", v.bos);
  check_id(v, "tokenizer.ggml.eos_token_id", v.eos);
  // Files of folders name the second and third of these as eot and eom, too.
  for (size_t i = 0; i < v.ends.size(); ++i) {
    check_id(v, cat(kEndsKey, "[", i, "]"), v.ends[i]);
  }
  check_id(v, "tokenizer.ggml.eot_token_id", v.eot);
  check_id(v, "tokenizer.ggml.eom_token_id", v.eom);
  check_id(v, "tokenizer.ggml.unknown_token_id", v.unknown);
  check_id(v, "tokenizer.ggml.seperator_token_id", v.separator);
  check_id(v, "tokenizer.ggml.cls_token_id", v.classify);
}

}  // namespace rc::text
