#include "text/chat/dialect.h"

#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "text/chat/containers.h"
#include "text/chat/conversation.h"
#include "text/chat/from_json.h"

namespace rc::text::chat {
namespace {

// Occurs in no template.
constexpr std::string_view kNeedle = "needle_in_the_prompt";

bool is_word_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

class Trials {
 public:
  Trials(const Template& chat,
         const std::vector<std::pair<Value, Value>>& special)
      : chat_(chat), special_(special) {}

  // The prompt, or nothing if the template refuses the conversation, which is
  // JSON.
  std::optional<std::string> prompt(const std::string& messages) const {
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

  // `content`, as `arguments` below, is JSON.
  bool shows_content(const std::string& content) const {
    const auto text =
        prompt(cat(R"([{"role": "user", "content": )", content, "}]"));
    // Parts that are printed as they are show the names of their members.
    return text && text->find(kNeedle) != std::string::npos &&
           text->find("'text'") == std::string::npos &&
           text->find("\"text\"") == std::string::npos;
  }

  bool shows_system() const {
    const auto text = prompt(cat(R"([{"role": "system", "content": ")", kNeedle,
                                 R"("}, {"role": "user", "content": "Hi"}])"));
    return text && text->find(kNeedle) != std::string::npos;
  }

  std::optional<std::string> prompt(const std::string& messages,
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
    try {
      return chat_.render(make_dict(nullptr, std::move(entries)), options).text;
    } catch (const Error& error) {
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      return std::nullopt;
    }
  }

  struct Calls {
    std::string arguments;  // as JSON, as the members below
    std::string content = "null";
    std::string id = "abcdef123";
    std::string other_arguments = {};  // of a second call; "": there is none
    std::string more = {};             // members of the message
  };

  std::optional<std::string> prompt_of_calls(const Calls& calls) const {
    const std::string other_id = "abcdef456";
    const bool two = !calls.other_arguments.empty();
    return prompt(cat(
        R"([{"role": "user", "content": "Hello"},)"
        R"( {"role": "assistant", "content": )",
        calls.content, calls.more, R"(, "tool_calls": [)",
        call(calls.id, calls.arguments),
        two ? cat(", ", call(other_id, calls.other_arguments)) : std::string(),
        "]}, ", result(calls.id),
        two ? cat(", ", result(other_id)) : std::string(), "]"));
  }

 private:
  static std::string call(const std::string& id, const std::string& arguments) {
    return cat(R"({"id": ")", id,
               R"(", "type": "function", "function": {"name": "look",)"
               R"( "arguments": )",
               arguments, "}}");
  }
  static std::string result(const std::string& id) {
    return cat(R"({"role": "tool", "tool_call_id": ")", id,
               R"(", "name": "look", "content": "seen"})");
  }

  const Template& chat_;
  const std::vector<std::pair<Value, Value>>& special_;
};

Dialect::Content find_content(const Trials& trials) {
  const std::string text = cat('"', kNeedle, '"');
  if (!trials.shows_content(cat(R"([{"type": "text", "text": )", text, "}]"))) {
    return Dialect::Content::kText;
  }
  return trials.shows_content(text) ? Dialect::Content::kEither
                                    : Dialect::Content::kParts;
}

// Arguments with a word, as an object or as a text.
std::string trial_arguments(std::string_view word, bool as_text) {
  return as_text ? cat(R"("{\")", word, R"(\": 1}")")
                 : cat(R"({")", word, R"(": 1})");
}

// False: the template shows no call.
bool find_form_of_calls(const Trials& trials, Dialect* dialect) {
  const std::string python = cat("'", kNeedle, "'");
  const auto shows = [&](const std::optional<std::string>& text) {
    // Within single quotes the object was printed as Python does.
    return text && text->find(kNeedle) != std::string::npos &&
           text->find(python) == std::string::npos;
  };
  for (const bool empty : {false, true}) {
    for (const bool as_text : {false, true}) {
      const auto text = trials.prompt_of_calls(
          {.arguments = trial_arguments(kNeedle, as_text),
           .content = empty ? R"("")" : "null"});
      // An absent content must not be printed as Python's None.
      if (!shows(text) || (!empty && text->find("None") != std::string::npos)) {
        continue;
      }
      dialect->arguments_as_text = as_text;
      dialect->empty_content = empty;
      return true;
    }
  }
  return false;
}

// What the template refuses of calls, of which it shows one.
void find_limits_of_calls(const Trials& trials, Dialect* dialect) {
  const bool as_text = dialect->arguments_as_text;
  Trials::Calls plain;
  plain.arguments = trial_arguments("first", as_text);
  if (dialect->empty_content) plain.content = R"("")";
  Trials::Calls two = plain;
  two.other_arguments = trial_arguments(kNeedle, as_text);
  const auto both = trials.prompt_of_calls(two);
  dialect->one_call = !both || both->find(kNeedle) == std::string::npos;
  Trials::Calls odd_id = plain;
  odd_id.id = "call_1";
  dialect->short_ids = !trials.prompt_of_calls(odd_id);
  if (dialect->reasoning_key.empty()) return;
  Trials::Calls thought = plain;
  thought.content = R"("Text")";
  if (!trials.prompt_of_calls(thought)) return;
  thought.more = cat(R"(, ")", dialect->reasoning_key, R"(": "Thought")");
  dialect->text_is_reasoning = !trials.prompt_of_calls(thought);
}

}  // namespace

bool names_word(std::string_view source, std::string_view word) {
  for (size_t at = source.find(word); at != std::string_view::npos;
       at = source.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_character(source[at - 1])) &&
        (end == source.size() || !is_word_character(source[end]))) {
      return true;
    }
  }
  return false;
}

Dialect find_dialect(const Template& chat, std::string_view source,
                     const std::vector<std::pair<Value, Value>>& special) {
  Dialect dialect;
  const Trials trials(chat, special);
  dialect.content = find_content(trials);
  dialect.knows_developer = names_word(source, "developer");
  dialect.knows_tools = names_word(source, "tools");
  if (!dialect.knows_tools) dialect.takes_system = trials.shows_system();
  for (const std::string_view key :
       {"reasoning_content", "thinking", "reasoning"}) {
    if (!names_word(source, key)) continue;
    dialect.reasoning_key = key;
    break;
  }
  dialect.knows_calls = names_word(source, "tool_calls");
  if (!dialect.knows_calls) {
    // An absent content of a message with calls must not be printed.
    dialect.empty_content = true;
  } else if (find_form_of_calls(trials, &dialect)) {
    find_limits_of_calls(trials, &dialect);
  }
  return dialect;
}

}  // namespace rc::text::chat
