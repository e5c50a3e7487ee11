#include "hub/choice.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/quote.h"

namespace rc::hub {
namespace {

constexpr size_t kMostListed = 40;

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return upper;
}

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

std::string_view base_name(std::string_view name) {
  return name.substr(name.rfind('/') + 1);  // npos + 1 is 0
}

// A part of a file that was split, "NAME-00002-of-00005.gguf".
struct Part {
  std::string whole;  // the name without the numbers
  uint32_t number = 0;
  uint32_t count = 0;
};

std::optional<Part> part_of_gguf(std::string_view name) {
  constexpr std::string_view kSuffix = ".gguf";
  constexpr size_t kTail = std::string_view("-00001-of-00005").size();
  if (!name.ends_with(kSuffix) || name.size() <= kTail + kSuffix.size()) {
    return std::nullopt;
  }
  name.remove_suffix(kSuffix.size());
  const std::string_view tail = name.substr(name.size() - kTail);
  const auto number = [](std::string_view digits, uint32_t* value) {
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, *value);
    return error == std::errc() && rest == end;
  };
  Part part;
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" ||
      !number(tail.substr(1, 5), &part.number) ||
      !number(tail.substr(10, 5), &part.count)) {
    return std::nullopt;
  }
  part.whole = std::string(name.substr(0, name.size() - kTail));
  return part;
}

// A GGUF file, or all parts of one.
struct GgufModel {
  std::vector<const RepositoryFile*> files;  // by number
  uint32_t parts = 1;

  uint64_t size() const {
    uint64_t sum = 0;
    for (const RepositoryFile* file : files) sum += file->size;
    return sum;
  }
};

std::vector<GgufModel> gguf_models(std::span<const RepositoryFile> files) {
  std::map<std::string, GgufModel> models;
  for (const RepositoryFile& file : files) {
    if (!file.name.ends_with(".gguf")) continue;
    const std::optional<Part> part = part_of_gguf(file.name);
    GgufModel& model =
        models[part ? cat(part->whole, "-of-", part->count) : file.name];
    model.files.push_back(&file);
    if (part) model.parts = part->count;
  }
  std::vector<GgufModel> list;
  for (auto& [name, model] : models) {
    std::sort(model.files.begin(), model.files.end(),
              [](const auto* a, const auto* b) { return a->name < b->name; });
    list.push_back(std::move(model));
  }
  return list;
}

// Whether a name holds the name of a quantization: "Q4_K" is in "m-Q4_K.gguf"
// and "Q4_K/m.gguf", not in "m-Q4_K_M.gguf" nor "m-IQ4_K.gguf".
bool names_quantization(std::string_view name, const std::string& wanted) {
  const std::string upper = upper_case(name);
  for (size_t at = upper.find(wanted); at != upper.npos;
       at = upper.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    const bool begins = at == 0 || !is_alphanumeric(upper[at - 1]);
    const bool ends = end == upper.size() ||
                      (!is_alphanumeric(upper[end]) && upper[end] != '_');
    if (begins && ends) return true;
  }
  return false;
}

// A part of models that see, not a model by itself.
bool is_projector(const GgufModel& model) {
  return upper_case(base_name(model.files.front()->name)).starts_with("MMPROJ");
}

std::string listed(const std::vector<GgufModel>& models) {
  std::string text;
  for (size_t i = 0; i < models.size() && i < kMostListed; ++i) {
    text += cat(i == 0 ? "" : ", ", quote(models[i].files.front()->name),
                models[i].parts > 1 ? cat(" and its other parts") : "", " (",
                models[i].size(), " bytes)");
  }
  if (models.size() > kMostListed) {
    text += cat(" and ", models.size() - kMostListed, " more");
  }
  return text;
}

