// Calls that are JSON: an object, or an array of objects.

#include "base/json_value.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/json_scanner.h"

namespace rc::text::chat {
namespace {

class ObjectsReader : public CallReader {
 public:
  ObjectsReader(const ReplyFormat& format, CallSink* sink)
      : format_(format), sink_(sink), end_(format.call_end) {}

  Result feed(char c) override {
    if (at_end_) {
      if (!end_.feed(c)) return Result::kBad;
      return end_.is_over() ? Result::kDone : Result::kMore;
    }
    const size_t before = scanner_.depth();
    const bool was_string = scanner_.in_string();
    const auto result = scanner_.feed(c);
    if (result == JsonScanner::Result::kBad) return Result::kBad;
    if (before == 0 && scanner_.depth() == 1) level_ = c == '[' ? 2 : 1;
    if (!byte(c, before, was_string)) return Result::kBad;
    if (result == JsonScanner::Result::kMore) return Result::kMore;
    at_end_ = true;
    return end_.is_over() ? Result::kDone : Result::kMore;
  }

  bool may_end() const override { return at_end_; }

 private:
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
    if (in_value_) {
      value_byte(c);
      return true;
    }
    if (before == level_ && (was_string || scanner_.in_string())) {
      key_ += c;
    } else if (c == ':') {
      in_value_ = true;
      return undo_escapes();
    }
    return true;
  }

  // Of a key.
  bool undo_escapes() {
    if (key_.find('\\') == key_.npos) return true;
    std::string name;
    if (!take_text(key_, &name)) return false;
    key_ = '"' + name + '"';
    return true;
  }

  void begin_object() {
    key_.clear();
    name_.clear();
    id_.clear();
    arguments_.clear();
    begun_ = has_arguments_ = in_value_ = false;
  }

  bool is_key(std::string_view key) const {
    return key_.size() == key.size() + 2 &&
           std::string_view(key_).substr(1, key.size()) == key;
  }

  void value_byte(char c) {
    if (value_.empty() && is_reply_space(c)) return;
    value_ += c;
    if (!is_key(format_.arguments_key) || value_[0] != '{') return;
    // Once the object is over only spaces come.
    if (scanner_.depth() == level_ && is_reply_space(c)) return;
    add({&c, 1});
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
    if (is_key(format_.name_key)) {
      good = take_text(value, &name_) && is_call_name(name_);
    } else if (is_key(format_.id_key)) {
      if (value[0] == '"') {
        good = take_text(value, &id_);
      } else {
        id_ = value;
      }
    } else if (is_key(format_.arguments_key) && value[0] != '{') {
      // Some models write the object as a text.
      std::string text;
      good = take_text(value, &text) && !text.empty() && text[0] == '{' &&
             is_json(text);
      if (good) add(text);
    }
    key_.clear();
    if (good) begin_when_known();
    return good;
  }

  static bool take_text(const std::string& json, std::string* text) {
    if (json.empty() || json[0] != '"') return false;
    if (!is_json(json)) return false;
    *text = parse_json(json, "text", 1).text;
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
    if (!has_arguments_) arguments_ = "{}";
    if (!begun_) begin_call();
    sink_->end_call(id_);
    return true;
  }

  const ReplyFormat& format_;
  CallSink* sink_;
  JsonScanner scanner_;
  EndMark end_;
  bool at_end_ = false;
  size_t level_ = 1;  // of the objects that are calls
  // Of the object that is open.
  std::string key_;  // with its quotes
  std::string value_;
  std::string name_;
  std::string id_;
  std::string arguments_;
  bool in_value_ = false;
  bool has_arguments_ = false;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<CallReader> make_object_reader(const ReplyFormat& format,
                                               CallSink* sink) {
  return std::make_unique<ObjectsReader>(format, sink);
}

}  // namespace rc::text::chat
