// Calls in the prompts of templates that know tools and write the contents of
// messages alone.
#include <algorithm>
#include <string>
#include <vector>

#include "text/chat/conversation.h"
#include "text/chat/prompt_util.h"

namespace rc::text::chat {
namespace {

// `marks` are the signs of a format.
std::shared_ptr<const ChatTemplate> chat_with_marks(const std::string& marks) {
  const std::string source =
      "{{ (tools | tojson) if tools }}{# " + marks +
      " #}{% for message in messages %}{{ '<|' + message.role + '|>' }}"
      "{% if message.content is string %}{{ message.content }}{% endif %}"
      "{{ '</s>' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";
  return ChatTemplate::create(source, tokenizer_with(names_in(source)));
}

Prompt prompt_with_calls(const ChatTemplate& chat, const std::string& content,
                         const std::string& calls) {
  const JsonValue messages = parse_argument(
      R"([{"role": "user", "content": "Hi"}, {"role": "assistant",
          "content": )" +
          content + R"(, "tool_calls": [)" + calls +
          R"(]}, {"role": "tool", "tool_call_id": "1", "content": "seen"}])",
      "messages");
  PromptOptions options;
  options.now = recorded_time().now;
  return chat.render(messages, nullptr, options);
}

std::string call_text(const std::string& id, const std::string& name,
                      const std::string& arguments) {
  return R"({"id": ")" + id +
         R"(", "type": "function", "function": {"name": ")" + name +
         R"(", "arguments": )" + arguments + "}}";
}

TEST(CallsAsContent, AreAppendedToTheText) {
  const auto chat = chat_with_marks("<|tool_call|>");
  ASSERT_EQ(chat->reply_format().name, "granite");
  const std::string calls =
      call_text("1", "f", R"("{\"a\": \"x\", \"n\": 1e2}")") + ", " +
      call_text("2", "g", "{}");
  EXPECT_EQ(prompt_with_calls(*chat, "\"Well.\"", calls).text,
            "<|user|>Hi</s><|assistant|>Well.\n"
            "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": \"x\", "
            "\"n\": 1e2}}, {\"name\": \"g\", \"arguments\": {}}]</s>"
            "<|tool|>seen</s><|assistant|>");
  EXPECT_EQ(prompt_with_calls(*chat, "null", call_text("1", "g", "\"\"")).text,
            "<|user|>Hi</s><|assistant|><|tool_call|>[{\"name\": \"g\", "
            "\"arguments\": {}}]</s><|tool|>seen</s><|assistant|>");
}

TEST(CallsAsContent, AreWrittenInTheFormatOfTheModel) {
  EXPECT_EQ(
      prompt_with_calls(
          *chat_with_marks("<|tool_list_start|>"),
          R"([{"type": "text", "text": "Well."}])",
          call_text("1", "f",
                    R"({"a": "\"x", "b": null, "c": [true, {"d": 1.5}]})") +
              ", " + call_text("2", "g", "{}"))
          .text,
      "<|user|>Hi</s><|assistant|>Well.\n"
      "<|tool_call_start|>[f(a=\"\\\"x\", b=None, c=[True, {\"d\": 1.5}]), "
      "g()]<|tool_call_end|></s><|tool|>seen</s><|assistant|>");
  // Each between marks.
  EXPECT_EQ(prompt_with_calls(*chat_with_marks("<|function_call|>"), "null",
                              call_text("1", "f", R"({"a": 1})") + ", " +
                                  call_text("2", "g", "{}"))
                .text,
            "<|user|>Hi</s><|assistant|><|function_call|>{\"name\": \"f\", "
            "\"arguments\": {\"a\":1}}\n<|function_call|>{\"name\": \"g\", "
            "\"arguments\": {}}</s><|tool|>seen</s><|assistant|>");
}

// Marks within arguments are text.
TEST(CallsAsContent, UseTheMarksOfTheTemplateAsControlTokens) {
  const auto chat = chat_with_marks("<|tool_call|>");
  const Prompt prompt =
      prompt_with_calls(*chat, "\"<|tool_call|>\"",
                        call_text("1", "f", R"({"a": "<|tool_call|>"})"));
  size_t marks = 0;
  size_t written = 0;
  for (size_t at = prompt.text.find("<|tool_call|>"); at != std::string::npos;
       at = prompt.text.find("<|tool_call|>", at + 1)) {
    ++marks;
    const bool content =
        std::any_of(prompt.content.begin(), prompt.content.end(),
                    [&](const ContentRange& range) {
                      return range.bytes.begin <= at && at < range.bytes.end;
                    });
    if (!content) ++written;
  }
  EXPECT_EQ(marks, 3u);
  EXPECT_EQ(written, 1u);
}

}  // namespace
}  // namespace rc::text::chat
