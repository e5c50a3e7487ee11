// Byte pair encoding over characters with marks for spaces and tokens for
// bytes: the model "llama". It joins any two neighbours that together are a
// piece, the best piece first; so a list of merges says the same if it has
// every pair that makes a piece, one piece after the other.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "files/ggml/description.h"

namespace rc::ggml {
namespace {

bool is_byte(std::string_view text) {
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
  };
  return text.size() == 6 && text.starts_with("<0x") && text.ends_with('>') &&
         is_digit(text[3]) && is_digit(text[4]);
}

bool replaces_spaces(const JsonValue& step) {
  const JsonValue* pattern = step.find("pattern");
  return text_in(step, "type") == "Replace" && pattern != nullptr &&
         text_in(*pattern, "String") == " " &&
         text_in(step, "content") == kSpaceMark;
}

struct Spaces {
  bool marked = false;
  bool prefix = false;
  bool cut = false;  // no token goes on behind one
};

// The effect of the normalizer and the pre-tokenizer on spaces.
Spaces spaces_of(const JsonValue& tokenizer, Description* description) {
  Spaces spaces;
  for (const JsonValue* step :
       elements_of(tokenizer.find_given("normalizer"), "normalizers")) {
    if (text_in(*step, "type") == "Prepend" &&
        text_in(*step, "prepend") == kSpaceMark && !spaces.prefix) {
      spaces.prefix = true;
    } else if (replaces_spaces(*step)) {
      spaces.marked = true;
    } else {
      fail(RC_E_UNSUPPORTED, "its normalizer does more than to mark spaces");
    }
  }
  for (const JsonValue* step :
       elements_of(tokenizer.find_given("pre_tokenizer"), "pretokenizers")) {
    const JsonValue* pattern = step->find("pattern");
    if (text_in(*step, "type") == "Metaspace" && !spaces.marked &&
        text_in(*step, "replacement") == kSpaceMark) {
      const std::string_view scheme = text_in(*step, "prepend_scheme");
      spaces.marked = true;
      spaces.prefix = scheme != "never";
      spaces.cut = is_absent(*step, "split") || flag_in(*step, "split");
      if (spaces.prefix) {
        description->differences.push_back("texts that begin with a space");
      }
      if (scheme == "first") {
        description->differences.push_back("texts behind special tokens");
      }
    } else if (!spaces.marked || text_in(*step, "type") != "Split" ||
               pattern == nullptr || text_in(*pattern, "String") != " ") {
      fail(RC_E_UNSUPPORTED, "its pre-tokenizer does more than to mark spaces");
    }
  }
  if (!spaces.marked) fail(RC_E_UNSUPPORTED, "it does not mark spaces");
  return spaces;
}

// Several times what published pieces have. All ways to cut each are tried.
constexpr size_t kMaxPieceBytes = 256;

class Scores {
 public:
  explicit Scores(Description* description) : description_(*description) {
    for (size_t i = 0; i < description_.tokens.size(); ++i) {
      if (description_.types[i] != TokenType::kNormal) continue;
      if (description_.tokens[i].size() > kMaxPieceBytes) {
        fail(RC_E_UNSUPPORTED, "token ", i, " has ",
             description_.tokens[i].size(), " bytes; at most ", kMaxPieceBytes,
             " are checked");
      }
      pieces_.emplace(description_.tokens[i], i);
    }
  }

  // In the order of the merges. Throws if that is not what they do.
  void set(const std::vector<std::pair<std::string, std::string>>& merges) {
    description_.scores.assign(description_.tokens.size(), 0.0f);
    std::unordered_map<std::string_view, size_t> pairs;  // by piece
    const std::string* last = nullptr;
    float score = 0.0f;
    for (const auto& [left, right] : merges) {
      const auto piece = pieces_.find(left + right);
      // Pairs of added tokens, which no merge ever meets.
      if (piece == pieces_.end() || !is_part(left) || !is_part(right)) continue;
      const std::string& text = description_.tokens[piece->second];
      if (&text != last && pairs.contains(text)) {
        fail(RC_E_UNSUPPORTED, "its merges make ", quote(text),
             " at different times");
      }
      if (&text != last) score -= 1.0f;
      last = &text;
      ++pairs[text];
      description_.scores[piece->second] = score;
    }
    for (const auto& [text, id] : pieces_) {
      const auto known = pairs.find(text);
      if (count_pairs(text) != (known == pairs.end() ? 0 : known->second)) {
        fail(RC_E_UNSUPPORTED, "its merges leave out a way to make ",
             quote(text));
      }
    }
  }

 private:
  bool is_part(const std::string& text) const {
    return pieces_.contains(text) || decode_utf8(text).size == text.size();
  }

  size_t count_pairs(const std::string& text) const {
    size_t count = 0;
    for (size_t at = decode_utf8(text).size; at < text.size();
         at += decode_utf8(std::string_view(text).substr(at)).size) {
      if (is_part(text.substr(0, at)) && is_part(text.substr(at))) ++count;
    }
    return count;
  }

  Description& description_;
  std::unordered_map<std::string, size_t> pieces_;
};

void check_cut(const Description& description) {
  for (size_t i = 0; i < description.tokens.size(); ++i) {
    if (description.types[i] == TokenType::kNormal &&
        description.tokens[i].find(kSpaceMark, 1) != std::string::npos) {
      fail(RC_E_UNSUPPORTED, "its texts are cut at spaces, and ",
           quote(description.tokens[i]), " has one within");
    }
  }
}

}  // namespace

Description describe_pieces(const JsonValue& tokenizer,
                            const JsonValue& model) {
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_in(model, name).empty()) {
      fail(RC_E_UNSUPPORTED, "its pairs of characters have a ", name);
    }
  }
  if (!is_absent(model, "dropout") || flag_in(model, "ignore_merges")) {
    fail(RC_E_UNSUPPORTED, "it does not always follow its merges");
  }
  Description description;
  description.model = "llama";
  const Spaces spaces = spaces_of(tokenizer, &description);
  description.add_space_prefix = spaces.prefix;
  set_vocabulary(model, &description);
  size_t bytes = 0;
  for (size_t i = 0; i < description.tokens.size(); ++i) {
    if (!is_byte(description.tokens[i])) continue;
    description.types[i] = TokenType::kByte;
    ++bytes;
  }
  if (bytes != 256) {
    fail(RC_E_UNSUPPORTED, "it has tokens for ", bytes, " bytes of 256");
  }
  set_added_tokens(tokenizer, &description);
  const std::string_view unknown = text_in(model, "unk_token");
  if (const JsonValue* vocabulary = model.find("vocab")) {
    description.unknown = number_of(vocabulary->find(unknown));
  }
  if (description.unknown) {
    description.types[static_cast<size_t>(*description.unknown)] =
        TokenType::kUnknown;
  }
  if (spaces.cut) check_cut(description);
  Scores(&description).set(merges_of(model));
  return description;
}

}  // namespace rc::ggml
