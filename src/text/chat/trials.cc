#include "text/chat/trials.h"

#include "base/error.h"
#include "text/chat/containers.h"
#include "text/chat/conversation.h"
#include "text/chat/from_json.h"

namespace rc::text::chat {
namespace {

std::string call_text(const std::string& id, const std::string& arguments) {
  return cat(R"({"id": ")", id,
             R"(", "type": "function", "function": {"name": "look",)"
             R"( "arguments": )",
             arguments, "}}");
}

std::string result_text(const std::string& id) {
  return cat(R"({"role": "tool", "tool_call_id": ")", id,
             R"(", "name": "look", "content": "seen"})");
}

}  // namespace

Trials::Trials(const Template& chat,
               const std::vector<std::pair<Value, Value>>& special,
               std::function<bool()> should_stop)
    : chat_(chat), special_(special), should_stop_(std::move(should_stop)) {}

std::optional<std::string> Trials::prompt(const std::string& messages) const {
  auto text = prompt(messages, Value::none());
  if (text) return text;
  // Some templates are for conversations with tools alone.
  static const JsonValue kTools = parse_argument(
      R"([{"type": "function", "function": {"name": "look", "description":)"
      R"( "Looks.", "parameters": {"type": "object", "properties": {},)"
      R"( "required": []}}}])",
      "tools");
  return prompt(messages, from_json(kTools, Origin::kContent));
}

bool Trials::shows_content(const std::string& content) const {
  const auto text =
      prompt(cat(R"([{"role": "user", "content": )", content, "}]"));
  // Parts that are printed as they are show the names of their members.
  return text && text->find(kNeedle) != std::string::npos &&
         text->find("'text'") == std::string::npos &&
         text->find("\"text\"") == std::string::npos;
}

bool Trials::shows_system() const {
  const auto text = prompt(cat(R"([{"role": "system", "content": ")", kNeedle,
                               R"("}, {"role": "user", "content": "Hi"}])"));
  return text && text->find(kNeedle) != std::string::npos;
}

std::optional<std::string> Trials::prompt(const std::string& messages,
                                          Value tools) const {
  std::vector<Dict::Entry> entries = special_;
  const auto add = [&](std::string_view name, Value value) {
    entries.emplace_back(Value::string(name, Origin::kTemplate),
                         std::move(value));
  };
  add("messages",
      from_json(parse_argument(messages, "messages"), Origin::kContent));
  add("tools", std::move(tools));
  add("add_generation_prompt", Value::boolean(true));
  RenderOptions options;
  options.now = LocalTime{};
  options.most_bytes = kMostTrialBytes;
  options.should_stop = should_stop_;
  try {
    return chat_.render(make_dict(nullptr, std::move(entries)), options).text;
  } catch (const Error& error) {
    if (error.status() == RC_E_OUT_OF_MEMORY ||
        error.status() == RC_E_CANCELLED) {
      throw;
    }
    return std::nullopt;
  }
}

std::optional<std::string> Trials::prompt_of_calls(const Calls& calls) const {
  const std::string other_id = "abcdef456";
  const bool two = !calls.other_arguments.empty();
  return prompt(cat(R"([{"role": "user", "content": "Hello"},)"
                    R"( {"role": "assistant", "content": )",
                    calls.content, calls.more, R"(, "tool_calls": [)",
                    call_text(calls.id, calls.arguments),
                    two ? cat(", ", call_text(other_id, calls.other_arguments))
                        : std::string(),
                    "]}, ", result_text(calls.id),
                    two ? cat(", ", result_text(other_id)) : std::string(),
                    "]"));
}

}  // namespace rc::text::chat
