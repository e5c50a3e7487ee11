#include "text/tokenizer_json/json_pre_tokenizers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/utf8.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_json/characters.h"
#include "text/tokenizer_json/cuts.h"
#include "text/tokenizer_json/metaspace.h"
#include "text/tokenizer_json/onig_pattern.h"
#include "text/tokenizer_json/pattern.h"
#include "text/tokenizers/byte_alphabet.h"

namespace rc::text {
namespace {

// A hostile sequence would double a text again and again.
constexpr size_t kMostCutGrowth = 64;
constexpr size_t kCutAllowance = size_t{1} << 16;

size_t total_size(const std::vector<NormalText>& words) {
  size_t total = 0;
  for (const NormalText& word : words) total += word.text.size();
  return total;
}

// Appends the parts of a word that are not empty.
void append_words(const NormalText& word, const std::vector<Span>& spans,
                  std::vector<NormalText>* out) {
  for (const Span span : spans) {
    if (span.begin >= span.end) continue;
    const size_t size = span.end - span.begin;
    const size_t first = word.first > span.begin ? word.first - span.begin : 0;
    out->push_back({word.text.substr(span.begin, size), std::min(first, size)});
  }
}

void put_before(std::string_view prefix, NormalText* word) {
  word->text.insert(0, prefix);
  if (word->first > 0) word->first += prefix.size();
}

// Cuts at the characters of a class, each of which is one match.
class AtCharacters : public WordCutter {
 public:
  using Class = bool (*)(char32_t c);
  AtCharacters(Class is_in, CutBehavior behavior)
      : is_in_(is_in), behavior_(behavior) {}
  AtCharacters(char32_t one, CutBehavior behavior)
      : one_(one), behavior_(behavior) {}
  void apply(std::vector<NormalText>* words, bool /*continues*/,
             StopCheck* stop) const override {
    std::vector<NormalText> out;
    for (const NormalText& word : *words) {
      std::vector<Span> matches;
      for (size_t at = 0; at < word.text.size();) {
        stop->step();
        const Utf8Char c = decode_utf8(std::string_view(word.text).substr(at));
        if (is_in_ == nullptr ? c.code_point == one_ : is_in_(c.code_point)) {
          matches.push_back({at, at + c.size});
        }
        at += c.size;
      }
      append_words(
          word,
          apply_behavior(cuts_of(matches, word.text.size(), false), behavior_),
          &out);
    }
    words->swap(out);
  }
  bool keeps_all() const override { return behavior_ != CutBehavior::kRemoved; }

 private:
  Class is_in_ = nullptr;
  char32_t one_ = 0;
  CutBehavior behavior_;
};

// Runs of word characters and runs of what is neither these nor white space.
class Whitespace : public WordCutter {
 public:
  void apply(std::vector<NormalText>* words, bool /*continues*/,
             StopCheck* stop) const override {
    std::vector<NormalText> out;
    for (const NormalText& word : *words) {
      std::vector<Span> spans;
      int before = 0;
      for (size_t at = 0; at < word.text.size();) {
        stop->step();
        const Utf8Char c = decode_utf8(std::string_view(word.text).substr(at));
        const int kind = is_word_character(c.code_point) ? 1
                         : is_white_space(c.code_point)  ? 0
                                                         : 2;
        if (kind != 0 && kind == before) {
          spans.back().end = at + c.size;
        } else if (kind != 0) {
          spans.push_back({at, at + c.size});
        }
        before = kind;
        at += c.size;
      }
      append_words(word, spans, &out);
    }
    words->swap(out);
  }
  bool keeps_all() const override { return false; }
};

class Split : public WordCutter {
 public:
  Split(Pattern pattern, CutBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void apply(std::vector<NormalText>* words, bool /*continues*/,
             StopCheck* stop) const override {
    std::vector<NormalText> out;
    for (const NormalText& word : *words) {
      append_words(word,
                   apply_behavior(cuts_of(pattern_.find_all(word.text, stop),
                                          word.text.size(), invert_),
                                  behavior_),
                   &out);
    }
    words->swap(out);
  }
  bool keeps_all() const override { return behavior_ != CutBehavior::kRemoved; }

 private:
  Pattern pattern_;
  CutBehavior behavior_;
  bool invert_;
};

class FixedLength : public WordCutter {
 public:
  explicit FixedLength(size_t length) : length_(length) {}
  void apply(std::vector<NormalText>* words, bool /*continues*/,
             StopCheck* stop) const override {
    std::vector<NormalText> out;
    for (const NormalText& word : *words) {
      std::vector<Span> spans;
      size_t count = 0;
      for (size_t at = 0; at < word.text.size(); ++count) {
        stop->step();
        const size_t end =
            at + decode_utf8(std::string_view(word.text).substr(at)).size;
        if (count % length_ == 0) spans.push_back({at, at});
        spans.back().end = end;
        at = end;
      }
      append_words(word, spans, &out);
    }
    words->swap(out);
  }

