// The unigram model of SentencePiece: "t5".
#include <charconv>
#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/error.h"
#include "base/quote.h"
#include "files/ggml/description.h"

namespace rc::ggml {
namespace {

constexpr const char* kLeadingSpaces = "texts that begin with a space";
constexpr const char* kTrailingSpaces = "texts that end with a space";

bool joins_spaces(const JsonValue& step) {
  const JsonValue* pattern = step.find("pattern");
  return text_in(step, "type") == "Replace" && pattern != nullptr &&
         text_in(*pattern, "Regex") == " {2,}" &&
         (text_in(step, "content") == " " ||
          text_in(step, "content") == kSpaceMark);
}

struct Steps {
  bool joins = false;  // several spaces are one
  bool strips = false;
  bool cuts = false;
  bool prefix = false;
};

Steps read_normalizer(const JsonValue& tokenizer, Description* description) {
  Steps steps;
  for (const JsonValue* step :
       elements_of(tokenizer.find_given("normalizer"), "normalizers")) {
    const std::string_view type = text_in(*step, "type");
    if (type == "Precompiled" && description->charsmap.empty()) {
      auto rules = decode_base64(text_in(*step, "precompiled_charsmap"));
      if (!rules) fail(RC_E_UNSUPPORTED, "its rules are not base64");
      description->charsmap = *std::move(rules);
      if (!description->charsmap.empty()) {
        description->differences.push_back(
            "characters with combining marks that the rules replace");
      }
    } else if (type == "Strip" && flag_in(*step, "strip_right")) {
      steps.strips = true;
    } else if (joins_spaces(*step)) {
      steps.joins = true;
    } else {
      fail(RC_E_UNSUPPORTED, "its normalizer has the step ", quote(type));
    }
  }
  return steps;
}

void read_pre_tokenizer(const JsonValue& tokenizer, Steps* steps) {
  bool marks = false;
  for (const JsonValue* step :
       elements_of(tokenizer.find_given("pre_tokenizer"), "pretokenizers")) {
    const std::string_view type = text_in(*step, "type");
    if (type == "WhitespaceSplit" && !marks) {
      steps->joins = steps->strips = true;
    } else if (type == "Metaspace" && !marks &&
               text_in(*step, "replacement") == kSpaceMark) {
      marks = true;
      steps->prefix = text_in(*step, "prepend_scheme") != "never";
      steps->cuts = is_absent(*step, "split") || flag_in(*step, "split");
    } else {
      fail(RC_E_UNSUPPORTED, "its pre-tokenizer has the step ", quote(type));
    }
  }
  if (!marks) fail(RC_E_UNSUPPORTED, "it does not mark spaces");
}

void set_pieces(const JsonValue& model, Description* description) {
  const JsonValue* vocabulary = model.find("vocab");
  if (vocabulary == nullptr) fail(RC_E_UNSUPPORTED, "it has no vocabulary");
  for (const JsonValue& piece : vocabulary->items) {
    if (piece.items.size() != 2) {
      fail(RC_E_UNSUPPORTED, "a piece is not a text with a score");
    }
    const std::string& number = piece.items[1].text;
    double score = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), score);
    if (error != std::errc() || !std::isfinite(static_cast<float>(score))) {
      fail(RC_E_UNSUPPORTED, "a score is ", quote(number));
    }
    description->set(static_cast<int64_t>(description->tokens.size()),
                     piece.items[0].text, TokenType::kNormal);
    description->scores.push_back(static_cast<float>(score));
  }
}

}  // namespace

Description describe_unigram(const JsonValue& tokenizer,
                             const JsonValue& model) {
  if (flag_in(model, "byte_fallback")) {
    fail(RC_E_UNSUPPORTED, "it has tokens for bytes");
  }
  Description description;
  description.model = "t5";
  Steps steps = read_normalizer(tokenizer, &description);
  read_pre_tokenizer(tokenizer, &steps);
  description.add_space_prefix = steps.prefix;
  description.remove_extra_whitespaces = steps.joins;
  if (steps.prefix && !steps.joins) {
    description.differences.push_back(kLeadingSpaces);
  }
  if (steps.joins && !steps.strips) {
    description.differences.push_back(kTrailingSpaces);
  }
  set_pieces(model, &description);
  for (const std::string& text : description.tokens) {
    if (steps.cuts && text.find(kSpaceMark, 1) != std::string::npos) {
      fail(RC_E_UNSUPPORTED, "its texts are cut at spaces, and ", quote(text),
           " has one within");
    }
  }
  set_added_tokens(tokenizer, &description);
  description.scores.resize(description.tokens.size());
  description.unknown = number_of(model.find_given("unk_id"));
  if (!description.unknown || *description.unknown < 0 ||
      *description.unknown >= static_cast<int64_t>(description.tokens.size())) {
    fail(RC_E_UNSUPPORTED, "it has no unknown token");
  }
  description.types[static_cast<size_t>(*description.unknown)] =
      TokenType::kUnknown;
  return description;
}

}  // namespace rc::ggml
