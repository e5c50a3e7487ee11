#include "text/chat/calls_as_content.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "text/chat/loose_json.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

// A value as Python writes it, but for strings, which are those of JSON.
std::string python_text(const JsonValue& root) {
  // The rest to be written: a value, or a text if there is none.
  struct Part {
    const JsonValue* value;
    std::string text;
  };
  std::string out;
  std::vector<Part> left = {{&root, ""}};
  while (!left.empty()) {
    const Part part = std::move(left.back());
    left.pop_back();
    if (part.value == nullptr) {
      out += part.text;
      continue;
    }
    const JsonValue& value = *part.value;
    switch (value.type) {
      case Type::kNull:
        out += "None";
        break;
      case Type::kFalse:
        out += "False";
        break;
      case Type::kTrue:
        out += "True";
        break;
      case Type::kNumber:
        out += value.text;
        break;
      case Type::kString:
        out += json_text(std::string_view(value.text));
        break;
      case Type::kArray:
        out += '[';
        left.push_back({nullptr, "]"});
        for (size_t i = value.items.size(); i-- > 0;) {
          left.push_back({&value.items[i], ""});
          if (i > 0) left.push_back({nullptr, ", "});
        }
        break;
      case Type::kObject:
        out += '{';
        left.push_back({nullptr, "}"});
        for (size_t i = value.members.size(); i-- > 0;) {
          const auto& [name, member] = value.members[i];
          left.push_back({&member, ""});
          left.push_back(
              {nullptr, cat(i > 0 ? ", " : "",
                            json_text(std::string_view(name)), ": ")});
        }
        break;
    }
  }
  return out;
}

// The arguments of a function as JSON.
std::string arguments_text(const JsonValue& function) {
  const JsonValue* arguments = function.find_given("arguments");
  if (arguments == nullptr) return "{}";
  if (arguments->is(Type::kObject)) return json_text(*arguments);
  return arguments->text.empty() ? "{}" : arguments->text;
}

std::string object_call(const JsonValue& function, const ReplyFormat& format) {
  const std::string name =
      json_text(std::string_view(function.find("name")->text));
  const std::string arguments = arguments_text(function);
  if (format.name_key.empty()) return cat("{", name, ": ", arguments, "}");
  return cat("{", json_text(format.name_key), ": ", name, ", ",
             json_text(format.arguments_key), ": ", arguments, "}");
}

std::string python_call(const JsonValue& function) {
  const std::optional<JsonValue> arguments =
      read_loose_json(arguments_text(function));
  std::string call = function.find("name")->text + "(";
  if (arguments) {
    for (const auto& [name, value] : arguments->members) {
      if (call.back() != '(') call += ", ";
      call += cat(name, "=", python_text(value));
    }
  }
  return call + ")";
}

}  // namespace

bool may_be_content(const ReplyFormat& format) {
  return format.shape == CallShape::kObjects ||
         (format.shape == CallShape::kPython && !format.raw_strings);
}

Text with_calls(std::string_view content, const JsonValue& calls,
                const ReplyFormat& format) {
  constexpr std::string_view kPythonEnd = ")";
  const bool python = format.shape == CallShape::kPython;
  // Calls stand together between the marks, or each has its own.
  const bool together = python || format.written.array;
  std::string_view end = format.written.end;
  if (python) end.remove_prefix(kPythonEnd.size());
  Text text(content, Origin::kContent);
  for (size_t i = 0; i < calls.items.size(); ++i) {
    const JsonValue& function = *calls.items[i].find("function");
    if (i > 0 && together) {
      text.append(", ", Origin::kTemplate);
    } else {
      if (!text.empty()) text.append("\n", Origin::kTemplate);
      text.append(format.written.begin, Origin::kTemplate);
      if (format.written.array) text.append("[", Origin::kTemplate);
    }
    text.append(python ? python_call(function) : object_call(function, format),
                Origin::kContent);
    if (together && i + 1 < calls.items.size()) continue;
    if (format.written.array) text.append("]", Origin::kTemplate);
    text.append(end, Origin::kTemplate);
  }
  return text;
}

}  // namespace rc::text::chat
