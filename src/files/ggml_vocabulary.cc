#include "files/ggml_vocabulary.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "files/pre_tokenizer_patterns.h"

namespace rc {
namespace {

constexpr size_t kMaxJsonDepth = 64;
// As many tokens as can be read again.
constexpr int64_t kMaxGgmlTokens = int64_t{1} << 22;

// Numbers of tokenizer.ggml.token_type.
constexpr int32_t kNormalToken = 1;
constexpr int32_t kControlToken = 3;
constexpr int32_t kUserDefinedToken = 4;
constexpr int32_t kUnusedToken = 5;

// How a text is cut before merges, step by step, each written as a pattern:
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
      {.pre = "tekken", .steps = {patterns::kTekken}, .ignore_merges = true},
      {.pre = "seed-coder", .steps = {kCutSeedCoder}},
      {.pre = "deepseek-v3",
       .steps = {R"(\p{N}{1,3})", kCutChinese, patterns::kDeepseek3}},
  };
  return kCuts;
}

std::string_view text_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value != nullptr && value->is(JsonValue::Type::kString)
             ? std::string_view(value->text)
             : std::string_view();
}

bool flag_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value != nullptr && value->is(JsonValue::Type::kTrue);
}

bool is_absent(const JsonValue& object, std::string_view name) {
  return object.find_given(name) == nullptr;
}

// The elements of a sequence, or the only one.
std::vector<const JsonValue*> elements_of(const JsonValue& value,
                                          std::string_view name) {
  if (text_in(value, "type") != "Sequence") return {&value};
  std::vector<const JsonValue*> elements;
  if (const JsonValue* list = value.find(name)) {
    for (const JsonValue& item : list->items) elements.push_back(&item);
  }
  return elements;
}

// A whole text is cut into matches whether they are set apart, or what is
// between them is left out.
bool keeps_matches(const JsonValue& split) {
  const std::string_view behavior = text_in(split, "behavior");
  return flag_in(split, "invert") ? behavior == "Removed"
                                  : behavior == "Isolated";
}

