#include "text/tokenizer_json/added_tokens.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/tokenizer_json/characters.h"

namespace rc::text {
namespace {

// The character that ends at the end of the text, which must not be empty.
char32_t last_character(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 &&
         (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) {
    --begin;
  }
  return decode_utf8(text.substr(begin)).code_point;
}

size_t without_spaces_at_end(std::string_view text) {
  while (!text.empty() && is_white_space(last_character(text))) {
    do {
      const char last = text.back();
      text.remove_suffix(1);
      if ((static_cast<unsigned char>(last) & 0xC0) != 0x80) break;
    } while (!text.empty());
  }
  return text.size();
}

size_t spaces_at_start(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Char c = decode_utf8(text.substr(at));
    if (!is_white_space(c.code_point)) break;
    at += c.size;
  }
  return at;
}

AddedToken read_token(const JsonNode& node) {
  AddedToken token;
  token.content = node.at("content").text();
  token.single_word = node.flag("single_word", false);
  token.left_strip = node.flag("lstrip", false);
  token.right_strip = node.flag("rstrip", false);
  token.special = node.flag("special", false);
  token.normalized = node.flag("normalized", !token.special);
  node.at("id").id();
  return token;
}

// New tokens are numbered from the count of the others on, which a vocabulary
// that leaves ids out may have given to one of them.
void check_is_free(const JsonNode& node, const AddedToken& token,
                   const ModelTokens& model) {
  const auto at = static_cast<size_t>(token.id);
  if (at >= model.texts.size() || model.texts[at].empty()) return;
  node.at("content").refuse("is ", quote(token.content),
                            ", which is not in the vocabulary; it gets the id ",
                            at, ", but that is ", quote(model.texts[at]),
                            " in the vocabulary, whose ", model.count,
                            " tokens should have the ids from 0 on");
}

}  // namespace

AddedTokens::AddedTokens(const JsonNode& root, const ModelTokens& model,
                         const Normalizer* normalizer) {
  const auto list = root.find("added_tokens");
  if (list) {
    const std::vector<JsonNode> nodes = list->items(kMaxJsonTokens / 4);
    // Of their contents; kNoToken: not a token yet.
    std::unordered_map<std::string_view, TokenId> ids;
    for (const JsonNode& node : nodes) {
      ids.try_emplace(node.at("content").value().text, kNoToken);
    }
    for (size_t i = 0; i < model.texts.size(); ++i) {
      const auto known = ids.find(model.texts[i]);
      if (known != ids.end()) known->second = static_cast<TokenId>(i);
    }
    std::unordered_map<TokenId, size_t> places;
    auto next = static_cast<TokenId>(model.count);
    TokenId highest = kNoToken;
    for (const JsonNode& node : nodes) {
      AddedToken token = read_token(node);
      if (token.content.empty()) continue;
      TokenId& known = ids.find(token.content)->second;
      token.id = known != kNoToken ? known : std::max(next, highest + 1);
      if (known == kNoToken) check_is_free(node, token, model);
      highest = std::max(highest, token.id);
      known = token.id;
      const auto [place, is_new] = places.try_emplace(token.id, all_.size());
      if (is_new) {
        all_.push_back(std::move(token));
      } else {
        all_[place->second] = std::move(token);
      }
    }
  }
  const std::function<bool()> never;
  StopCheck stop(never);
  std::vector<Piece> raw;
  std::vector<Piece> normalized;
  std::vector<Piece> guarded;
  normal_forms_.resize(all_.size());
  for (size_t i = 0; i < all_.size(); ++i) {
    const Piece as_it_is{all_[i].content, static_cast<TokenId>(i)};
    guarded.push_back(as_it_is);
    if (!all_[i].normalized) {
      raw.push_back(as_it_is);
      continue;
    }
    NormalText form{all_[i].content, 0};
    if (normalizer != nullptr && is_utf8(form.text)) {
      normalizer->apply(&form, /*continues=*/false, &stop);
    }
    normal_forms_[i] = std::move(form.text);
    normalized.push_back({normal_forms_[i], static_cast<TokenId>(i)});
  }
  raw_ = PieceIndex(std::move(raw));
  guarded_ = PieceIndex(std::move(guarded));
  normalized_ = PieceIndex(std::move(normalized));
  check_steps(guarded_, root.source());
  check_steps(normalized_, root.source());
}

