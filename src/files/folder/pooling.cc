#include "files/folder/pooling.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"

namespace rc::folder {
namespace {

constexpr uint64_t kMaxModuleBytes = uint64_t{1} << 20;
constexpr size_t kModuleDepth = 16;

std::optional<Config> find_module(const std::shared_ptr<const OpenFile>& file) {
  if (file == nullptr) return std::nullopt;
  return Config::parse(Folder::read(*file, kMaxModuleBytes), file->path());
}

struct PoolingMode {
  const char* key;
  int64_t number;  // of pooling_type; 0: not known
};
constexpr PoolingMode kPoolingModes[] = {
    {"pooling_mode_mean_tokens", 1},
    {"pooling_mode_cls_token", 2},
    {"pooling_mode_lasttoken", 3},
    {"pooling_mode_max_tokens", 0},
    {"pooling_mode_mean_sqrt_len_tokens", 0},
    {"pooling_mode_weightedmean_tokens", 0}};

// nullopt: no mode is on.
std::optional<int64_t> pooling_type(const Config& config) {
  std::optional<int64_t> type;
  for (const auto& [key, number] : kPoolingModes) {
    if (!config.find_flag(key).value_or(false)) continue;
    if (number == 0 || type) {
      config.refuse(RC_E_UNSUPPORTED, key,
                    number == 0 ? " is true; rows are pooled by their mean, or "
                                  "as the first or the last of them"
                                : " is true besides another mode; rows are "
                                  "pooled in one way");
    }
    type = number;
  }
  return type;
}

// The last part of "sentence_transformers.models.Pooling".
std::string_view module_name(std::string_view type) {
  const size_t dot = type.rfind('.');
  return dot == type.npos ? type : type.substr(dot + 1);
}

// nullopt: there are no modules. Whether a module normalizes.
std::optional<bool> read_modules(Folder& folder) {
  const auto file = folder.find("modules.json");
  if (file == nullptr) return std::nullopt;
  const std::string text = Folder::read(*file, kMaxModuleBytes);
  JsonValue modules;
  try {
    modules = parse_json(text, file->path(), kModuleDepth);
  } catch (const Error& error) {
    fail(RC_E_FORMAT, error.message());
  }
  if (!modules.is(JsonValue::Type::kArray)) {
    fail(RC_E_FORMAT, file->path(), ": must be an array of modules");
  }
  bool normalizes = false;
  for (const JsonValue& module : modules.items) {
    const JsonValue* type = module.find("type");
    if (type == nullptr || !type->is(JsonValue::Type::kString)) {
      fail(RC_E_FORMAT, file->path(), ": a module has no type");
    }
    const std::string_view name = module_name(type->text);
    if (name == "Normalize") {
      normalizes = true;
    } else if (name != "Transformer" && name != "Pooling") {
      fail(RC_E_UNSUPPORTED, file->path(), ": the module ", quote(type->text),
           " changes embeddings in a way that is not known; known are "
           "Transformer, Pooling and Normalize");
    }
  }
  return normalizes;
}

void add_prompts(const Config& config, gguf::Writer& writer) {
  if (const auto prompts = config.find_object("prompts")) {
    for (const std::string& name : prompts->names()) {
      if (const auto prompt = prompts->find_text(name)) {
        writer.add("sentence_transformers.prompt." + name, *prompt);
      }
    }
  }
  if (const auto name = config.find_text("default_prompt_name")) {
    writer.add("sentence_transformers.default_prompt_name", *name);
  }
}

}  // namespace

bool classifies(const Config& config) {
  const auto names = config.find_texts("architectures");
  return names &&
         std::any_of(names->begin(), names->end(), [](const std::string& name) {
           return name.ends_with("ForSequenceClassification");
         });
}

bool add_pooling(const Config& config, Folder& folder, Description& model,
                 gguf::Writer& writer) {
  if (classifies(config)) {
    model.add_int("pooling_type", 4);
    return true;
  }
  const std::optional<bool> normalizes = read_modules(folder);
  std::optional<int64_t> type;
  const auto pooling = find_module(folder.find_in("1_Pooling", "config.json"));
  if (pooling) type = pooling_type(*pooling);
  if (type) model.add_int("pooling_type", *type);
  if (normalizes) {
    writer.add("sentence_transformers.normalize", *normalizes);
  }
  if (const auto about =
          find_module(folder.find("config_sentence_transformers.json"))) {
    add_prompts(*about, writer);
  }
  return type.has_value();
}

}  // namespace rc::folder
