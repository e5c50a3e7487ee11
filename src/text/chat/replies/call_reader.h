// Reads what is between the marks of a call, byte by byte.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

// What calls are told to, piece by piece.
class CallSink {
 public:
  virtual ~CallSink() = default;
  // The id is "" if the format has none, or it comes later.
  virtual void begin_call(std::string_view name, std::string_view id) = 0;
  // The arguments are an object as JSON text.
  virtual void add_arguments(std::string_view piece) = 0;
  virtual void end_call(std::string_view id) = 0;
};

// Arguments that are strings, by function: formats that write values without
// quotes leave it open whether 7 is a number.
using StringArguments =
    std::map<std::string, std::set<std::string>, std::less<>>;

class CallReader {
 public:
  enum class Result : unsigned char { kMore, kDone, kBad };

  virtual ~CallReader() = default;
  // The next byte. kDone: the call, or all calls within its marks, ended with
  // it. kBad: this is no call.
  virtual Result feed(char c) = 0;
  // Whether it may end here, for want of a mark.
  virtual bool may_end() const { return false; }
};

// A reader for what comes after the beginning of a call. `format`, `sink` and
// `strings` must outlive it.
std::unique_ptr<CallReader> make_call_reader(const ReplyFormat& format,
                                             const StringArguments& strings,
                                             CallSink* sink);
// For kNamed, once the header is known to be this.
std::unique_ptr<CallReader> make_argument_reader(const ReplyFormat& format,
                                                 std::string_view header,
                                                 CallSink* sink);

// The name in a header of a call; "": there is none.
std::string_view name_in_header(const ReplyFormat& format,
                                std::string_view header);

// Calls in the shape kPython or kGemma, whole. False: they are not.
bool read_literal_calls(CallShape shape, std::string_view text, CallSink* sink);

}  // namespace rc::text::chat
