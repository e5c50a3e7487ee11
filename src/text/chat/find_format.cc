#include "text/chat/find_format.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/chat/conversation.h"
#include "text/chat/dialect.h"
#include "text/chat/loose_json.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

struct TriedCall {
  std::string_view name, id;
  std::string arguments;
};

// With values that formats without quotes could take for others.
const std::vector<std::vector<TriedCall>>& tried_calls() {
  static const std::vector<std::vector<TriedCall>> calls = {
      {{kFirstProbe.name, kFirstProbe.id,
        R"({"text": "It's \"so\":\n[1] <b> é", "number": 7, "flag": true})"}},
      {{kFirstProbe.name, kFirstProbe.id,
        R"({"text": "12", "list": [1, "two"], "object": {"a": "b"}})"}},
      {{kFirstProbe.name, kFirstProbe.id, "{}"}},
      {{kFirstProbe.name, kFirstProbe.id, R"({"text": "a"})"},
       {kOtherProbe.name, kOtherProbe.id, R"({"text": "b", "number": 1})"}},
  };
  return calls;
}

JsonValue tried_tools() {
  std::string tools = "[";
  for (const std::string_view name : {kFirstProbe.name, kOtherProbe.name}) {
    if (tools.size() > 1) tools += ", ";
    tools += cat(R"({"type": "function", "function": {"name": ")", name,
                 R"(", "description": "Looks.", "parameters": {"type":)"
                 R"( "object", "properties": {"text": {"type": "string",)"
                 R"( "description": "A text."}, "number": {"type": "integer",)"
                 R"( "description": "A number."}, "flag": {"type": "boolean",)"
                 R"( "description": "A flag."}, "list": {"type": "array",)"
                 R"( "description": "A list."}, "object": {"type": "object",)"
                 R"( "description": "An object."}}, "required": []}}})");
  }
  return parse_argument(tools + "]", "tools");
}

constexpr std::string_view kQuestion = R"([{"role": "user", "content": "Hi"})";

JsonValue conversation(const std::vector<TriedCall>& calls,
                       std::string_view reasoning = {}) {
  std::string text =
      cat(kQuestion, R"(, {"role": "assistant", "content": null, )");
  if (!reasoning.empty()) {
    text += cat(R"("reasoning_content": ")", reasoning, R"(", )");
  }
  text += R"("tool_calls": [)";
  for (const TriedCall& call : calls) {
    if (&call != calls.data()) text += ", ";
    text += cat(R"({"id": ")", call.id,
                R"(", "type": "function", "function": {"name": ")", call.name,
                R"(", "arguments": )", call.arguments, "}}");
  }
  return parse_argument(text + "]}]", "messages");
}

std::string arguments_of(const ProbeCall& call) {
  return cat(R"({")", call.key, R"(": ")", call.value, R"(", ")",
             call.other_key, R"(": ")", call.other_value, R"("})");
}

std::string numbers_of(const ProbeCall& call) {
  return cat(R"({")", call.key, R"(": )", kProbeNumber, R"(, ")",
             call.other_key, R"(": )", kOtherProbeNumber, "}");
}