Choice take(const GgufModel& model, std::string_view place) {
  if (model.files.size() != model.parts) {
    fail(RC_E_NOT_FOUND, place, ": ", model.files.size(), " of the ",
         model.parts, " parts of ", quote(model.files.front()->name),
         " are there");
  }
  Choice choice;
  for (const RepositoryFile* file : model.files) {
    choice.files.push_back(file->name);
  }
  choice.main = choice.files.front();
  return choice;
}

Choice choose_named(std::span<const RepositoryFile> files,
                    const std::vector<GgufModel>& models,
                    const Reference& reference, std::string_view place) {
  const auto is_it = [&](const RepositoryFile& file) {
    return file.name == reference.file;
  };
  const auto found = std::find_if(files.begin(), files.end(), is_it);
  if (found != files.end()) {
    for (const GgufModel& model : models) {
      if (model.parts > 1 && std::find(model.files.begin(), model.files.end(),
                                       &*found) != model.files.end()) {
        return take(model, place);
      }
    }
    return {{found->name}, found->name};
  }
  std::vector<GgufModel> fitting;
  const std::string wanted = upper_case(reference.file);
  for (const GgufModel& model : models) {
    if (!is_projector(model) &&
        names_quantization(model.files.front()->name, wanted)) {
      fitting.push_back(model);
    }
  }
  if (fitting.size() == 1) return take(fitting.front(), place);
  if (fitting.size() > 1) {
    fail(RC_E_INVALID_ARGUMENT, place, ": ", quote(reference.file),
         " fits several files; name one: ", listed(fitting));
  }
  fail(RC_E_NOT_FOUND, place, ": there is no file and no quantization ",
       quote(reference.file),
       models.empty() ? "" : cat("; there are: ", listed(models)));
}

// Whether a file belongs to a folder that Hugging Face's programs load.
bool belongs_to_folder(std::string_view name, bool only_model) {
  static constexpr std::string_view kNames[] = {
      "config.json",         "generation_config.json",
      "chat_template.jinja", "chat_template.json",
      "tokenizer.json",      "tokenizer_config.json",
      "tokenizer.model",     "special_tokens_map.json",
      "added_tokens.json",   "vocab.json",
      "vocab.txt",           "merges.txt",
      "spiece.model",        "sentencepiece.bpe.model"};
  if (std::find(std::begin(kNames), std::end(kNames), name) !=
      std::end(kNames)) {
    return true;
  }
  if (name.find('/') != name.npos) return false;
  if (only_model && !name.starts_with("model")) return false;
  return name.ends_with(".safetensors") ||
         name.ends_with(".safetensors.index.json");
}

Choice choose_folder(std::span<const RepositoryFile> files,
                     std::string_view place) {
  bool config = false;
  bool weights = false;
  bool model = false;  // the names by which such folders are loaded
  for (const RepositoryFile& file : files) {
    config = config || file.name == "config.json";
    const bool here = file.name.find('/') == file.name.npos &&
                      file.name.ends_with(".safetensors");
    weights = weights || here;
    model = model || (here && file.name.starts_with("model"));
  }
  if (!config || !weights) {
    fail(RC_E_NOT_FOUND, place, ": neither GGUF files are there nor ",
         config ? "weights as safetensors" : "a config.json",
         "; name a FILE if it is another one: hf:OWNER/NAME:FILE");
  }
  Choice choice;
  for (const RepositoryFile& file : files) {
    if (belongs_to_folder(file.name, model)) choice.files.push_back(file.name);
  }
  return choice;
}

}  // namespace

Choice choose_files(std::span<const RepositoryFile> files,
                    const Reference& reference, std::string_view place) {
  std::vector<GgufModel> models = gguf_models(files);
  if (!reference.file.empty()) {
    return choose_named(files, models, reference, place);
  }
  std::erase_if(models, is_projector);
  if (models.empty()) return choose_folder(files, place);
  if (models.size() == 1) return take(models.front(), place);
  fail(RC_E_INVALID_ARGUMENT, place,
       ": name one of its files or "
       "quantizations, as in ",
       reference.text(), ":Q4_K_M; there are: ", listed(models));
}

}  // namespace rc::hub
