// Prompts of conversations: what goes to the template, and the tokens of what
// it makes.
#include "text/chat/chat_template.h"

#include <algorithm>
#include <vector>

#include "text/chat/conversation.h"
#include "text/chat/known_templates.h"
#include "text/chat/local_time.h"
#include "text/chat/prompt_util.h"

namespace rc::text::chat {
namespace {

using ::rc::text::chat::Json;

const std::string& chatml() {
  static const std::string kSource(known_template("chatml"));
  return kSource;
}

Json hello() { return {{{"role", "user"}, {"content", "Hello"}}}; }

std::string text_with(const std::string& source, const Json& messages,
                      const PromptOptions& options = {}) {
  return render(*ChatTemplate::create(source, tokenizer_with(names_in(source))),
                messages, nullptr, options)
      .text;
}

TEST(ChatTemplate, ReturnsTextTokensAndContentRanges) {
  const auto tokenizer = tokenizer_with(names_in(chatml()));
  const auto chat = ChatTemplate::create(chatml(), tokenizer);
  const Prompt prompt = render(*chat, hello(), nullptr, {});
  EXPECT_EQ(prompt.text,
            "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(text_of_tokens(*tokenizer, prompt.tokens), prompt.text);
  EXPECT_EQ(special_tokens(*tokenizer, prompt.tokens).size(), 3u);
  ASSERT_EQ(prompt.content.size(), 1u);
  const ContentRange& content = prompt.content[0];
  EXPECT_EQ(prompt.text.substr(content.bytes.begin, 5), "Hello");
  EXPECT_EQ(content.bytes.end, content.bytes.begin + 5);
  const std::vector<TokenId> inside(
      prompt.tokens.begin() + static_cast<ptrdiff_t>(content.tokens.begin),
      prompt.tokens.begin() + static_cast<ptrdiff_t>(content.tokens.end));
  EXPECT_EQ(text_of_tokens(*tokenizer, inside), "Hello");
}

TEST(ChatTemplate, TextBeyondTheContextStopsRendering) {
  const auto tokenizer = tokenizer_with(names_in(chatml()));
  const size_t most = tokenizer->most_bytes(9);
  ASSERT_GT(most, 0u);
  ASSERT_LT(most, SIZE_MAX);
  const auto chat =
      ChatTemplate::create("{{ messages[0].content }}", tokenizer);
  PromptOptions options;
  options.context_length = 10;
  options.room = 1;
  const auto prompt_of = [&](size_t bytes) {
    return render(*chat,
                  {{{"role", "user"}, {"content", std::string(bytes, 'a')}}},
                  nullptr, options);
  };
  EXPECT_EQ(prompt_of(most).text.size(), most);
  const std::string error = message_of([&] { prompt_of(most + 1); });
  for (const std::string& part : {cat(most, " bytes"), std::string("10 tokens"),
                                  std::string("holds 10")}) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }
  options.room = 0;
  EXPECT_EQ(prompt_of(most + 1).text.size(), most + 1);
}

// Rendering and tokenizing, which comes after it, stop alike.
TEST(ChatTemplate, RenderingAndTokenizingCanBeStopped) {
  const auto chat = ChatTemplate::create("{{ messages[0].content }}",
                                         tokenizer_with(names_in(chatml())));
  const Json messages = {
      {{"role", "user"}, {"content", std::string(100000, 'a')}}};
  int asked = 0;
  PromptOptions options;
  options.should_stop = [&] {
    ++asked;
    return false;
  };
  render(*chat, messages, nullptr, options);
  EXPECT_GT(asked, 20);
  for (const int last : {1, asked / 2, asked}) {
    int now = 0;
    options.should_stop = [&] { return ++now == last; };
    try {
      render(*chat, messages, nullptr, options);
      ADD_FAILURE() << "went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_CANCELLED);
    }
    EXPECT_EQ(now, last);
  }
}

// The words of the template and of the content are one text.
TEST(ChatTemplate, TokenizesAcrossContentBoundaries) {
  const std::string source = "{{ 'th' + messages[0].content }}";
  const auto tokenizer = tokenizer_with({"<s>", "</s>"});
  const auto chat = ChatTemplate::create(source, tokenizer);
  const Prompt prompt =
      render(*chat, {{{"role", "user"}, {"content", "er"}}}, nullptr, {});
  EXPECT_EQ(prompt.tokens, tokenizer->tokenize("ther", {.add_special = false}));
  ASSERT_EQ(prompt.content.size(), 1u);
  const Span& tokens = prompt.content[0].tokens;
  EXPECT_EQ(tokens.end, prompt.tokens.size());
  EXPECT_LT(tokens.begin, tokens.end);
}

TEST(ChatTemplate, ContentHasTheFormOfTheTemplate) {
  const Json parts = {{{"role", "user"},
                       {"content",
                        {{{"type", "text"}, {"text", "a"}},
                         {{"type", "text"}, {"text", "b"}}}}}};
  EXPECT_EQ(text_with("{{ messages[0].content + '!' }}", parts), "a\nb!");
  const std::string of_parts =
      "{% for part in messages[0].content %}({{ part.text }}){% endfor %}";
  EXPECT_EQ(text_with(of_parts, parts), "(a)(b)");
  EXPECT_EQ(text_with(of_parts, hello()), "(Hello)");
}

TEST(ChatTemplate, CallArgumentsHaveTheFormOfTheTemplate) {
  const auto messages = [](const Json& arguments) {
    return Json{{{"role", "user"}, {"content", "Hello"}},
                {{"role", "assistant"},
                 {"content", nullptr},
                 {"tool_calls",
                  {{{"id", "x"},
                    {"type", "function"},
                    {"function", {{"name", "f"}, {"arguments", arguments}}}}}}},
                {{"role", "tool"}, {"tool_call_id", "x"}, {"content", "4"}}};
  };
  const std::string begin =
      "{% for m in messages %}{{ m.name }}{% for call in m.tool_calls %}";
  const std::string end = "{% endfor %}{% endfor %}";
  const std::string as_object =
      begin + "{{ call.function.arguments | tojson }}" + end;
  const std::string as_text =
      begin + "{{ 'x' + call.function.arguments }}" + end;
  const Json object = {{"n", 1}};
  EXPECT_EQ(text_with(as_object, messages(object)), "{\"n\": 1}f");
  EXPECT_EQ(text_with(as_object, messages("{\"n\": 1}")), "{\"n\": 1}f");
  EXPECT_EQ(text_with(as_object, messages("")), "{}f");
  EXPECT_EQ(text_with(as_text, messages(object)), "x{\"n\":1}f");
  EXPECT_EQ(text_with(as_text, messages("{\"n\": 1}")), "x{\"n\": 1}f");
}

TEST(ChatTemplate, TakesDeveloperMessagesAndReasoning) {
  const Json messages = {
      {{"role", "developer"}, {"content", "c"}},
      {{"role", "assistant"}, {"content", "d"}, {"reasoning", "why"}}};
  EXPECT_EQ(text_with("{% for m in messages %}{{ m.role }}{% endfor %}"
                      "{{ messages[1].reasoning_content }}",
                      messages),
            "systemassistantwhy");
  EXPECT_EQ(text_with("{{ messages[0].role == 'developer' }}", messages),
            "True");
  PromptOptions options;
  options.thinking = false;
  EXPECT_EQ(text_with("{{ enable_thinking }} {{ thinking_budget }}", hello(),
                      options),
            "False 0");
  options.thinking = true;
  EXPECT_EQ(text_with("{{ thinking }}{{ thinking_budget is defined }}", hello(),
                      options),
            "TrueFalse");
}

TEST(ChatTemplate, TakesArgumentsAndTheDate) {
  const JsonValue arguments = tree_of({{"style", "<s>short"}});
  PromptOptions options;
  options.arguments = &arguments;
  options.now = parse_local_time("2024-07-26", "now");
  EXPECT_EQ(
      text_with("{{ style }} {{ strftime_now('%d %b %Y') }}", hello(), options),
      "<s>short 26 Jul 2024");
  const JsonValue taken = tree_of({{"messages", 1}});
  options.arguments = &taken;
  EXPECT_NE(
      message_of([&] { text_with("x", hello(), options); }).find("'messages'"),
      std::string::npos);
  for (const char* bad : {"", "2024", "2024-02-30", "2024-13-01",
                          "2024-07-26 14:05:09", "2024-07-26T24:00:00"}) {
    EXPECT_NE(message_of([&] { parse_local_time(bad, "now"); }), "") << bad;
  }
}

TEST(ChatTemplate, LastMessageCanBeContinued) {
  PromptOptions options;
  options.continue_last = true;
  Json messages = hello();
  messages.push_back({{"role", "assistant"}, {"content", " Hello, I  "}});
  const std::string begin = "<|im_start|>user\nHello<|im_end|>\n";
  EXPECT_EQ(text_with(chatml(), messages, options),
            begin + "<|im_start|>assistant\n Hello, I  ");
  // A template that trims.
  EXPECT_EQ(text_with(std::string(known_template("gemma")), messages, options),
            "<s><start_of_turn>user\nHello<end_of_turn>\n"
            "<start_of_turn>model\nHello, I");
  messages.back()["content"] = " ";
  EXPECT_NE(message_of([&] {
              text_with(chatml(), messages, options);
            }).find("messages[1].content"),
            std::string::npos);
}

TEST(ChatTemplate, ErrorsNameThePlace) {
  const auto error = [](const std::string& messages,
                        const std::string& tools = "") {
    return message_of([&] {
      const JsonValue tool_list =
          tools.empty() ? JsonValue() : parse_argument(tools, "tools");
      static_cast<void>(
          ChatTemplate::create("{{ tools }}{{ messages[0].tool_calls }}",
                               tokenizer_with({"<s>", "</s>"}))
              ->render(parse_argument(messages, "messages"),
                       tools.empty() ? nullptr : &tool_list, {}));
    });
  };
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"[{\"role\": }]", "messages: not JSON at byte 11"},
      {"{}", "messages: an object, but"},
      {"[]", "messages: an empty array"},
      {"[1]", "messages[0]: a number"},
      {"[{}]", "messages[0].role: absent"},
      {"[{\"role\":\"user\",\"content\":1}]", "messages[0].content: a number"},
      {"[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]",
       "messages[0].content[0].type: 'image_url'"},
      {"[{\"role\":\"assistant\",\"tool_calls\":[{}]}]",
       "messages[0].tool_calls[0].function: absent"},
      {"[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":"
       "\"f\",\"arguments\":\"{\"}}]}]",
       "messages[0].tool_calls[0].function.arguments: not JSON at byte 2"},
      {"[{\"role\":\"assistant\",\"reasoning\":{}}]",
       "messages[0].reasoning: an object"},
      {std::string(300, '['), "messages: values nest deeper than 200"}};
  for (const auto& [messages, expected] : wrong) {
    EXPECT_NE(error(messages).find(expected), std::string::npos)
        << messages << " gives " << error(messages);
  }
  const std::string good = "[{\"role\":\"user\",\"content\":\"x\"}]";
  EXPECT_NE(error(good, "[{\"type\":\"function\",\"function\":{}}]")
                .find("tools[0].function.name"),
            std::string::npos);
}

