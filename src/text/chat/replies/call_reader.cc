#include "text/chat/replies/call_reader.h"

#include "base/error.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/json_scanner.h"

namespace rc::text::chat {
namespace {

// kNamed: NAME, mark, JSON.
class NamedReader : public CallReader {
 public:
  NamedReader(const ReplyFormat& format, CallSink* sink)
      : format_(format), sink_(sink) {}

  bool take_header(std::string_view header) {
    const std::string_view name = name_in_header(format_, header);
    if (format_.id_is_name) {
      id_ = without_spaces(header);
    } else if (format_.id_is_first) {
      id_ = without_spaces(header.substr(0, header.find(format_.name_begin)));
    } else if (!format_.id_begin.empty()) {
      const size_t at = header.find(format_.id_begin);
      if (at != header.npos) {
        id_ = without_spaces(header.substr(at + format_.id_begin.size()));
      }
    }
    in_header_ = false;
    if (!is_call_name(name)) return false;
    sink_->begin_call(name, id_);
    return true;
  }

  Result feed(char c) override {
    if (in_header_) {
      header_ += c;
      if (!header_.ends_with(format_.name_end)) return Result::kMore;
      header_.resize(header_.size() - format_.name_end.size());
      return take_header(header_) ? Result::kMore : Result::kBad;
    }
    if (at_end_) return is_reply_space(c) ? Result::kMore : Result::kBad;
    if (scanner_.depth() == 0) {
      if (value_.empty() && is_reply_space(c)) return Result::kMore;
      if (!value_.empty() || c != '{') return value_byte(c);
    }
    const bool within_string = scanner_.in_string();
    const auto result = scanner_.feed(c);
    if (result == JsonScanner::Result::kBad) return Result::kBad;
    sink_->add_arguments(strict_byte(c, within_string));
    return result == JsonScanner::Result::kMore ? Result::kMore : finish();
  }

  bool is_whole() const override { return at_end_; }
  bool may_be_empty() const override {
    return !in_header_ && !at_end_ && scanner_.depth() == 0 && value_.empty();
  }
  void end() override {
    sink_->add_arguments("{}");
    finish();
  }

 private:
  Result finish() {
    at_end_ = true;
    sink_->end_call(id_);
    return format_.call_end.empty() ? Result::kDone : Result::kMore;
  }

  // Of null or a text.
  Result value_byte(char c) {
    constexpr std::string_view kNull = "null";
    value_ += c;
    if (value_[0] != '"') {
      if (!kNull.starts_with(value_)) return Result::kBad;
      if (value_ != kNull) return Result::kMore;
    } else if (value_.size() == 1 || escaped_ || c != '"') {
      escaped_ = c == '\\' && !escaped_;
      return Result::kMore;
    }
    const auto arguments = arguments_of_value(value_);
    if (!arguments) return Result::kBad;
    sink_->add_arguments(*arguments);
    return finish();
  }

  const ReplyFormat& format_;
  CallSink* sink_;
  bool in_header_ = true;
  bool at_end_ = false;
  bool escaped_ = false;
  std::string header_;
  std::string id_;
  std::string value_;
  JsonScanner scanner_{/*loose=*/true};
};

// Keeps what a reader finds until it is known to be whole.
class KeepingSink : public CallSink {
 public:
  void begin_call(std::string_view name, std::string_view /*id*/) override {
    calls_.push_back({.name = std::string(name)});
  }
  void add_arguments(std::string_view piece) override {
    calls_.back().arguments += piece;
  }
  void end_call(std::string_view id) override { calls_.back().id = id; }

  void pass_on(CallSink* sink) const {
    for (const Call& call : calls_) {
      sink->begin_call(call.name, call.id);
      sink->add_arguments(call.arguments);
      sink->end_call(call.id);
    }
  }

 private:
  struct Call {
    std::string name = {};
    std::string id = {};
    std::string arguments = {};
  };
  std::vector<Call> calls_;
};

// Shapes that are read when they are whole. Models may write JSON instead.
class WholeReader : public CallReader {
 public:
  WholeReader(const ReplyFormat& format, const ToolTypes& tools,
              CallMarks marks, CallSink* sink)
      : format_(format), tools_(tools), marks_(marks), sink_(sink) {}

  Result feed(char c) override {
    text_ += c;
    if (!text_.ends_with(format_.call_end)) return Result::kMore;
    text_.resize(text_.size() - format_.call_end.size());
    return end_of_answer() ? Result::kDone : Result::kBad;
  }

  bool end_of_answer() override {
    return read_literal_calls(format_, text_, sink_) || read_objects();
  }

