// Calls that are JSON: an object, or an array of objects, or several of these.

#include <algorithm>
#include <array>

#include "base/json_value.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/json_scanner.h"

namespace rc::text::chat {
namespace {

class ObjectsReader : public CallReader {
 public:
  ObjectsReader(const ReplyFormat& format, const ToolTypes& tools,
                CallMarks marks, CallSink* sink)
      : format_(format), tools_(tools), marks_(marks), sink_(sink) {}

  Result feed(char c) override {
    if (is_whole_) {
      if (c != '{' && c != '[') return Result::kMore;
      is_whole_ = false;
      scanner_ = JsonScanner(/*loose=*/true);
      begin_object();
    }
    const size_t before = scanner_.depth();
    const bool was_string = scanner_.in_string();
    const auto result = scanner_.feed(c);
    if (result == JsonScanner::Result::kBad) return Result::kBad;
    if (before == 0 && scanner_.depth() == 1) level_ = c == '[' ? 2 : 1;
    if (!byte(c, before, was_string)) return Result::kBad;
    if (result == JsonScanner::Result::kMore) return Result::kMore;
    is_whole_ = true;
    return Result::kMore;
  }

  bool is_whole() const override { return is_whole_; }
  bool goes_on(char c) const override {
    // Without marks the next object may be text.
    if (!is_marked()) return false;
    const bool between = c == ',' || c == ';';
    return c == '{' || c == '[' || (between && !format_.call_end.empty());
  }

 private:
  bool is_marked() const { return marks_ == CallMarks::kGiven; }

  // A byte of the object at level_, or between objects. `before` is the depth
  // before it.
  bool byte(char c, size_t before, bool was_string) {
    if (before < level_) {
      // Objects are all that there is in the array.
      if (c == '{') begin_object();
      return c == '[' ? before == 0
                      : c == '{' || c == ']' || c == ',' || is_reply_space(c);
    }
    if (before == level_ && !was_string && (c == ',' || c == '}')) {
      if (in_value_ && !end_value()) return false;
      return c == ',' || end_object();
    }
    if (in_value_) return value_byte(c, was_string);
    if (before == level_ && (was_string || scanner_.in_string())) {
      key_ += strict_byte(c, was_string);
    } else if (c == ':') {
      in_value_ = true;
      return end_key();
    }
    return true;
  }

  bool end_key() {
    std::string name;
    if (!take_text(key_, &name)) return false;
    key_ = name;
    if (is_keyed()) {
      // The only member.
      if (!name_.empty() || !is_call_name(name)) return false;
      name_ = name;
      return is_marked() || tools_.offers(name);
    }
    // Without marks nothing but the members of a call makes it one.
    return is_marked() || is_name() || is_arguments() || is_other_of_calls();
  }

  void begin_object() {
    key_.clear();
    name_.clear();
    id_.clear();
    arguments_.clear();
    begun_ = has_arguments_ = names_arguments_ = has_others_ = false;
    in_value_ = false;
  }

  bool is_one_of(std::string_view own, auto names) const {
    return key_ == own ||
           std::find(names.begin(), names.end(), key_) != names.end();
  }
  // The name of a call is that of its member.
  bool is_keyed() const { return format_.name_key.empty(); }
  bool is_name() const {
    return !is_keyed() &&
           is_one_of(format_.name_key,
                     std::array<std::string_view, 2>{"name", "tool_name"});
  }
  bool is_arguments() const {
    return is_keyed() ||
           is_one_of(format_.arguments_key, std::array<std::string_view, 2>{
                                                "arguments", "parameters"});
  }
  bool is_id() const {
    if (is_keyed()) return false;
    return key_ == format_.id_key || key_ == "id";
  }
  // Members that are known to say nothing about arguments.
  bool is_other_of_calls() const {
    return is_id() || key_ == "type" || key_ == "index" ||
           key_ == "tool_call_id";
  }

  // False: there were arguments already, which were passed on.
  bool value_byte(char c, bool was_string) {
    if (value_.empty() && is_reply_space(c)) return true;
    const std::string byte = strict_byte(c, was_string);
    const bool first = value_.empty();
    value_ += byte;
    if (value_[0] != '{' || !is_arguments()) return true;
    if (first && has_arguments_) return false;
    // Once the object is over only spaces come.
    if (scanner_.depth() == level_ && is_reply_space(c)) return true;
    add(byte);
    return true;
  }

  // Arguments that come before the name wait for it.
  void add(std::string_view piece) {
    has_arguments_ = true;
    begin_when_known();
    if (begun_) {
      sink_->add_arguments(piece);
    } else {
      arguments_ += piece;
    }
  }

  bool end_value() {
    in_value_ = false;
    const std::string value(without_spaces(value_));
    value_.clear();
    bool good = true;
    if (is_name()) {
      good = name_.empty() && take_text(value, &name_) && is_call_name(name_) &&
             (is_marked() || tools_.offers(name_));
    } else if (is_id()) {
      take_id(value);
    } else if (is_arguments()) {
      names_arguments_ = true;
      if (value[0] != '{') good = take_arguments(value);
    } else if (!is_other_of_calls()) {
      has_others_ = true;
    }
    key_.clear();
    if (good) begin_when_known();
    return good;
  }

  bool take_arguments(const std::string& value) {
    const auto arguments = arguments_of_value(value);
    if (!arguments) return false;
    if (*arguments == "{}") return true;
    if (has_arguments_) return false;
    add(*arguments);
    return true;
  }

  void take_id(const std::string& value) {
    if (value[0] == '"') {
      take_text(value, &id_);
    } else if (value[0] == '-' || (value[0] >= '0' && value[0] <= '9')) {
      id_ = value;
    }
  }

  static bool take_text(const std::string& json, std::string* text) {
    if (json.empty() || json[0] != '"') return false;
    auto value = read_loose_json(json);
    if (!value) return false;
    *text = std::move(value->text);
    return true;
  }

  void begin_when_known() {
    if (!begun_ && !name_.empty() && has_arguments_) begin_call();
  }

  void begin_call() {
    begun_ = true;
    sink_->begin_call(name_, id_);
    sink_->add_arguments(arguments_);
    arguments_.clear();
  }

  bool end_object() {
    if (name_.empty()) return false;
    if (!has_arguments_) {
      // Other members may be arguments under another name.
      if (has_others_ || (!is_marked() && !names_arguments_)) return false;
      arguments_ = "{}";
    }
    if (!begun_) begin_call();
    sink_->end_call(id_);
    return true;
  }

  const ReplyFormat& format_;
  const ToolTypes& tools_;
  const CallMarks marks_;
  CallSink* sink_;
  JsonScanner scanner_{/*loose=*/true};
  bool is_whole_ = false;
  size_t level_ = 1;  // of the objects that are calls
  // Of the object that is open.
  std::string key_;  // with its quotes up to the colon
  std::string value_;
  std::string name_;
  std::string id_;
  std::string arguments_;
  bool in_value_ = false;
  bool has_arguments_ = false;    // that are not empty, or an object
  bool names_arguments_ = false;  // has a member for them
  bool has_others_ = false;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<CallReader> make_object_reader(const ReplyFormat& format,
                                               const ToolTypes& tools,
                                               CallMarks marks,
                                               CallSink* sink) {
  return std::make_unique<ObjectsReader>(format, tools, marks, sink);
}

}  // namespace rc::text::chat
