// WordPiece as BERT uses it: text is cleaned, cut into words at spaces,
// punctuation and Chinese characters, and each word is covered from the left by
// the longest pieces. A word that can't be covered is unknown as a whole.
//
// In the file pieces that begin a word begin with U+2581, others go on.
#include <utf8proc.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/tokenizers/kinds.h"
#include "text/tokenizers/sentencepiece_text.h"

namespace rc::text {
namespace {

// Longer words are unknown; the value of the original.
constexpr size_t kMaxWordChars = 100;

bool is_space(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return true;
  const utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_dropped(char32_t c) {
  const utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return c == 0 || c == kReplacement || category == UTF8PROC_CATEGORY_CC ||
         category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) {  // symbols too
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  }
  const utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

// Of the scripts that write without spaces only this one is cut into
// characters.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

class WordPiece : public Tokenizer {
 public:
  explicit WordPiece(Vocabulary v)
      : Tokenizer(std::move(v), {.add_bos = true,
                                 .add_eos = true,
                                 .add_space_prefix = true,
                                 .special_words = true}),
        lowercase_(vocabulary().lowercase.value_or(true)),
        strip_accents_(vocabulary().strip_accents.value_or(lowercase_)) {
    std::vector<Piece> starts;
    std::vector<Piece> continuations;
    for (TokenId id = 0; id < size(); ++id) {
      if (token_type(id) != TokenType::kNormal) continue;
      std::string_view text = token_text(id);
      if (text.starts_with(kSpaceMark)) {
        text.remove_prefix(kSpaceMark.size());
        starts.push_back({text, id});
      } else {
        continuations.push_back({text, id});
      }
    }
    starts_ = PieceIndex(std::move(starts));
    continuations_ = PieceIndex(std::move(continuations));
    check_steps(starts_, vocabulary().source);
    check_steps(continuations_, vocabulary().source);
    if (unknown() == kNoToken) {
      fail(RC_E_FORMAT, vocabulary().source,
           ": tokenizer.ggml.unknown_token_id is missing and no token is "
           "'[UNK]'; the tokenizer 'bert' needs one");
    }
    forget_rules();
  }

 private:
  // The word that is being read.
  struct Word {
    std::string text;
    size_t chars = 0;
  };

  void encode(std::string_view text, bool /*at_start*/, StopCheck* stop,
              std::vector<TokenId>* out) const override {
    Word word;
    while (!text.empty()) {
      stop->step();
      const Utf8Char c = decode_utf8(text);
      text.remove_prefix(c.size);
      if (is_space(c.code_point)) {
        finish(&word, out);
      } else if (is_chinese(c.code_point)) {
        finish(&word, out);
        add(c.code_point, &word, out);
        finish(&word, out);
      } else if (!is_dropped(c.code_point)) {
        add(c.code_point, &word, out);
      }
    }
    finish(&word, out);
  }

  // Adds a character without accents and in lower case, as the model wants.
  void add(char32_t c, Word* word, std::vector<TokenId>* out) const {
    std::array<utf8proc_int32_t, 32> parts = {static_cast<utf8proc_int32_t>(c)};
    utf8proc_ssize_t count = 1;
    if (strip_accents_) {
      int boundary = UTF8PROC_BOUNDCLASS_START;
      count = utf8proc_decompose_char(parts[0], parts.data(), parts.size(),
                                      UTF8PROC_DECOMPOSE, &boundary);
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      utf8proc_int32_t part = parts[static_cast<size_t>(i)];
      if (strip_accents_ && utf8proc_category(part) == UTF8PROC_CATEGORY_MN) {
        continue;
      }
      if (lowercase_) part = utf8proc_tolower(part);
      const auto added = static_cast<char32_t>(part);
      const bool alone = is_punctuation(added);
      if (alone) finish(word, out);
      ++word->chars;
      // Of a word that is too long no more is needed.
      if (word->chars <= kMaxWordChars) append_utf8(added, &word->text);
      if (alone) finish(word, out);
    }
  }

  // Appends the tokens of the word and begins a new one.
  void finish(Word* word, std::vector<TokenId>* out) const {
    if (word->chars == 0) return;
    const size_t before = out->size();
    std::string_view rest = word->text;
    if (word->chars > kMaxWordChars) rest = {};
    for (const PieceIndex* index = &starts_; !rest.empty();
         index = &continuations_) {
      const PieceIndex::Match match = index->longest(rest);
      if (match.id == kNoToken) {
        out->resize(before);
        break;
      }
      out->push_back(match.id);
      rest.remove_prefix(match.size);
    }
    if (out->size() == before) out->push_back(unknown());
    *word = Word();
  }

  std::string decode(TokenId id) const override {
    return decode_piece(token_text(id), token_type(id));
  }

  bool lowercase_;
  bool strip_accents_;
  PieceIndex starts_;
  PieceIndex continuations_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_wordpiece(Vocabulary vocabulary) {
  vocabulary.add_space_prefix = true;  // of every word, whatever the file says
  return std::make_shared<const WordPiece>(std::move(vocabulary));
}

}  // namespace rc::text
