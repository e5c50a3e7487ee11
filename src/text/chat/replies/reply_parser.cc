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
      tools_(std::move(options.tools)),
      calls_allowed_(options.calls),
      strict_(options.strict) {
  add_markers(options);
  begin_answer(options.prompt);
}

ReplyParser::~ReplyParser() = default;

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
  } else if (as_text || (mode_ == Mode::kCall && !call_->is_whole())) {
    pending_ += name;
  }
  events_ = events;
  read(/*at_end=*/false);
}

void ReplyParser::finish(std::vector<ReplyEvent>* events) {
  events_ = events;
  // Text that could have become a mark is text now.
  read(/*at_end=*/true);
  if (mode_ == Mode::kCall) {
    if (marks_ == CallMarks::kMissingFirst) {
      call_is_text();
    } else if (!call_->is_whole() && !call_->end_of_answer()) {
      call_failed();
    }
  }
  if (mode_ == Mode::kHeader) {
    emit(ReplyEvent::Type::kText, header_);
  } else if (mode_ == Mode::kText && (!at_begin_ || !divided_)) {
    emit(ReplyEvent::Type::kText, spaces_);
  }
  spaces_.clear();
  header_.clear();
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
    if (!in_special_ || !call_->is_whole()) call_byte(c);
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
  if (mode_ == Mode::kText && start_object(c)) return;
  const auto type = mode_ == Mode::kReasoning ? ReplyEvent::Type::kReasoning
                                              : ReplyEvent::Type::kText;
  if (!at_begin_ || !divided_) emit(type, spaces_);
  spaces_.clear();
  at_begin_ = false;
  emit(type, {&c, 1});
}

// Begins a call that is an object without its first mark, if it may be one.
bool ReplyParser::start_object(char c) {
  const bool objects = format_.shape == CallShape::kObjects;
  const bool may =
      (objects || format_.bare) && calls_allowed_ && !tools_.empty() && !again_;
  if (!may) return false;
  // Models write it between calls.
  if (format_.bare && c == ';' && calls_ > 0 && at_begin_) return true;
  if (c != '{' && (c != '[' || !format_.written.array)) return false;
  if (strict_ && !(objects && format_.bare)) return false;
  if (at_begin_) {
    start_call("", CallMarks::kMissing);
  } else if (is_tag(format_.call_end) && at_line_begin()) {
    start_call("", CallMarks::kMissingFirst);
  } else {
    return false;
  }
  if (!objects) {
    call_ = make_object_reader(format_, tools_, CallMarks::kMissing, this);
  }
  call_byte(c);
  return true;
}

void ReplyParser::set_mode(Mode mode) {
  mode_ = mode;
  spaces_.clear();
  at_begin_ = true;
  divided_ = true;
}

void ReplyParser::take_mark(const Marker& marker) {
  const std::string text = without_marks_of_special(marker.text);
  switch (marker.mark) {
    case Mark::kReasoningBegin:
      // Some models repeat it.
      if (mode_ == Mode::kReasoning) return;
      leave_call();
      return set_mode(Mode::kReasoning);
    case Mark::kReasoningEnd:
      if (mode_ == Mode::kReasoning) return set_mode(Mode::kText);
      return leave_call();
    case Mark::kDropped:
      leave_call();
      return set_mode(Mode::kText);
    case Mark::kCallBegin:
      if (mode_ == Mode::kCall && fresh_) {
        raw_ += text;
        return;
      }
      leave_call();
      return start_call(text, CallMarks::kGiven);
    case Mark::kUnmarkedBegin:
    case Mark::kPartBegin:
      leave_call();
      start_call("", CallMarks::kMissing);
      for (const char c : text) call_byte(c);
      return;
    case Mark::kPart:
      leave_call();
      return break_call(text);
    case Mark::kCallEnd:
    case Mark::kPlainCallEnd:
      return end_mark(marker);
    case Mark::kHeaderBegin:
      leave_call();
      header_.clear();
      return set_mode(Mode::kHeader);
    case Mark::kHeaderEnd:
      return end_header();
  }
}

void ReplyParser::end_mark(const Marker& marker) {
  if (mode_ == Mode::kText) return;
  if (mode_ == Mode::kBroken) {
    emit(ReplyEvent::Type::kMalformed, without_marks_of_special(marker.text));
  } else if (call_->may_be_empty()) {
    call_->end();
  }
  for (ReplyEvent& event : held_) events_->push_back(std::move(event));
  held_.clear();
  set_mode(Mode::kText);
}

