// Calls that are made by chance go through the templates of models and are read
// as they were: types, nesting, characters of all kinds, ends of strings.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "labels.h"
#include "text/chat/call_maker.h"
#include "text/chat/derived_util.h"
#include "text/chat/find_format.h"
#include "text/chat/loose_json.h"
#include "text/chat/reply_util.h"

namespace rc::text::chat {
namespace {

bool same_number(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const bool digits = a.find_first_of(".eE") == std::string::npos &&
                      b.find_first_of(".eE") == std::string::npos;
  return !digits && std::stold(a) == std::stold(b);
}

// Equal but for the order of members.
bool same(const JsonValue& a, const JsonValue& b) {
  if (a.type != b.type || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  if (a.is(JsonValue::Type::kNumber)) return same_number(a.text, b.text);
  if (a.text != b.text) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!same(a.items[i], b.items[i])) return false;
  }
  return std::all_of(a.members.begin(), a.members.end(),
                     [&](const auto& member) {
                       const JsonValue* other = b.find(member.first);
                       return other != nullptr && same(member.second, *other);
                     });
}

// A user's message, and an answer that is the call.
JsonValue conversation_of(const CallMaker::Made& made) {
  JsonValue messages = parse_argument(
      R"([{"role": "user", "content": "Look."},
          {"role": "assistant", "content": null, "tool_calls": [
            {"id": "abcdef123", "type": "function", "function": {}}]}])",
      "messages");
  JsonValue& call = messages.items[1].members[2].second.items[0];
  JsonValue& function = call.members[2].second;
  function.members.emplace_back("name", text_value(made.name));
  function.members.emplace_back("arguments",
                                text_value(json_text(made.arguments)));
  return messages;
}

// Returns the text that the template makes of the call, from the beginning of a
// mark on.
std::string answer_of(const ChatTemplate& chat, const CallMaker::Made& made) {
  PromptOptions options;
  options.now = recorded_time().now;
  JsonValue tools = tree_of(made.tools);
  const JsonValue messages = conversation_of(made);
  JsonValue question = messages;
  question.items.pop_back();
  const JsonValue* offered = chat.dialect().knows_tools ? &tools : nullptr;
  // Some templates show tools of the plainest schemas alone.
  if (!message_of([&] { chat.render(question, offered, options); }).empty()) {
    Json plain = made.tools;
    plain[0]["function"]["parameters"]["properties"] = Json::object();
    tools = tree_of(plain);
  }
  const std::string begin = chat.render(question, offered, options).text;
  options.add_generation_prompt = false;
  const std::string whole = chat.render(messages, offered, options).text;
  auto split = static_cast<size_t>(
      std::mismatch(begin.begin(), begin.end(), whole.begin(), whole.end())
          .second -
      whole.begin());
  const size_t mark = split == 0 ? 0 : whole.rfind('<', split - 1);
  if (mark != std::string::npos && whole.find('>', mark) >= split) split = mark;
  return whole.substr(split);
}

Events read_in_two(const ReplyFormat& format, const CallMaker::Made& made,
                   const std::string& answer, size_t cut) {
  ReplyParser parser(format, {.tools = ToolTypes(tree_of(made.tools))});
  Events events;
  parser.feed(answer.substr(0, cut), &events);
  parser.feed(answer.substr(cut), &events);
  parser.finish(&events);
  return events;
}

// One call, at every cut. False: it was not read as it was made.
bool goes_through(const std::string& name, const ChatTemplate& chat,
                  const ReplyFormat& format, const CallMaker::Made& made) {
  const std::string answer = answer_of(chat, made);
  const std::string whole = shown(read_in_two(format, made, answer, 0));
  JsonValue arguments;
  const std::string called =
      first_call(read_in_two(format, made, answer, 0), &arguments);
  const bool good = called == made.name && same(arguments, made.arguments);
  EXPECT_TRUE(good) << name << ": " << called << " " << json_text(arguments)
                    << " instead of " << made.name << " "
                    << json_text(made.arguments) << "\nfrom " << answer
                    << "\nby " << made.tools.dump();
  bool equal = true;
  for (size_t cut = 1; cut < answer.size(); ++cut) {
    equal = equal && shown(read_in_two(format, made, answer, cut)) == whole;
  }
  EXPECT_TRUE(equal) << name << ": another call at a cut of " << answer;
  return good && equal;
}

