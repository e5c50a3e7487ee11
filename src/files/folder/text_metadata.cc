#include "files/folder/text_metadata.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "base/folder.h"
#include "files/folder/piece_metadata.h"

namespace rc::folder {
namespace {

// The largest in use has 35 MB.
constexpr uint64_t kMaxTokenizerBytes = uint64_t{128} << 20;
constexpr uint64_t kMaxTextConfigBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxTemplateBytes = uint64_t{4} << 20;
constexpr size_t kMaxTemplates = 64;

std::optional<Config> find_config(Folder& folder, const std::string& name) {
  const auto file = folder.find(name);
  if (file == nullptr) return std::nullopt;
  return Config::parse(Folder::read(*file, kMaxTextConfigBytes), file->path());
}

uint32_t check_token(const Config& config, std::string_view key, int64_t id) {
  if (id < 0 || id > std::numeric_limits<int32_t>::max()) {
    config.refuse(RC_E_FORMAT, key, " is ", id, "; 0 to 2^31-1 are possible");
  }
  return static_cast<uint32_t>(id);
}

// Without -1, which stands for no token.
std::vector<uint32_t> known_ids(const Config& config, std::string_view key,
                                const std::vector<int64_t>& numbers) {
  std::vector<uint32_t> ids;
  for (const int64_t id : numbers) {
    if (id != -1) ids.push_back(check_token(config, key, id));
  }
  return ids;
}

// The special tokens of all files. The first file that names one decides.
class SpecialTokens {
 public:
  SpecialTokens(const Config& config, const std::optional<Config>& generation,
                const std::optional<Config>& tokenizer)
      : config_(config), generation_(generation), tokenizer_(tokenizer) {}

  // One or several numbers: "bos_token_id" for "bos".
  std::vector<uint32_t> ids(const std::string& token) const {
    const std::string key = token + "_token_id";
    if (generation_) {
      if (auto found = ids_of(*generation_, key); !found.empty()) return found;
    }
    if (auto found = ids_of(config_, key); !found.empty()) return found;
    if (!tokenizer_) return {};
    const auto found = id_of_text(*tokenizer_, token + "_token");
    if (!found) return {};
    return {*found};
  }

 private:
  static std::vector<uint32_t> ids_of(const Config& config,
                                      const std::string& key) {
    const JsonValue* value = config.find(key);
    if (value == nullptr) return {};
    const std::vector<int64_t> numbers = value->is(JsonValue::Type::kArray)
                                             ? *config.find_ints(key)
                                             : std::vector{config.get_int(key)};
    return known_ids(config, key, numbers);
  }

  // tokenizer_config.json has the token's text, and numbers with their texts.
  static std::optional<uint32_t> id_of_text(const Config& tokenizer,
                                            const std::string& key) {
    const JsonValue* token = tokenizer.find(key);
    if (token != nullptr && token->is(JsonValue::Type::kObject)) {
      token = token->find("content");
    }
    const JsonValue* added = tokenizer.find("added_tokens_decoder");
    if (token == nullptr || added == nullptr) return std::nullopt;
    for (const auto& [id, description] : added->members) {
      const JsonValue* text = description.find("content");
      if (text != nullptr && text->is(JsonValue::Type::kString) &&
          text->text == token->text) {
        int64_t number = -1;
        const auto [end, error] =
            std::from_chars(id.data(), id.data() + id.size(), number);
        if (error != std::errc() || end != id.data() + id.size()) number = -1;
        return check_token(tokenizer, "added_tokens_decoder", number);
      }
    }
    return std::nullopt;
  }

  const Config& config_;
  const std::optional<Config>& generation_;
  const std::optional<Config>& tokenizer_;
};

// `pieces` may say what nothing else says.
void add_special_tokens(const SpecialTokens& tokens,
                        const sentencepiece::Model& pieces,
                        gguf::Writer& writer) {
  const auto ids_of = [&](const char* token, int32_t otherwise) {
    std::vector<uint32_t> ids = tokens.ids(token);
    if (ids.empty() && otherwise >= 0) {
      ids.push_back(static_cast<uint32_t>(otherwise));
    }
    return ids;
  };
  const auto add_first = [&](const char* token, const char* key,
                             int32_t otherwise = -1) {
    const std::vector<uint32_t> ids = ids_of(token, otherwise);
    if (!ids.empty()) writer.add(key, ids.front());
  };
  add_first("bos", "tokenizer.ggml.bos_token_id", pieces.bos);
  add_first("unk", "tokenizer.ggml.unknown_token_id", pieces.unknown);
  add_first("pad", "tokenizer.ggml.padding_token_id", pieces.pad);
  add_first("sep", "tokenizer.ggml.seperator_token_id");
  add_first("cls", "tokenizer.ggml.cls_token_id");
  // Metadata has a key for each of three tokens that end a text, which every
  // program knows, and one for any number of them.
  constexpr const char* kEnds[] = {"tokenizer.ggml.eos_token_id",
                                   "tokenizer.ggml.eot_token_id",
                                   "tokenizer.ggml.eom_token_id"};
  const std::vector<uint32_t> ends = ids_of("eos", pieces.eos);
  for (size_t i = 0; i < ends.size() && i < std::size(kEnds); ++i) {
    writer.add(kEnds[i], ends[i]);
  }
  if (ends.size() > 1) writer.add_array("tokenizer.ggml.eos_token_ids", ends);
}

void add_suppressed_tokens(const Config& generation, gguf::Writer& writer) {
  constexpr const char* kKey = "suppress_tokens";
  const auto numbers = generation.find_ints(kKey);
  if (!numbers) return;
  const std::vector<uint32_t> ids = known_ids(generation, kKey, *numbers);
  // Other programs take no other type.
  const std::vector<int32_t> tokens(ids.begin(), ids.end());
  if (!tokens.empty())
    writer.add_array("tokenizer.ggml.suppress_tokens", tokens);
}

// Templates by name; "default" is that of chats without tools.
class Templates {
 public:
  explicit Templates(const std::string& path) : path_(path) {}