// With the members of objects in order.
JsonValue sorted(JsonValue value) {
  for (JsonValue& item : value.items) item = sorted(std::move(item));
  for (auto& [name, member] : value.members) member = sorted(std::move(member));
  std::sort(value.members.begin(), value.members.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return value;
}

class FormatTrials {
 public:
  FormatTrials(const FormatTrial& trial, JsonValue tools)
      : trial_(trial), tools_(std::move(tools)) {
    begin_ = rendered(parse_argument(cat(kQuestion, "]"), "messages"), true);
    if (begin_) turn_end_ = end_of_turn();
  }

  // The answer that is these calls, and what ends it; nothing if the template
  // refuses them.
  std::optional<std::string> answer(const std::vector<TriedCall>& calls) const {
    if (!begin_) return std::nullopt;
    const auto whole = rendered(conversation(calls), false);
    if (!whole) return std::nullopt;
    const size_t most = std::min(begin_->size(), whole->size());
    auto split = static_cast<size_t>(
        std::mismatch(begin_->begin(),
                      begin_->begin() + static_cast<std::ptrdiff_t>(most),
                      whole->begin())
            .first -
        begin_->begin());
    // The difference may lie within a mark.
    const size_t mark =
        split == 0 ? std::string::npos : whole->find_last_of("<[", split - 1);
    if (mark != std::string::npos &&
        whole->find_first_of(">]", mark) >= split) {
      split = mark;
    }
    return whole->substr(split);
  }

  // The answer without what ends all answers; "" if the template refuses the
  // calls, or writes more about them than a format needs.
  std::string derivable(const std::vector<TriedCall>& calls) const {
    constexpr size_t kMostBytes = size_t{64} << 10;
    auto text = answer(calls);
    if (!text || text->size() > kMostBytes) return {};
    const std::string_view last = calls.back().name == kFirstProbe.name
                                      ? kFirstProbe.other_value
                                      : kOtherProbe.other_value;
    const size_t from = std::min(text->find(last), text->size());
    for (const std::string_view end : trial_.ends) {
      text->resize(std::min(text->find(end, from), text->size()));
    }
    if (text->ends_with(turn_end_)) {
      text->resize(text->size() - turn_end_.size());
    }
    return std::move(*text);
  }

  // A conversation that ends with reasoning and these calls; "" if the template
  // refuses it.
  std::string reasoned(const std::vector<TriedCall>& calls) const {
    return rendered(conversation(calls, kProbeReasoning), false)
        .value_or(std::string());
  }

  // Whether the calls are read as they were given, each of those that the
  // template writes, of which there is one, with nothing left of their marks.
  bool reads(const ReplyFormat& format) const {
    if (format.shape == CallShape::kNone) return false;
    bool any = false;
    for (const auto& calls : tried_calls()) {
      if (calls.size() > 1 && !trial_.several_calls) continue;
      const auto text = answer(calls);
      if (!text) continue;
      if (!reads(format, *text, calls)) return false;
      any = true;
    }
    return any;
  }

 private:
  std::optional<std::string> rendered(const JsonValue& messages,
                                      bool begins_answer) const {
    try {
      return trial_.render(messages, tools_, begins_answer);
    } catch (const Error& error) {
      if (error.status() == RC_E_OUT_OF_MEMORY) throw;
      return std::nullopt;
    }
  }

  // The text behind an answer that is text.
  std::string end_of_turn() const {
    constexpr std::string_view kText = "needle in the answer";
    const auto whole = rendered(
        parse_argument(cat(kQuestion, R"(, {"role": "assistant", "content": ")",
                           kText, R"("}])"),
                       "messages"),
        false);
    const size_t at = whole ? whole->rfind(kText) : std::string::npos;
    return at == std::string::npos ? std::string()
                                   : whole->substr(at + kText.size());
  }

  bool reads(const ReplyFormat& format, const std::string& text,
             const std::vector<TriedCall>& calls) const {
    ReplyParser parser(format, {.prompt = *begin_, .tools = ToolTypes(tools_)});
    std::vector<ReplyEvent> events;
    parser.feed(text, &events);
    parser.finish(&events);
    size_t count = 0;
    std::string rest;
    for (const ReplyEvent& event : events) {
      if (event.type == ReplyEvent::Type::kText) rest += event.text;
      if (event.type == ReplyEvent::Type::kMalformed) return false;
      if (event.type != ReplyEvent::Type::kCallEnd) continue;
      if (count == calls.size() || event.name != calls[count].name) {
        return false;
      }
      const auto read = read_loose_json(event.text);
      const auto given = read_loose_json(calls[count].arguments);
      if (!read || sorted(*read) != sorted(*given)) return false;
      ++count;
    }
    return count == calls.size() && ends_answers(rest);
  }

  // Whether the text that is left of an answer is none of it.
  bool ends_answers(const std::string& rest) const {
    return rest.empty() || turn_end_.find(rest) != std::string::npos ||
           std::any_of(
               trial_.ends.begin(), trial_.ends.end(),
               [&](std::string_view end) { return rest.starts_with(end); });
  }

  const FormatTrial& trial_;
  const JsonValue tools_;
  std::optional<std::string> begin_;  // of an answer; nothing: it is refused
  std::string turn_end_;
};

}  // namespace

FoundFormat find_format(std::string_view source, const FormatTrial& trial) {
  FoundFormat found{&reply_format_of(source)};
  if (!names_word(source, "tool_calls")) return found;
  const FormatTrials trials(trial, tried_tools());
  if (trials.reads(*found.format)) return found;
  const TriedCall first{kFirstProbe.name, kFirstProbe.id,
                        arguments_of(kFirstProbe)};
  const TriedCall other{kOtherProbe.name, kOtherProbe.id,
                        arguments_of(kOtherProbe)};
  const std::string one = trials.derivable({first});
  if (one.empty()) return found;
  const std::string both =
      trial.several_calls ? trials.derivable({first, other}) : std::string();
  const std::string numbers =
      trials
          .answer({{kFirstProbe.name, kFirstProbe.id, numbers_of(kFirstProbe)}})
          .value_or(std::string());
  const std::string reasoned = trials.reasoned({first});
  for (const bool raw_strings : {false, true}) {
    auto derived =
        DerivedFormat::find({one, both, numbers, reasoned, raw_strings});
    if (derived == nullptr) return found;
    if (trials.reads(derived->format())) {
      return {&derived->format(), std::move(derived)};
    }
    if (derived->format().shape != CallShape::kPython) return found;
  }
  return found;
}

}  // namespace rc::text::chat
