// The preparation of a text by the two SentencePiece kinds before they look for
// pieces: control tokens divide it, and each part between them is prepared as a
// whole, with the user-defined tokens that it names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer.h"
#include "text/tokenizers/sentencepiece_text.h"

namespace rc::text {

class SentencePieceTokenizer : public Tokenizer {
 public:
  std::string next_bytes(TokenId id, bool special,
                         bool* at_start) const override;

 protected:
  // Throws RC_E_FORMAT if there are no scores.
  SentencePieceTokenizer(Vocabulary vocabulary, const Defaults& defaults);

  // Says of user-defined tokens whether they count only where the text names
  // them as one of its fixed parts.
  class Forbidden {
   public:
    explicit Forbidden(const TokenizeOptions& options)
        : marks_(options.content.empty() ? std::span<const TokenId>()
                                         : options.marks) {}
    bool operator()(TokenId id) const;

   private:
    std::span<const TokenId> marks_;
  };

  virtual void encode_prepared(const PreparedText& normal,
                               const Forbidden& forbidden, StopCheck* stop,
                               std::vector<TokenId>* out) const = 0;

  // The text of a token as it occurs in prepared texts.
  std::string_view piece(TokenId id) const;
  // The longest user-defined token that a prepared text begins with.
  PieceIndex::Match user_defined_at(std::string_view text,
                                    const Forbidden& forbidden) const {
    return user_defined_.longest(text,
                                 [&](TokenId id) { return !forbidden(id); });
  }
  const ByteFallback& fallback() const { return fallback_; }

 private:
  void encode_all(std::string_view text, const TokenizeOptions& options,
                  StopCheck* stop, std::vector<TokenId>* out,
                  std::vector<Span>* places) const final;
  void encode(std::string_view text, bool at_start, StopCheck* stop,
              std::vector<TokenId>* out) const final;
  size_t most_bytes_per_token() const final;
  std::string decode(TokenId id) const final;

  SentencePieceNormalizer normalizer_;
  ByteFallback fallback_;
  // User-defined tokens whose texts have spaces, with marks for them.
  std::unordered_map<TokenId, std::string> marked_;
  PieceIndex user_defined_;
};

}  // namespace rc::text
