// Which chat template a prompt is made with.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/gguf/file.h"
#include "text/chat/chat_template.h"

namespace rc::text::chat {

// The templates of a file: the metadata tokenizer.chat_template, whose name is
// "default", and its variants tokenizer.chat_template.NAME. Thread-safe;
// templates are parsed when they are first asked for, and kept.
class FileTemplates {
 public:
  FileTemplates(const gguf::File& file,
                std::shared_ptr<const Tokenizer> tokenizer);

  struct Choice {
    std::string name;  // of a variant, a well-known template, or "given"
    std::shared_ptr<const ChatTemplate> chat;
  };
  // By its source; else by its name, of a variant of the file or of one that
  // is well known (see known_templates.h); else the file's variant "tool_use"
  // if there are tools and the file has it; else the file's default. Throws
  // RC_E_NOT_FOUND if there is none, with the names there are, and what
  // ChatTemplate::create throws.
  Choice choose(std::string_view source, std::string_view name,
                bool with_tools) const;

 private:
  struct Variant {
    std::string name;
    std::string source;
    mutable std::shared_ptr<const ChatTemplate> parsed = {};
  };
  const Variant* find(std::string_view name) const;
  std::string names() const;

  std::string file_name_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<Variant> variants_;
  mutable std::mutex mutex_;  // of Variant::parsed
};

}  // namespace rc::text::chat