 private:
  bool read_objects() {
    KeepingSink kept;
    const auto reader = make_object_reader(format_, tools_, marks_, &kept);
    for (const char c : text_) {
      if (reader->is_whole() && !is_reply_space(c) && !reader->goes_on(c)) {
        return false;
      }
      if (reader->feed(c) == Result::kBad) return false;
    }
    if (!reader->is_whole()) return false;
    kept.pass_on(sink_);
    return true;
  }

  const ReplyFormat& format_;
  const ToolTypes& tools_;
  const CallMarks marks_;
  CallSink* sink_;
  std::string text_;
};

}  // namespace

std::string_view name_in_header(const ReplyFormat& format,
                                std::string_view header) {
  if (!format.name_begin.empty()) {
    const size_t at = header.find(format.name_begin);
    if (at == header.npos) return {};
    header.remove_prefix(at + format.name_begin.size());
  }
  if (!format.id_begin.empty()) {
    header = header.substr(0, header.find(format.id_begin));
  }
  header = without_spaces(header);
  if (format.id_is_name) header = header.substr(0, header.rfind(':'));
  // In a header with other words, a name ends with its word.
  if (!format.header_begin.empty()) {
    header = header.substr(0, header.find_first_of(" <"));
  }
  constexpr std::string_view kFunctions = "functions.";
  if (format.written.begin.ends_with(kFunctions) &&
      header.starts_with(kFunctions)) {
    header.remove_prefix(kFunctions.size());
  }
  return header;
}

std::optional<std::string> arguments_of_value(std::string_view json) {
  const std::string_view trimmed = without_spaces(json);
  const std::string none = "{}";
  if (trimmed.empty() || trimmed == "null") return none;
  if (trimmed[0] != '"' && trimmed[0] != '[') return std::nullopt;
  const auto value = read_loose_json(trimmed);
  if (!value) return std::nullopt;
  if (value->is(JsonValue::Type::kArray)) {
    if (!value->items.empty()) return std::nullopt;
    return none;
  }
  const std::string_view text = without_spaces(value->text);
  if (text.empty() || text == "null") return none;
  const auto within = read_loose_json(text);
  if (!within || !within->is(JsonValue::Type::kObject)) return std::nullopt;
  return with_escaped_controls(text);
}

UnmarkedBegins unmarked_begins(const ReplyFormat& format,
                               const ToolTypes& tools) {
  UnmarkedBegins begins;
  if (format.shape == CallShape::kTags) begins.part = format.name_begin;
  for (const auto& [name, arguments] : tools.tools()) {
    switch (format.shape) {
      case CallShape::kTags:
        if (!format.name_end.empty()) break;
        begins.lines.push_back(cat(name, format.key_begin));
        begins.lines.push_back(cat(name, "\n", format.key_begin));
        break;
      case CallShape::kNamed:
        if (format.call_begin.empty() || format.id_is_first) break;
        if (format.id_is_name) {
          begins.lines.push_back(cat("functions.", name, ":"));
        } else if (!format.name_begin.empty()) {
          begins.lines.push_back(
              cat("function", format.name_begin, name, format.name_end));
        } else if (is_tag(format.name_end)) {
          begins.lines.push_back(cat(name, format.name_end));
        }
        break;
      case CallShape::kPython:
        begins.lines.push_back(cat("[", name, "("));
        break;
      case CallShape::kGemma:
        begins.lines.push_back(cat("call:", name, "{"));
        break;
      case CallShape::kNone:
      case CallShape::kObjects:
      case CallShape::kElements:
        break;
    }
  }
  return begins;
}

std::unique_ptr<CallReader> make_call_reader(const ReplyFormat& format,
                                             const ToolTypes& tools,
                                             CallMarks marks, CallSink* sink) {
  switch (format.shape) {
    case CallShape::kObjects:
      return make_object_reader(format, tools, marks, sink);
    case CallShape::kNamed:
      return std::make_unique<NamedReader>(format, sink);
    case CallShape::kTags:
      return make_tag_reader(format, tools, sink);
    case CallShape::kElements:
      return make_element_reader(format, tools, sink);
    default:
      return std::make_unique<WholeReader>(format, tools, marks, sink);
  }
}

std::unique_ptr<CallReader> make_argument_reader(const ReplyFormat& format,
                                                 std::string_view header,
                                                 CallSink* sink) {
  auto reader = std::make_unique<NamedReader>(format, sink);
  if (!reader->take_header(header)) return nullptr;
  return reader;
}

}  // namespace rc::text::chat
