// Calls whose arguments are between marks, one by one.

#include "base/json_value.h"
#include "text/chat/replies/call_parts.h"

namespace rc::text::chat {
namespace {

class TagsReader : public CallReader {
 public:
  TagsReader(const ReplyFormat& format, const ToolTypes& tools, CallSink* sink)
      : format_(format), tools_(tools), sink_(sink) {}

  Result feed(char c) override {
    text_ += c;
    switch (state_) {
      case State::kName:
        return name();
      case State::kNameTail:
        if (take_until(format_.name_tail_end)) state_ = State::kBetween;
        return text_.size() > kMostBetween ? Result::kBad : Result::kMore;
      case State::kBetween:
        return between();
      case State::kKey:
        if (!take_until(format_.key_end)) return Result::kMore;
        key_ = std::string(without_spaces(taken_));
        state_ =
            format_.value_begin.empty() ? State::kValue : State::kAttribute;
        return Result::kMore;
      case State::kAttribute:
        if (!take_until(format_.value_begin)) return Result::kMore;
        attribute_ = std::string(without_spaces(taken_));
        state_ = State::kValue;
        return Result::kMore;
      case State::kValue:
        if (ends_value() && take_until(format_.value_end)) add_value();
        return Result::kMore;
      case State::kEnd:
        return is_reply_space(c) ? Result::kMore : Result::kBad;
    }
    return Result::kBad;
  }

  bool is_whole() const override { return state_ == State::kEnd; }

 private:
  enum class State : unsigned char {
    kName,
    kNameTail,
    kBetween,
    kKey,
    kAttribute,
    kValue,
    kEnd,  // the call is whole, the mark at its end may follow
  };

  // Bytes between two arguments.
  static constexpr size_t kMostBetween = 256;
  static constexpr std::string_view kCdataBegin = "<![CDATA[";
  static constexpr std::string_view kCdataEnd = "]]>";

  // Whether the text ends with the mark; what is before it is taken then.
  bool take_until(std::string_view mark) {
    if (!text_.ends_with(mark)) return false;
    taken_ = text_.substr(0, text_.size() - mark.size());
    text_.clear();
    return true;
  }

  Result name() {
    if (!format_.name_end.empty()) {
      if (!take_until(format_.name_end)) return Result::kMore;
      return begin(taken_) ? Result::kMore : Result::kBad;
    }
    if (take_until(format_.key_begin)) {
      if (!begin(taken_)) return Result::kBad;
      state_ = State::kKey;
      return Result::kMore;
    }
    if (!take_until(format_.call_end)) return Result::kMore;
    return begin(taken_) ? finish() : Result::kBad;
  }

  bool begin(std::string_view header) {
    name_ = std::string(name_in_header(format_, header));
    if (!is_call_name(name_)) return false;
    sink_->begin_call(name_, "");
    state_ = format_.name_tail_end.empty() ? State::kBetween : State::kNameTail;
    return true;
  }

  Result between() {
    if (take_until(format_.call_end)) return finish();
    if (take_until(format_.key_begin)) {
      state_ = State::kKey;
      return Result::kMore;
    }
    if (!format_.body_end.empty() && take_until(format_.body_end)) {
      finish();
      state_ = State::kEnd;
      return Result::kMore;
    }
    // Nothing but spaces and the beginning of a mark may be there.
    if (text_.size() > kMostBetween) return Result::kBad;
    const std::string_view rest = without_spaces(text_);
    const bool good = format_.call_end.starts_with(rest) ||
                      format_.key_begin.starts_with(rest) ||
                      format_.body_end.starts_with(rest);
    return good ? Result::kMore : Result::kBad;
  }

  // Whether the mark at the end of a value, if it is there, is none of the
  // value.
  bool ends_value() const {
    if (!format_.cdata || !text_.ends_with(format_.value_end) ||
        !without_spaces(text_).starts_with(kCdataBegin)) {
      return true;
    }
    const std::string_view value(text_.data(),
                                 text_.size() - format_.value_end.size());
    return without_spaces(value).ends_with(kCdataEnd);
  }

  // The meaning of the attribute of an argument for its value.
  ValueStyle::Said said() const {
    using Said = ValueStyle::Said;
    const std::string_view of_strings = format_.string_attribute;
    if (of_strings.empty() || attribute_.empty()) return Said::kNothing;
    if (attribute_ == of_strings) return Said::kString;
    const std::string_view name =
        of_strings.substr(0, of_strings.find('=') + 1);
    return attribute_.starts_with(name) ? Said::kJson : Said::kNothing;
  }

  Result finish() {
    sink_->add_arguments(any_ ? "}" : "{}");
    sink_->end_call("");
    return Result::kDone;
  }

  void add_value() {
    std::string value = taken_;
    if (format_.values_on_lines) {
      if (value.starts_with('\n')) value.erase(0, 1);
      if (value.ends_with('\n')) value.pop_back();
    }
    ValueStyle style{.python = format_.python_values, .said = said()};
    const std::string_view trimmed = without_spaces(value);
    if (format_.cdata && trimmed.starts_with(kCdataBegin) &&
        trimmed.ends_with(kCdataEnd) &&
        trimmed.size() >= kCdataBegin.size() + kCdataEnd.size()) {
      style.said = ValueStyle::Said::kString;
      value = std::string(trimmed.substr(
          kCdataBegin.size(),
          trimmed.size() - kCdataBegin.size() - kCdataEnd.size()));
    }
    sink_->add_arguments(any_ ? ", " : "{");
    sink_->add_arguments(json_text(key_) + ": ");
    sink_->add_arguments(argument_json(tools_.type(name_, key_), value, style));
    any_ = true;
    attribute_.clear();
    state_ = State::kBetween;
  }

  const ReplyFormat& format_;
  const ToolTypes& tools_;
  CallSink* sink_;
  State state_ = State::kName;
  std::string text_;   // since the last mark
  std::string taken_;  // before the last mark
  std::string name_;
  std::string key_;
  std::string attribute_;
  bool any_ = false;  // arguments so far
};

}  // namespace

std::unique_ptr<CallReader> make_tag_reader(const ReplyFormat& format,
                                            const ToolTypes& tools,
                                            CallSink* sink) {
  return std::make_unique<TagsReader>(format, tools, sink);
}

}  // namespace rc::text::chat
