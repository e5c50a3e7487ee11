// Divides the answer of a model, as it is generated, into text, reasoning and
// calls of tools.
//
//   ReplyParser parser(reply_format_of(template_source), options);
//   parser.feed(piece, &events);  // for each piece of text
//   parser.finish(&events);
//
// A mark, or the beginning of what may become one, is never shown as text. What
// begins like a call and is none arrives as text with a flag. A call may come
// without its first mark if it calls a tool that was offered. Spaces between
// what is divided are left out.
//
// Events are the same however the answer is cut into pieces, but for the cuts
// within text, reasoning and arguments. For one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/replies/call_reader.h"
#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

struct ReplyEvent {
  enum class Type : unsigned char {
    kText,
    kReasoning,
    kCallBegin,      // name, and id if it is known
    kCallArguments,  // a piece of the arguments, which are JSON
    kCallEnd,        // the whole arguments, name and id
    kMalformed,      // text of what began like a call and is none; if one was
                     // begun and not ended, it is `call`, which is void
  };
  Type type;
  std::string text = {};
  size_t call = 0;  // counted from 0; of kMalformed without one: SIZE_MAX
  std::string name = {};
  std::string id = {};
};

struct ReplyOptions {
  // Whether a text is the name of a special token: marks that are special
  // tokens count only where feed_special gave them, so that a model can write
  // about them. Without this no mark is one.
  std::function<bool(std::string_view)> is_special = {};
  // The prompt's text: an answer to one that ends with the beginning of
  // reasoning begins within it.
  std::string_view prompt = {};
  // The tools that were offered: types of their arguments, and names that make
  // an object without marks a call.
  ToolTypes tools = {};
  // False: nothing is a call; what looks like one is text.
  bool calls = true;
  // Calls count with their marks alone, and one within them, where a grammar
  // keeps such calls to their schemas and knows no others.
  bool strict = false;
};

// Whether an answer to the prompt begins within reasoning.
bool begins_within_reasoning(const ReplyFormat& format,
                             std::string_view prompt);

class ReplyParser : private CallSink {
 public:
  // `format` must outlive it.
  explicit ReplyParser(const ReplyFormat& format, ReplyOptions options = {});
  ~ReplyParser() override;
  ReplyParser(const ReplyParser&) = delete;
  ReplyParser& operator=(const ReplyParser&) = delete;

  // The next piece of text, valid UTF-8 or a part of it.
  void feed(std::string_view text, std::vector<ReplyEvent>* events);
  // The next token, a special one of this name.
  void feed_special(std::string_view name, std::vector<ReplyEvent>* events);
  // The end of the answer.
  void finish(std::vector<ReplyEvent>* events);

 private:
  enum class Mode : unsigned char {
    kText,
    kReasoning,
    kCall,
    kHeader,
    kBroken
  };
  enum class Mark : unsigned char {
    kReasoningBegin,
    kReasoningEnd,
    kCallBegin,
    kUnmarkedBegin,  // of a call without its first mark, where a line begins
    kPartBegin,      // the same anywhere
    kPart,           // of a call, but there is none
    kCallEnd,
    kPlainCallEnd,  // written as text, though it is a special token
    kDropped,
    kHeaderBegin,
    kHeaderEnd,
  };
  struct Marker {
    std::string text;  // with special tokens as pending_ has them
    Mark mark;
  };

  void begin_call(std::string_view name, std::string_view id) override;
  void add_arguments(std::string_view piece) override;
  void end_call(std::string_view id) override;

  void add_marker(std::string_view text, Mark mark,
                  const ReplyOptions& options);
  void begin_answer(std::string_view prompt);
  bool counts(Mark mark) const;
  bool counts_in_text(Mark mark) const;
  const Marker* marker_at(size_t at, bool at_end, bool* wait) const;
  void read(bool at_end);
  void byte(char c);
  void take_mark(const Marker& marker);
  void end_header();
  void add_markers(const ReplyOptions& options);
  bool at_line_begin() const;
  void start_call(std::string_view raw, CallMarks marks);
  bool start_object(char c);
  void call_byte(char c);
  void byte_after_call(char c);
  void leave_call();
  void end_mark(const Marker& marker);
  void break_call(std::string_view text);
  void call_failed();
  void call_is_text();
  std::vector<ReplyEvent>* call_events();
  void text_byte(char c);
  void set_mode(Mode mode);
  void emit(ReplyEvent::Type type, std::string_view text);
  static void emit(ReplyEvent::Type type, std::string_view text, size_t call,
                   std::vector<ReplyEvent>* events);

  const ReplyFormat& format_;
  const ToolTypes tools_;
  const bool calls_allowed_;
  const bool strict_;
  std::vector<Marker> markers_;
  std::vector<ReplyEvent>* events_ = nullptr;

  Mode mode_ = Mode::kText;
  std::string pending_;      // not read yet: it may be the beginning of a mark
  bool in_special_ = false;  // within the name of a special token
  std::string spaces_;       // read, and shown if text follows
  bool at_begin_ = true;     // only spaces were read in this mode
  bool divided_ = false;     // something came before this mode
  std::string header_;

  std::unique_ptr<CallReader> call_;
  std::string raw_;  // of the call, with its mark
  CallMarks marks_ = CallMarks::kGiven;
  bool fresh_ = false;  // only spaces so far
  // Spaces before a call without marks, which is text if it is no call; its
  // text is read again then.
  std::string spaces_before_;
  bool again_ = false;
  // Of kMissingFirst: events up to the mark at the end, and the calls before.
  std::vector<ReplyEvent> held_;
  size_t calls_before_ = 0;
  bool begun_ = false;  // an event reported the call that is open
  size_t calls_ = 0;    // before the one that is open
  std::string name_;
  std::string id_;
  std::string arguments_;
};

}  // namespace rc::text::chat
