// Tables of templates with the errors or the texts that they give.
#pragma once

#include <utility>
#include <vector>

#include "text/chat/chat_util.h"

namespace rc::text::chat {

using TextPairs = std::vector<std::pair<const char*, const char*>>;

// Expects of each template an error with this part and a place.
inline void expect_errors(const TextPairs& cases) {
  for (const auto& [source, part] : cases) {
    const std::string error = error_of(source);
    EXPECT_NE(error.find(part), std::string::npos)
        << source << " gives " << error;
    EXPECT_NE(error.find("line 1, column "), std::string::npos) << error;
  }
}

// Expects of each template this text.
inline void expect_texts(const TextPairs& cases) {
  for (const auto& [source, text] : cases) {
    EXPECT_EQ(text_of(source, nlohmann::ordered_json::object()), text)
        << source;
  }
}

}  // namespace rc::text::chat