  // The first one of a name counts.
  void add(const std::string& name, std::string text) {
    if (name.empty() || name.size() > kMaxNameBytes ||
        name.find('\0') != std::string::npos || !is_utf8(name)) {
      fail(RC_E_FORMAT, path_, ": a chat template has the name ", quote(name),
           "; give it one of 1 to ", kMaxNameBytes, " bytes");
    }
    if (texts_.size() == kMaxTemplates) {
      fail(RC_E_FORMAT, path_, ": it has more than ", kMaxTemplates,
           " chat templates");
    }
    texts_.emplace(name, std::move(text));
  }

  // Those of tokenizer_config.json: one, or an array of them with names.
  void add_from(const Config& tokenizer) {
    const JsonValue* value = tokenizer.find("chat_template");
    if (value == nullptr) return;
    if (value->is(JsonValue::Type::kString)) return add("default", value->text);
    if (!value->is(JsonValue::Type::kArray)) {
      tokenizer.refuse(RC_E_FORMAT, "chat_template", " is ", type_name(*value),
                       ", neither a string nor an array");
    }
    for (const JsonValue& item : value->items) {
      const JsonValue* name = item.find("name");
      const JsonValue* text = item.find("template");
      if (name == nullptr || !name->is(JsonValue::Type::kString) ||
          text == nullptr || !text->is(JsonValue::Type::kString)) {
        tokenizer.refuse(RC_E_FORMAT, "chat_template",
                         " holds something without name and template");
      }
      add(name->text, text->text);
    }
  }

  void write(gguf::Writer& writer) const {
    std::vector<std::string> names;
    for (const auto& [name, text] : texts_) {
      if (name == "default") {
        writer.add("tokenizer.chat_template", text);
      } else {
        names.push_back(name);
        writer.add("tokenizer.chat_template." + name, text);
      }
    }
    if (!names.empty()) writer.add_strings("tokenizer.chat_templates", names);
  }

 private:
  static constexpr size_t kMaxNameBytes = 64;

  const std::string& path_;
  std::map<std::string, std::string> texts_;
};

// Files come before tokenizer_config.json.
void add_templates(Folder& folder, const std::optional<Config>& tokenizer,
                   gguf::Writer& writer) {
  Templates templates(folder.path());
  if (const auto chat = folder.find("chat_template.jinja")) {
    templates.add("default", Folder::read(*chat, kMaxTemplateBytes));
  }
  constexpr const char* kMore = "additional_chat_templates";
  constexpr std::string_view kEnding = ".jinja";
  if (is_folder(folder.path_of(kMore))) {
    for (const std::string& file : names_in_folder(folder.path_of(kMore))) {
      if (!file.ends_with(kEnding)) continue;
      const auto text = folder.find_in(kMore, file);
      if (text == nullptr) continue;
      templates.add(file.substr(0, file.size() - kEnding.size()),
                    Folder::read(*text, kMaxTemplateBytes));
    }
  }
  if (tokenizer) templates.add_from(*tokenizer);
  templates.write(writer);
}

}  // namespace

void add_text_metadata(const Config& config, Folder& folder,
                       gguf::Writer& writer) {
  const auto vocabulary = folder.find("tokenizer.json");
  const auto generation = find_config(folder, "generation_config.json");
  const auto tokenizer = find_config(folder, "tokenizer_config.json");
  if (vocabulary != nullptr) {
    writer.add("tokenizer.huggingface.json",
               Folder::read(*vocabulary, kMaxTokenizerBytes));
  }
  sentencepiece::Model special;
  if (vocabulary == nullptr) {
    if (auto pieces = find_pieces(folder)) {
      special.bos = pieces->bos;
      special.eos = pieces->eos;
      special.unknown = pieces->unknown;
      special.pad = pieces->pad;
      add_pieces(*std::move(pieces), config, tokenizer, folder, writer);
    }
  }
  add_special_tokens(SpecialTokens(config, generation, tokenizer), special,
                     writer);
  if (generation) add_suppressed_tokens(*generation, writer);
  if (tokenizer) {
    if (const auto bos = tokenizer->find_flag("add_bos_token")) {
      writer.add("tokenizer.ggml.add_bos_token", *bos);
    }
    if (const auto eos = tokenizer->find_flag("add_eos_token")) {
      writer.add("tokenizer.ggml.add_eos_token", *eos);
    }
  }
  add_templates(folder, tokenizer, writer);
}

}  // namespace rc::folder
