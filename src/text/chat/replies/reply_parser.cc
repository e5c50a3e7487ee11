#include "text/chat/replies/reply_parser.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/special_names.h"

namespace rc::text::chat {
bool begins_within_reasoning(const ReplyFormat& format,
                             std::string_view prompt) {
  while (!prompt.empty() && is_reply_space(prompt.back())) {
    prompt.remove_suffix(1);
  }
  std::string_view begin = format.reasoning_begin;
  while (!begin.empty() && is_reply_space(begin.back())) {
    begin.remove_suffix(1);
  }
  return format.header_begin.empty() && !begin.empty() &&
         prompt.ends_with(begin);
}

ReplyParser::ReplyParser(const ReplyFormat& format, ReplyOptions options)
    : format_(format),
      strings_(std::move(options.strings)),
      calls_allowed_(options.calls) {
  add_marker(format.reasoning_begin, Mark::kReasoningBegin, options);
  add_marker(format.reasoning_end, Mark::kReasoningEnd, options);
  add_marker(format.call_begin, Mark::kCallBegin, options);
  add_marker(format.other_call_begin, Mark::kCallBegin, options);
  add_marker(format.call_end, Mark::kCallEnd, options);
  for (const std::string_view text : format.dropped) {
    add_marker(text, Mark::kDropped, options);
  }
  add_marker(format.header_begin, Mark::kHeaderBegin, options);
  add_marker(format.header_end, Mark::kHeaderEnd, options);
  begin_answer(options.prompt);
}

ReplyParser::~ReplyParser() = default;

void ReplyParser::add_marker(std::string_view text, Mark mark,
                             const ReplyOptions& options) {
  if (text.empty()) return;
  markers_.push_back({with_special_names(text, options.is_special), mark});
}

void ReplyParser::begin_answer(std::string_view prompt) {
  if (!format_.header_begin.empty()) {
    mode_ = Mode::kHeader;
  } else if (begins_within_reasoning(format_, prompt)) {
    mode_ = Mode::kReasoning;
    divided_ = true;
  }
}

void ReplyParser::feed(std::string_view text, std::vector<ReplyEvent>* events) {
  for (const char c : text) {
    if (c == kSpecialMark) {
      pending_ += "\xEF\xBF\xBD";
    } else {
      pending_ += c;
    }
  }
  events_ = events;
  read(/*at_end=*/false);
}

void ReplyParser::feed_special(std::string_view name,
                               std::vector<ReplyEvent>* events) {
  const std::string marked = special_name(name);
  const bool known =
      std::any_of(markers_.begin(), markers_.end(), [&](const Marker& marker) {
        return marker.text.find(marked) != std::string::npos;
      });
  // Without a mark among them the names are text, as marks are.
  const bool as_text =
      std::any_of(markers_.begin(), markers_.end(), [&](const Marker& marker) {
        return marker.text.find(name) != name.npos;
      });
  if (known) {
    pending_ += marked;
  } else if (as_text || mode_ == Mode::kCall) {
    pending_ += name;
  }
  events_ = events;
  read(/*at_end=*/false);
}

void ReplyParser::finish(std::vector<ReplyEvent>* events) {
  events_ = events;
  // What could have become a mark cannot any more: it is text.
  read(/*at_end=*/true);
  if (mode_ == Mode::kCall && !call_->may_end()) call_failed();
  if (mode_ == Mode::kHeader) {
    emit(ReplyEvent::Type::kText, header_);
  } else if (mode_ == Mode::kText && (!at_begin_ || !divided_)) {
    emit(ReplyEvent::Type::kText, spaces_);
  }
  spaces_.clear();
  header_.clear();
}

bool ReplyParser::counts(Mark mark) const {
  switch (mode_) {
    case Mode::kText:
      return mark == Mark::kReasoningBegin ||
             (mark == Mark::kCallBegin && calls_allowed_) ||
             mark == Mark::kDropped || mark == Mark::kHeaderBegin;
    case Mode::kReasoning:
      return mark == Mark::kReasoningEnd || mark == Mark::kHeaderBegin ||
             (mark == Mark::kDropped && !format_.header_begin.empty());
    case Mode::kHeader:
      return mark == Mark::kHeaderEnd;
    case Mode::kBroken:
      return mark == Mark::kCallBegin || mark == Mark::kCallEnd ||
             mark == Mark::kHeaderBegin;
    case Mode::kCall:
      return false;  // its reader knows where it ends
  }
  return false;
}

const ReplyParser::Marker* ReplyParser::marker_at(size_t at, bool at_end,
                                                  bool* wait) const {
  const std::string_view rest = std::string_view(pending_).substr(at);
  const Marker* best = nullptr;
  for (const Marker& marker : markers_) {
    if (marker.text[0] != rest[0] || !counts(marker.mark)) continue;
    if (rest.starts_with(marker.text)) {
      if (best == nullptr || marker.text.size() > best->text.size()) {
        best = &marker;
      }
    } else if (!at_end && std::string_view(marker.text).starts_with(rest)) {
      *wait = true;
    }
  }
  return best;
}

void ReplyParser::read(bool at_end) {
  size_t at = 0;
  while (at < pending_.size()) {
    bool wait = false;
    const Marker* marker = marker_at(at, at_end, &wait);
    if (wait) break;
    if (marker != nullptr) {
      at += marker->text.size();
      take_mark(*marker);
    } else {
      byte(pending_[at++]);
    }
  }
  pending_.erase(0, at);
}

void ReplyParser::byte(char c) {
  if (c == kSpecialMark) {
    in_special_ = !in_special_;
  } else if (mode_ == Mode::kCall) {
    call_byte(c);
  } else if (mode_ == Mode::kHeader) {
    header_ += c;
  } else if (!in_special_) {
    text_byte(c);
  }
}

void ReplyParser::text_byte(char c) {
  if (mode_ == Mode::kBroken) {
    emit(ReplyEvent::Type::kMalformed, {&c, 1});
    return;
  }
  if (is_reply_space(c)) {
    spaces_ += c;
    return;
  }
  if (format_.bare && calls_allowed_ && at_begin_ && mode_ == Mode::kText) {
    if (c == ';' && calls_ > 0) return;  // between calls
    if (c == '{') {
      start_call("");
      bare_ = true;
      call_byte(c);
      return;
    }
  }
  const auto type = mode_ == Mode::kReasoning ? ReplyEvent::Type::kReasoning
                                              : ReplyEvent::Type::kText;
  if (!at_begin_ || !divided_) emit(type, spaces_);
  spaces_.clear();
  at_begin_ = false;
  emit(type, {&c, 1});
}

void ReplyParser::set_mode(Mode mode) {
  mode_ = mode;
  spaces_.clear();
  at_begin_ = true;
  divided_ = true;
}

void ReplyParser::take_mark(const Marker& marker) {
  switch (marker.mark) {
    case Mark::kReasoningBegin:
      return set_mode(Mode::kReasoning);
    case Mark::kReasoningEnd:
    case Mark::kDropped:
      return set_mode(Mode::kText);
    case Mark::kCallBegin:
      return start_call(without_marks_of_special(marker.text));
    case Mark::kCallEnd:
      emit(ReplyEvent::Type::kMalformed, without_marks_of_special(marker.text));
      return set_mode(Mode::kText);
    case Mark::kHeaderBegin:
      header_.clear();
      return set_mode(Mode::kHeader);
    case Mark::kHeaderEnd:
      return end_header();
  }
}

void ReplyParser::end_header() {
  const std::string header = std::exchange(header_, std::string());
  const std::string_view name = name_in_header(format_, header);
  if (name.empty() || name == format_.text_header) {
    const bool reasoning =
        !format_.reasoning_header.empty() &&
        header.find(format_.reasoning_header) != std::string::npos;
    return set_mode(reasoning ? Mode::kReasoning : Mode::kText);
  }
  set_mode(Mode::kCall);
  raw_ = header;
  raw_ += format_.header_end;
  bare_ = false;
  call_ = make_argument_reader(format_, header, this);
  if (call_ == nullptr) call_failed();
}

void ReplyParser::start_call(std::string_view raw) {
  set_mode(Mode::kCall);
  raw_ = raw;
  bare_ = false;
  call_ = make_call_reader(format_, strings_, this);
}

void ReplyParser::call_byte(char c) {
  raw_ += c;
  switch (call_->feed(c)) {
    case CallReader::Result::kMore:
      return;
    case CallReader::Result::kDone:
      return set_mode(Mode::kText);
    case CallReader::Result::kBad:
      return call_failed();
  }
}

void ReplyParser::call_failed() {
  // An answer in JSON that is no call is an answer.
  const bool is_text = bare_ && !begun_;
  set_mode(is_text ? Mode::kText : Mode::kBroken);
  at_begin_ = false;
  events_->push_back(
      {is_text ? ReplyEvent::Type::kText : ReplyEvent::Type::kMalformed,
       std::exchange(raw_, std::string()), begun_ ? calls_ : SIZE_MAX});
  if (begun_) ++calls_;
  begun_ = false;
}

void ReplyParser::begin_call(std::string_view name, std::string_view id) {
  begun_ = true;
  name_ = name;
  id_ = id;
  arguments_.clear();
  events_->push_back({ReplyEvent::Type::kCallBegin, "", calls_, name_, id_});
}

void ReplyParser::add_arguments(std::string_view piece) {
  arguments_ += piece;
  emit(ReplyEvent::Type::kCallArguments, piece);
}

void ReplyParser::end_call(std::string_view id) {
  if (!id.empty()) id_ = id;
  events_->push_back(
      {ReplyEvent::Type::kCallEnd, arguments_, calls_, name_, id_});
  ++calls_;
  begun_ = false;
  raw_.clear();
}

void ReplyParser::emit(ReplyEvent::Type type, std::string_view text) {
  if (text.empty()) return;
  if (!events_->empty() && events_->back().type == type) {
    events_->back().text += text;
    return;
  }
  ReplyEvent event{type, std::string(text)};
  if (type == ReplyEvent::Type::kCallArguments) event.call = calls_;
  if (type == ReplyEvent::Type::kMalformed) event.call = SIZE_MAX;
  events_->push_back(std::move(event));
}

StringArguments string_arguments(const JsonValue& tools) {
  StringArguments strings;
  using Type = JsonValue::Type;
  for (const JsonValue& tool : tools.items) {
    const JsonValue* function = tool.find("function");
    if (function == nullptr) continue;
    const JsonValue* name = function->find("name");
    const JsonValue* parameters = function->find("parameters");
    if (name == nullptr || !name->is(Type::kString) || parameters == nullptr) {
      continue;
    }
    const JsonValue* properties = parameters->find("properties");
    if (properties == nullptr) continue;
    for (const auto& [key, schema] : properties->members) {
      const JsonValue* type = schema.find("type");
      if (type != nullptr && type->is(Type::kString) &&
          type->text == "string") {
        strings[name->text].insert(key);
      }
    }
  }
  return strings;
}

}  // namespace rc::text::chat
