// Conversations by the C ABI: answers, calls, errors, cancelling.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/api_util.h"

namespace rc::test {
namespace {

class Talk : public ::testing::Test {
 protected:
  rc_status begin(const rc_chat_options* options) {
    rc_chat* chat = nullptr;
    const rc_status status = rc_chat_create(session_.get(), options, &chat);
    chat_.reset(chat);
    return status;
  }
  void begin_chatml() {
    rc_chat_options options = RC_CHAT_OPTIONS_INIT;
    options.template_name = "chatml";
    ASSERT_OK(begin(&options));
  }
  rc_status add(const std::string& messages) const {
    return rc_chat_add(chat_.get(), messages.data(), messages.size());
  }
  static std::string messages(rc_chat* chat) {
    char* json = nullptr;
    size_t length = 0;
    EXPECT_OK(rc_chat_messages(chat, &json, &length));
    std::string text(json == nullptr ? "" : json, length);
    rc_free(json);
    return text;
  }
  // The text of an answer.
  std::string answer(rc_chat* chat,
                     rc_generate_report* report = nullptr) const {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.max_tokens = 4;
    options.seed = 1;
    rc_request* started = nullptr;
    EXPECT_OK(rc_chat_answer_async(chat, &options, nullptr, nullptr, nullptr,
                                   &started));
    const Request request(started);
    std::string text;
    for (;;) {
      rc_event event = RC_EVENT_INIT;
      const rc_status status = rc_request_next(started, -1, &event);
      EXPECT_OK(status);
      if (status != RC_OK) return text;
      if (event.type == RC_EVENT_END) {
        EXPECT_EQ(event.report->status, RC_OK) << event.message;
        if (report != nullptr) *report = *event.report;
        return text;
      }
      EXPECT_EQ(event.type, RC_EVENT_PIECE);
      EXPECT_EQ(event.call, -1);
      text.append(event.text, event.text_length);
    }
  }

