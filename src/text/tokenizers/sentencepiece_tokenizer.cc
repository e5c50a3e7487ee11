#include "text/tokenizers/sentencepiece_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace rc::text {

SentencePieceTokenizer::SentencePieceTokenizer(Vocabulary v,
                                               const Defaults& defaults)
    : Tokenizer(std::move(v), defaults),
      normalizer_(vocabulary(), add_space_prefix()),
      fallback_(vocabulary()) {
  if (vocabulary().scores.empty()) {
    fail(RC_E_FORMAT, vocabulary().source,
         ": tokenizer.ggml.scores is missing; the tokenizer ", quote(kind()),
         " needs a score for each of its ", size(), " tokens");
  }
  std::vector<Piece> user_defined;
  for (TokenId id = 0; id < size(); ++id) {
    if (token_type(id) != TokenType::kUserDefined) continue;
    const std::string_view text = token_text(id);
    if (text.find(' ') != text.npos) marked_.emplace(id, mark_spaces(text));
    user_defined.push_back({piece(id), id});
  }
  user_defined_ = PieceIndex(std::move(user_defined));
}

bool SentencePieceTokenizer::Forbidden::operator()(TokenId id) const {
  return std::binary_search(marks_.begin(), marks_.end(), id);
}

std::string_view SentencePieceTokenizer::piece(TokenId id) const {
  const auto marked = marked_.find(id);
  return marked == marked_.end() ? token_text(id) : marked->second;
}

void SentencePieceTokenizer::encode_all(std::string_view text,
                                        const TokenizeOptions& options,
                                        StopCheck* stop,
                                        std::vector<TokenId>* out,
                                        std::vector<Span>* places) const {
  const Forbidden forbidden(options);
  std::span<const Span> content = options.content;
  std::vector<FixedPart> fixed;  // since `begin`
  bool at_start = !options.continues;
  size_t begin = 0;  // of the text since the last token that divides it
  const auto encode_until = [&](size_t end) {
    if (begin >= end) return;
    const size_t first = out->size();
    encode_prepared(normalizer_.normalize(text.substr(begin, end - begin),
                                          fixed, at_start, stop),
                    forbidden, stop, out);
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
    } else if (token_type(match.id) == TokenType::kUserDefined) {
      // Those with spaces are found once spaces are what is left of them.
      if (marked_.contains(match.id) && !forbidden(match.id)) {
        ++at;
        continue;
      }
      fixed.push_back({{at - begin, at - begin + match.size}, match.id});
      at += match.size;
    } else {
      encode_until(at);
      out->push_back(match.id);
      if (places != nullptr) places->push_back({at, at + match.size});
      begin = at += match.size;
      at_start = token_type(match.id) == TokenType::kControl;
      fixed.clear();
    }
  }
  encode_until(text.size());
}

void SentencePieceTokenizer::encode(std::string_view text, bool at_start,
                                    StopCheck* stop,
                                    std::vector<TokenId>* out) const {
  encode_prepared(normalizer_.normalize(text, {}, at_start, stop),
                  Forbidden(TokenizeOptions()), stop, out);
}

std::string SentencePieceTokenizer::next_bytes(TokenId id, bool special,
                                               bool* at_start) const {
  std::string bytes = token_bytes(id, special);
  if (bytes.empty()) return bytes;
  const TokenType type = token_type(id);
  const bool is_text = type == TokenType::kNormal ||
                       type == TokenType::kUnused ||
                       type == TokenType::kUserDefined;
  if (*at_start && add_space_prefix() && is_text && bytes[0] == ' ') {
    bytes.erase(0, 1);
  }
  // As in tokenize.
  *at_start = type == TokenType::kControl;
  return bytes;
}

size_t SentencePieceTokenizer::most_bytes_per_token() const {
  if (normalizer_.shortens() || !fallback_.complete()) return 0;
  return longest_token_text();
}

std::string SentencePieceTokenizer::decode(TokenId id) const {
  return decode_piece(token_text(id), token_type(id));
}

}  // namespace rc::text