// Templates by name write what published ones of the same families write.
TEST(KnownTemplates, MatchPublishedTemplates) {
  const auto file = test::shared_path("chat/chat-template-cases.json");
  RC_NEED_SHARED(file);
  const Json all = read_json(file);
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"chatml", "teknium/OpenHermes-2.5-Mistral-7B"},
      {"command-r", "CohereForAI/c4ai-command-r-plus"},
      {"deepseek2", "DeepSeek-V2"},
      {"granite", "ibm-granite/granite-3.0-8b-instruct"},
      {"llama2", "bofenghuang/vigogne-2-70b-chat"},
      {"llama3", "Llama-3"},
      {"mistral",
       "mistralai/Mistral-7B-Instruct-v0.2 (mistralai 'v1' template with a "
       "system prompt)"},
      {"mistral-tekken",
       "Mistral-Nemo-Instruct-2407 (mistralai 'v3-tekken' template; modified "
       "to have system prompt at start)"},
      {"mistral-v7",
       "mistralai/Mistral-Large-Instruct-2411 (mistralai 'v7' "
       "template)"},
      {"openchat", "openchat/openchat-3.5-0106"},
      {"phi3", "Phi-3-small"},
      {"phi4", "phi-4"},
      {"vicuna", "eachadea/vicuna-13b-1.1"}};
  for (const auto& pair : pairs) {
    const auto& name = pair.first;
    const auto& family = pair.second;
    const auto found =
        std::find_if(all["cases"].begin(), all["cases"].end(),
                     [&](const Json& one) { return one["name"] == family; });
    ASSERT_NE(found, all["cases"].end()) << family;
    // Llama 2 begins every turn with the begin of text.
    const bool bos = name != "llama2";
    const std::string text =
        text_of(std::string(known_template(name)),
                {{"messages", all["conversation"]},
                 {"bos_token", bos ? (*found)["bos_token"] : Json("")},
                 {"eos_token", (*found)["eos_token"]},
                 {"add_generation_prompt", true}});
    EXPECT_EQ(text, (*found)["expected_jinja"].get<std::string>()) << name;
  }
}

