// Conversations of several turns whose answers are valid calls, odd ones and
// texts: whatever a model wrote, its next prompt is made.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "labels.h"
#include "text/chat/derived_util.h"
#include "text/chat/loose_json.h"
#include "text/chat/replies/answer.h"
#include "text/chat/reply_util.h"
#include "text/chat/talk_maker.h"

namespace rc::text::chat {
namespace {

using JsonType = JsonValue::Type;

struct Named {
  std::string name;
  std::shared_ptr<const ChatTemplate> chat;
};

Named named(const std::string& name, const std::string& source) {
  return {name, ChatTemplate::create(source, tokenizer_with(names_in(source)))};
}

// Returns the templates of this repository: common ones, and those whose
// formats are derived.
const std::vector<Named>& own_templates() {
  static const std::vector<Named> all = [] {
    std::vector<Named> made;
    for (const auto& file : std::filesystem::directory_iterator(
             test::source_path("tests/golden/chat/templates"))) {
      made.push_back(
          named(file.path().stem().string(), read_text(file.path())));
    }
    for (const auto& [name, calls] : templates_of_calls()) {
      made.push_back(named(name, template_with(calls)));
    }
    std::sort(made.begin(), made.end(),
              [](const Named& a, const Named& b) { return a.name < b.name; });
    return made;
  }();
  return all;
}

std::vector<Named> shared_templates(const std::filesystem::path& folder) {
  std::map<std::string, std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".jinja") continue;
    files[file.path().stem().string()] = file.path();
  }
  std::vector<Named> all;
  for (const auto& [name, path] : files) {
    all.push_back(named(name, read_text(path)));
  }
  return all;
}

bool same_up_to_digits(const JsonValue& a, const JsonValue& b) {
  if (a.type != b.type || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  // Templates print floating-point numbers with other digits.
  if (a.is(JsonType::kNumber) && a.text != b.text) {
    return std::stold(a.text) == std::stold(b.text);
  }
  if (a.text != b.text) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!same_up_to_digits(a.items[i], b.items[i])) return false;
  }
  return std::all_of(
      a.members.begin(), a.members.end(), [&](const auto& member) {
        const JsonValue* other = b.find(member.first);
        return other != nullptr && same_up_to_digits(member.second, *other);
      });
}

// The types of a value, as a JSON schema.
Json schema_of(const JsonValue& value) {
  switch (value.type) {
    case JsonType::kNull:
      return {{"type", "null"}};
    case JsonType::kFalse:
    case JsonType::kTrue:
      return {{"type", "boolean"}};
    case JsonType::kNumber:
      return {{"type", "number"}};
    case JsonType::kString:
      return {{"type", "string"}};
    case JsonType::kArray:
      break;
    case JsonType::kObject: {
      Json properties = Json::object();
      for (const auto& [name, member] : value.members) {
        properties[name] = schema_of(member);
      }
      return {{"type", "object"}, {"properties", properties}};
    }
  }
  Json items = Json::array();
  for (const JsonValue& item : value.items) items.push_back(schema_of(item));
  return {{"type", "array"}, {"prefixItems", items}};
}

// The tool that a call is one of, with the types of its arguments: formats that
// write no quotes are read by them.
ToolTypes types_of_call(const std::string& name, const JsonValue& arguments) {
  return ToolTypes(tree_of(Json::array(
      {{{"type", "function"},
        {"function",
         {{"name", name}, {"parameters", schema_of(arguments)}}}}})));
}

struct Counts {
  size_t talks = 0;
  std::set<std::string> refused;  // templates that refuse the tools
  size_t answers = 0;
  size_t calls = 0;
  size_t returned = 0;  // calls that the next prompt has
};

// One conversation.
class Talk {
 public:
  Talk(const Named& named, uint32_t seed, Counts* counts)
      : named_(named),
        chat_(*named.chat),
        make_(seed),
        seed_(seed),
        counts_(counts) {
    messages_.type = JsonType::kArray;
    options_.now = recorded_time().now;
  }

  void run() {
    say(object_of(
        {{"role", text_value("user")}, {"content", text_value("Hi")}}));
    if (!offer(false) && !offer(true)) {
      counts_->refused.insert(named_.name);
      return;
    }
    ++counts_->talks;
    for (size_t i = make_.below(4) + 3; i > 0 && good_; --i) {
      turn();
    }
  }

 private:
  // Whether the template shows such tools.
  bool offer(bool plain) {
    tools_ = tree_of(make_.tools(plain));
    return next_prompt().has_value();
  }

  void say(JsonValue message) { messages_.items.push_back(std::move(message)); }

