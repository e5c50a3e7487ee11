// Calls whose arguments are elements, in which values are elements again.

#include <utility>
#include <vector>

#include "base/cat.h"
#include "base/json_value.h"
#include "text/chat/replies/call_parts.h"

namespace rc::text::chat {
namespace {

using Bit = ArgumentType::Bit;

bool is_element_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestElementName &&
         name.front() != '/' && name.find_first_of("<>\n") == name.npos;
}

class ElementsReader : public CallReader {
 public:
  ElementsReader(const ReplyFormat& format, const ToolTypes& tools,
                 CallSink* sink)
      : format_(format), tools_(tools), sink_(sink) {}

  Result feed(char c) override {
    text_ += c;
    return in_name_ ? name() : element_byte(c);
  }

 private:
  struct Child {
    std::string name;
    std::string json;
  };
  // An element that has not ended.
  struct Open {
    std::string name;
    std::string end;
    ValuePlace place;
    ArgumentType type;
    std::vector<Child> children = {};
  };

  // Bytes between two elements.
  static constexpr size_t kMostBetween = 256;

  Result name() {
    if (!text_.ends_with(format_.name_end)) return Result::kMore;
    text_.resize(text_.size() - format_.name_end.size());
    const std::string name(name_in_header(format_, text_));
    if (!is_call_name(name)) return Result::kBad;
    sink_->begin_call(name, "");
    arguments_ = tools_.place(name);
    in_name_ = false;
    clear_text();
    return Result::kMore;
  }

  void clear_text() {
    text_.clear();
    first_ = text_.npos;
  }

  Result element_byte(char c) {
    if (first_ == text_.npos && !is_reply_space(c)) first_ = text_.size() - 1;
    const std::string_view end =
        open_.empty() ? format_.call_end : std::string_view(open_.back().end);
    if (text_.ends_with(end)) return end_element(end);
    // Whether the text may be the value.
    const bool may_be_value = !open_.empty() && open_.back().children.empty();
    const Result as_text = may_be_value ? Result::kMore : Result::kBad;
    if (first_ == text_.npos) {
      return text_.size() <= kMostBetween ? Result::kMore : as_text;
    }
    if (may_be_value && open_.back().type.is_text()) return Result::kMore;
    const std::string_view rest = std::string_view(text_).substr(first_);
    const std::string_view mark = format_.key_begin;
    if (rest.size() <= mark.size()) {
      return mark.starts_with(rest) ? Result::kMore : as_text;
    }
    if (!rest.starts_with(mark)) return as_text;
    const std::string_view name = rest.substr(mark.size());
    if (c != '>') {
      return name.size() <= kLongestElementName ? Result::kMore : as_text;
    }
    const std::string_view whole = name.substr(0, name.size() - 1);
    return is_element_name(whole) ? begin_element(std::string(whole)) : as_text;
  }

  Result begin_element(std::string name) {
    if (open_.size() == kDeepestElement) return Result::kBad;
    Open element;
    if (open_.empty()) {
      element.place = arguments_.member(name);
    } else {
      const Open& outer = open_.back();
      const bool item =
          outer.type.allows(Bit::kArray) &&
          (name == kItemElement || !outer.type.allows(Bit::kObject));
      element.place = item ? outer.place.item(outer.children.size())
                           : outer.place.member(name);
    }
    element.type = element.place.type();
    element.end = cat(format_.value_end, name, ">");
    element.name = std::move(name);
    open_.push_back(std::move(element));
    clear_text();
    return Result::kMore;
  }

  Result end_element(std::string_view end) {
    const std::string value = text_.substr(0, text_.size() - end.size());
    clear_text();
    if (open_.empty()) {
      if (!without_spaces(value).empty()) return Result::kBad;
      sink_->add_arguments(any_ ? "}" : "{}");
      sink_->end_call("");
      return Result::kDone;
    }
    const Open element = std::move(open_.back());
    open_.pop_back();
    std::string json;
    if (element.children.empty()) {
      json = value_json(element.type, value);
    } else if (without_spaces(value).empty()) {
      json = children_json(element);
    } else {
      return Result::kBad;
    }
    if (!open_.empty()) {
      open_.back().children.push_back({element.name, std::move(json)});
      return Result::kMore;
    }
    sink_->add_arguments(
        cat(any_ ? ", " : "{", json_text(element.name), ": ", json));
    any_ = true;
    return Result::kMore;
  }

  // The JSON of a value that is a text. Nothing is also how containers without
  // elements are written.
  static std::string value_json(const ArgumentType& type,
                                std::string_view written) {
    if (without_spaces(written).empty() && !type.allows(Bit::kString)) {
      if (type.allows(Bit::kArray)) return "[]";
      if (type.allows(Bit::kObject)) return "{}";
    }
    return argument_json(type, written, {});
  }

  static std::string children_json(const Open& element) {
    bool items = true;
    for (const Child& child : element.children) {
      items = items && child.name == kItemElement;
    }
    const bool may_be_array = element.type.allows(Bit::kArray);
    const bool may_be_object = element.type.allows(Bit::kObject);
    const bool array =
        items ? may_be_array || !may_be_object : may_be_array && !may_be_object;
    std::string json(1, array ? '[' : '{');
    for (const Child& child : element.children) {
      if (&child != element.children.data()) json += ", ";
      if (!array) json += cat(json_text(child.name), ": ");
      json += child.json;
    }
    return json + (array ? ']' : '}');
  }

  const ReplyFormat& format_;
  const ToolTypes& tools_;
  CallSink* sink_;
  bool in_name_ = true;
  ValuePlace arguments_;
  std::vector<Open> open_;
  std::string text_;                  // since the last mark
  size_t first_ = std::string::npos;  // byte of it that is no space
  bool any_ = false;                  // arguments so far
};

}  // namespace

std::unique_ptr<CallReader> make_element_reader(const ReplyFormat& format,
                                                const ToolTypes& tools,
                                                CallSink* sink) {
  return std::make_unique<ElementsReader>(format, tools, sink);
}

}  // namespace rc::text::chat
