// What the readers of calls share.
#pragma once

#include <string_view>

#include "text/chat/replies/call_reader.h"

namespace rc::text::chat {

inline constexpr std::string_view kReplySpaces = " \t\r\n";

inline bool is_reply_space(char c) {
  return kReplySpaces.find(c) != kReplySpaces.npos;
}

inline std::string_view without_spaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(kReplySpaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kReplySpaces) + 1 - begin);
}

// Whether it can be the name of a function.
inline bool is_call_name(std::string_view name) {
  return !name.empty() && name.size() <= 256 &&
         name.find_first_of("<>\"{}[]\n") == name.npos;
}

// The spaces after a value, and the mark at the end of a call.
class EndMark {
 public:
  explicit EndMark(std::string_view mark) : left_(mark) {}
  bool is_over() const { return left_.empty(); }
  // False: this is another byte.
  bool feed(char c) {
    if (!begun_ && is_reply_space(c)) return true;
    if (left_.empty() || left_.front() != c) return false;
    begun_ = true;
    left_.remove_prefix(1);
    return true;
  }

 private:
  std::string_view left_;
  bool begun_ = false;
};

std::unique_ptr<CallReader> make_object_reader(const ReplyFormat& format,
                                               CallSink* sink);
std::unique_ptr<CallReader> make_tag_reader(const ReplyFormat& format,
                                            const StringArguments& strings,
                                            CallSink* sink);

}  // namespace rc::text::chat