  const ReplyFormat& format() const { return chat_.reply_format(&tools_); }

  std::optional<std::string> rendered(const JsonValue& messages, bool begins) {
    PromptOptions options = options_;
    options.add_generation_prompt = begins;
    try {
      return chat_.render(messages, &tools_, options).text;
    } catch (const Error& error) {
      error_ = error.message();
      return std::nullopt;
    }
  }

  std::optional<std::string> next_prompt() { return rendered(messages_, true); }

  // The answer as the template writes it after the messages.
  std::string written(const JsonValue& message) {
    JsonValue with = messages_;
    with.items.push_back(message);
    const auto begin = next_prompt();
    const auto whole = rendered(with, false);
    if (!begin || !whole) return {};
    size_t split = 0;
    while (split < std::min(begin->size(), whole->size()) &&
           (*begin)[split] == (*whole)[split]) {
      ++split;
    }
    const size_t mark = split == 0 ? 0 : whole->rfind('<', split - 1);
    if (mark != std::string::npos && whole->find('>', mark) >= split) {
      split = mark;
    }
    return whole->substr(split);
  }

  JsonValue message_with(std::vector<JsonValue> functions) {
    JsonValue calls{.type = JsonType::kArray};
    for (JsonValue& function : functions) {
      calls.items.push_back(
          object_of({{"id", text_value(cat("abcdef12", calls.items.size()))},
                     {"type", text_value("function")},
                     {"function", std::move(function)}}));
    }
    return object_of({{"role", text_value("assistant")},
                      {"content", JsonValue()},
                      {"tool_calls", std::move(calls)}});
  }

  // The message that an answer becomes, in pieces as tokens come.
  JsonValue read(const std::string& prompt, const std::string& answer,
                 bool with_specials) {
    ReplyOptions options{.prompt = prompt, .tools = ToolTypes(tools_)};
    if (with_specials) {
      options.is_special = [this](std::string_view name) {
        return chat_.is_special(name);
      };
    }
    ReplyParser parser(format(), std::move(options));
    Events events;
    for (size_t at = 0; at < answer.size();) {
      size_t special = 0;
      if (with_specials) {
        for (size_t size = 2; size < 45 && at + size <= answer.size(); ++size) {
          if (chat_.is_special(std::string_view(answer).substr(at, size))) {
            special = size;
          }
        }
      }
      if (special > 0) {
        parser.feed_special(answer.substr(at, special), &events);
        at += special;
      } else {
        // Characters are whole in pieces of an engine, not in these.
        const size_t size = with_specials ? 1 : make_.below(9) + 1;
        parser.feed(answer.substr(at, size), &events);
        at += size;
      }
    }
    parser.finish(&events);
    Answer message(calls_);
    for (ReplyEvent& event : events) message.add(&event);
    return message.message();
  }

  std::string valid_answer() {
    std::vector<JsonValue> given;
    const bool one = chat_.dialect().one_call || !make_.one_in(3);
    for (size_t i = one ? 1 : 2; i > 0; --i) {
      given.push_back(make_.valid_call());
    }
    return written(message_with(std::move(given)));
  }

  std::string odd_text() {
    if (make_.one_in(3)) return odd_answer(format(), make_.random());
    std::vector<JsonValue> functions = {make_.odd_call()};
    if (make_.one_in(3)) functions.push_back(make_.odd_call());
    return written(message_with(functions));
  }

  void turn() {
    const auto prompt = next_prompt();
    if (!prompt) return fail_talk("", "the next prompt");
    std::string answer;
    switch (make_.below(4)) {
      case 0:
        answer = make_.text();
        break;
      case 1:
        answer = valid_answer();
        break;
      default:
        answer = make_.odd(odd_text(), format());
    }
    const JsonValue message = read(*prompt, answer, make_.one_in(2));
    ++counts_->answers;
    check_arguments(message, answer);
    const JsonValue* calls = message.find("tool_calls");
    // Programs store the message as JSON.
    EXPECT_EQ(parse_argument(json_text(message), "message"), message)
        << where();
    check_history(message);
    say(message);
    if (calls == nullptr) {
      say(object_of({{"role", text_value("user")},
                     {"content", text_value(cat("So? ", make_.text()))}}));
    } else {
      for (const JsonValue& call : calls->items) {
        ++calls_;
        say(object_of({{"role", text_value("tool")},
                       {"tool_call_id", *call.find("id")},
                       {"content", text_value(make_.text())}}));
      }
      counts_->calls += calls->items.size();
    }
    if (!next_prompt()) return fail_talk(answer, "the prompt after an answer");
  }

