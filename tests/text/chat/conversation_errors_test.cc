// Messages of the wrong form, named by their place, and the nearest that are
// right.
#include "text/chat/chat_template.h"
#include "text/chat/chat_util.h"
#include "text/chat/prompt_util.h"

namespace rc::text::chat {
namespace {

std::string prompt_of(const Json& messages) {
  const std::string source =
      "{% for m in messages %}{{ m.role }}:{{ m.content }}:"
      "{{ m.reasoning_content }}:"
      "{% for c in m.tool_calls %}{{ c.function.name }}{% endfor %};"
      "{% endfor %}";
  try {
    return render(*ChatTemplate::create(source, tokenizer_with({})), messages,
                  nullptr, {})
        .text;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_INVALID_ARGUMENT);
    return "error: " + error.message();
  }
}

Json message(const Json& more) {
  Json one = {{"role", "assistant"}, {"content", "x"}};
  one.update(more);
  return Json::array({{{"role", "user"}, {"content", "q"}}, one});
}

TEST(ConversationErrors, NamePlaceAndExpectedForm) {
  const auto expect = [](const Json& more, const std::string& place,
                         const std::string& found, const std::string& wanted) {
    EXPECT_EQ(prompt_of(message(more)), "error: messages[1]" + place + ": " +
                                            found + ", but it must be " +
                                            wanted);
  };
  expect({{"tool_calls", "f"}}, ".tool_calls", "a string",
         "an array of calls or null");
  expect({{"tool_calls", Json::object()}}, ".tool_calls", "an object",
         "an array of calls or null");
  expect({{"tool_calls", {"f"}}}, ".tool_calls[0]", "a string", "an object");
  expect({{"tool_calls", {Json::object()}}}, ".tool_calls[0].function",
         "absent", "an object");
  for (const char* key : {"reasoning_content", "reasoning", "thinking"}) {
    expect({{key, 5}}, std::string(".") + key, "a number", "a string or null");
    expect({{key, Json::array()}}, std::string(".") + key, "an array",
           "a string or null");
  }
}

TEST(ConversationErrors, NearestValidFormsAreRendered) {
  EXPECT_EQ(prompt_of(message({{"tool_calls", nullptr}})),
            prompt_of(message(Json::object())));
  EXPECT_EQ(prompt_of(message({{"tool_calls", Json::array()}})),
            prompt_of(message(Json::object())));
  const Json call = {{"function", {{"name", "f"}, {"arguments", "{}"}}}};
  EXPECT_NE(prompt_of(message({{"tool_calls", {call}}})).find(":f;"),
            std::string::npos);
  for (const char* key : {"reasoning_content", "reasoning", "thinking"}) {
    EXPECT_FALSE(is_error(prompt_of(message({{key, nullptr}})))) << key;
    EXPECT_NE(prompt_of(message({{key, "why"}})).find(":why:"),
              std::string::npos)
        << key;
  }
}

}  // namespace
}  // namespace rc::text::chat
