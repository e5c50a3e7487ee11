// Tools, calls and results in prompts of templates that have no place for them.
#include "text/chat/tools_as_text.h"

#include <string>

#include "text/chat/derived_util.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

const char* const kSystemToo =
    "{% for m in messages %}{{ '<' + m.role + '>' + m.content + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
// As strict as templates are: no system message, and turns.
const char* const kTurns =
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0)"
    " %}{{ raise_exception('no turns') }}{% endif %}"
    "{{ '<' + m.role + '>' + m.content + '\n' }}{% endfor %}";

const char* const kDescription =
    "Functions can be called. Here is a JSON object for each, with the schema "
    "of its arguments:\n<tools>\n{\"name\":\"f\",\"parameters\":{\"type\":"
    "\"object\"}}\n</tools>\n\nTo call one, write its name and its arguments "
    "like this, several calls one after the other, and nothing after the last "
    "one:\n<tool_call>\n{\"name\": \"NAME\", \"arguments\": {\"KEY\": "
    "VALUE}}\n</tool_call>\n\nThe next message has the result of each call "
    "between <tool_response> and </tool_response>. Where no function is of "
    "use, answer without a call.";

Json one_tool() {
  return Json::parse(R"([{"type": "function", "function": {"name": "f",
                          "parameters": {"type": "object"}}}])");
}

std::string prompt(const char* source, const char* messages, bool with_tools) {
  const auto chat = ChatTemplate::create(source, tokenizer_with({"<s>"}));
  const Json tools = one_tool();
  return render(*chat, Json::parse(messages), with_tools ? &tools : nullptr, {})
      .text;
}

TEST(ToolsAsText, AreDescribedInTheSystemMessage) {
  const std::string description = kDescription;
  EXPECT_EQ(prompt(kSystemToo, R"([{"role": "user", "content": "Hi"}])", true),
            "<system>" + description + "\n<user>Hi\n<assistant>");
  EXPECT_EQ(prompt(kSystemToo,
                   R"([{"role": "system", "content": "Be brief."},
                       {"role": "user", "content": "Hi"}])",
                   true),
            "<system>Be brief.\n\n" + description + "\n<user>Hi\n<assistant>");
  EXPECT_EQ(prompt(kSystemToo, R"([{"role": "user", "content": "Hi"}])", false),
            "<user>Hi\n<assistant>");
}

TEST(ToolsAsText, AreDescribedInAUserMessageWithoutASystemRole) {
  EXPECT_EQ(prompt(kTurns, R"([{"role": "user", "content": "Hi"}])", true),
            "<user>" + std::string(kDescription) + "\n\nHi\n");
}

const char* const kConversation = R"([
  {"role": "user", "content": "Hi"},
  {"role": "assistant", "content": "Well.", "tool_calls": [
    {"id": "1", "type": "function",
     "function": {"name": "f", "arguments": "{\"a\": 1e400}"}},
    {"id": "2", "type": "function",
     "function": {"name": "g", "arguments": {}}}]},
  {"role": "tool", "tool_call_id": "1", "content": "one"},
  {"role": "tool", "tool_call_id": "2",
   "content": [{"type": "text", "text": "two"}]},
  {"role": "user", "content": "And?"}])";
const char* const kWrittenPrompt =
    "<user>Hi\n<assistant>Well.\n<tool_call>\n{\"name\": \"f\", "
    "\"arguments\": {\"a\": 1e400}}\n</tool_call>\n<tool_call>\n{\"name\": "
    "\"g\", \"arguments\": {}}\n</tool_call>\n<user><tool_response>\none\n"
    "</tool_response>\n<tool_response>\ntwo\n</tool_response>\n\nAnd?\n";

// Also of a conversation whose tools are not offered any more.
TEST(ToolsAsText, CallsAndResultsAlternate) {
  EXPECT_EQ(prompt(kTurns, kConversation, false), kWrittenPrompt);
  EXPECT_EQ(prompt(kTurns, kConversation, true),
            "<user>" + std::string(kDescription) + "\n\n" +
                std::string(kWrittenPrompt).substr(6));
}

// Errors name the place that a message has in the caller's list.
TEST(ToolsAsText, ErrorsNameTheCallersMessage) {
  EXPECT_NE(message_of([] {
              prompt(kSystemToo,
                     R"([{"role": "user", "content": "Hi"},
                         {"role": "user", "content": 7}])",
                     true);
            }).find("messages[1].content"),
            std::string::npos);
}

TEST(ToolsAsText, CallsFollowTheDescription) {
  const auto chat = ChatTemplate::create(kSystemToo, tokenizer_with({"<s>"}));
  const JsonValue tools = tree_of(one_tool());
  EXPECT_EQ(chat->call_format(&tools), "appended");
  EXPECT_EQ(chat->call_format(nullptr), "none");
  ReplyParser parser(chat->reply_format(&tools), offering());
  Events events;
  parser.feed(
      "Yes. <tool_call>\n{\"name\": \"f\", \"arguments\": "
      "{}}\n</tool_call>",
      &events);
  parser.finish(&events);
  EXPECT_EQ(shown(events), "text(Yes.)call f {}");
}

TEST(CallFormats, HaveNames) {
  const JsonValue tools = tree_of(one_tool());
  const std::string derived =
      "{{ tools }}" + template_with(kObjectsWithinMarks);
  EXPECT_EQ(ChatTemplate::create(derived, tokenizer_with(names_in(derived)))
                ->call_format(&tools),
            "derived");
  EXPECT_EQ(ChatTemplate::create("{{ tools }}", tokenizer_with({"<s>"}))
                ->call_format(&tools),
            "none");
  EXPECT_EQ(
      ChatTemplate::create("{{ tools }}<tool_call>", tokenizer_with({"<s>"}))
          ->call_format(&tools),
      "hermes");
}

}  // namespace
}  // namespace rc::text::chat
