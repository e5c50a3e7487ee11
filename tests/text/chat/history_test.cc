// Conversations go on after any call that a model made.
#include <random>
#include <string>
#include <vector>

#include "text/chat/odd_answers.h"
#include "text/chat/prompt_util.h"
#include "text/chat/replies/answer.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

// Writes calls as "[name id arguments]", and what is between them.
constexpr std::string_view kCalls =
    R"({%- for message in messages %}
{%- if message.tool_calls is defined %}{{ message.content }}
{%- for call in message.tool_calls %}
{{- '[' + call.function.name + ' ' + call.id + ' ' }}
{{- call.function.arguments | tojson }}]{% endfor %}
{%- elif message.role == 'tool' %}({{ message.tool_call_id }}:
{{- message.content }})
{%- else %}{{ message.content }}{% endif %}
{%- endfor %})";

std::shared_ptr<const ChatTemplate> chat_of(const std::string& source) {
  return ChatTemplate::create(source, tokenizer_with(names_in(source)));
}

Json call_of(const std::string& id, const std::string& arguments) {
  return {{"id", id},
          {"type", "function"},
          {"function", {{"name", "f"}, {"arguments", arguments}}}};
}

std::string rendered(const ChatTemplate& chat, const Json& messages) {
  PromptOptions options;
  options.add_generation_prompt = false;
  options.now = recorded_time().now;
  return render(chat, messages, nullptr, options).text;
}

Json result_of(const std::string& id, const std::string& content) {
  return {{"role", "tool"}, {"tool_call_id", id}, {"content", content}};
}

TEST(Histories, NumbersKeepTheirDigits) {
  const auto chat = chat_of(std::string(kCalls));
  const auto python = chat_of(
      "{% for m in messages %}{% for call in m.tool_calls or [] %}"
      "{{ call.function.arguments | items | list }}{% endfor %}{% endfor %}");
  for (const std::string number :
       {"18446744073709551615", "-18446744073709551616", "1e400", "-1e400",
        "1e-400", "123456789012345678901234567890", "9223372036854775807",
        "0.5"}) {
    const Json messages = {
        {{"role", "assistant"},
         {"tool_calls",
          Json::array({call_of("abc", "{\"n\": [" + number + "]}")})}}};
    EXPECT_EQ(rendered(*chat, messages), "[f abc {\"n\": [" + number + "]}]");
    EXPECT_NE(rendered(*python, messages).find("[" + number + "]"),
              std::string::npos)
        << rendered(*python, messages);
  }
}

TEST(Histories, NumbersOfToolsKeepTheirDigits) {
  const auto chat = chat_of("{{ tools | tojson }}{{ messages | length }}");
  const Json messages = {{{"role", "user"}, {"content", "Look."}}};
  const JsonValue tools = parse_argument(
      R"([{"type": "function", "function": {"name": "f", "parameters":)"
      R"( {"properties": {"n": {"maximum": 18446744073709551615}}}}}])",
      "tools");
  EXPECT_NE(chat->render(tree_of(messages), &tools, {})
                .text.find("18446744073709551615"),
            std::string::npos);
}

TEST(Histories, TextsAndNamesOfModelsAreAccepted) {
  const auto chat = chat_of(std::string(kCalls));
  const auto written = [&](const std::string& arguments) {
    return rendered(
        *chat, {{{"role", "assistant"},
                 {"tool_calls", Json::array({call_of("abc", arguments)})}}});
  };
  EXPECT_EQ(written(R"({"s": "x\ud83d"})"), "[f abc {\"s\": \"x\uFFFD\"}]");
  EXPECT_EQ(written(R"({"s": "\udc00\ud83d\ude00"})"),
            "[f abc {\"s\": \"\uFFFD\U0001F600\"}]");
  EXPECT_EQ(written(R"({"s": 1, "t": 2, "s": 3})"),
            R"([f abc {"s": 3, "t": 2}])");
  EXPECT_EQ(written("{\"s\": \"a\nb\"}"), R"([f abc {"s": "a\nb"}])");
  // An invalid call is refused as before.
  EXPECT_NE(message_of([&] { written("{\"s\": }"); }).find("not JSON"),
            std::string::npos);
}

