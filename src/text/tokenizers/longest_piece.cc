// The tokenizer of RWKV: from the left, the longest piece that the text goes on
// with. Pieces are bytes, which the file has as a literal of Python would: what
// is no printable ASCII is escaped.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "text/hex_digit.h"
#include "text/tokenizers/kinds.h"

namespace rc::text {
namespace {

// The bytes that the text stands for; false if it ends within an escape or has
// one of none.
bool unescape(std::string_view text, std::string* bytes) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes->push_back(text[i]);
      continue;
    }
    if (++i == text.size()) return false;
    switch (text[i]) {
      case 't':
        bytes->push_back('\t');
        break;
      case 'n':
        bytes->push_back('\n');
        break;
      case 'r':
        bytes->push_back('\r');
        break;
      case 'x': {
        if (text.size() - i < 3) return false;
        const int high = hex_digit(text[i + 1]);
        const int low = hex_digit(text[i + 2]);
        if (high < 0 || low < 0) return false;
        bytes->push_back(static_cast<char>(high * 16 + low));
        i += 2;
        break;
      }
      case '\\':
      case '\'':
      case '"':
        bytes->push_back(text[i]);
        break;
      default:
        return false;
    }
  }
  return true;
}

class LongestPiece : public Tokenizer {
 public:
  explicit LongestPiece(Vocabulary v)
      : Tokenizer(
            std::move(v),
            {.add_bos = false, .add_eos = false, .add_space_prefix = false}) {
    bytes_.resize(static_cast<size_t>(size()));
    std::vector<Piece> pieces;
    for (TokenId id = 0; id < size(); ++id) {
      if (token_type(id) != TokenType::kNormal) continue;
      std::string& bytes = bytes_[static_cast<size_t>(id)];
      if (!unescape(token_text(id), &bytes)) {
        fail(RC_E_FORMAT, vocabulary().source, ": tokenizer.ggml.tokens[", id,
             "] is ", quote(token_text(id)),
             "; after a backslash only t, n, r, x with two digits, quotes and "
             "another backslash are known");
      }
      longest_ = std::max(longest_, bytes.size());
      pieces.push_back({bytes, id});
    }
    pieces_ = PieceIndex(std::move(pieces));
    check_steps(pieces_, vocabulary().source);
    if (unknown() == kNoToken) {
      for (int byte = 0; byte < 256; ++byte) {
        const char one = static_cast<char>(byte);
        if (pieces_.find({&one, 1}) != kNoToken) continue;
        fail(RC_E_FORMAT, vocabulary().source,
             ": tokenizer.ggml.tokens has no token for the byte ", byte,
             ", and tokenizer.ggml.unknown_token_id is missing; the tokenizer "
             "'rwkv' needs one of them");
      }
    }
    forget_rules();
  }

 private:
  void encode(std::string_view text, bool /*at_start*/, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    while (!text.empty()) {
      stop->step();
      PieceIndex::Match match = pieces_.longest(text);
      if (match.id == kNoToken) match = {unknown(), 1};
      out->push_back(match.id);
      text.remove_prefix(match.size);
    }
  }

  size_t most_bytes_per_token() const override {
    return std::max(longest_, longest_token_text());
  }

  std::string decode(TokenId id) const override {
    return bytes_[static_cast<size_t>(id)];
  }

  std::vector<std::string> bytes_;  // by id; "" of those that are not normal
  size_t longest_ = 1;
  PieceIndex pieces_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_longest_piece(Vocabulary vocabulary) {
  return std::make_shared<const LongestPiece>(std::move(vocabulary));
}

}  // namespace rc::text