// The templates of the shared data that write calls, by name.
std::map<std::string, std::shared_ptr<const ChatTemplate>> templates(
    const std::filesystem::path& folder) {
  std::map<std::string, std::shared_ptr<const ChatTemplate>> all;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".jinja") continue;
    const std::string source = read_text(file.path());
    if (!names_word(source, "tool_calls")) continue;
    const auto chat =
        ChatTemplate::create(source, tokenizer_with(names_in(source)));
    if (chat->reply_format().shape == CallShape::kNone) continue;
    // Some refuse all calls, for they change lists in place.
    if (!message_of([&] { answer_of(*chat, CallMaker(1).make()); }).empty()) {
      std::cout << file.path().stem().string() << " takes no call\n";
      continue;
    }
    all[file.path().stem().string()] = chat;
  }
  return all;
}

void send_calls(size_t count, bool one_of_a_format) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  std::set<std::string_view> formats;
  for (const auto& [name, chat] : templates(folder)) {
    const std::string_view format = chat->reply_format().name;
    if (!formats.insert(format).second && one_of_a_format) continue;
    const bool elements = chat->reply_format().shape == CallShape::kElements;
    CallMaker maker(7, /*separators=*/format != "command-r", elements);
    size_t right = 0;
    for (size_t i = 0; i < count; ++i) {
      right +=
          goes_through(name, *chat, chat->reply_format(), maker.make()) ? 1 : 0;
    }
    std::cout << format << " (" << name << "): " << right << " of " << count
              << "\n";
  }
  EXPECT_GE(formats.size(), 15u);
}

// The format that is found when the template has the signs of none.
FoundFormat derived_from(const ChatTemplate& chat) {
  FormatTrial trial;
  trial.render = [&](const JsonValue& messages, const JsonValue& tools,
                     bool begins_answer) {
    PromptOptions options;
    options.now = recorded_time().now;
    options.add_generation_prompt = begins_answer;
    return chat
        .render(messages, chat.dialect().knows_tools ? &tools : nullptr,
                options)
        .text;
  };
  trial.several_calls = !chat.dialect().one_call;
  return find_format("tool_calls", trial);
}

TEST(CallRoundTrips, KeepTypesAndTextsInDerivedFormats) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  size_t found = 0;
  for (const auto& [name, chat] : templates(folder)) {
    const FoundFormat format = derived_from(*chat);
    std::cout << chat->reply_format().name << " (" << name << "): ";
    if (format.derived == nullptr) {
      std::cout << "none\n";
      continue;
    }
    ++found;
    CallMaker maker(7);
    size_t right = 0;
    for (size_t i = 0; i < 20; ++i) {
      right += goes_through(name, *chat, *format.format, maker.make()) ? 1 : 0;
    }
    std::cout << right << " of 20\n";
  }
  EXPECT_GE(found, 25u);
}

// Templates of this repository, with their formats.
TEST(CallRoundTrips, KeepTypesAndTextsInTheFormatsOfNewerModels) {
  const std::map<std::string, std::string> known = {
      {"Kimi K3", "kimi-k3"},
      {"DeepSeek V4", "deepseek-v4"},
      {"MiniCPM5", "minicpm5"},
      {"Laguna", "glm-4.5"},
      {"Step 3.7", "qwen3-coder"},
      {"MiniMax M3", "minimax-m3"},
      {"MiniMax M3 as M2", "minimax-m3-as-m2"}};
  for (const auto& [name, calls] : templates_of_calls()) {
    const auto chat = chat_with(calls);
    const auto found = known.find(name);
    EXPECT_EQ(chat->reply_format().name,
              found == known.end() ? "derived" : found->second)
        << name;
    const bool elements = chat->reply_format().shape == CallShape::kElements;
    CallMaker maker(7, /*separators=*/true, elements);
    for (size_t i = 0; i < 20; ++i) {
      goes_through(name, *chat, chat->reply_format(), maker.make());
    }
  }
}

TEST(CallRoundTrips, KeepTypesAndTexts) { send_calls(20, true); }

TEST(CallRoundTrips, KeepTypesAndTextsForAllTemplates) {
  RC_TEST_LABELS(kFull, kNumbers);
  send_calls(200, false);
}

}  // namespace
}  // namespace rc::text::chat
