#include "text/tokenizer_json/normalizers.h"

#include <utf8proc.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/chat/unicode.h"
#include "text/nfc.h"
#include "text/tokenizer_json/characters.h"
#include "text/tokenizer_json/pattern.h"
#include "text/tokenizers/byte_alphabet.h"
#include "text/tokenizers/charsmap.h"

namespace rc::text {
namespace {

// A hostile sequence of replacements would double a text again and again.
constexpr size_t kMostGrowth = 64;
constexpr size_t kAlwaysAllowed = size_t{1} << 16;

// Replaces each character on its own.
class PerCharacter : public Normalizer {
 public:
  using Map = std::function<void(char32_t, std::string_view, std::string*)>;
  explicit PerCharacter(Map map) : map_(std::move(map)) {}
  void apply(NormalText* text, bool /*continues*/,
             StopCheck* stop) const override {
    std::string out;
    out.reserve(text->text.size());
    size_t first = 0;
    const std::string_view in = text->text;
    for (size_t at = 0; at < in.size();) {
      stop->step();
      const Utf8Char c = decode_utf8(in.substr(at));
      map_(c.code_point, in.substr(at, c.size), &out);
      at += c.size;
      if (at <= text->first) first = out.size();
    }
    *text = {std::move(out), first};
  }

 private:
  Map map_;
};

class Form : public Normalizer {
 public:
  explicit Form(NormalForm form) : form_(form) {}
  void apply(NormalText* text, bool /*continues*/,
             StopCheck* /*stop*/) const override {
    std::string out = normalize(text->text, form_);
    size_t first = 0;
    if (text->first > 0) {
      first =
          std::min(normalize(text->text.substr(0, text->first), form_).size(),
                   out.size());
    }
    *text = {std::move(out), first};
  }

  size_t most_bytes_per_byte() const override {
    return form_ == NormalForm::kC ? kMostComposed : 0;
  }

 private:
  NormalForm form_;
};

class Strip : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void apply(NormalText* text, bool /*continues*/,
             StopCheck* /*stop*/) const override {
    size_t begin = 0;
    size_t end = 0;
    bool inside = false;
    const std::string_view in = text->text;
    for (size_t at = 0; at < in.size();) {
      const Utf8Char c = decode_utf8(in.substr(at));
      if (!is_white_space(c.code_point)) {
        if (!inside) begin = at;
        inside = true;
        end = at + c.size;
      }
      at += c.size;
    }
    if (!left_) begin = 0;
    if (!right_) end = in.size();
    if (!inside) {
      begin = 0;
      end = left_ || right_ ? 0 : in.size();
    }
    *text = {std::string(in.substr(begin, end - begin)),
             text->first > begin ? text->first - begin : 0};
  }

 private:
  bool left_;
  bool right_;
};

class Replace : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(NormalText* text, bool /*continues*/,
             StopCheck* stop) const override {
    const size_t limit = text->text.size() * kMostGrowth + kAlwaysAllowed;
    std::string out;
    size_t done = 0;
    size_t first = 0;
    const auto mark = [&] {
      if (done <= text->first) first = out.size();
    };
    for (const Span match : pattern_.find_all(text->text, stop)) {
      out.append(text->text, done, match.begin - done);
      if (text->first > done && text->first <= match.begin) {
        first = out.size() - (match.begin - text->first);
      }
      out += content_;
      done = match.end;
      mark();
      if (out.size() > limit) {
        fail(RC_E_INVALID_ARGUMENT, "a normalizer Replace makes of ",
             text->text.size(), " bytes more than ", limit,
             "; pass the text in smaller parts");
      }
    }
    if (text->first > done) first = out.size() + (text->first - done);
    out.append(text->text, done);
    *text = {std::move(out), first};
  }

