#include "files/ggml/vocabulary.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/json_value.h"
#include "base/log.h"
#include "base/quote.h"
#include "files/ggml/description.h"

namespace rc {
namespace {

using ggml::Description;

constexpr size_t kMaxJsonDepth = 64;

// The tokens that a text begins and ends with by the post-processor.
struct Ends {
  std::optional<int64_t> first;
  std::optional<int64_t> last;
};

// Of ["[CLS]", 2].
std::optional<int64_t> second_of(const JsonValue& step, std::string_view name) {
  const JsonValue* pair = step.find(name);
  if (pair == nullptr || pair->items.size() != 2) return std::nullopt;
  return ggml::number_of(&pair->items[1]);
}

// Of an element of a template that is a special token.
std::optional<int64_t> id_of(const JsonValue& step, const JsonValue& element) {
  const JsonValue* special = element.find("SpecialToken");
  const JsonValue* known = step.find("special_tokens");
  if (special == nullptr || known == nullptr) return std::nullopt;
  const JsonValue* token = known->find(ggml::text_in(*special, "id"));
  const JsonValue* ids = token == nullptr ? nullptr : token->find("ids");
  if (ids == nullptr || ids->items.empty()) return std::nullopt;
  return ggml::number_of(&ids->items[0]);
}

Ends ends_of(const JsonValue& tokenizer) {
  Ends ends;
  for (const JsonValue* step : ggml::elements_of(
           tokenizer.find_given("post_processor"), "processors")) {
    const std::string_view type = ggml::text_in(*step, "type");
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      ends = {second_of(*step, "cls"), second_of(*step, "sep")};
    }
    const JsonValue* single = step->find("single");
    if (single == nullptr || single->items.empty()) continue;
    ends = {id_of(*step, single->items.front()),
            id_of(*step, single->items.back())};
  }
  return ends;
}

Description describe(const JsonValue& tokenizer) {
  const JsonValue* model = tokenizer.find("model");
  if (model == nullptr) fail(RC_E_UNSUPPORTED, "it has no model");
  const std::string_view type = ggml::text_in(*model, "type");
  if (type == "WordPiece") return ggml::describe_wordpiece(tokenizer, *model);
  if (type == "Unigram") return ggml::describe_unigram(tokenizer, *model);
  if (type != "BPE") fail(RC_E_UNSUPPORTED, "its model is ", quote(type));
  return ggml::flag_in(*model, "byte_fallback")
             ? ggml::describe_pieces(tokenizer, *model)
             : ggml::describe_byte_level(tokenizer, *model);
}

// Some readers end the process where two tokens have one text.
void check_texts(const Description& description) {
  std::unordered_set<std::string_view> texts;
  for (const std::string& text : description.tokens) {
    if (!texts.insert(text).second) {
      fail(RC_E_UNSUPPORTED, "two of its tokens would be ", quote(text));
    }
  }
}

class Keys {
 public:
  Keys(const gguf::File& file, gguf::Writer& writer)
      : file_(file), writer_(writer) {}

  void write(const Description& description) {
    writer_.add("tokenizer.ggml.model", description.model);
    writer_.add("tokenizer.ggml.pre", description.pre);
    writer_.add_strings("tokenizer.ggml.tokens", description.tokens);
    std::vector<int32_t> types;
    for (const ggml::TokenType type : description.types) {
      types.push_back(static_cast<int32_t>(type));
    }
    writer_.add_array("tokenizer.ggml.token_type", types);
    if (!description.scores.empty()) {
      writer_.add_array("tokenizer.ggml.scores", description.scores);
    }
    if (!description.merges.empty()) {
      writer_.add_strings("tokenizer.ggml.merges", description.merges);
    }
    if (!description.charsmap.empty()) {
      writer_.add_array("tokenizer.ggml.precompiled_charsmap",
                        std::span(reinterpret_cast<const uint8_t*>(
                                      description.charsmap.data()),
                                  description.charsmap.size()));
    }
    add_flag("add_space_prefix", description.add_space_prefix);
    add_flag("remove_extra_whitespaces", description.remove_extra_whitespaces);
    add_flag("normalizer.lowercase", description.lowercase);
    add_flag("normalizer.strip_accents", description.strip_accents);
    add_id("unknown_token_id", description.unknown);
  }

  // False where the file names other tokens.
  bool write(const Ends& ends, bool is_bert) {
    bool same = add_end("bos_token_id", "add_bos_token", ends.first);
    if (is_bert) {
      add_id("cls_token_id", ends.first);
      add_id("seperator_token_id", ends.last);
    }
    return add_end("eos_token_id", "add_eos_token", ends.last) && same;
  }

 private:
  static std::string key_of(std::string_view name) {
    return cat("tokenizer.ggml.", name);
  }
  bool has(std::string_view name) const {
    return file_.find(key_of(name)) != nullptr;
  }
  void add_flag(std::string_view name, std::optional<bool> value) {
    if (value && !has(name)) writer_.add(key_of(name), *value);
  }
  void add_id(std::string_view name, std::optional<int64_t> id) {
    if (id && *id >= 0 && *id <= INT32_MAX && !has(name)) {
      writer_.add(key_of(name), static_cast<uint32_t>(*id));
    }
  }
  bool add_end(std::string_view name, std::string_view flag,
               std::optional<int64_t> id) {
    add_id(name, id);
    const bool same = !id || !has(name) || file_.find_int(key_of(name)) == id;
    add_flag(flag, id && same);
    return same;
  }

  const gguf::File& file_;
  gguf::Writer& writer_;
};

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
  Description description;
  try {
    description = describe(tokenizer);
    if (const auto architecture = file.find_string("general.architecture")) {
      const auto rows = file.find_int(cat(*architecture, ".vocab_size"));
      description.fill(rows.value_or(0));
    }
    if (!description.scores.empty()) {
      description.scores.resize(description.tokens.size());
    }
    check_texts(description);
  } catch (const Error& error) {
    log(RC_LOG_WARNING, file.name(),
        ": its tokenizer is written as tokenizer.huggingface.json alone, for "
        "tokenizer.ggml.* cannot say what it does: ",
        error.message());
    return;
  }
  Keys keys(file, writer);
  keys.write(description);
  if (!keys.write(ends_of(tokenizer), description.model == "bert")) {
    description.differences.push_back("the tokens around a text");
  }
  for (const std::string& difference : description.differences) {
    log(RC_LOG_WARNING, file.name(),
        ": by tokenizer.ggml.* other programs may find other tokens in ",
        difference);
  }
}

}  // namespace rc
