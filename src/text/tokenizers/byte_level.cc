// Byte-level byte pair encoding: text is cut into words by a pre-tokenizer, the
// bytes of each word are joined by the list of merges.
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "text/nfc.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizers/byte_alphabet.h"
#include "text/tokenizers/kinds.h"
#include "text/tokenizers/merges.h"

namespace rc::text {
namespace {

class ByteLevel : public Tokenizer {
 public:
  ByteLevel(Vocabulary v, PreTokenizer pre_tokenizer)
      : Tokenizer(std::move(v), {.add_bos = pre_tokenizer.add_bos(),
                                 .add_eos = false,
                                 .add_space_prefix = false}),
        pre_tokenizer_(std::move(pre_tokenizer)),
        merges_(vocabulary()) {
    if (pre_tokenizer_.ignore_merges()) {
      for (TokenId id = 0; id < size(); ++id) {
        if (token_type(id) != TokenType::kNormal) continue;
        if (auto bytes = bytes_of_piece(token_text(id))) {
          words_.try_emplace(std::move(*bytes), id);
        }
      }
    }
    forget_rules();
  }

 private:
  void encode(std::string_view text, bool /*at_start*/, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    std::string composed;
    if (composes()) {
      composed = compose_nfc(text);
      text = composed;
    }
    std::vector<Merges::Symbol> symbols;
    for (const std::string_view word : pre_tokenizer_.split(text, stop)) {
      stop->step();
      if (!words_.empty()) {
        const auto at = words_.find(std::string(word));
        if (at != words_.end()) {
          out->push_back(at->second);
          continue;
        }
      }
      symbols.clear();
      merges_.join(word, stop, &symbols);
      for (const Merges::Symbol symbol : symbols) append(symbol, out);
    }
  }

  bool composes() const {
    return vocabulary().nfc.value_or(pre_tokenizer_.nfc());
  }

  // Bytes without a token are left out where there is no unknown token either.
  size_t most_bytes_per_token() const override {
    for (int byte = 0; byte < 256; ++byte) {
      if (unknown() == kNoToken &&
          merges_.byte_token(static_cast<char>(byte)) == kNoToken) {
        return 0;
      }
    }
    return longest_token_text() * (composes() ? kMostComposed : 1);
  }

  void append(Merges::Symbol symbol, std::vector<TokenId>* out) const {
    const TokenId id = merges_.token(symbol);
    if (id != kNoToken) {
      out->push_back(id);
      return;
    }
    for (const char byte : merges_.bytes(symbol)) {
      const TokenId token = merges_.byte_token(byte);
      if (token != kNoToken) {
        out->push_back(token);
      } else if (unknown() != kNoToken) {
        out->push_back(unknown());
      }
    }
  }

  std::string decode(TokenId id) const override {
    return bytes_of_piece(token_text(id)).value_or(std::string(token_text(id)));
  }

  PreTokenizer pre_tokenizer_;
  Merges merges_;
  std::unordered_map<std::string, TokenId> words_;  // if merges are ignored
};

}  // namespace

std::shared_ptr<const Tokenizer> make_byte_level(Vocabulary vocabulary) {
  if (vocabulary.merges.empty()) {
    fail(RC_E_FORMAT, vocabulary.source,
         ": tokenizer.ggml.merges is missing or empty; the tokenizer 'gpt2' "
         "needs it");
  }
  vocabulary.add_space_prefix = false;  // other kinds' key
  PreTokenizer pre_tokenizer(vocabulary.pre, vocabulary.source);
  return std::make_shared<const ByteLevel>(std::move(vocabulary),
                                           std::move(pre_tokenizer));
}

}  // namespace rc::text