  // Arguments are one object each, whatever came.
  void check_arguments(const JsonValue& message, const std::string& answer) {
    const JsonValue* calls = message.find("tool_calls");
    if (calls == nullptr) return;
    for (const JsonValue& call : calls->items) {
      const JsonValue& function = *call.find("function");
      const auto read = read_loose_json(function.find("arguments")->text);
      EXPECT_TRUE(read && read->is(JsonType::kObject))
          << where() << function.find("arguments")->text << "\nfrom " << answer;
      EXPECT_FALSE(function.find("name")->text.empty()) << where() << answer;
    }
  }

  // Each call stands in the next prompt by its name and arguments.
  void check_history(const JsonValue& message) {
    const JsonValue* calls = message.find("tool_calls");
    if (calls == nullptr) return;
    for (const JsonValue& call : calls->items) {
      const JsonValue& function = *call.find("function");
      const auto given = read_loose_json(function.find("arguments")->text);
      if (!given) continue;  // see check_arguments
      const std::string& name = function.find("name")->text;
      JsonValue alone = message_with({function});
      // Templates look for the call of a result by its id.
      std::string& id = alone.members[2].second.items[0].members[0].second.text;
      id = cat("alone", 1000 + counts_->returned % 9000);
      const std::string text = written(alone);
      JsonValue arguments;
      const std::string found =
          call_in(text, types_of_call(name, *given), &arguments);
      if (found == name && same_up_to_digits(arguments, *given)) {
        ++counts_->returned;
        continue;
      }
      ADD_FAILURE() << where() << name << " " << json_text(*given)
                    << "\nis in the next prompt as " << found << " "
                    << json_text(arguments) << "\nin " << text;
    }
  }

  // The first call of an answer.
  std::string call_in(const std::string& answer, const ToolTypes& types,
                      JsonValue* arguments) {
    ReplyParser parser(format(), {.tools = types});
    Events events;
    parser.feed(answer, &events);
    parser.finish(&events);
    return first_call(events, arguments);
  }

  std::string where() const {
    return cat(named_.name, " (", format().name, "), seed ", seed_, ": ");
  }

  void fail_talk(const std::string& answer, const char* what) {
    good_ = false;
    const JsonValue& last = messages_.items.back();
    std::string said;
    for (size_t i = messages_.items.size(); i > 0 && said.empty(); --i) {
      const JsonValue& message = messages_.items[i - 1];
      if (message.find("role")->text == "assistant") said = json_text(message);
    }
    ADD_FAILURE() << where() << what << " fails: " << error_
                  << "\nanswer: " << answer << "\nread as: " << said
                  << "\nlast: " << json_text(last);
  }

  const Named& named_;
  const ChatTemplate& chat_;
  TalkMaker make_;
  const uint32_t seed_;
  Counts* counts_;
  PromptOptions options_;
  JsonValue tools_;
  JsonValue messages_;
  size_t calls_ = 0;
  bool good_ = true;
  std::string error_;
};

void talk(const std::vector<Named>& templates, size_t count) {
  Counts counts;
  for (size_t i = 0; i < count; ++i) {
    Talk(templates[i % templates.size()], static_cast<uint32_t>(i + 1), &counts)
        .run();
  }
  std::cout << counts.talks << " conversations, " << counts.answers
            << " answers, " << counts.calls << " calls, " << counts.returned
            << " of them in the next prompt\n";
  for (const std::string& name : counts.refused) {
    std::cout << name << " refuses the tools\n";
  }
  EXPECT_GE(counts.talks, count * 9 / 10);
  EXPECT_GE(counts.answers, count * 2);
  EXPECT_GE(counts.calls, count);
}

TEST(Conversations, ContinueAfterAnyAnswer) { talk(own_templates(), 100); }

TEST(Conversations, ContinueAfterAnyAnswerWithPublishedTemplates) {
  const auto folder = test::shared_path("chat/templates");
  RC_NEED_SHARED(folder);
  talk(shared_templates(folder), 60);
}

TEST(Conversations, AThousandContinueAfterAnyAnswer) {
  RC_TEST_LABELS(kFull, kNumbers);
  std::vector<Named> templates = own_templates();
  const auto folder = test::shared_path("chat/templates");
  if (folder.empty()) {
    std::cout << "without the templates of ../shared/data\n";
  } else {
    for (Named& one : shared_templates(folder)) {
      templates.push_back(std::move(one));
    }
  }
  talk(templates, 1000);
}

}  // namespace
}  // namespace rc::text::chat
