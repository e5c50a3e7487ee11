// Chat templates of well-known families, for files that have none.
#pragma once

#include <span>
#include <string_view>

namespace rc::text::chat {

struct KnownTemplate {
  std::string_view name;
  std::string_view source;
};

// In alphabetical order.
std::span<const KnownTemplate> known_templates();

// The source of a template by its name; "" if it is not known.
std::string_view known_template(std::string_view name);

}  // namespace rc::text::chat