TEST(KnownTemplates, AllRenderAConversation) {
  const Json messages = {{{"role", "system"}, {"content", "Be kind."}},
                         {{"role", "user"}, {"content", "Hello"}},
                         {{"role", "assistant"}, {"content", "Hi"}},
                         {{"role", "user"}, {"content", "Bye"}}};
  for (const KnownTemplate& known : known_templates()) {
    const std::string text = text_with(std::string(known.source), messages);
    for (const char* part : {"Be kind.", "Hello", "Hi", "Bye"}) {
      EXPECT_NE(text.find(part), std::string::npos) << known.name;
    }
    EXPECT_EQ(text.find("None"), std::string::npos) << text;
  }
  EXPECT_TRUE(std::is_sorted(
      known_templates().begin(), known_templates().end(),
      [](const auto& a, const auto& b) { return a.name < b.name; }));
  EXPECT_EQ(known_template("no such"), "");
}

TEST(ChatTemplate, KnowsTheNamesOfSpecialTokens) {
  const auto text_with = [](const std::vector<std::string>& names) {
    return render(*ChatTemplate::create(
                      "{{ bos_token }},{{ eos_token }},{{ unk_token }}",
                      tokenizer_with(names)),
                  Json::array({{{"role", "user"}, {"content", "q"}}}), nullptr,
                  {})
        .text;
  };
  EXPECT_EQ(text_with({"<s>", "</s>", "<unk>"}), "<s>,</s>,<unk>");
  EXPECT_EQ(text_with({"<s>"}), "<s>,,");
}

}  // namespace
}  // namespace rc::text::chat