 private:
  size_t length_;
};

class ByteLevelCutter : public WordCutter {
 public:
  ByteLevelCutter(bool add_prefix_space, std::optional<Regex> regex)
      : add_prefix_space_(add_prefix_space), regex_(std::move(regex)) {}
  void apply(std::vector<NormalText>* words, bool continues,
             StopCheck* stop) const override {
    std::vector<NormalText> out;
    for (size_t i = 0; i < words->size(); ++i) {
      NormalText& word = (*words)[i];
      if (add_prefix_space_ && !word.text.starts_with(' ') &&
          !(continues && i == 0)) {
        put_before(" ", &word);
      }
      std::vector<Span> spans = {{0, word.text.size()}};
      if (regex_) {
        spans = apply_behavior(
            cuts_of(regex_->find_all(word.text, stop), word.text.size(), false),
            CutBehavior::kIsolated);
      }
      append_words(word, spans, &out);
    }
    for (NormalText& word : out) {
      stop->step();
      word = {letters(word.text),
              letters(word.text.substr(0, word.first)).size()};
    }
    words->swap(out);
  }
  void apply_to_bytes(std::string* word) const override {
    *word = letters(*word);
  }
  bool writes_letters() const override { return true; }

 private:
  static std::string letters(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char byte : bytes) {
      text += byte_alphabet()[static_cast<uint8_t>(byte)];
    }
    return text;
  }

  bool add_prefix_space_;
  std::optional<Regex> regex_;
};

class MetaspaceCutter : public WordCutter {
 public:
  explicit MetaspaceCutter(Metaspace rules) : rules_(std::move(rules)) {}
  void apply(std::vector<NormalText>* words, bool continues,
             StopCheck* stop) const override {
    std::vector<NormalText> out;
    for (size_t i = 0; i < words->size(); ++i) {
      NormalText word = mark((*words)[i], stop);
      const bool asked =
          rules_.scheme == Metaspace::Scheme::kAlways ||
          (rules_.scheme == Metaspace::Scheme::kFirst && word.first > 0);
      if (asked && !word.text.empty() && !(continues && i == 0) &&
          !word.text.starts_with(rules_.replacement)) {
        put_before(rules_.replacement, &word);
      }
      std::vector<Span> spans = {{0, word.text.size()}};
      if (rules_.split) spans = cut(word.text, stop);
      append_words(word, spans, &out);
    }
    words->swap(out);
  }

 private:
  NormalText mark(const NormalText& word, StopCheck* stop) const {
    NormalText marked;
    for (size_t i = 0; i < word.text.size(); ++i) {
      stop->step();
      if (word.text[i] == ' ') {
        marked.text += rules_.replacement;
      } else {
        marked.text += word.text[i];
      }
      if (i < word.first) marked.first = marked.text.size();
    }
    return marked;
  }
  std::vector<Span> cut(std::string_view text, StopCheck* stop) const {
    std::vector<Span> matches;
    for (size_t at = 0; (at = text.find(rules_.replacement, at)) != text.npos;
         at += rules_.replacement.size()) {
      stop->step();
      matches.push_back({at, at + rules_.replacement.size()});
    }
    return apply_behavior(cuts_of(matches, text.size(), false),
                          CutBehavior::kMergedWithNext);
  }

