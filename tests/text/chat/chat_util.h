// Rendering chat templates in tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "test_data.h"
#include "text/chat/from_json.h"
#include "text/chat/template.h"

namespace rc::text::chat {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline nlohmann::ordered_json read_json(const std::filesystem::path& path) {
  return nlohmann::ordered_json::parse(read_text(path));
}

// The same as a tree of ours. What is no UTF-8 is replaced.
inline JsonValue tree_of(const nlohmann::ordered_json& json) {
  return parse_json(
      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
      "test", 1000);
}
inline Value from_json(const nlohmann::ordered_json& json, Origin origin) {
  return from_json(tree_of(json), origin);
}

// The checksum of zlib.
inline uint32_t crc32(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    }
  }
  return ~crc;
}

inline std::string repeated(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

// The time at which the recorded files were made.
inline RenderOptions recorded_time() {
  return {.now = LocalTime{2024, 7, 26, 14, 5, 9, 0}};
}

// Whether a template changes lists in place, which the sandbox of transformers
// refuses and we do not.
inline bool changes_lists(const std::string& source) {
  return source.find(".append(") != std::string::npos;
}

// The text, or "error: ..." with the message.
inline std::string text_of(const std::string& source,
                           const nlohmann::ordered_json& variables,
                           const Limits& limits = {}) {
  try {
    return Template::parse(source, limits)
        .render(from_json(variables, Origin::kContent), recorded_time())
        .text;
  } catch (const Error& error) {
    return "error: " + error.message();
  }
}

inline bool is_error(const std::string& text) {
  return text.starts_with("error: ");
}

// The error's message; fails if there is none.
inline std::string error_of(const std::string& source,
                            const Limits& limits = {}) {
  const std::string text =
      text_of(source, nlohmann::ordered_json::object(), limits);
  EXPECT_TRUE(is_error(text)) << source << " gives " << text.substr(0, 200);
  return text;
}

// The text with what is content in guillemets.
inline std::string marked(const Rendered& rendered) {
  std::string out;
  size_t at = 0;
  for (const Span& span : rendered.content) {
    out += rendered.text.substr(at, span.begin - at) + "«" +
           rendered.text.substr(span.begin, span.end - span.begin) + "»";
    at = span.end;
  }
  return out + rendered.text.substr(at);
}

}  // namespace rc::text::chat
