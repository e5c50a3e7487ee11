// The model in the box that talks: its prompts and answers are those that
// transformers gives (tests/golden/fabulist), and it calls tools.
#include <fstream>
#include <nlohmann/json.hpp>

#include "api_util.h"
#include "labels.h"
#include "test_data.h"

namespace rc::test {
namespace {

using OrderedJson = nlohmann::ordered_json;

const OrderedJson& recorded() {
  static const OrderedJson kAll = [] {
    std::ifstream file(source_path("tests/golden/fabulist/fabulist.json"));
    return OrderedJson::parse(file);
  }();
  return kAll;
}

struct FabulistReply {
  std::string text;
  std::vector<OrderedJson> calls;
  rc_end_reason reason = RC_END_ERROR;
  int64_t prompt_tokens = 0;
};

class Fabulist : public ::testing::Test {
 protected:
  void begin(const OrderedJson& tools, const OrderedJson& messages) {
    rc_chat_options options = RC_CHAT_OPTIONS_INIT;
    const std::string list = tools.dump();
    if (!tools.empty()) options.tools = list.c_str();
    rc_session* session = nullptr;
    ASSERT_OK(rc_session_create(model_.get(), nullptr, &session));
    session_.reset(session);
    rc_chat* chat = nullptr;
    ASSERT_OK(rc_chat_create(session, &options, &chat));
    chat_.reset(chat);
    add(messages);
  }
  void add(const OrderedJson& messages) const {
    const std::string text = messages.dump();
    ASSERT_OK(rc_chat_add(chat_.get(), text.data(), text.size()));
  }
  FabulistReply answer(const char* tool_choice = nullptr,
                       const char* response_format = nullptr) const {
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.temperature = 0;
    options.max_tokens = 300;
    options.tool_choice = tool_choice;
    options.response_format = response_format;
    rc_request* started = nullptr;
    EXPECT_OK(rc_chat_answer_async(chat_.get(), &options, nullptr, nullptr,
                                   nullptr, &started));
    const Request request(started);
    FabulistReply reply;
    for (;;) {
      rc_event event = RC_EVENT_INIT;
      const rc_status status = rc_request_next(started, -1, &event);
      EXPECT_OK(status);
      if (status != RC_OK) return reply;
      const std::string text(event.text == nullptr ? "" : event.text,
                             event.text_length);
      if (event.type == RC_EVENT_PIECE) reply.text += text;
      if (event.type == RC_EVENT_CALL) {
        reply.calls.push_back({{"id", event.call_id},
                               {"name", event.call_name},
                               {"arguments", OrderedJson::parse(text)}});
      }
      if (event.type != RC_EVENT_END) continue;
      EXPECT_EQ(event.report->status, RC_OK) << event.message;
      reply.reason = event.report->reason;
      reply.prompt_tokens = event.report->prompt_tokens;
      return reply;
    }
  }

