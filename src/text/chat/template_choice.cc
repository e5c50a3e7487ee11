#include "text/chat/template_choice.h"

#include "base/error.h"
#include "base/quote.h"
#include "text/chat/known_templates.h"

namespace rc::text::chat {
namespace {

constexpr std::string_view kKey = "tokenizer.chat_template";
constexpr std::string_view kDefault = "default";

}  // namespace

FileTemplates::FileTemplates(const gguf::File& file,
                             std::shared_ptr<const Tokenizer> tokenizer)
    : file_name_(file.name()), tokenizer_(std::move(tokenizer)) {
  for (const gguf::Entry& entry : file.entries()) {
    if (entry.type != gguf::ValueType::kString ||
        entry.key.substr(0, kKey.size()) != kKey) {
      continue;
    }
    std::string_view name = entry.key.substr(kKey.size());
    if (name.empty()) {
      name = kDefault;
    } else if (name[0] == '.') {
      name.remove_prefix(1);
    } else {
      continue;
    }
    variants_.push_back(
        {std::string(name), std::string(*file.find_string(entry.key))});
  }
}

const FileTemplates::Variant* FileTemplates::find(std::string_view name) const {
  for (const Variant& variant : variants_) {
    if (variant.name == name) return &variant;
  }
  return nullptr;
}

std::string FileTemplates::names() const {
  std::string names;
  const auto add = [&](std::string_view name) {
    if (!names.empty()) names += ", ";
    names += name;
  };
  for (const Variant& variant : variants_) add(quote(variant.name));
  for (const KnownTemplate& known : known_templates()) add(known.name);
  return names;
}

FileTemplates::Choice FileTemplates::choose(std::string_view source,
                                            std::string_view name,
                                            bool with_tools) const {
  if (!source.empty()) {
    return {"given", ChatTemplate::create(source, tokenizer_)};
  }
  const Variant* variant = nullptr;
  if (!name.empty()) {
    variant = find(name);
    if (variant == nullptr) {
      const std::string_view known = known_template(name);
      if (known.empty()) {
        fail(RC_E_NOT_FOUND, file_name_, ": no chat template ", quote(name),
             "; there are ", names());
      }
      return {std::string(name), ChatTemplate::create(known, tokenizer_)};
    }
  } else {
    if (with_tools) variant = find("tool_use");
    if (variant == nullptr) variant = find(kDefault);
    if (variant == nullptr) {
      fail(RC_E_NOT_FOUND, file_name_, ": the file has no ", kKey,
           "; give a template, or the name of one of ", names());
    }
  }
  const std::lock_guard lock(mutex_);
  if (variant->parsed == nullptr) {
    variant->parsed = ChatTemplate::create(variant->source, tokenizer_);
  }
  return {variant->name, variant->parsed};
}

}  // namespace rc::text::chat
