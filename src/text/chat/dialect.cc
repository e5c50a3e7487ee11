#include "text/chat/dialect.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "text/chat/trials.h"

namespace rc::text::chat {
namespace {

bool is_word_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

Dialect::Content find_content(const Trials& trials) {
  const std::string text = cat('"', Trials::kNeedle, '"');
  if (!trials.shows_content(cat(R"([{"type": "text", "text": )", text, "}]"))) {
    return Dialect::Content::kText;
  }
  return trials.shows_content(text) ? Dialect::Content::kEither
                                    : Dialect::Content::kParts;
}

Dialect::EmptyAnswer find_empty_answer(const Trials& trials,
                                       Dialect::Content content) {
  using EmptyAnswer = Dialect::EmptyAnswer;
  const auto takes = [&](std::string_view answer) {
    return trials
        .prompt(cat(R"([{"role": "user", "content": "Hello"},)"
                    R"( {"role": "assistant", "content": )",
                    answer, R"(}, {"role": "user", "content": "Hello"}])"))
        .has_value();
  };
  if (takes(R"("")") || !takes(R"("Text")")) return EmptyAnswer::kNothing;
  if (content != Dialect::Content::kText &&
      takes(R"([{"type": "text", "text": ""}])")) {
    return EmptyAnswer::kEmptyPart;
  }
  return takes(R"(" ")") ? EmptyAnswer::kSpace : EmptyAnswer::kNothing;
}

// Arguments with a word, as an object or as a text.
std::string trial_arguments(std::string_view word, bool as_text) {
  return as_text ? cat(R"("{\")", word, R"(\": 1}")")
                 : cat(R"({")", word, R"(": 1})");
}

// False: the template shows no call.
bool find_form_of_calls(const Trials& trials, Dialect* dialect) {
  const std::string python = cat("'", Trials::kNeedle, "'");
  const auto shows = [&](const std::optional<std::string>& text) {
    // Within single quotes the object was printed as Python does.
    return text && text->find(Trials::kNeedle) != std::string::npos &&
           text->find(python) == std::string::npos;
  };
  for (const bool empty : {false, true}) {
    for (const bool as_text : {false, true}) {
      const auto text = trials.prompt_of_calls(
          {.arguments = trial_arguments(Trials::kNeedle, as_text),
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

// Finds the calls that the template refuses, of which it shows one.
void find_limits_of_calls(const Trials& trials, Dialect* dialect) {
  const bool as_text = dialect->arguments_as_text;
  Trials::Calls plain;
  plain.arguments = trial_arguments("first", as_text);
  if (dialect->empty_content) plain.content = R"("")";
  Trials::Calls two = plain;
  two.other_arguments = trial_arguments(Trials::kNeedle, as_text);
  const auto both = trials.prompt_of_calls(two);
  dialect->one_call = !both || both->find(Trials::kNeedle) == std::string::npos;
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
  dialect.empty_answer = find_empty_answer(trials, dialect.content);
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
