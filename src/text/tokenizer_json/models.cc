#include "text/tokenizer_json/models.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/piece_index.h"

namespace rc::text {
namespace {

// The most ids per token, in addition to kHolesAllowed.
constexpr size_t kMostHoles = 4;
constexpr size_t kHolesAllowed = 65536;

void check_token(const JsonNode& vocab, std::string_view token) {
  if (token.size() > kMaxJsonText) {
    vocab.refuse("has the token ", quote(token), " of ", token.size(),
                 " bytes; the limit is ", kMaxJsonText);
  }
}

ModelTokens read_map(const JsonNode& vocab) {
  const auto& members = vocab.value().members;
  if (!vocab.value().is(JsonValue::Type::kObject)) {
    vocab.refuse("is ", type_name(vocab.value()), "; it must be an object");
  }
  if (members.size() > kMaxJsonTokens) {
    vocab.refuse("has ", members.size(), " tokens; the limit is ",
                 kMaxJsonTokens);
  }
  const int64_t highest = static_cast<int64_t>(
      std::min(members.size() * kMostHoles + kHolesAllowed, kMaxJsonTokens));
  ModelTokens tokens;
  tokens.count = members.size();
  tokens.texts.resize(members.size());
  for (const auto& [text, value] : members) {
    check_token(vocab, text);
    const auto id =
        static_cast<size_t>(vocab.child(text, value).integer(0, highest));
    if (id >= tokens.texts.size()) tokens.texts.resize(id + 1);
    if (!tokens.texts[id].empty()) {
      vocab.refuse("gives the id ", id, " to ", quote(tokens.texts[id]),
                   " and to ", quote(text));
    }
    tokens.texts[id] = text;
  }
  return tokens;
}

ModelTokens read_scored_list(const JsonNode& vocab) {
  const auto& items = vocab.value().items;
  if (!vocab.value().is(JsonValue::Type::kArray)) {
    vocab.refuse("is ", type_name(vocab.value()), "; it must be an array");
  }
  if (items.size() > kMaxJsonTokens) {
    vocab.refuse("has ", items.size(), " tokens; the limit is ",
                 kMaxJsonTokens);
  }
  ModelTokens tokens;
  tokens.count = items.size();
  tokens.texts.reserve(items.size());
  tokens.scores.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const JsonValue& item = items[i];
    if (item.items.size() != 2 || !item.items[0].is(JsonValue::Type::kString)) {
      vocab.refuse("has an element ", i, " that is not a token and its score");
    }
    check_token(vocab, item.items[0].text);
    tokens.texts.push_back(item.items[0].text);
    tokens.scores.push_back(
        vocab.child(std::to_string(i), item.items[1]).number());
  }
  return tokens;
}

// Words that are tokens.
class WordLevelModel : public WordModel {
 public:
  WordLevelModel(const JsonNode& node, const ModelTokens& tokens,
                 const std::vector<bool>& special) {
    std::vector<Piece> pieces;
    const std::string unknown = node.at("unk_token").text();
    for (size_t i = 0; i < tokens.texts.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      if (tokens.texts[i] == unknown) unknown_ = id;
      if (!special[i]) pieces.push_back({tokens.texts[i], id});
    }
    words_ = PieceIndex(std::move(pieces));
  }
  void encode(std::string_view word, StopCheck* /*stop*/,
              std::vector<TokenId>* out) const override {
    const TokenId id = words_.find(word);
    if (id != kNoToken) {
      out->push_back(id);
    } else if (unknown() != kNoToken) {
      out->push_back(unknown());
    }
  }

 private:
  PieceIndex words_;
};

// Words covered from the left by the longest pieces.
class WordPieceModel : public WordModel {
 public:
  WordPieceModel(const JsonNode& node, const ModelTokens& tokens,
                 const std::vector<bool>& special)
      : most_chars_(static_cast<size_t>(
            node.at("max_input_chars_per_word").integer(0, INT32_MAX))) {
    const std::string prefix = node.at("continuing_subword_prefix").text();
    const std::string unknown = node.at("unk_token").text();
    std::vector<Piece> starts;
    std::vector<Piece> continuations;
    for (size_t i = 0; i < tokens.texts.size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      std::string_view text = tokens.texts[i];
      if (text == unknown) unknown_ = id;
      if (special[i]) continue;
      starts.push_back({text, id});
      if (!text.starts_with(prefix)) continue;
      text.remove_prefix(prefix.size());
      continuations.push_back({text, id});
    }
    if (unknown_ == kNoToken) {
      node.at("unk_token")
          .refuse("is ", quote(unknown), ", which is no token of the model");
    }
    starts_ = PieceIndex(std::move(starts));
    continuations_ = PieceIndex(std::move(continuations));
    check_steps(starts_, node.source());
    check_steps(continuations_, node.source());
  }
  void encode(std::string_view word, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    const size_t before = out->size();
    size_t chars = 0;
    for (size_t at = 0; at < word.size() && chars <= most_chars_; ++chars) {
      at += decode_utf8(word.substr(at)).size;
    }
    if (chars > most_chars_) word = {};
    for (const PieceIndex* index = &starts_; !word.empty();
         index = &continuations_) {
      stop->step();
      const PieceIndex::Match match = index->longest(word);
      if (match.id == kNoToken) {
        out->resize(before);
        break;
      }
      out->push_back(match.id);
      word.remove_prefix(match.size);
    }
    if (out->size() == before) out->push_back(unknown());
  }

 private:
  size_t most_chars_;
  PieceIndex starts_;
  PieceIndex continuations_;
};

// Models of old files say their kind by their members alone.
std::string model_type(const JsonNode& model) {
  if (const auto type = model.find("type")) return type->text();
  if (model.find("merges")) return "BPE";
  return model.find("unk_id") ? "Unigram" : "WordPiece";
}

}  // namespace

ModelTokens read_model_tokens(const JsonNode& model) {
  return model_type(model) == "Unigram" ? read_scored_list(model.at("vocab"))
                                        : read_map(model.at("vocab"));
}

std::unique_ptr<const WordModel> make_word_model(
    const JsonNode& node, const ModelTokens& tokens,
    const std::vector<bool>& special) {
  const std::string type = model_type(node);
  if (type == "BPE") return make_bpe_model(node, tokens, special);
  if (type == "Unigram") return make_unigram_model(node, tokens, special);
  if (type == "WordPiece") {
    return std::make_unique<WordPieceModel>(node, tokens, special);
  }
  if (type == "WordLevel") {
    return std::make_unique<WordLevelModel>(node, tokens, special);
  }
  node.at("type").not_supported(
      "is ", quote(type),
      "; known models are BPE, Unigram, WordPiece, WordLevel");
}

}  // namespace rc::text
