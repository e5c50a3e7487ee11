// Byte pair encoding over bytes: the model "gpt2", with a name for the way in
// which texts are cut first.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/ggml/description.h"
#include "files/ggml/pre_tokenizer_patterns.h"

namespace rc::ggml {
namespace {

// The steps that cut a text before merges, each written as a pattern:
// "bytes" stands for the own pattern of byte-level tokenizers, "digits" for
// single digits.
struct NamedCut {
  std::string_view pre;
  std::vector<std::string_view> steps;
  bool ignore_merges = false;
  bool nfc = false;
};

// As the tokenizer.json of the models spells them.
constexpr std::string_view kCutSeedCoder =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N)"
    R"(}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCutGroups = R"(\d{1,3}(?=(?:\d{3})*\b))";
constexpr std::string_view kCutChinese =
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";

const std::vector<NamedCut>& named_cuts() {
  static const std::vector<NamedCut> kCuts = {
      {.pre = "gpt-2", .steps = {"bytes"}},
      {.pre = "mpt", .steps = {"bytes"}, .nfc = true},
      {.pre = "starcoder", .steps = {"digits", "bytes"}},
      {.pre = "command-r", .steps = {"digits", "bytes"}, .nfc = true},
      {.pre = "llama-bpe", .steps = {patterns::kLlama3}, .ignore_merges = true},
      {.pre = "smaug-bpe", .steps = {patterns::kLlama3}},
      {.pre = "qwen2", .steps = {patterns::kQwen2}, .nfc = true},
      {.pre = "deepseek-r1-qwen", .steps = {patterns::kQwen2}},
      {.pre = "qwen35", .steps = {patterns::kQwen35}, .nfc = true},
      {.pre = "gpt-4o", .steps = {patterns::kGpt4o}},
      {.pre = "bailingmoe", .steps = {patterns::kBailing}},
      {.pre = "exaone-moe", .steps = {patterns::kExaoneMoe}},
      {.pre = "tiny_aya", .steps = {kCutGroups, patterns::kGpt4o}},
      {.pre = "tekken", .steps = {patterns::kTekken}, .ignore_merges = true},
      {.pre = "seed-coder", .steps = {kCutSeedCoder}},
      {.pre = "deepseek-v3",
       .steps = {R"(\p{N}{1,3})", kCutChinese, patterns::kDeepseek3}},
  };
  return kCuts;
}

// A whole text is cut into matches whether they are set apart, or what is
// between them is left out.
bool keeps_matches(const JsonValue& split) {
  const std::string_view behavior = text_in(split, "behavior");
  return flag_in(split, "invert") ? behavior == "Removed"
                                  : behavior == "Isolated";
}

// nullopt for what no NamedCut is written as.
std::optional<std::vector<std::string_view>> steps_of(const JsonValue* cutter) {
  std::vector<std::string_view> steps;
  bool bytes = false;
  for (const JsonValue* step : elements_of(cutter, "pretokenizers")) {
    const std::string_view type = text_in(*step, "type");
    if (bytes) return std::nullopt;  // it is the last one
    if (type == "ByteLevel" && !flag_in(*step, "add_prefix_space")) {
      bytes = true;
      if (flag_in(*step, "use_regex") || step->find("use_regex") == nullptr) {
        steps.push_back("bytes");
      }
    } else if (type == "Digits" && flag_in(*step, "individual_digits")) {
      steps.push_back("digits");
    } else if (const JsonValue* pattern = step->find("pattern");
               type == "Split" && pattern != nullptr && keeps_matches(*step)) {
      steps.push_back(text_in(*pattern, "Regex"));
    } else {
      return std::nullopt;
    }
  }
  if (!bytes) return std::nullopt;
  return steps;
}

const NamedCut& find_cut(const JsonValue& tokenizer, const JsonValue& model) {
  const JsonValue* normalizer = tokenizer.find_given("normalizer");
  const bool nfc = normalizer != nullptr;
  if (nfc) {
    const auto parts = elements_of(normalizer, "normalizers");
    if (parts.size() != 1 || text_in(*parts[0], "type") != "NFC") {
      fail(RC_E_UNSUPPORTED, "its normalizer is another than NFC");
    }
  }
  const auto steps = steps_of(tokenizer.find_given("pre_tokenizer"));
  const bool ignore_merges = flag_in(model, "ignore_merges");
  for (const NamedCut& cut : named_cuts()) {
    if (steps && cut.steps == *steps && cut.nfc == nfc &&
        cut.ignore_merges == ignore_merges) {
      return cut;
    }
  }
  fail(RC_E_UNSUPPORTED, "its pre-tokenizer has no name");
}

}  // namespace

Description describe_byte_level(const JsonValue& tokenizer,
                                const JsonValue& model) {
  for (const char* name :
       {"unk_token", "continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!text_in(model, name).empty()) {
      fail(RC_E_UNSUPPORTED, "its pairs of bytes have a ", name);
    }
  }
  if (!is_absent(model, "dropout")) {
    fail(RC_E_UNSUPPORTED, "it leaves out merges by chance");
  }
  Description description;
  description.model = "gpt2";
  description.pre = find_cut(tokenizer, model).pre;
  set_vocabulary(model, &description);
  set_added_tokens(tokenizer, &description);
  for (const auto& [left, right] : merges_of(model)) {
    description.merges.push_back(cat(left, " ", right));
  }
  return description;
}

}  // namespace rc::ggml
