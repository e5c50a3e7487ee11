// Renders chat templates for compare.py: a line of JSON in, a line out.
//
// In: {"template": ..., "variables": {...}, "now": [2024, 7, 26, 14, 5, 9]}; a
// line without a template uses the one before. Out: {"text": ...} or
// {"error": ...}.
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json_value.h"
#include "text/chat/from_json.h"
#include "text/chat/template.h"

namespace {

using nlohmann::ordered_json;
using rc::text::chat::Template;

rc::text::chat::RenderOptions options_of(const ordered_json& line) {
  rc::text::chat::RenderOptions options;
  if (line.contains("now")) {
    const auto& now = line["now"];
    options.now = {now[0], now[1], now[2], now[3], now[4], now[5]};
  }
  return options;
}

}  // namespace

int main() {
  std::optional<Template> chat;
  for (std::string text; std::getline(std::cin, text);) {
    ordered_json out;
    try {
      const auto line = ordered_json::parse(text);
      if (line.contains("template")) {
        chat.reset();
        chat = Template::parse(line["template"].get<std::string>());
      }
      if (!chat) rc::fail(RC_E_INVALID_ARGUMENT, "no template");
      const auto rendered = chat->render(
          rc::text::chat::from_json(
              rc::parse_json(line["variables"].dump(), "variables", 1000),
              rc::text::chat::Origin::kContent),
          options_of(line));
      out["text"] = rendered.text;
    } catch (const std::exception& error) {
      out["error"] = error.what();
    }
    std::cout << out.dump() << '\n';
  }
  return 0;
}
