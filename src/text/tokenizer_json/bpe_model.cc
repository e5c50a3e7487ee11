// Byte pair encoding over characters, as the tokenizers package does it.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/tokenizer_json/byte_tokens.h"
#include "text/tokenizer_json/models.h"
#include "text/tokenizers/byte_alphabet.h"
#include "text/tokenizers/merges.h"

namespace rc::text {
namespace {

std::string given_text(const JsonNode& node, std::string_view name) {
  const auto member = node.find(name);
  return member ? member->text() : std::string();
}

class BpeModel : public WordModel {
 public:
  BpeModel(const JsonNode& node, const ModelTokens& tokens,
           const std::vector<bool>& special)
      : bytes_(tokens),
        fuse_unknown_(node.flag("fuse_unk", false)),
        ignore_merges_(node.flag("ignore_merges", false)),
        prefix_(given_text(node, "continuing_subword_prefix")),
        suffix_(given_text(node, "end_of_word_suffix")) {
    byte_fallback_ = node.flag("byte_fallback", false);
    if (const auto dropout = node.find("dropout")) {
      if (dropout->number() != 0) {
        dropout->not_supported(
            "is ", quote(dropout->value().text),
            "; with it texts have other tokens each time: it must be null");
      }
    }
    ids_.reserve(tokens.texts.size());
    for (size_t i = 0; i < tokens.texts.size(); ++i) {
      if (tokens.texts[i].empty()) continue;
      ids_.emplace(tokens.texts[i], static_cast<TokenId>(i));
    }
    if (const auto unknown = node.find("unk_token")) {
      unknown_ = find(unknown->text());
    }
    read_merges(node.at("merges"), special);
    for (size_t i = 0; i < tokens.texts.size(); ++i) {
      if (special[i]) ids_.erase(tokens.texts[i]);
    }
    const auto& letters = byte_alphabet();
    has_letters_ = std::all_of(
        letters.begin(), letters.end(),
        [&](const auto& letter) { return find(letter) != kNoToken; });
    has_bytes_ = byte_fallback_ && bytes_.complete();
  }

  bool keeps_all(bool letters) const override {
    return prefix_.empty() && suffix_.empty() &&
           (has_bytes_ || (letters && has_letters_));
  }

  void encode(std::string_view word, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    if (ignore_merges_) {
      const TokenId id = find(word);
      if (id != kNoToken) {
        out->push_back(id);
        return;
      }
    }
    std::vector<MergeTable::Symbol> symbols = first_symbols(word, stop);
    merges_.join(stop, &symbols);
    for (const MergeTable::Symbol symbol : symbols) {
      out->push_back(static_cast<TokenId>(symbol));
    }
  }

 private:
  TokenId find(std::string_view text) const {
    const auto at = ids_.find(text);
    return at == ids_.end() ? kNoToken : at->second;
  }

  std::vector<MergeTable::Symbol> first_symbols(std::string_view word,
                                                StopCheck* stop) const {
    std::vector<MergeTable::Symbol> symbols;
    symbols.reserve(word.size());
    const auto add = [&](TokenId id) {
      symbols.push_back(static_cast<MergeTable::Symbol>(id));
    };
    bool unknown_waits = false;
    std::string decorated;
    for (size_t at = 0; at < word.size();) {
      stop->step();
      const size_t size = decode_utf8(word.substr(at)).size;
      std::string_view piece = word.substr(at, size);
      const bool is_last = at + size == word.size();
      if ((at > 0 && !prefix_.empty()) || (is_last && !suffix_.empty())) {
        decorated.clear();
        if (at > 0) decorated += prefix_;
        decorated += piece;
        if (is_last) decorated += suffix_;
        piece = decorated;
      }
      at += size;
      const TokenId id = find(piece);
      if (id != kNoToken) {
        if (unknown_waits) add(unknown());
        unknown_waits = false;
        add(id);
      } else if (byte_fallback_ && bytes_.cover(piece)) {
        for (const char byte : piece) add(bytes_.of(byte));
      } else if (unknown() != kNoToken) {
        if (unknown_waits && !fuse_unknown_) add(unknown());
        unknown_waits = true;
      }
    }
    if (unknown_waits) add(unknown());
    return symbols;
  }

  void read_merges(const JsonNode& node, const std::vector<bool>& special) {
    const auto& items = node.value().items;
    if (!node.value().is(JsonValue::Type::kArray)) {
      node.refuse("is ", type_name(node.value()), "; it must be an array");
    }
    if (items.size() > kMaxJsonMerges) {
      node.refuse("has ", items.size(), " elements; the limit is ",
                  kMaxJsonMerges);
    }
    merges_.reserve(items.size());
    std::string both;
    for (size_t rank = 0; rank < items.size(); ++rank) {
      const JsonValue& item = items[rank];
      std::string_view left;
      std::string_view right;
      if (item.is(JsonValue::Type::kString)) {
        const std::string_view text = item.text;
        const size_t space = text.find(' ');
        if (space != text.npos && text.find(' ', space + 1) == text.npos) {
          left = text.substr(0, space);
          right = text.substr(space + 1);
        }
      } else if (item.items.size() == 2) {
        left = item.items[0].text;
        right = item.items[1].text;
      }
      both = left;
      if (right.size() >= prefix_.size()) both += right.substr(prefix_.size());
      const TokenId left_id = find(left);
      const TokenId right_id = find(right);
      const TokenId result = find(both);
      if (left_id == kNoToken || right_id == kNoToken || result == kNoToken) {
        node.refuse("has an element ", rank, " of ", quote(left), " and ",
                    quote(right),
                    "; it must be two tokens that together are a token");
      }
      if (special[static_cast<size_t>(result)]) continue;
      merges_.add(static_cast<MergeTable::Symbol>(left_id),
                  static_cast<MergeTable::Symbol>(right_id),
                  static_cast<uint32_t>(rank),
                  static_cast<MergeTable::Symbol>(result), /*replace=*/true);
    }
  }

  std::unordered_map<std::string_view, TokenId> ids_;
  ByteTokens bytes_;
  MergeTable merges_;
  bool fuse_unknown_;
  bool ignore_merges_;
  bool has_letters_ = false;  // of all bytes
  bool has_bytes_ = false;    // tokens <0xNN>, likewise
  std::string prefix_;
  std::string suffix_;
};

}  // namespace

std::unique_ptr<const WordModel> make_bpe_model(
    const JsonNode& node, const ModelTokens& tokens,
    const std::vector<bool>& special) {
  return std::make_unique<BpeModel>(node, tokens, special);
}

}  // namespace rc::text