TEST(Histories, CallsAreSplitForTemplatesThatTakeOne) {
  const std::string source =
      "{%- for message in messages %}{%- if message.tool_calls is defined and "
      "message.tool_calls | length != 1 %}{{ raise_exception('single') }}"
      "{%- endif %}{%- endfor %}" +
      std::string(kCalls);
  const auto chat = chat_of(source);
  EXPECT_TRUE(chat->dialect().one_call);
  EXPECT_FALSE(chat_of(std::string(kCalls))->dialect().one_call);
  const auto two = [&](const Json& first, const Json& second) {
    return rendered(*chat,
                    {{{"role", "assistant"},
                      {"content", "So:"},
                      {"tool_calls", {call_of("a", "{}"), call_of("b", "{}")}}},
                     first,
                     second,
                     {{"role", "user"}, {"content", "Well?"}}});
  };
  const std::string expected = "So:[f a {}](a:seen)[f b {}](b:heard)Well?";
  EXPECT_EQ(two(result_of("a", "seen"), result_of("b", "heard")), expected);
  EXPECT_EQ(two(result_of("b", "heard"), result_of("a", "seen")), expected);
  EXPECT_EQ(two(result_of("a", "seen"), result_of("a", "heard")),
            "So:[f a {}](a:seen)[f b {}](a:heard)Well?");
  // None, as some programs write it.
  EXPECT_EQ(rendered(*chat, {{{"role", "assistant"},
                              {"content", "So."},
                              {"tool_calls", Json::array()}}}),
            "So.");
}

TEST(Histories, IdsAreShortenedForTemplatesThatNeedIt) {
  const std::string source =
      "{%- for message in messages %}{%- for call in message.tool_calls or [] "
      "%}{%- if call.id | length != 9 %}{{ raise_exception('id') }}"
      "{%- endif %}{%- endfor %}{%- endfor %}" +
      std::string(kCalls);
  const auto chat = chat_of(source);
  EXPECT_TRUE(chat->dialect().short_ids);
  EXPECT_FALSE(chat_of(std::string(kCalls))->dialect().short_ids);
  for (const std::string id : {"functions.f:0", "0", "", "abc_efghi"}) {
    const std::string text =
        rendered(*chat, {{{"role", "assistant"},
                          {"tool_calls", Json::array({call_of(id, "{}")})}},
                         result_of(id, "seen")});
    ASSERT_EQ(text.size(),
              std::string("[f 123456789 {}](123456789:seen)").size())
        << text;
    EXPECT_EQ(text.substr(3, 9), text.substr(17, 9)) << text;
    EXPECT_NE(text.substr(3, 9), "abc_efghi");
  }
  EXPECT_EQ(
      rendered(*chat,
               {{{"role", "assistant"},
                 {"tool_calls", Json::array({call_of("a12345678", "{}")})}},
                result_of("a12345678", "seen")}),
      "[f a12345678 {}](a12345678:seen)");
}

TEST(Histories, TextWithCallsBecomesReasoningIfTheTemplateNeedsIt) {
  const std::string source =
      "{%- for message in messages %}{%- if message.tool_calls is defined and "
      "message.content and message.thinking %}{{ raise_exception('both') }}"
      "{%- endif %}{{ message.thinking }}{%- endfor %}" +
      std::string(kCalls);
  const auto chat = chat_of(source);
  EXPECT_TRUE(chat->dialect().text_is_reasoning);
  const Json calls = Json::array({call_of("a", "{}")});
  for (const Json& content :
       {Json("So."), Json::array({{{"type", "text"}, {"text", "So."}}})}) {
    EXPECT_EQ(rendered(*chat, {{{"role", "assistant"},
                                {"content", content},
                                {"reasoning_content", "Hm."},
                                {"tool_calls", calls}}}),
              "Hm.\n\nSo.[f a {}]");
  }
}

TEST(Histories, EmptyAnswersHaveTheFormOfTheTemplate) {
  const auto chat = [](const std::string& refused) {
    return chat_of(
        "{%- for message in messages %}{%- if message.role == 'assistant' and "
        "not message.tool_calls and (" +
        refused +
        ") %}{{ raise_exception('empty') }}{%- endif %}[{%- if message.content "
        "is string or message.content is none %}{{ message.content }}{% else "
        "%}{% for part in message.content %}{{ part.text }};{% endfor %}{% "
        "endif %}]{%- endfor %}");
  };
  const Json user = {{"role", "user"}, {"content", "Hi"}};
  const Json said = {{"role", "assistant"}, {"content", "So."}};
  for (const Json& empty :
       {Json({{"role", "assistant"}, {"content", ""}}),
        Json({{"role", "assistant"}, {"content", Json::array()}}),
        Json({{"role", "assistant"},
              {"content", nullptr},
              {"reasoning_content", "Hm."}}),
        Json({{"role", "assistant"}, {"reasoning_content", "Hm."}})}) {
    const Json messages = {user, empty, user, said, user};
    EXPECT_EQ(rendered(*chat("not message.content"), messages),
              "[Hi][;][Hi][So.][Hi]")
        << empty;
    EXPECT_EQ(rendered(*chat("not message.content or message.content is not "
                             "string"),
                       messages),
              "[Hi][ ][Hi][So.][Hi]")
        << empty;
  }
  // Where the template takes it, it is as it was given.
  EXPECT_EQ(rendered(*chat("false"),
                     {user, {{"role", "assistant"}, {"content", ""}}, user}),
            "[Hi][][Hi]");
}

