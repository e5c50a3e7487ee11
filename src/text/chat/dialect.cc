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

// The most bytes that a template may write of the few words of a trial: several
// times the largest source.
constexpr size_t kMostTrialBytes = size_t{4} << 20;

class Trials {
 public:
  Trials(const Template& chat,
         const std::vector<std::pair<Value, Value>>& special)
      : chat_(chat), special_(special) {}

  // The prompt, or nothing if the template refuses the conversation, which is
  // JSON.
  std::optional<std::string> prompt(const std::string& messages) const {
    std::vector<Dict::Entry> entries = special_;
    const auto add = [&](std::string_view name, Value value) {
      entries.emplace_back(Value::string(name, Origin::kTemplate),
                           std::move(value));
    };
    add("messages",
        from_json(parse_argument(messages, "messages"), Origin::kContent));
    add("tools", Value::none());
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

  // `content`, as `arguments` below, is JSON.
  bool shows_content(const std::string& content) const {
    const auto text =
        prompt(cat(R"([{"role": "user", "content": )", content, "}]"));
    // Parts that are printed as they are show the names of their members.
    return text && text->find(kNeedle) != std::string::npos &&
           text->find("'text'") == std::string::npos &&
           text->find("\"text\"") == std::string::npos;
  }

  std::optional<std::string> prompt_of_call(const std::string& arguments,
                                            const std::string& content) const {
    return prompt(
        cat(R"([{"role": "user", "content": "Hello"},)"
            R"( {"role": "assistant", "content": )",
            content,
            R"(, "tool_calls": [{"id": "abcdef123", "type": "function",)"
            R"( "function": {"name": "look", "arguments": )",
            arguments,
            R"(}}]}, {"role": "tool", "tool_call_id": "abcdef123",)"
            R"( "name": "look", "content": "seen"}])"));
  }

 private:
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

void find_form_of_calls(const Trials& trials, Dialect* dialect) {
  const std::string object = cat(R"({")", kNeedle, R"(": 1})");
  const std::string object_as_text = cat(R"("{\")", kNeedle, R"(\": 1}")");
  const std::string python = cat("'", kNeedle, "'");
  const auto shows = [&](const std::optional<std::string>& text) {
    // Within single quotes the object was printed as Python does.
    return text && text->find(kNeedle) != std::string::npos &&
           text->find(python) == std::string::npos;
  };
  for (const bool empty : {false, true}) {
    for (const bool as_text : {false, true}) {
      const auto text = trials.prompt_of_call(as_text ? object_as_text : object,
                                              empty ? R"("")" : "null");
      // An absent content must not be printed as Python's None.
      if (!shows(text) || (!empty && text->find("None") != std::string::npos)) {
        continue;
      }
      dialect->arguments_as_text = as_text;
      dialect->empty_content = empty;
      return;
    }
  }
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
  if (names_word(source, "tool_calls")) find_form_of_calls(trials, &dialect);
  dialect.knows_developer = names_word(source, "developer");
  dialect.knows_tools = names_word(source, "tools");
  for (const std::string_view key :
       {"reasoning_content", "thinking", "reasoning"}) {
    if (!names_word(source, key)) continue;
    dialect.reasoning_key = key;
    break;
  }
  return dialect;
}

}  // namespace rc::text::chat