  Metaspace rules_;
};

class CutterSequence : public WordCutter {
 public:
  explicit CutterSequence(std::vector<std::unique_ptr<const WordCutter>> all)
      : all_(std::move(all)) {}
  void apply(std::vector<NormalText>* words, bool continues,
             StopCheck* stop) const override {
    const size_t limit = total_size(*words) * kMostCutGrowth + kCutAllowance;
    for (const auto& one : all_) {
      one->apply(words, continues, stop);
      if (total_size(*words) > limit) {
        fail(RC_E_INVALID_ARGUMENT,
             "the pre-tokenizers make of a text more "
             "than ",
             limit, " bytes; pass it in smaller parts");
      }
    }
  }
  void apply_to_bytes(std::string* word) const override {
    const size_t limit = word->size() * kMostCutGrowth + kCutAllowance;
    for (const auto& one : all_) {
      if (word->size() <= limit) one->apply_to_bytes(word);
    }
  }
  bool keeps_all() const override {
    return std::all_of(all_.begin(), all_.end(),
                       [](const auto& one) { return one->keeps_all(); });
  }
  bool writes_letters() const override {
    return std::any_of(all_.begin(), all_.end(),
                       [](const auto& one) { return one->writes_letters(); });
  }

 private:
  std::vector<std::unique_ptr<const WordCutter>> all_;
};

using MadeCutter = std::unique_ptr<const WordCutter>;

MadeCutter at_characters(AtCharacters::Class is_in, CutBehavior behavior) {
  return std::make_unique<AtCharacters>(is_in, behavior);
}

// Sequences within sequences are one, so that one limit holds for all of it.
void append_cutters(const JsonNode& node, std::vector<MadeCutter>* all) {
  if (node.type() != "Sequence") {
    all->push_back(make_word_cutter(node));
    return;
  }
  for (const JsonNode& one : node.at("pretokenizers").items(kMaxComponents)) {
    append_cutters(one, all);
    if (all->size() > kMaxComponents) {
      node.refuse("has more than ", kMaxComponents, " components");
    }
  }
}

MadeCutter make_cutter_sequence(const JsonNode& node) {
  std::vector<MadeCutter> all;
  append_cutters(node, &all);
  return std::make_unique<CutterSequence>(std::move(all));
}

MadeCutter make_delimiter_cutter(const JsonNode& node) {
  const JsonNode member = node.at("delimiter");
  const std::string text = member.text();
  if (text.empty() || decode_utf8(text).size != text.size()) {
    member.refuse("is ", quote(text), "; it must be one character");
  }
  return std::make_unique<AtCharacters>(decode_utf8(text).code_point,
                                        CutBehavior::kRemoved);
}

}  // namespace

std::unique_ptr<const WordCutter> make_word_cutter(const JsonNode& node) {
  const std::string type = node.type();
  if (type == "Sequence") return make_cutter_sequence(node);
  if (type == "ByteLevel") {
    std::optional<Regex> regex;
    if (node.flag("use_regex", true)) {
      regex = onig_regex(kGpt2Pattern, node.where());
    }
    return std::make_unique<ByteLevelCutter>(
        node.flag("add_prefix_space", true), std::move(regex));
  }
  if (type == "Split") {
    return std::make_unique<Split>(Pattern(node.at("pattern")),
                                   read_behavior(node.at("behavior")),
                                   node.flag("invert", false));
  }
  if (type == "Metaspace") {
    return std::make_unique<MetaspaceCutter>(read_metaspace(node));
  }
  if (type == "Whitespace") return std::make_unique<Whitespace>();
  if (type == "WhitespaceSplit") {
    return at_characters(is_white_space, CutBehavior::kRemoved);
  }
  if (type == "BertPreTokenizer") {
    std::vector<MadeCutter> both;
    both.push_back(at_characters(is_white_space, CutBehavior::kRemoved));
    both.push_back(at_characters(is_any_punctuation, CutBehavior::kIsolated));
    return std::make_unique<CutterSequence>(std::move(both));
  }
  if (type == "Digits") {
    return at_characters(is_any_number, node.flag("individual_digits", false)
                                            ? CutBehavior::kIsolated
                                            : CutBehavior::kContiguous);
  }
  if (type == "Punctuation") {
    const auto behavior = node.find("behavior");
    return at_characters(is_any_punctuation, behavior ? read_behavior(*behavior)
                                                      : CutBehavior::kIsolated);
  }
  if (type == "CharDelimiterSplit") return make_delimiter_cutter(node);
  if (type == "FixedLength") {
    const auto length = node.find("length");
    return std::make_unique<FixedLength>(
        length ? static_cast<size_t>(length->integer(1, INT32_MAX)) : 5);
  }
  node.at("type").not_supported(
      "is ", quote(type),
      "; known pre-tokenizers are ByteLevel, Split, Metaspace, Whitespace, "
      "WhitespaceSplit, BertPreTokenizer, Digits, Punctuation, "
      "CharDelimiterSplit, FixedLength, Sequence");
}

}  // namespace rc::text