  size_t most_bytes_per_byte() const override {
    const size_t size = pattern_.literal().size();
    return size > 0 && size <= content_.size() ? 1 : 0;
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  void apply(NormalText* text, bool continues,
             StopCheck* /*stop*/) const override {
    if (text->text.empty() || continues) return;
    text->text.insert(0, prefix_);
    if (text->first > 0) text->first += prefix_.size();
  }

  size_t most_bytes_per_byte() const override { return 1; }

 private:
  std::string prefix_;
};

// The rules of SentencePiece as the package applies them: to whole clusters of
// fewer than 6 bytes, of which the rule for the shortest beginning counts, and
// else to single characters.
class Precompiled : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {}
  void apply(NormalText* text, bool /*continues*/,
             StopCheck* stop) const override {
    std::string out;
    out.reserve(text->text.size());
    size_t first = 0;
    const std::string_view in = text->text;
    for (size_t at = 0; at < in.size();) {
      stop->step();
      const size_t size = cluster_size(in.substr(at));
      const std::string_view cluster = in.substr(at, size);
      std::optional<std::string_view> rule;
      if (size < 6) rule = map_.shortest(cluster);
      if (rule) {
        out += *rule;
      } else {
        for (size_t i = 0; i < size;) {
          const size_t char_size = decode_utf8(cluster.substr(i)).size;
          const std::string_view one = cluster.substr(i, char_size);
          out += map_.shortest(one).value_or(one);
          i += char_size;
        }
      }
      if (at < text->first) first = out.size();
      at += size;
    }
    *text = {std::move(out), first};
  }

 private:
  static size_t cluster_size(std::string_view text) {
    Utf8Char c = decode_utf8(text);
    size_t size = c.size;
    utf8proc_int32_t state = 0;
    while (size < text.size()) {
      const Utf8Char next = decode_utf8(text.substr(size));
      if (utf8proc_grapheme_break_stateful(
              static_cast<utf8proc_int32_t>(c.code_point),
              static_cast<utf8proc_int32_t>(next.code_point), &state)) {
        break;
      }
      c = next;
      size += c.size;
    }
    return size;
  }

  Charsmap map_;
};

class Sequence : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<const Normalizer>> all)
      : all_(std::move(all)) {}
  void apply(NormalText* text, bool continues, StopCheck* stop) const override {
    const size_t limit = text->text.size() * kMostGrowth + kAlwaysAllowed;
    for (const auto& one : all_) {
      one->apply(text, continues, stop);
      if (text->text.size() > limit) {
        fail(RC_E_INVALID_ARGUMENT, "the normalizers make of a text more than ",
             limit, " bytes; pass it in smaller parts");
      }
    }
  }
  bool changes_nothing() const override { return all_.empty(); }
  size_t most_bytes_per_byte() const override {
    size_t most = 1;
    for (const auto& one : all_) {
      most *= one->most_bytes_per_byte();
      if (most == 0 || most > kMostComposed * kMostComposed) return 0;
    }
    return most;
  }

 private:
  std::vector<std::unique_ptr<const Normalizer>> all_;
};

void drop_accents(char32_t c, std::string_view text, std::string* out) {
  if (!is_any_mark(c)) *out += text;
}
void lower(char32_t c, std::string_view /*text*/, std::string* out) {
  chat::append_case(chat::Case::kLower, c, out);
}
void to_byte_letters(char32_t /*c*/, std::string_view text, std::string* out) {
  for (const char byte : text) {
    *out += byte_alphabet()[static_cast<uint8_t>(byte)];
  }
}

// The cleaning of the scripts that train neural machine translation.
void clean_nmt(char32_t c, std::string_view text, std::string* out) {
  if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F ||
      c == 0x8F || c == 0x9F) {
    return;
  }
  const bool space = c == 9 || c == 0xA || c == 0xC || c == 0xD ||
                     c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                     c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                     c == kReplacement;
  if (space) {
    *out += ' ';
  } else {
    *out += text;
  }
}

using Made = std::unique_ptr<const Normalizer>;