  const Backend backend_ = open_backend();
  const Model model_ = load_model(backend_.get());
  const Session session_ = create_session(model_.get());
  Conversation chat_;
};

TEST_F(Talk, AnswersAreAddedRemovedAndForked) {
  begin_chatml();
  EXPECT_EQ(messages(chat_.get()), "[]");
  ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
  const std::string asked = R"([{"role":"user","content":"a"}])";
  EXPECT_EQ(messages(chat_.get()), asked);
  answer(chat_.get());
  const std::string answered = messages(chat_.get());
  EXPECT_NE(answered.find(R"("role":"assistant","content":")"),
            std::string::npos);
  rc_chat* made = nullptr;
  ASSERT_OK(rc_chat_fork(chat_.get(), &made));
  const Conversation fork(made);
  EXPECT_OK(rc_chat_undo(chat_.get(), 1));
  EXPECT_EQ(messages(chat_.get()), asked);
  EXPECT_EQ(messages(fork.get()), answered);
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  answer(chat_.get(), &report);
  EXPECT_EQ(messages(chat_.get()), answered);
  EXPECT_LE(report.prompt_tokens, 1);
}

TEST_F(Talk, MessagesThatAreRefusedAreNotAdded) {
  begin_chatml();
  ASSERT_OK(add(R"({"role": "assistant", "tool_calls": [{"id": "a",)"
                R"( "function": {"name": "f", "arguments": {}}}]})"));
  const std::string before = messages(chat_.get());
  for (const auto& [added, said] :
       std::vector<std::pair<std::string, std::string>>{
           {R"({"role": "usr", "content": "x"})", "messages[0].role: 'usr'"},
           {R"([{"role": "user", "content": "x"}, {"role": "user"}])",
            "messages[1].content: absent"},
           {R"({"role": "user", "content": 5})", "messages[0].content: a num"},
           {R"({"role": "tool", "content": "x"})",
            "messages[0].tool_call_id: absent"},
           {R"({"role": "tool", "tool_call_id": "b", "content": "x"})",
            "messages[0].tool_call_id: 'b'"},
           {R"({"role": "assistant", "tool_calls": [{"function": {}}]})",
            "messages[0].tool_calls[0].function.name: absent"}}) {
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, add(added), said);
    EXPECT_EQ(messages(chat_.get()), before);
  }
  // The call is in another message that was added before.
  EXPECT_OK(add(R"({"role": "tool", "tool_call_id": "a", "content": "x"})"));
  EXPECT_OK(add(R"({"role": "narrator", "content": "x"})"));
}

TEST_F(Talk, ErrorsNameTheOptionAndTheFault) {
  EXPECT_FAILS(RC_E_NOT_FOUND, begin(nullptr), "tokenizer.chat_template");
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_name = "chatml";
  options.ending = RC_ENDING_OPEN;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, begin(&options), "options->ending is 2");
  options.ending = RC_ENDING_ANSWER;
  options.tools = R"([{"type": "function"}])";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, begin(&options), "tools[0].function");
  options.tools = R"([{"type": "function", "function": {"name": "f"}}])";
  EXPECT_EQ(begin(&options), RC_OK) << rc_error_message();
  options.tools = nullptr;
  options.template_arguments = "[]";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, begin(&options), "object");
  begin_chatml();
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, add("["), "messages: not JSON at byte 2");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, add("{}"), "messages[0].role");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_chat_undo(chat_.get(), 1), "count: 1");
  rc_request* request = nullptr;
  rc_generate_options given = RC_GENERATE_OPTIONS_INIT;
  const auto ask = [&] {
    return rc_chat_answer_async(chat_.get(), &given, nullptr, nullptr, nullptr,
                                &request);
  };
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, ask(), "messages: an empty array");
  given.prompt = "x";
  given.prompt_length = 1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, ask(), "options->prompt");
  given.prompt_length = 0;
  given.echo = 1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, ask(), "options->echo");
  given.echo = 0;
  given.tool_choice = "always";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, ask(), "tool_choice: 'always'");
  given.tool_choice = "required";
  ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, ask(), "has no tools");
  given.tool_choice = nullptr;
  given.response_format = R"({"type": "xml"})";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, ask(), "response_format.type: 'xml'");
  EXPECT_EQ(request, nullptr);
  char* text = nullptr;
  const auto generate = [&] {
    return rc_generate(session_.get(), &given, &text, nullptr, nullptr);
  };
  given.prompt = "a";
  given.prompt_length = 1;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, generate(), "options->response_format");
  given.response_format = nullptr;
  given.tool_choice = "auto";
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, generate(), "options->tool_choice");
}

// The template and schemas are looked at when the prompt is made, on another
// thread.
TEST_F(Talk, RequestsEndWithTheErrorsOfTheirPrompts) {
  struct Case {
    const char* template_text;
    const char* response_format;
    rc_status status;
    const char* said;
  };
  for (const Case& one : std::vector<Case>{
           {"{{ messages[0].content }}",
            R"({"type": "json_schema", "json_schema": {"schema":
                {"type": "number", "minimum": "0"}}})",
            RC_E_INVALID_ARGUMENT, "response_format: schema at /minimum"},
           {"{{ raise_exception('not so') }}", nullptr, RC_E_INVALID_ARGUMENT,
            "not so"},
           {"{{ 1 // 0 }}", nullptr, RC_E_FORMAT, "by zero"},
           {"{{ 'x' * 100000 }}", nullptr, RC_E_CONTEXT_FULL, "context"}}) {
    rc_chat_options options = RC_CHAT_OPTIONS_INIT;
    options.template_text = one.template_text;
    ASSERT_OK(begin(&options));
    ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
    const std::string before = messages(chat_.get());
    rc_generate_options given = RC_GENERATE_OPTIONS_INIT;
    given.response_format = one.response_format;
    rc_request* started = nullptr;
    ASSERT_OK(rc_chat_answer_async(chat_.get(), &given, nullptr, nullptr,
                                   nullptr, &started));
    const Request request(started);
    rc_event event = RC_EVENT_INIT;
    ASSERT_OK(rc_request_next(started, -1, &event));
    ASSERT_EQ(event.type, RC_EVENT_END);
    EXPECT_EQ(event.report->status, one.status) << event.message;
    EXPECT_NE(std::string(event.message).find(one.said), std::string::npos)
        << event.message;
    EXPECT_EQ(messages(chat_.get()), before);
  }
}

