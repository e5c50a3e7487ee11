// Reads what is between the marks of a call, byte by byte.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/replies/reply_format.h"
#include "text/chat/replies/tool_types.h"

namespace rc::text::chat {

// Receives calls, piece by piece.
class CallSink {
 public:
  virtual ~CallSink() = default;
  // The id is "" if the format has none, or it comes later.
  virtual void begin_call(std::string_view name, std::string_view id) = 0;
  // The arguments are an object as JSON text.
  virtual void add_arguments(std::string_view piece) = 0;
  virtual void end_call(std::string_view id) = 0;
};

class CallReader {
 public:
  enum class Result : unsigned char { kMore, kDone, kBad };

  virtual ~CallReader() = default;
  // The next byte. kDone: the call, or all calls within its marks, ended with
  // it. kBad: this is no call.
  virtual Result feed(char c) = 0;
  // Whether the calls so far are whole, and only another one, spaces or the
  // mark at the end may follow.
  virtual bool is_whole() const { return false; }
  // Whether the mark at the end may come though there are no arguments yet.
  virtual bool may_be_empty() const { return false; }
  // Whether another call within the same marks begins with this byte, or it
  // stands between two; of calls that are whole.
  virtual bool goes_on(char /*c*/) const { return false; }
  // The mark at the end, which may_be_empty allowed.
  virtual void end() {}
  // The end of the answer, without that mark, of calls that are not whole so
  // far. Returns whether they are whole all the same.
  virtual bool end_of_answer() { return false; }
};

// A call may come without its first mark.
enum class CallMarks : unsigned char {
  kGiven,
  kMissing,       // it is one if it calls a tool that is offered
  kMissingFirst,  // and the mark at its end follows
};

// A reader for what comes after the beginning of a call. `format`, `sink` and
// `tools` must outlive it.
std::unique_ptr<CallReader> make_call_reader(const ReplyFormat& format,
                                             const ToolTypes& tools,
                                             CallMarks marks, CallSink* sink);
// For kNamed, once the header is known to be this.
std::unique_ptr<CallReader> make_argument_reader(const ReplyFormat& format,
                                                 std::string_view header,
                                                 CallSink* sink);

// The texts with which calls begin whose first mark is missing, where a line
// begins; of objects there are none. `part` is one that may begin anywhere, ""
// if there is none.
struct UnmarkedBegins {
  std::vector<std::string> lines;
  std::string_view part;
};
UnmarkedBegins unmarked_begins(const ReplyFormat& format,
                               const ToolTypes& tools);

// The name in a header of a call; "": there is none.
std::string_view name_in_header(const ReplyFormat& format,
                                std::string_view header);

// Calls in the shape kPython or kGemma, whole. False: they are not.
bool read_literal_calls(const ReplyFormat& format, std::string_view text,
                        CallSink* sink);

}  // namespace rc::text::chat