// nullopt for what no NamedCut is written as.
std::optional<std::vector<std::string_view>> steps_of(const JsonValue& cutter) {
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

const NamedCut* find_cut(const JsonValue& tokenizer, const JsonValue& model) {
  const JsonValue* normalizer = tokenizer.find_given("normalizer");
  const bool nfc = normalizer != nullptr;
  if (nfc) {
    const auto parts = elements_of(*normalizer, "normalizers");
    if (parts.size() != 1 || text_in(*parts[0], "type") != "NFC") {
      return nullptr;
    }
  }
  const JsonValue* cutter = tokenizer.find_given("pre_tokenizer");
  if (cutter == nullptr) return nullptr;
  const auto steps = steps_of(*cutter);
  if (!steps) return nullptr;
  const bool ignore_merges = flag_in(model, "ignore_merges");
  for (const NamedCut& cut : named_cuts()) {
    if (cut.steps == *steps && cut.nfc == nfc &&
        cut.ignore_merges == ignore_merges) {
      return &cut;
    }
  }
  return nullptr;
}

bool is_byte_level(const JsonValue& model) {
  for (const char* name :
       {"unk_token", "continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!is_absent(model, name) && !text_in(model, name).empty()) return false;
  }
  return text_in(model, "type") == "BPE" && is_absent(model, "dropout") &&
         !flag_in(model, "byte_fallback");
}

struct GgmlTokens {
  std::vector<std::string> texts;
  std::vector<int32_t> types;

  bool set(const JsonValue* id, const std::string& text, int32_t type) {
    int64_t number = -1;
    if (id == nullptr || !id->is(JsonValue::Type::kNumber)) return false;
    const char* last = id->text.data() + id->text.size();
    const auto [end, error] = std::from_chars(id->text.data(), last, number);
    if (error != std::errc() || end != last || number < 0 ||
        number >= kMaxGgmlTokens || text.empty()) {
      return false;
    }
    fill(number + 1);
    texts[static_cast<size_t>(number)] = text;
    types[static_cast<size_t>(number)] = type;
    return true;
  }
  void fill(int64_t count) {
    while (static_cast<int64_t>(texts.size()) < count) {
      texts.push_back(cat("[PAD", texts.size(), "]"));
      types.push_back(kUnusedToken);
    }
  }
};

std::optional<GgmlTokens> read_tokens(const JsonValue& tokenizer,
                                      const JsonValue& model) {
  GgmlTokens tokens;
  const JsonValue* vocabulary = model.find("vocab");
  if (vocabulary == nullptr) return std::nullopt;
  for (const auto& [text, id] : vocabulary->members) {
    if (!tokens.set(&id, text, kNormalToken)) return std::nullopt;
  }
  if (const JsonValue* added = tokenizer.find("added_tokens")) {
    for (const JsonValue& token : added->items) {
      if (!tokens.set(
              token.find("id"), std::string(text_in(token, "content")),
              flag_in(token, "special") ? kControlToken : kUserDefinedToken)) {
        return std::nullopt;
      }
    }
  }
  return tokens;
}

std::optional<std::vector<std::string>> read_merges(const JsonValue& model) {
  std::vector<std::string> merges;
  const JsonValue* list = model.find("merges");
  if (list == nullptr) return std::nullopt;
  for (const JsonValue& item : list->items) {
    std::string merge = item.text;
    if (item.items.size() == 2) {
      merge = item.items[0].text + " " + item.items[1].text;
    }
    if (std::ranges::count(merge, ' ') != 1) return std::nullopt;
    merges.push_back(std::move(merge));
  }
  return merges;
}

// Whether a text begins with a token by its template.
bool begins_with_token(const JsonValue& tokenizer) {
  const JsonValue* post = tokenizer.find_given("post_processor");
  if (post == nullptr) return false;
  for (const JsonValue* part : elements_of(*post, "processors")) {
    const JsonValue* single = part->find("single");
    if (single != nullptr && !single->items.empty() &&
        single->items[0].find("SpecialToken") != nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace

void add_ggml_vocabulary(const gguf::File& file, gguf::Writer& writer) {
  const gguf::Entry* json = file.find("tokenizer.huggingface.json");
  if (json == nullptr || json->type != gguf::ValueType::kString ||
      file.find("tokenizer.ggml.model") != nullptr) {
    return;
  }
  JsonValue tokenizer;
  try {
    tokenizer =
        parse_json(*file.find_string(json->key), json->key, kMaxJsonDepth);
  } catch (const Error&) {
    return;  // which loading the model reports
  }
  const JsonValue* model = tokenizer.find("model");
  if (model == nullptr || !is_byte_level(*model)) return;
  const NamedCut* cut = find_cut(tokenizer, *model);
  auto tokens = read_tokens(tokenizer, *model);
  const auto merges = read_merges(*model);
  if (cut == nullptr || !tokens || !merges || merges->empty()) return;
  if (const auto architecture = file.find_string("general.architecture")) {
    const auto rows = file.find_int(cat(*architecture, ".vocab_size"));
    if (rows && *rows <= kMaxGgmlTokens) tokens->fill(*rows);
  }
  writer.add("tokenizer.ggml.model", "gpt2");
  writer.add("tokenizer.ggml.pre", cut->pre);
  writer.add_strings("tokenizer.ggml.tokens", tokens->texts);
  writer.add_array("tokenizer.ggml.token_type", tokens->types);
  writer.add_strings("tokenizer.ggml.merges", *merges);
  constexpr const char* kAddBos = "tokenizer.ggml.add_bos_token";
  if (file.find(kAddBos) == nullptr) {
    writer.add(kAddBos, begins_with_token(tokenizer));
  }
}

}  // namespace rc
