// The marks of a format in an answer: which there are, and where they count.
#include <string>

#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/reply_parser.h"
#include "text/chat/replies/special_names.h"

namespace rc::text::chat {

void ReplyParser::add_markers(const ReplyOptions& options) {
  add_marker(format_.reasoning_begin, Mark::kReasoningBegin, options);
  add_marker(format_.reasoning_end, Mark::kReasoningEnd, options);
  add_marker(format_.call_begin, Mark::kCallBegin, options);
  add_marker(format_.other_call_begin, Mark::kCallBegin, options);
  add_marker(format_.call_end, Mark::kCallEnd, options);
  if (!format_.call_end.empty()) {
    markers_.push_back({std::string(format_.call_end), Mark::kPlainCallEnd});
  }
  for (const std::string_view text : format_.dropped) {
    add_marker(text, Mark::kDropped, options);
  }
  add_marker(format_.header_begin, Mark::kHeaderBegin, options);
  add_marker(format_.header_end, Mark::kHeaderEnd, options);
  const UnmarkedBegins begins =
      strict_ ? UnmarkedBegins() : unmarked_begins(format_, tools_);
  add_marker(begins.part, Mark::kPartBegin, options);
  for (const std::string& text : begins.lines) {
    add_marker(text, Mark::kUnmarkedBegin, options);
  }
  const bool named = format_.shape == CallShape::kNamed;
  for (const std::string_view text :
       {format_.key_begin, format_.value_begin, format_.value_end,
        format_.body_end, named ? format_.name_begin : std::string_view(),
        named ? format_.name_end : std::string_view()}) {
    if (is_tag(text)) add_marker(text, Mark::kPart, options);
  }
}

void ReplyParser::add_marker(std::string_view text, Mark mark,
                             const ReplyOptions& options) {
  if (text.empty()) return;
  markers_.push_back({with_special_names(text, options.is_special), mark});
}

bool ReplyParser::at_line_begin() const {
  return at_begin_ || spaces_.find('\n') != spaces_.npos;
}

bool ReplyParser::counts_in_text(Mark mark) const {
  switch (mark) {
    case Mark::kReasoningBegin:
    case Mark::kReasoningEnd:
    case Mark::kDropped:
    case Mark::kHeaderBegin:
      return true;
    case Mark::kCallBegin:
    case Mark::kPartBegin:
    case Mark::kPart:
      return calls_allowed_;
    case Mark::kCallEnd:
      // A fence ends more than calls.
      return calls_allowed_ && is_tag(format_.call_end);
    case Mark::kUnmarkedBegin:
      return calls_allowed_ && at_line_begin();
    case Mark::kPlainCallEnd:
    case Mark::kHeaderEnd:
      break;
  }
  return false;
}

bool ReplyParser::counts(Mark mark) const {
  const bool ends_call = mark == Mark::kCallEnd || mark == Mark::kPlainCallEnd;
  switch (mode_) {
    case Mode::kText:
      return counts_in_text(mark);
    case Mode::kReasoning:
      return mark == Mark::kReasoningEnd || mark == Mark::kReasoningBegin ||
             mark == Mark::kHeaderBegin ||
             (mark == Mark::kDropped && !format_.header_begin.empty());
    case Mode::kHeader:
      return mark == Mark::kHeaderEnd;
    case Mode::kBroken:
      return mark == Mark::kCallBegin || mark == Mark::kCallEnd ||
             mark == Mark::kHeaderBegin;
    case Mode::kCall:
      // Until it is whole its reader knows where it ends.
      if (call_->is_whole()) return ends_call || counts_in_text(mark);
      return (ends_call && call_->may_be_empty()) ||
             (mark == Mark::kCallBegin && fresh_);
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

}  // namespace rc::text::chat
