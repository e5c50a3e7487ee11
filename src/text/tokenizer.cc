#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/quote.h"
#include "text/grammar/vocabulary_index.h"
#include "text/tokenizer_json/json_tokenizer.h"
#include "text/tokenizers/kinds.h"
#include "text/tokenizers/sentencepiece_text.h"

namespace rc::text {
namespace {

// Names under which well-known models end a turn, whatever ids their files
// give.
constexpr std::array<std::string_view, 14> kEndNames = {
    "<|eot_id|>",      "<|im_end|>",
    "<|end|>",         "<|endoftext|>",
    "<|eom_id|>",      "<end_of_turn>",
    "<|end_of_text|>", "<|return|>",
    "<|call|>",        "<EOT>",
    "_<EOT>",          "<|eot|>",
    "<turn|>",         "<end_of_utterance>",
};

// A special token under its usual name, for files that give no id.
TokenId find_named(const Vocabulary& v, std::string_view name) {
  for (size_t i = 0; i < v.tokens.size(); ++i) {
    if (v.tokens[i] == name) return static_cast<TokenId>(i);
  }
  return kNoToken;
}

TokenId find_unknown(const Vocabulary& v) {
  const auto at =
      std::find(v.types.begin(), v.types.end(), TokenType::kUnknown);
  return at == v.types.end() ? kNoToken
                             : static_cast<TokenId>(at - v.types.begin());
}

// Special tokens of which the file gives no id.
void complete_special_tokens(Vocabulary* v) {
  const auto otherwise = [](TokenId* id, TokenId fallback) {
    if (*id == kNoToken) *id = fallback;
  };
  if (v->model == "llama" || v->model == "t5") {
    otherwise(&v->unknown, find_unknown(*v));
    otherwise(&v->eos, find_named(*v, "</s>"));
    if (v->model == "llama") otherwise(&v->bos, find_named(*v, "<s>"));
  } else if (v->model == "rwkv") {
    // Files name only the empty line that ends a turn.
    otherwise(&v->eos, find_named(*v, "<s>"));
  } else if (v->model == "bert") {
    // Here a text begins with the token for classification and ends with the
    // separator.
    otherwise(&v->bos, v->classify);
    otherwise(&v->bos, find_named(*v, "[CLS]"));
    otherwise(&v->eos, v->separator);
    otherwise(&v->eos, find_named(*v, "[SEP]"));
    otherwise(&v->unknown, find_named(*v, "[UNK]"));
  }
}

// Types for a file without them: what the ids and the texts show.
void add_types(Vocabulary* v) {
  v->types.assign(v->tokens.size(), TokenType::kNormal);
  if (v->model == "llama" || v->model == "t5") {
    for (size_t i = 0; i < v->tokens.size(); ++i) {
      if (parse_byte_token(v->tokens[i]) >= 0) v->types[i] = TokenType::kByte;
    }
  }
  for (const TokenId id :
       {v->bos, v->eos, v->eot, v->eom, v->separator, v->classify}) {
    if (id != kNoToken) v->types[static_cast<size_t>(id)] = TokenType::kControl;
  }
  for (const TokenId id : v->ends) {
    if (id != kNoToken) v->types[static_cast<size_t>(id)] = TokenType::kControl;
  }
  if (v->unknown != kNoToken) {
    v->types[static_cast<size_t>(v->unknown)] = TokenType::kUnknown;
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::load(const gguf::File& file) {
  if (const auto json = file.find_string(kTokenizerJsonKey)) {
    return make_json_tokenizer(*json, read_special_tokens(file));
  }
  std::optional<Vocabulary> vocabulary = read_vocabulary(file);
  if (!vocabulary) return nullptr;
  return create(std::move(*vocabulary));
}

std::shared_ptr<const Tokenizer> Tokenizer::create(Vocabulary v) {
  check_vocabulary(v);
  complete_special_tokens(&v);
  if (v.types.empty()) add_types(&v);
  if (v.model == "llama") return make_sentencepiece(std::move(v));
  // Sarvam's files name the kind by its pre-tokenizer.
  if (v.model == "gpt2" && v.pre == "sarvam-moe") {
    v.add_bos = v.add_bos.value_or(false);
    return make_whole_text(std::move(v));
  }
  if (v.model == "gpt2") return make_byte_level(std::move(v));
  if (v.model == "bert") return make_wordpiece(std::move(v));
  if (v.model == "t5") return make_unigram(std::move(v));
  if (v.model == "gemma4") return make_whole_text(std::move(v));
  if (v.model == "rwkv") return make_longest_piece(std::move(v));
  fail(RC_E_UNSUPPORTED, v.source, ": tokenizer.ggml.model is ", quote(v.model),
       "; known tokenizers are llama, gpt2, bert, t5, gemma4, rwkv");
}

Tokenizer::Tokenizer(Vocabulary vocabulary, const Defaults& defaults)
    : vocabulary_(std::move(vocabulary)),
      defaults_(defaults),
      add_bos_(vocabulary_.add_bos.value_or(defaults.add_bos)),
      add_eos_(vocabulary_.add_eos.value_or(defaults.add_eos)),
      add_space_prefix_(
          vocabulary_.add_space_prefix.value_or(defaults.add_space_prefix)) {
  std::vector<Piece> user_defined;
  std::vector<Piece> special;
  for (TokenId id = 0; id < size(); ++id) {
    longest_token_text_ = std::max(longest_token_text_, token_text(id).size());
    switch (vocabulary_.type(id)) {
      case TokenType::kUserDefined:
        user_defined.push_back({token_text(id), id});
        [[fallthrough]];
      case TokenType::kControl:
      case TokenType::kUnknown:
        special.push_back({token_text(id), id});
        break;
      default:
        break;
    }
  }
  user_defined_ = PieceIndex(std::move(user_defined));
  special_ = PieceIndex(std::move(special));
  check_steps(special_, vocabulary_.source);
  find_ends();
}

void Tokenizer::find_ends() {
  for (const TokenId id : {eos(), vocabulary_.eot, vocabulary_.eom}) {
    if (id != kNoToken) ends_.push_back(id);
  }
  for (const TokenId id : vocabulary_.ends) {
    if (id != kNoToken) ends_.push_back(id);
  }
  for (const std::string_view name : kEndNames) {
    const TokenId id = special_.find(name);
    if (id == kNoToken) continue;
    // Models that return or call at the end of a turn end every message, also
    // in the middle of one, with this.
    if (name == "<|end|>" && special_.find("<|return|>") != kNoToken) continue;
    ends_.push_back(id);
  }
  std::sort(ends_.begin(), ends_.end());
  ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
}

void Tokenizer::forget_rules() {
  std::vector<std::string>().swap(vocabulary_.merges);
  std::string().swap(vocabulary_.charsmap);
}

PieceIndex::Match Tokenizer::name_at(std::string_view text, size_t at,
                                     const TokenizeOptions& options,
                                     std::span<const Span> content) const {
  if (!options.parse_special) return user_defined_.longest(text.substr(at));
  if (content.empty()) return special_.longest(text.substr(at));
  const size_t trusted = std::max(content.front().begin, at) - at;
  const PieceIndex::Match special = special_.longest(text.substr(at, trusted));
  const PieceIndex::Match plain =
      user_defined_.longest(text.substr(at), [&](TokenId id) {
        return !std::binary_search(options.marks.begin(), options.marks.end(),
                                   id);
      });
  return plain.size > special.size ? plain : special;
}

void Tokenizer::add_places(std::string_view text, Span part, bool at_start,
                           std::span<const TokenId> tokens,
                           std::vector<Span>* places) const {
  const size_t first = places->size();
  size_t at = part.begin;
  for (const TokenId id : tokens) {
    const std::string bytes = next_bytes(id, /*special=*/false, &at_start);
    if (text.substr(at, bytes.size()) != bytes) break;
    places->push_back({at, at + bytes.size()});
    at += bytes.size();
  }
  if (at == part.end && places->size() == first + tokens.size()) return;
  places->resize(first);
  places->resize(first + tokens.size(), part);
}

std::vector<TokenId> Tokenizer::tokenize(std::string_view text,
                                         const TokenizeOptions& options,
                                         std::vector<Span>* places) const {
  std::vector<TokenId> out;
  StopCheck stop(options.should_stop);
  encode_all(text, options, &stop, &out, places);
  if (options.add_special) add_special(&out);
  return out;
}

void Tokenizer::encode_all(std::string_view text,
                           const TokenizeOptions& options, StopCheck* stop,
                           std::vector<TokenId>* out,
                           std::vector<Span>* places) const {
  std::span<const Span> content = options.content;
  bool at_start = !options.continues;
  size_t begin = 0;  // of the text since the last fixed token
  const auto encode_until = [&](size_t end) {
    if (begin >= end) return;
    const size_t first = out->size();
    encode(text.substr(begin, end - begin), at_start, stop, out);
    if (places != nullptr) {
      add_places(text, {begin, end}, at_start, std::span(*out).subspan(first),
                 places);
    }
  };
  for (size_t at = 0; at < text.size();) {
    while (!content.empty() && content.front().end <= at) {
      content = content.subspan(1);
    }
    const PieceIndex::Match match = name_at(text, at, options, content);
    stop->step();
    if (match.id == kNoToken) {
      ++at;
      continue;
    }
    encode_until(at);
    out->push_back(match.id);
    if (places != nullptr) places->push_back({at, at + match.size});
    // Others are part of the running text.
    at_start = vocabulary_.type(match.id) == TokenType::kControl;
    begin = at += match.size;
  }
  encode_until(text.size());
}

void Tokenizer::add_special(std::vector<TokenId>* tokens) const {
  if (add_bos_ && bos() != kNoToken) tokens->insert(tokens->begin(), bos());
  if (add_eos_ && eos() != kNoToken) tokens->push_back(eos());
}

size_t Tokenizer::least_tokens(size_t bytes) const {
  const size_t most = most_bytes_per_token();
  return most == 0 ? 0 : bytes / most + (bytes % most == 0 ? 0 : 1);
}

size_t Tokenizer::most_bytes(size_t tokens) const {
  const size_t most = most_bytes_per_token();
  if (most == 0) return SIZE_MAX;
  return checked_mul(tokens, most).value_or(SIZE_MAX);
}

std::string Tokenizer::token_bytes(TokenId id, bool special) const {
  switch (token_type(id)) {
    case TokenType::kControl:
    case TokenType::kUnknown:
      if (!special) return std::string();
      return cat(defaults_.special_words ? " " : "", token_text(id));
    case TokenType::kUserDefined:
      return std::string(token_text(id));
    default:
      return has(id) ? decode(id) : std::string();
  }
}

std::string Tokenizer::next_bytes(TokenId id, bool special,
                                  bool* at_start) const {
  std::string bytes = token_bytes(id, special);
  if (bytes.empty()) return bytes;
  const TokenType type = token_type(id);
  const bool has_space_prefix =
      type == TokenType::kNormal || type == TokenType::kUnused ||
      (defaults_.special_words && type != TokenType::kUserDefined);
  if (*at_start && add_space_prefix_ && has_space_prefix && bytes[0] == ' ') {
    bytes.erase(0, 1);
  }
  // As in tokenize.
  *at_start = type == TokenType::kControl && !defaults_.special_words;
  return bytes;
}

std::string Tokenizer::detokenize(std::span<const TokenId> ids,
                                  bool special) const {
  std::string out;
  bool at_start = true;
  for (const TokenId id : ids) out += next_bytes(id, special, &at_start);
  return out;
}

int32_t Tokenizer::size() const {
  return static_cast<int32_t>(vocabulary_.tokens.size());
}

bool Tokenizer::is_end(TokenId id) const {
  return std::binary_search(ends_.begin(), ends_.end(), id);
}

std::string_view Tokenizer::token_text(TokenId id) const {
  return has(id) ? std::string_view(vocabulary_.tokens[static_cast<size_t>(id)])
                 : std::string_view();
}

TokenType Tokenizer::token_type(TokenId id) const {
  return has(id) ? vocabulary_.type(id) : TokenType::kUnused;
}

std::shared_ptr<const grammar::VocabularyIndex> Tokenizer::grammar_vocabulary(
    bool names_special) const {
  const std::lock_guard lock(mutex_);
  auto& known = grammar_vocabularies_[names_special ? 1 : 0];
  if (known == nullptr) {
    grammar::TokenVocabulary vocabulary;
    vocabulary.name = vocabulary_.source;
    vocabulary.ends = ends_;
    vocabulary.names_special = names_special;
    vocabulary.tokens.reserve(vocabulary_.tokens.size());
    for (TokenId id = 0; id < size(); ++id) {
      const TokenType type = token_type(id);
      std::string bytes;
      if (names_special && type == TokenType::kControl) {
        bytes =
            cat(grammar::kSpecialMark, token_text(id), grammar::kSpecialMark);
      } else if (type != TokenType::kUnused) {
        bytes = token_bytes(id);
        // No token but a special one is to look like one.
        if (names_special && bytes.find(grammar::kSpecialMark) != bytes.npos) {
          bytes.clear();
        }
      }
      vocabulary.tokens.push_back(std::move(bytes));
    }
    known =
        std::make_shared<const grammar::VocabularyIndex>(std::move(vocabulary));
  }
  return known;
}

}  // namespace rc::text