TEST_F(Talk, ToolChoiceAndResponseFormatAreEnforced) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text =
      "{{ tools | length if tools else 0 }}{% for m in messages %}"
      "{{ m.role }}: {{ m.content or m.tool_calls }}\n{% endfor %}"
      "{# [TOOL_CALLS][ARGS] #}";
  options.tools = R"([{"type": "function", "function": {"name": "add",
      "parameters": {"type": "object", "required": ["a"], "properties":
      {"a": {"type": "integer", "minimum": 0, "maximum": 9}}}}}])";
  ASSERT_OK(begin(&options));
  ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
  rc_generate_options given = RC_GENERATE_OPTIONS_INIT;
  given.seed = 5;
  given.tool_choice = R"({"type": "function", "function": {"name": "add"}})";
  rc_request* started = nullptr;
  ASSERT_OK(rc_chat_answer_async(chat_.get(), &given, nullptr, nullptr, nullptr,
                                 &started));
  const Request request(started);
  std::string call;
  for (;;) {
    rc_event event = RC_EVENT_INIT;
    ASSERT_OK(rc_request_next(started, -1, &event));
    if (event.type == RC_EVENT_CALL) call.assign(event.text, event.text_length);
    if (event.type != RC_EVENT_END) continue;
    EXPECT_EQ(event.report->reason, RC_END_TOOL_CALLS);
    EXPECT_GT(event.report->forced_tokens, 0);
    break;
  }
  ASSERT_EQ(call.size(), std::string(R"({"a": 0})").size()) << call;
  EXPECT_EQ(call.substr(0, 6), R"({"a": )");
}

// Answers that a grammar of one text forces.
class Forced : public Talk {
 protected:
  Forced() {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = 512;
    rc_model* model = nullptr;
    EXPECT_OK(
        rc_model_load(backend_.get(), model_path().c_str(), &options, &model));
    roomy_.reset(model);
    roomy_session_ = create_session(model);
  }

  void begin_with(const rc_chat_options& options) {
    rc_chat* chat = nullptr;
    ASSERT_OK(rc_chat_create(roomy_session_.get(), &options, &chat));
    chat_.reset(chat);
  }

  struct Answered {
    std::string text;
    std::vector<std::string> calls;  // their arguments
    std::vector<std::string> ids;    // of the calls
    rc_status status = RC_OK;
  };

  Answered forced(const std::string& text) const {
    rc_tokenizer* tokenizer = nullptr;
    EXPECT_OK(rc_model_get_tokenizer(model_.get(), &tokenizer));
    const char* choice = text.c_str();
    rc_grammar* grammar = nullptr;
    EXPECT_OK(rc_grammar_create_choices(tokenizer, &choice, 1, &grammar));
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.grammar = grammar;
    rc_request* started = nullptr;
    Answered answered;
    answered.status = rc_chat_answer_async(chat_.get(), &options, nullptr,
                                           nullptr, nullptr, &started);
    rc_grammar_release(grammar);
    rc_tokenizer_release(tokenizer);
    EXPECT_OK(answered.status);
    const Request request(started);
    while (answered.status == RC_OK) {
      rc_event event = RC_EVENT_INIT;
      EXPECT_OK(rc_request_next(started, -1, &event));
      const std::string piece(event.text == nullptr ? "" : event.text,
                              event.text_length);
      if (event.type == RC_EVENT_PIECE) answered.text += piece;
      if (event.type == RC_EVENT_CALL) {
        answered.calls.push_back(piece);
        answered.ids.emplace_back(event.call_id);
      }
      if (event.type != RC_EVENT_END) continue;
      answered.status = event.report->status;
      break;
    }
    return answered;
  }