bool AddedTokens::takes_spaces() const {
  return std::any_of(all_.begin(), all_.end(), [](const AddedToken& token) {
    return token.left_strip || token.right_strip;
  });
}

size_t AddedTokens::longest() const {
  size_t longest = 0;
  for (size_t i = 0; i < all_.size(); ++i) {
    longest =
        std::max({longest, all_[i].content.size(), normal_forms_[i].size()});
  }
  return longest;
}

bool AddedTokens::is_guarded(const AddedToken& token,
                             const TokenizeOptions& options) {
  return token.special || std::binary_search(options.marks.begin(),
                                             options.marks.end(), token.id);
}

template <class Look>
std::vector<AddedPart> AddedTokens::find(std::string_view text, StopCheck* stop,
                                         const Look& look) const {
  std::vector<AddedPart> parts;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    stop->step();
    const Found found = look(at);
    if (found.token == nullptr) {
      ++at;
      continue;
    }
    const AddedToken& token = *found.token;
    size_t begin = at;
    size_t end = at += found.size;
    if (!found.counts) continue;
    if (token.single_word &&
        ((begin > 0 &&
          is_word_character(last_character(text.substr(0, begin)))) ||
         (end < text.size() &&
          is_word_character(decode_utf8(text.substr(end)).code_point)))) {
      continue;
    }
    if (token.left_strip) {
      begin =
          std::max(done, done + without_spaces_at_end(text.substr(
                                    done, begin > done ? begin - done : 0)));
    }
    if (token.right_strip) end += spaces_at_start(text.substr(end));
    begin = std::max(begin, done);
    end = std::max(end, begin);
    if (done < begin) parts.push_back({{done, begin}, kNoToken});
    parts.push_back({{begin, end}, token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, kNoToken});
  return parts;
}

std::vector<AddedPart> AddedTokens::find_in_text(std::string_view text,
                                                 const TokenizeOptions& options,
                                                 StopCheck* stop) const {
  const auto token = [this](TokenId index) -> const AddedToken& {
    return all_[static_cast<size_t>(index)];
  };
  if (!options.parse_special || options.content.empty()) {
    return find(text, stop, [&](size_t at) {
      const PieceIndex::Match match = raw_.longest(text.substr(at));
      if (match.id == kNoToken) return Found();
      return Found{&token(match.id), match.size,
                   options.parse_special || !token(match.id).special};
    });
  }
  // Tokens that count only outside of content are looked for in the text as
  // written, for the origin of normalized text is unknown.
  std::span<const Span> content = options.content;
  return find(text, stop, [&](size_t at) {
    while (!content.empty() && content.front().end <= at) {
      content = content.subspan(1);
    }
    const size_t trusted = content.empty()
                               ? text.size() - at
                               : std::max(content.front().begin, at) - at;
    const PieceIndex::Match guarded = guarded_.longest(
        text.substr(at, trusted),
        [&](TokenId index) { return is_guarded(token(index), options); });
    const PieceIndex::Match plain = raw_.longest(
        text.substr(at),
        [&](TokenId index) { return !is_guarded(token(index), options); });
    const PieceIndex::Match best = plain.size > guarded.size ? plain : guarded;
    return best.id == kNoToken ? Found() : Found{&token(best.id), best.size};
  });
}

std::vector<AddedPart> AddedTokens::find_in_normalized(
    std::string_view text, const TokenizeOptions& options,
    StopCheck* stop) const {
  const bool guards = options.parse_special && !options.content.empty();
  return find(text, stop, [&](size_t at) {
    const PieceIndex::Match match =
        normalized_.longest(text.substr(at), [&](TokenId index) {
          return !guards ||
                 !is_guarded(all_[static_cast<size_t>(index)], options);
        });
    if (match.id == kNoToken) return Found();
    const AddedToken& token = all_[static_cast<size_t>(match.id)];
    return Found{&token, match.size, options.parse_special || !token.special};
  });
}

}  // namespace rc::text