// A part of a call where there is none: it and what follows is malformed.
void ReplyParser::break_call(std::string_view text) {
  if (!at_begin_ || !divided_) emit(ReplyEvent::Type::kText, spaces_);
  set_mode(Mode::kBroken);
  emit(ReplyEvent::Type::kMalformed, text);
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
  marks_ = CallMarks::kGiven;
  fresh_ = false;
  call_ = make_argument_reader(format_, header, this);
  if (call_ == nullptr) call_failed();
}

void ReplyParser::start_call(std::string_view raw, CallMarks marks) {
  spaces_before_ = !at_begin_ || !divided_ ? spaces_ : std::string();
  set_mode(Mode::kCall);
  raw_ = raw;
  marks_ = marks;
  fresh_ = true;
  held_.clear();
  calls_before_ = calls_;
  call_ = make_call_reader(format_, tools_, marks, this);
}

void ReplyParser::call_byte(char c) {
  if (call_->is_whole() && !is_reply_space(c) &&
      (strict_ || !call_->goes_on(c))) {
    return byte_after_call(c);
  }
  raw_ += c;
  fresh_ = fresh_ && is_reply_space(c);
  switch (call_->feed(c)) {
    case CallReader::Result::kMore:
      return;
    case CallReader::Result::kDone:
      return set_mode(Mode::kText);
    case CallReader::Result::kBad:
      return call_failed();
  }
}

// A byte that no mark at the end came before.
void ReplyParser::byte_after_call(char c) {
  if (marks_ == CallMarks::kGiven && !format_.call_end.empty()) {
    raw_ += c;
    return call_failed();
  }
  leave_call();
  text_byte(c);
}

// Ends a call that is whole, without the mark at its end.
void ReplyParser::leave_call() {
  if (mode_ != Mode::kCall) return;
  if (marks_ == CallMarks::kMissingFirst) return call_is_text();
  set_mode(Mode::kText);
}

void ReplyParser::call_failed() {
  // An answer in JSON that is no call is an answer. Those with parts between
  // marks were begun by one.
  const bool has_parts = format_.shape == CallShape::kTags ||
                         format_.shape == CallShape::kElements ||
                         format_.shape == CallShape::kNamed;
  const bool is_text = marks_ == CallMarks::kMissing && !has_parts && !begun_ &&
                       calls_ == calls_before_;
  if (is_text || marks_ == CallMarks::kMissingFirst) return call_is_text();
  set_mode(Mode::kBroken);
  at_begin_ = false;
  events_->push_back({ReplyEvent::Type::kMalformed,
                      std::exchange(raw_, std::string()),
                      begun_ ? calls_ : SIZE_MAX});
  if (begun_) ++calls_;
  begun_ = false;
}

// Reads what has no marks and is no call as text.
void ReplyParser::call_is_text() {
  held_.clear();
  calls_ = calls_before_;
  begun_ = false;
  set_mode(Mode::kText);
  emit(ReplyEvent::Type::kText, spaces_before_);
  at_begin_ = false;
  again_ = true;
  for (const char c : std::exchange(raw_, std::string())) text_byte(c);
  again_ = false;
}

// Where events of the call that is open go.
std::vector<ReplyEvent>* ReplyParser::call_events() {
  return marks_ == CallMarks::kMissingFirst ? &held_ : events_;
}

void ReplyParser::begin_call(std::string_view name, std::string_view id) {
  begun_ = true;
  name_ = name;
  id_ = id;
  arguments_.clear();
  call_events()->push_back(
      {ReplyEvent::Type::kCallBegin, "", calls_, name_, id_});
}

void ReplyParser::add_arguments(std::string_view piece) {
  arguments_ += piece;
  emit(ReplyEvent::Type::kCallArguments, piece, calls_, call_events());
}

void ReplyParser::end_call(std::string_view id) {
  if (!id.empty()) id_ = id;
  call_events()->push_back(
      {ReplyEvent::Type::kCallEnd, arguments_, calls_, name_, id_});
  ++calls_;
  begun_ = false;
  // Bytes that may have to be read as text are kept.
  if (marks_ != CallMarks::kMissingFirst) raw_.clear();
}

void ReplyParser::emit(ReplyEvent::Type type, std::string_view text) {
  emit(type, text, type == ReplyEvent::Type::kMalformed ? SIZE_MAX : 0,
       events_);
}

void ReplyParser::emit(ReplyEvent::Type type, std::string_view text,
                       size_t call, std::vector<ReplyEvent>* events) {
  if (text.empty()) return;
  if (!events->empty() && events->back().type == type) {
    events->back().text += text;
    return;
  }
  ReplyEvent event{type, std::string(text)};
  event.call = call;
  events->push_back(std::move(event));
}

}  // namespace rc::text::chat