  const Backend backend_ = open_backend();
  const Model model_ = [this] {
    rc_model* model = nullptr;
    EXPECT_OK(
        rc_model_load(backend_.get(), "builtin:fabulist", nullptr, &model));
    return Model(model);
  }();
  Session session_;
  Conversation chat_;
};

TEST_F(Fabulist, PromptsMatchTransformers) {
  rc_tokenizer* made = nullptr;
  ASSERT_OK(rc_tokenizer_open("builtin:fabulist", &made));
  const Tokenizer tokenizer(made);
  for (const OrderedJson& c : recorded()["cases"]) {
    rc_chat_options options = RC_CHAT_OPTIONS_INIT;
    const std::string tools = c["tools"].dump();
    if (!c["tools"].empty()) options.tools = tools.c_str();
    const std::string messages = c["messages"].dump();
    rc_chat_prompt* prompt = nullptr;
    ASSERT_OK(rc_chat_render(made, messages.data(), messages.size(), &options,
                             &prompt));
    rc_chat_prompt_report report = RC_CHAT_PROMPT_REPORT_INIT;
    EXPECT_OK(rc_chat_prompt_describe(prompt, &report));
    EXPECT_EQ(std::string(report.text), c["prompt"]) << c["name"];
    EXPECT_EQ(
        std::vector<int32_t>(report.tokens, report.tokens + report.token_count),
        c["prompt_tokens"].get<std::vector<int32_t>>())
        << c["name"];
    rc_chat_prompt_release(prompt);
  }
}

TEST_F(Fabulist, AnswersMatchTransformers) {
  RC_TEST_LABELS(kSerial);
  for (const OrderedJson& c : recorded()["cases"]) {
    begin(c["tools"], c["messages"]);
    const FabulistReply reply = answer();
    const std::string expected = c["answer"];
    if (reply.calls.empty()) {
      EXPECT_EQ(reply.text, expected) << c["name"];
      EXPECT_EQ(reply.reason, RC_END_STOP);
      continue;
    }
    const size_t first = expected.find('{');
    const OrderedJson call = OrderedJson::parse(
        expected.substr(first, expected.rfind('}') + 1 - first));
    ASSERT_EQ(reply.calls.size(), 1u);
    EXPECT_EQ(reply.calls[0]["name"], call["name"]) << c["name"];
    EXPECT_EQ(reply.calls[0]["arguments"], call["arguments"]) << c["name"];
    EXPECT_EQ(reply.reason, RC_END_TOOL_CALLS);
  }
}

TEST_F(Fabulist, CallsAToolAndUsesItsResult) {
  const OrderedJson tools = recorded()["cases"][5]["tools"];
  begin(tools, OrderedJson::array(
                   {{{"role", "user"}, {"content", "What time is it?"}}}));
  const FabulistReply called = answer();
  ASSERT_EQ(called.calls.size(), 1u) << called.text;
  EXPECT_EQ(called.calls[0]["name"], "get_time");
  add({{"role", "tool"},
       {"tool_call_id", called.calls[0]["id"]},
       {"content", "07:15"}});
  const FabulistReply last = answer();
  EXPECT_NE(last.text.find("07:15"), std::string::npos) << last.text;
  // Only the result of the tool is new in the second prompt.
  EXPECT_LT(last.prompt_tokens, 60);
}

TEST_F(Fabulist, CallsTheRequiredTool) {
  RC_TEST_LABELS(kSerial);
  const OrderedJson tools = recorded()["cases"][5]["tools"];
  begin(tools, OrderedJson::array({{{"role", "user"}, {"content", "Hello!"}}}));
  const FabulistReply called =
      answer(R"({"type": "function", "function": {"name": "add"}})");
  ASSERT_EQ(called.calls.size(), 1u) << called.text;
  EXPECT_EQ(called.calls[0]["name"], "add");
  EXPECT_TRUE(called.calls[0]["arguments"]["a"].is_number_integer());
  EXPECT_TRUE(called.calls[0]["arguments"]["b"].is_number_integer());
}

TEST_F(Fabulist, AnswersFollowASchema) {
  RC_TEST_LABELS(kSerial);
  begin(OrderedJson::array(),
        OrderedJson::array({{{"role", "user"},
                             {"content",
                              "Describe The Bear and the Honey in JSON. "
                              "Keys: title and moral."}}}));
  const FabulistReply reply = answer(nullptr, R"({"type": "json_schema",
      "json_schema": {"schema": {"type": "object",
        "required": ["title", "moral"], "additionalProperties": false,
        "properties": {"title": {"type": "string"},
                       "moral": {"type": "string"}}}}})");
  const OrderedJson said = OrderedJson::parse(reply.text);
  EXPECT_EQ(said["title"], "The Bear and the Honey");
  EXPECT_EQ(said["moral"], "Who will not let go is held.");
}

}  // namespace
}  // namespace rc::test
