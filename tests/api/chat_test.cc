// Prompts of conversations by the C ABI: choice of templates, options, errors.
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "api/api_util.h"
#include "files/gguf/writer.h"
#include "temporary.h"

namespace rc::test {
namespace {

class Chat : public ::testing::Test {
 protected:
  Chat() {
    EXPECT_EQ(rc_tokenizer_open(model_path().c_str(), &tokenizer_), RC_OK);
  }
  ~Chat() override { rc_tokenizer_release(tokenizer_); }

  rc_status render(const std::string& messages, const rc_chat_options& options,
                   std::string* text = nullptr) const {
    rc_chat_prompt* prompt = nullptr;
    const rc_status status = rc_chat_render(tokenizer_, messages.data(),
                                            messages.size(), &options, &prompt);
    EXPECT_EQ(prompt == nullptr, status != RC_OK);
    if (status == RC_OK && text != nullptr) {
      rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
      EXPECT_EQ(rc_chat_prompt_describe(prompt, &report), RC_OK);
      text->assign(report.text, report.length);
    }
    rc_chat_prompt_release(prompt);
    return status;
  }

  void expect_error(rc_status expected, const char* message,
                    const rc_chat_options& options,
                    const std::string& messages = kHello) const {
    EXPECT_EQ(render(messages, options), expected) << message;
    EXPECT_NE(std::string(rc_error_message()).find(message), std::string::npos)
        << rc_error_message();
  }

  rc_tokenizer* tokenizer_ = nullptr;
};

TEST_F(Chat, ErrorsNameTheArgumentAndTheFault) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  expect_error(RC_E_NOT_FOUND, "tokenizer.chat_template", options);
  options.template_name = "no such";
  expect_error(RC_E_NOT_FOUND, "'no such'", options);
  options.template_name = "chatml";
  expect_error(RC_E_INVALID_ARGUMENT, "messages: not JSON at byte 2", options,
               "[");
  expect_error(RC_E_INVALID_ARGUMENT, "messages[1].role", options,
               R"([{"role": "user", "content": ""}, {}])");
  expect_error(RC_E_UNSUPPORTED, "messages[0].content[0].type", options,
               R"([{"role": "user", "content": [{"type": "image_url"}]}])");
  options.tools = "{";
  expect_error(RC_E_INVALID_ARGUMENT, "options->tools: not JSON at byte 2",
               options);
  options.tools = R"([{"type": "function", "function": {"name": "f"}}])";
  EXPECT_EQ(render(kHello, options), RC_OK) << rc_error_message();
  options.tools = "[]";
  EXPECT_EQ(render(kHello, options), RC_OK);
  options.template_arguments = "7";
  expect_error(RC_E_INVALID_ARGUMENT, "object", options);
  options.template_arguments = nullptr;
  options.now = "yesterday";
  expect_error(RC_E_INVALID_ARGUMENT, "options->now", options);
  options.now = nullptr;
  options.thinking = 2;
  expect_error(RC_E_INVALID_ARGUMENT, "options->thinking", options);
  options.thinking = -1;
  options.ending = 7;
  expect_error(RC_E_INVALID_ARGUMENT, "options->ending", options);
  options.ending = RC_ENDING_ANSWER;
  options.template_text = "{% if %}";
  expect_error(RC_E_FORMAT, "line 1", options);
  options.template_text = "{{ raise_exception('not like this') }}";
  expect_error(RC_E_INVALID_ARGUMENT, "not like this", options);
  rc_chat_prompt* prompt = nullptr;
  EXPECT_EQ(rc_chat_render(tokenizer_, nullptr, 3, nullptr, &prompt),
            RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(rc_chat_render(tokenizer_, kHello, 3, nullptr, nullptr),
            RC_E_INVALID_ARGUMENT);
}

TEST_F(Chat, OptionsReachTheTemplate) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text =
      "{{ tools | length if tools else 'no' }} {{ style }} {{ enable_thinking "
      "}} {{ strftime_now('%Y-%m-%d') }} {{ add_generation_prompt }}";
  options.now = "2024-07-26";
  std::string text;
  EXPECT_EQ(render(kHello, options, &text), RC_OK) << rc_error_message();
  EXPECT_EQ(text, "no   2024-07-26 True");
  options.tools = R"([{"type": "function", "function": {"name": "f"}}])";
  options.template_arguments = R"({"style": "plain"})";
  options.thinking = 0;
  options.ending = RC_ENDING_MESSAGE;
  EXPECT_EQ(render(kHello, options, &text), RC_OK) << rc_error_message();
  EXPECT_EQ(text, "1 plain False 2024-07-26 False");
  options.now = nullptr;
  EXPECT_EQ(render(kHello, options, &text), RC_OK) << rc_error_message();
  options.template_text =
      "{{ messages[0].content }} and {{ messages | length }}";
  options.tools = nullptr;
  options.ending = RC_ENDING_OPEN;
  EXPECT_EQ(render(kHello, options, &text), RC_OK) << rc_error_message();
  EXPECT_EQ(text, "Hello");
}

TEST_F(Chat, ManyThreadsUseOneTokenizer) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_name = "chatml";
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        std::string text;
        if (render(kHello, options, &text) == RC_OK &&
            text.starts_with("<|im_start|>user\nHello")) {
          ++good;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 20);
}

// A template of the file, one for tools, and the tokenizer of a loaded model.
TEST(ChatOfFiles, UsesTheTemplateVariantsOfTheFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "templates.gguf").string();
  gguf::Writer writer;
  const auto file = gguf::File::open(model_path());
  for (const gguf::Entry& entry : file->entries()) writer.add(entry);
  writer.add("tokenizer.chat_template", "({{ messages[0].content }})");
  writer.add(
      "tokenizer.chat_template.tool_use",
      "{{ tools[0].function.name if tools }}({{ messages[0].content }})");
  writer.write_file(path);
  rc_tokenizer* tokenizer = nullptr;
  ASSERT_EQ(rc_tokenizer_open(path.c_str(), &tokenizer), RC_OK)
      << rc_error_message();
  const auto name_with = [&](const char* tools, const char* wanted) {
    rc_chat_options options = RC_CHAT_OPTIONS_INIT;
    options.tools = tools;
    options.template_name = wanted;
    rc_chat_prompt* prompt = nullptr;
    EXPECT_EQ(rc_chat_render(tokenizer, kHello, sizeof(kHello) - 1, &options,
                             &prompt),
              RC_OK)
        << rc_error_message();
    rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
    EXPECT_EQ(rc_chat_prompt_describe(prompt, &report), RC_OK);
    const std::string name = std::string(report.template_name) + ", calls " +
                             report.call_format + ": " + report.text;
    rc_chat_prompt_release(prompt);
    return name;
  };
  const char* tools = R"([{"type": "function", "function": {"name": "f"}}])";
  EXPECT_EQ(name_with(nullptr, nullptr), "default, calls none: (Hello)");
  EXPECT_EQ(name_with("[]", nullptr), "default, calls none: (Hello)");
  EXPECT_EQ(name_with(tools, nullptr), "tool_use, calls none: f(Hello)");
  EXPECT_EQ(name_with(nullptr, "tool_use"), "tool_use, calls none: (Hello)");
  EXPECT_EQ(name_with(nullptr, "vicuna"),
            "vicuna, calls none: USER: Hello\nASSISTANT:");
  EXPECT_TRUE(name_with(tools, "vicuna")
                  .starts_with("vicuna, calls appended: Functions can"));
  rc_tokenizer_release(tokenizer);
}

}  // namespace
}  // namespace rc::test