  Model roomy_;
  Session roomy_session_;
};

TEST_F(Forced, ObjectWithoutMarksIsACallOnlyIfItsToolIsOffered) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text =
      "{{ tools | length if tools else 0 }}{% for m in messages %}"
      "{{ m.content or m.tool_calls | tojson }}{% endfor %}"
      "{# <|start_header_id|> \"parameters\": #}";
  const std::string person = R"({"name": "Bob", "age": 3})";
  const std::string call = R"({"name": "f", "parameters": {"a": 1}})";
  for (const char* tools :
       {static_cast<const char*>(nullptr),
        R"([{"type": "function", "function": {"name": "f"}}])"}) {
    options.tools = tools;
    begin_with(options);
    ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
    const Answered text = forced(person);
    EXPECT_EQ(text.text, person);
    EXPECT_TRUE(text.calls.empty());
    const Answered other = forced(call);
    EXPECT_EQ(other.text, tools == nullptr ? call : "");
    EXPECT_EQ(other.calls.size(), tools == nullptr ? 0U : 1U);
  }
}

TEST_F(Forced, AnswerFollowsACallWithUnusualArguments) {
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text =
      "{{ tools | length }}{% for m in messages %}"
      "{{ m.content or m.tool_calls | tojson }}{% endfor %}{# <tool_call> #}";
  options.tools = R"([{"type": "function", "function": {"name": "f"}}])";
  for (const std::string arguments :
       {R"({"n": 18446744073709551616})", R"({"n": 1e400})",
        R"({"s": "x\ud83d"})", R"({"s": 1, "s": 2})"}) {
    begin_with(options);
    ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
    const Answered called = forced(
        "<tool_call>{\"name\": \"f\", "
        "\"arguments\": " +
        arguments + "}</tool_call>");
    ASSERT_EQ(called.calls.size(), 1U);
    EXPECT_EQ(called.calls[0], arguments);
    ASSERT_OK(add(nlohmann::json{
        {"role", "tool"},
        {"tool_call_id", called.ids.at(0)},
        {"content",
         "seen"}}.dump()));
    EXPECT_EQ(forced("So.").text, "So.");
  }
}

TEST_F(Talk, RunningAnswerReportsBusyAndCanBeCancelled) {
  const Session endless = create_endless_session(model_.get());
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  options.template_text = "{{ messages[0].content }}";
  rc_chat* made = nullptr;
  ASSERT_OK(rc_chat_create(endless.get(), &options, &made));
  chat_.reset(made);
  ASSERT_OK(add(R"({"role": "user", "content": "a"})"));
  rc_generate_options generation = RC_GENERATE_OPTIONS_INIT;
  generation.ignore_eos = 1;
  rc_request* started = nullptr;
  ASSERT_OK(rc_chat_answer_async(made, &generation, nullptr, nullptr, nullptr,
                                 &started));
  const Request request(started);
  EXPECT_FAILS(RC_E_BUSY, rc_chat_undo(made, 1), "answer");
  EXPECT_FAILS(RC_E_BUSY, add(kHello), "answer");
  std::string text;
  rc_event event = RC_EVENT_INIT;
  do {
    ASSERT_OK(rc_request_next(started, -1, &event));
    if (event.type == RC_EVENT_PIECE) {
      text.append(event.text, event.text_length);
      EXPECT_OK(rc_request_cancel(started));
    }
  } while (event.type != RC_EVENT_END);
  EXPECT_EQ(event.report->reason, RC_END_CANCELLED);
  EXPECT_FALSE(text.empty());
  // The events contain the text of the messages.
  EXPECT_EQ(messages(made),
            nlohmann::ordered_json({{{"role", "user"}, {"content", "a"}},
                                    {{"role", "assistant"}, {"content", text}}})
                .dump());
  EXPECT_OK(rc_chat_undo(made, 1));
}

}  // namespace
}  // namespace rc::test