// Histories that published templates refuse, but models write.
TEST(Histories, PublishedTemplatesRenderUnusualHistories) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  const Json user = {{"role", "user"}, {"content", "Look."}};
  const auto next = [&](const std::string& name, const Json& message) {
    const auto chat = chat_of(read_text(folder / (name + ".jinja")));
    Json messages = {user, message};
    for (const Json& call : message["tool_calls"]) {
      messages.push_back(result_of(call["id"], "seen"));
    }
    return rendered(*chat, messages);
  };
  const Json one = Json::array({call_of("call_1", R"({"a": "first"})")});
  const Json two = {one[0], call_of("call_2", R"({"a": "second"})")};
  for (const char* name :
       {"meta-llama-Llama-3.1-8B-Instruct", "meta-llama-Llama-3.2-3B-Instruct",
        "meta-llama-Llama-3.3-70B-Instruct",
        "mistralai-Mistral-Nemo-Instruct-2407",
        "Mistral-Small-3.2-24B-Instruct-2506", "openai-gpt-oss-120b"}) {
    const std::string text = next(name, {{"role", "assistant"},
                                         {"content", "Text"},
                                         {"reasoning_content", "Thought"},
                                         {"tool_calls", two}});
    const size_t first = text.find("first");
    EXPECT_LT(first, text.find("second")) << name << ": " << text;
    EXPECT_NE(text.find("second"), std::string::npos) << name << ": " << text;
  }
  const std::string harmony =
      next("openai-gpt-oss-120b", {{"role", "assistant"},
                                   {"content", "Text"},
                                   {"reasoning_content", "Thought"},
                                   {"tool_calls", one}});
  EXPECT_NE(harmony.find("Thought\n\nText"), std::string::npos) << harmony;
}

TEST(Histories, UnusualCallsDoNotPreventTheNextAnswer) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  const Json tools = Json::parse(R"([{"type": "function", "function":
      {"name": "f", "description": "d", "parameters": {"type": "object",
       "properties": {"a": {"type": "string", "description": "d"}},
       "required": []}}}])");
  const Json user = {{"role", "user"}, {"content", "Look."}};
  size_t templates = 0;
  size_t calls = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".jinja") continue;
    const std::string name = file.path().stem().string();
    const auto chat = chat_of(read_text(file.path()));
    const ReplyFormat& format = chat->reply_format();
    if (format.shape == CallShape::kNone) continue;
    const Json* offered = chat->dialect().knows_tools ? &tools : nullptr;
    std::mt19937 random(7);
    const auto next_answer = [&](const Json& message) {
      Json messages = {user, message};
      for (const Json& call : message.value("tool_calls", Json::array())) {
        messages.push_back(result_of(call["id"], "seen"));
      }
      PromptOptions options;
      options.now = recorded_time().now;
      return message_of([&] { render(*chat, messages, offered, options); });
    };
    // Templates that refuse every call, for they change lists in place.
    if (!next_answer(
             {{"role", "assistant"},
              {"content", nullptr},
              {"tool_calls", Json::array({call_of("abcdef123", "{}")})}})
             .empty()) {
      continue;
    }
    ++templates;
    for (int i = 0; i < 25; ++i) {
      const std::string text = odd_answer(format, &random);
      ReplyParser parser(format, {.tools = ToolTypes(tree_of(tools))});
      Events events;
      parser.feed(text, &events);
      parser.finish(&events);
      Answer answer(0);
      for (ReplyEvent& event : events) answer.add(&event);
      const Json message = Json::parse(json_text(answer.message()));
      calls += message.value("tool_calls", Json::array()).size();
      EXPECT_EQ(next_answer(message), "") << name << ": " << text;
    }
  }
  EXPECT_GE(templates, 40u);
  EXPECT_GE(calls, templates * 25);
}

}  // namespace
}  // namespace rc::text::chat
