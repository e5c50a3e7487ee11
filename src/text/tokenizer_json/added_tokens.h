// The member "added_tokens" of a tokenizer.json: tokens that are found in the
// text before anything else is done with it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/piece_index.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json/models.h"
#include "text/tokenizer_json/normalizers.h"

namespace rc::text {

struct AddedToken {
  TokenId id = kNoToken;
  std::string content;
  bool single_word = false;  // not within a word
  bool left_strip = false;   // takes white space before it along
  bool right_strip = false;
  bool normalized = false;  // looked for in the normalised text
  bool special = false;
};

// A part of a text: an added token, or text between them.
struct AddedPart {
  Span span;
  TokenId id;  // or kNoToken
};

class AddedTokens {
 public:
  // Reads them and numbers them as the package does, which uses the id of the
  // file only where it is the one that follows. `normalizer` may be nullptr.
  // Throws RC_E_FORMAT with file, pointer and value.
  AddedTokens(const JsonNode& root, const ModelTokens& model,
              const Normalizer* normalizer);

  const std::vector<AddedToken>& all() const { return all_; }

  // The parts of a text as it was given, in order.
  std::vector<AddedPart> find_in_text(std::string_view text,
                                      const TokenizeOptions& options,
                                      StopCheck* stop) const;
  // The same for a normalised part of it.
  std::vector<AddedPart> find_in_normalized(std::string_view text,
                                            const TokenizeOptions& options,
                                            StopCheck* stop) const;
  // Whether a token may stand for any number of bytes.
  bool takes_spaces() const;
  // The most bytes of a normalised text that one of them stands for.
  size_t longest() const;

 private:
  struct Found {
    const AddedToken* token = nullptr;
    size_t size = 0;
    bool counts = true;  // otherwise it is skipped as text
  };
  template <class Look>
  std::vector<AddedPart> find(std::string_view text, StopCheck* stop,
                              const Look& look) const;
  // Whether the name counts only outside of content.
  static bool is_guarded(const AddedToken& token,
                         const TokenizeOptions& options);

  std::vector<AddedToken> all_;
  std::vector<std::string> normal_forms_;  // of those with `normalized`
  // These hold indices into all_.
  PieceIndex raw_;
  PieceIndex guarded_;  // in the text, of content
  PieceIndex normalized_;
};

}  // namespace rc::text
