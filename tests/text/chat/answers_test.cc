// Answers that models are reported to write, read as their makers meant them,
// and conversations that go on after any call.
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "text/chat/prompt_util.h"
#include "text/chat/replies/answer.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::text::chat {
namespace {

using Events = std::vector<ReplyEvent>;

// A template of the shared data with the names in it as special tokens.
std::shared_ptr<const ChatTemplate> published(const std::string& name) {
  const auto path = test::shared_path("chat/templates/" + name + ".jinja");
  const std::string source = read_text(path);
  return ChatTemplate::create(source, tokenizer_with(names_in(source)));
}

struct Score {
  size_t right = 0;
  size_t all = 0;
  void add(bool is_right) {
    right += is_right ? 1 : 0;
    ++all;
  }
};

void print_scores(const std::map<std::string, Score>& scores) {
  for (const auto& [format, score] : scores) {
    std::cout << format << ": " << score.right << " of " << score.all << "\n";
  }
}

// An answer as text and calls, in JSON.
Json message_of_events(Events events) {
  Answer answer(0);
  for (ReplyEvent& event : events) answer.add(&event);
  return Json::parse(json_text(answer.message()));
}

Json read_answer(const ReplyFormat& format, const std::string& prompt,
                 const JsonValue& tools,
                 const std::vector<std::string>& pieces) {
  ReplyParser parser(format, {.prompt = prompt, .tools = ToolTypes(tools)});
  Events events;
  for (const std::string& piece : pieces) parser.feed(piece, &events);
  parser.finish(&events);
  return message_of_events(std::move(events));
}

// The text and calls of a message, as the file of answers has them.
bool is_as_expected(const Json& message, const Json& expect) {
  const Json calls = message.value("tool_calls", Json::array());
  if (calls.size() != expect["calls"].size()) return false;
  for (size_t i = 0; i < calls.size(); ++i) {
    const Json& function = calls[i]["function"];
    if (function["name"] != expect["calls"][i][0]) return false;
    const auto arguments = nlohmann::json::parse(
        function["arguments"].get<std::string>(), nullptr, false);
    if (arguments != nlohmann::json(expect["calls"][i][1])) return false;
  }
  if (!expect.contains("text")) return true;
  const Json& content = message["content"];
  return (content.is_null() ? "" : content.get<std::string>()) ==
         expect["text"];
}

TEST(PublishedAnswers, AreParsedAsDocumented) {
  const auto path = test::shared_path("chat/answers.json");
  RC_NEED_SHARED(path);
  std::map<std::string, Score> scores;
  const Json file = read_json(path);
  for (const Json& one : file["replies"]) {
    const auto chat = published(one["template"]);
    const JsonValue tools = tree_of(one["tools"]);
    const Json user = {{"role", "user"}, {"content", "Look."}};
    PromptOptions options;
    options.now = recorded_time().now;
    const Json* offered = one["tools"].empty() ? nullptr : &one["tools"];
    const std::string prompt =
        render(*chat, Json::array({user}), offered, options).text;
    const ReplyFormat& format = chat->reply_format();
    const std::string answer = one["answer"];
    const Json whole = read_answer(format, prompt, tools, {answer});
    bool right = is_as_expected(whole, one["expect"]);
    EXPECT_TRUE(right) << one["name"] << ": " << one["why"] << "\n"
                       << whole.dump();
    for (size_t cut = 1; cut < answer.size(); ++cut) {
      const Json cut_message = read_answer(
          format, prompt, tools, {answer.substr(0, cut), answer.substr(cut)});
      EXPECT_EQ(cut_message, whole) << one["name"] << " cut at " << cut;
      right = right && cut_message == whole;
    }
    scores[std::string(format.name)].add(right);
  }
  print_scores(scores);
}

TEST(PublishedAnswers, CanBeContinued) {
  const auto path = test::shared_path("chat/answers.json");
  RC_NEED_SHARED(path);
  std::map<std::string, Score> scores;
  const Json file = read_json(path);
  for (const Json& one : file["history"]) {
    const auto chat = published(one["template"]);
    const Json tools = Json::parse(R"([{"type": "function", "function":
        {"name": "f", "description": "d",
         "parameters": {"type": "object", "properties": {}}}}])");
    const std::string arguments = one["arguments"];
    const ReplyFormat& format = chat->reply_format();
    const Json message = read_answer(
        format, "", tree_of(tools),
        {"<tool_call>\n{\"name\": \"f\", \"arguments\": " + arguments +
         "}\n</tool_call>"});
    const Json calls = message.value("tool_calls", Json::array());
    bool right = calls.size() == 1;
    EXPECT_TRUE(right) << one["name"];
    if (right) {
      EXPECT_EQ(calls[0]["function"]["arguments"], arguments);
      const std::string error = message_of([&] {
        render(*chat,
               {{{"role", "user"}, {"content", "Look."}},
                message,
                {{"role", "tool"},
                 {"tool_call_id", calls[0]["id"]},
                 {"content", "seen"}}},
               &tools, {});
      });
      EXPECT_EQ(error, "") << one["name"] << ": " << one["why"];
      right = error.empty();
    }
    scores[std::string(format.name)].add(right);
  }
  print_scores(scores);
}

}  // namespace
}  // namespace rc::text::chat
