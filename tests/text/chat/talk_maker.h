// Conversations that are made by chance, with valid and odd answers, for tests.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/call_maker.h"
#include "text/chat/conversation.h"
#include "text/chat/odd_answers.h"
#include "text/chat/prompt_util.h"

namespace rc::text::chat {

inline JsonValue object_of(
    std::initializer_list<std::pair<std::string, JsonValue>> members) {
  JsonValue object{.type = JsonValue::Type::kObject};
  object.members.assign(members.begin(), members.end());
  return object;
}

// Returns the same bytes as valid UTF-8: invalid ones become U+FFFD.
inline std::string valid_text(const std::string& bytes) {
  const std::string json =
      Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(json).get<std::string>();
}

// Tools, calls of them, texts, and answers in a format with parts out of place.
class TalkMaker {
 public:
  explicit TalkMaker(uint32_t seed) : random_(seed), calls_(seed) {
    for (size_t i = below(3) + 1; i > 0; --i) {
      CallMaker::Made made = calls_.make();
      const bool again = std::any_of(made_.begin(), made_.end(),
                                     [&](const CallMaker::Made& other) {
                                       return other.name == made.name;
                                     });
      if (!again) made_.push_back(std::move(made));
    }
  }

  size_t below(size_t limit) { return random_() % limit; }
  bool one_in(size_t count) { return below(count) == 0; }
  std::string one_of(std::initializer_list<std::string> texts) {
    return *(texts.begin() + below(texts.size()));
  }

  // Returns the tools in the format of OpenAI's chat completions. `plain`:
  // without arguments, since some templates show no others.
  Json tools(bool plain) const {
    Json list = Json::array();
    for (const CallMaker::Made& made : made_) {
      Json tool = made.tools[0];
      Json& parameters = tool["function"]["parameters"];
      if (plain) parameters["properties"] = Json::object();
      list.push_back(std::move(tool));
    }
    return list;
  }

  // A call that the schemas allow; arguments may be absent.
  JsonValue valid_call() {
    const CallMaker::Made& made = made_[below(made_.size())];
    JsonValue arguments = made.arguments;
    if (!arguments.members.empty() && one_in(3)) arguments.members.pop_back();
    return call(made.name, arguments);
  }

  // A call with the wrong name or arguments.
  JsonValue odd_call() {
    const CallMaker::Made& made = made_[below(made_.size())];
    const CallMaker::Made other = calls_.make();
    JsonValue arguments = one_in(3) ? made.arguments : other.arguments;
    if (one_in(4)) arguments.members.clear();
    if (one_in(3)) {
      arguments.members.emplace_back(
          one_of({"", "a\nb", "<b>", "\"", "n", "ключ", "key=\"x\""}),
          JsonValue{.type = JsonValue::Type::kNumber, .text = "1e400"});
    }
    if (one_in(3)) {
      arguments.members.emplace_back(
          "text", text_value(std::string("NUL \0 within", 12)));
    }
    const std::string name =
        one_in(2) ? made.name
                  : one_of({"unknown", "f.g", "functions.f", "имя", "f:7",
                            "a b", "1", std::string(300, 'n')});
    return call(name, arguments);
  }

  std::string text() {
    return one_of({"Well.",
                   "",
                   "a\n\nb",
                   "It is 7 < 8 & \"so\".",
                   "é漢😀",
                   "```json\n{\"name\": \"f\"}\n```",
                   "{\"a\": 1}",
                   "[f(a=1)]",
                   "<think>",
                   "</think>So.",
                   "<tool_call>",
                   "</tool_call>",
                   std::string("NUL \0 within", 12),
                   "\u2028",
                   "f",
                   "f\n{}",
                   "call:f{}",
                   "functions.f:0",
                   "Action: None",
                   "<function=f>",
                   "[TOOL_CALLS]",
                   " ",
                   "\n"});
  }

  // An answer with its bytes out of place. `format` has its marks.
  std::string odd(std::string answer, const ReplyFormat& format) {
    for (size_t i = below(3) + 1; i > 0; --i) change(&answer, format);
    return valid_text(answer);
  }

  std::mt19937* random() { return &random_; }

 private:
  static JsonValue call(std::string_view name, const JsonValue& arguments) {
    return object_of({{"name", text_value(name)},
                      {"arguments", text_value(json_text(arguments))}});
  }

  std::string mark(const ReplyFormat& format) {
    std::vector<std::string_view> marks = {format.reasoning_begin,
                                           format.reasoning_end,
                                           format.call_begin,
                                           format.call_end,
                                           format.name_begin,
                                           format.name_end,
                                           format.key_begin,
                                           format.key_end,
                                           format.value_begin,
                                           format.value_end,
                                           format.body_end,
                                           format.id_begin,
                                           format.header_begin,
                                           format.header_end,
                                           format.written.begin,
                                           format.written.end,
                                           format.written.name_end,
                                           format.other_call_begin,
                                           format.written.section_begin,
                                           format.written.section_end};
    marks.insert(marks.end(), format.dropped.begin(), format.dropped.end());
    std::erase(marks, std::string_view());
    return marks.empty() ? std::string("{")
                         : std::string(marks[below(marks.size())]);
  }

  void change(std::string* answer, const ReplyFormat& format) {
    const size_t at = below(answer->size() + 1);
    const size_t size = std::min(below(12) + 1, answer->size() - at);
    switch (below(8)) {
      case 0:
        answer->erase(at, size);
        break;
      case 1:
        answer->resize(at);
        break;
      case 2:
        answer->insert(at, answer->substr(at, size));
        break;
      case 3:
        for (size_t i = below(3) + 1; i > 0; --i) {
          answer->insert(at, mark(format));
        }
        break;
      case 4:
        answer->insert(
            at, one_of({"1e400", "\\ud83d", "\\udc00x", "null",
                        "\"a\": 1, \"a\": 2, ", "{", "}", "[", "]", "\"", "'",
                        "\\", ",", ":", "\n", "None", std::string(1, '\0'),
                        "\xed\xa0\xbd", "\xff"}));
        break;
      case 5:
        *answer += *answer;
        break;
      case 6:
        *answer = cat(format.reasoning_begin, "Hm. ", *answer, " Hm.",
                      format.reasoning_end, text());
        break;
      default:
        *answer = cat(text(), *answer, text());
    }
  }

  std::mt19937 random_;
  CallMaker calls_;
  std::vector<CallMaker::Made> made_;
};

}  // namespace rc::text::chat