Made per_character(PerCharacter::Map map) {
  return std::make_unique<PerCharacter>(std::move(map));
}

Made make_bert(const JsonNode& node) {
  const bool lowercase = node.flag("lowercase", true);
  std::vector<Made> all;
  if (node.flag("clean_text", true)) {
    all.push_back(
        per_character([](char32_t c, std::string_view text, std::string* out) {
          if (c == 0 || c == kReplacement || is_bert_control(c)) return;
          if (is_white_space(c)) {
            *out += ' ';
          } else {
            *out += text;
          }
        }));
  }
  if (node.flag("handle_chinese_chars", true)) {
    all.push_back(
        per_character([](char32_t c, std::string_view text, std::string* out) {
          if (!is_bert_chinese(c)) {
            *out += text;
            return;
          }
          *out += ' ';
          *out += text;
          *out += ' ';
        }));
  }
  if (node.flag("strip_accents", lowercase)) {
    all.push_back(std::make_unique<Form>(NormalForm::kD));
    all.push_back(
        per_character([](char32_t c, std::string_view text, std::string* out) {
          if (!is_nonspacing_mark(c)) *out += text;
        }));
  }
  if (lowercase) all.push_back(per_character(lower));
  return std::make_unique<Sequence>(std::move(all));
}

Made make_precompiled(const JsonNode& node) {
  const auto member = node.find("precompiled_charsmap");
  if (!member) return std::make_unique<Sequence>(std::vector<Made>());
  const std::string text = member->text(size_t{1} << 24);
  const auto bytes = decode_base64(text);
  if (!bytes) member->refuse("is not base64");
  return std::make_unique<Precompiled>(Charsmap(*bytes, node.source()));
}

// Sequences within sequences are one, so that one limit holds for all of it.
void append_normalizers(const JsonNode& node, std::vector<Made>* all) {
  if (node.type() != "Sequence") {
    all->push_back(make_normalizer(node));
    return;
  }
  for (const JsonNode& one : node.at("normalizers").items(kMaxComponents)) {
    append_normalizers(one, all);
    if (all->size() > kMaxComponents) {
      node.refuse("has more than ", kMaxComponents, " components");
    }
  }
}

Made make_sequence(const JsonNode& node) {
  std::vector<Made> all;
  append_normalizers(node, &all);
  return std::make_unique<Sequence>(std::move(all));
}

}  // namespace

std::unique_ptr<const Normalizer> make_normalizer(const JsonNode& node) {
  const std::string type = node.type();
  if (type == "Sequence") return make_sequence(node);
  if (type == "NFC") return std::make_unique<Form>(NormalForm::kC);
  if (type == "NFD") return std::make_unique<Form>(NormalForm::kD);
  if (type == "NFKC") return std::make_unique<Form>(NormalForm::kKC);
  if (type == "NFKD") return std::make_unique<Form>(NormalForm::kKD);
  if (type == "Lowercase") return per_character(lower);
  if (type == "StripAccents") return per_character(drop_accents);
  if (type == "ByteLevel") return per_character(to_byte_letters);
  if (type == "Nmt") return per_character(clean_nmt);
  if (type == "BertNormalizer") return make_bert(node);
  if (type == "Precompiled") return make_precompiled(node);
  if (type == "Strip") {
    return std::make_unique<Strip>(node.flag("strip_left", true),
                                   node.flag("strip_right", true));
  }
  if (type == "Prepend") {
    return std::make_unique<Prepend>(node.at("prepend").text());
  }
  if (type == "Replace") {
    return std::make_unique<Replace>(Pattern(node.at("pattern")),
                                     node.at("content").text());
  }
  node.at("type").not_supported(
      "is ", quote(type),
      "; known normalizers are NFC, NFD, NFKC, NFKD, Lowercase, Strip, "
      "StripAccents, BertNormalizer, Replace, Prepend, Precompiled, ByteLevel, "
      "Nmt, Sequence");
}

}  // namespace rc::text
