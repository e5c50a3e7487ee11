// A format of calls that no table has, found in two answers that a template
// wrote.
//
// The answers hold calls whose names, ids, keys and values are known, so that
// the rest of their text is the marks of the format. Only objects of JSON,
// names followed by such an object, arguments between marks, and calls like
// those of Python are found.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

// A call as it is given to the template. Both values are strings.
struct ProbeCall {
  std::string_view name;
  std::string_view id;
  std::string_view key;
  std::string_view value;
  std::string_view other_key;
  std::string_view other_value;
};

inline constexpr ProbeCall kFirstProbe = {"probe_first", "abcdef123",
                                          "first_key",   "first value",
                                          "second_key",  "second value"};
inline constexpr ProbeCall kOtherProbe = {"probe_other", "abcdef456",
                                          "third_key",   "third value",
                                          "fourth_key",  "fourth value"};

class DerivedFormat {
 public:
  // `one` is the text of an answer that is kFirstProbe, `both` that of one with
  // kOtherProbe after it, "" if the template writes one call into an answer.
  // nullptr: they are in no shape that is known.
  static std::unique_ptr<const DerivedFormat> find(std::string_view one,
                                                   std::string_view both);

  DerivedFormat(const DerivedFormat&) = delete;
  DerivedFormat& operator=(const DerivedFormat&) = delete;

  // Its name is "derived". Its texts are this object's.
  const ReplyFormat& format() const { return format_; }

 private:
  DerivedFormat() = default;

  std::string_view keep(std::string_view text);
  bool find_objects(std::string_view one, std::string_view both);
  bool find_named(std::string_view one, std::string_view both);
  bool find_arguments(std::string_view one, std::string_view both);
  bool find_python(std::string_view before, std::string_view key_to_value,
                   std::string_view after);
  void set_tags(std::string_view name_to_key, std::string_view key_to_value,
                std::string_view value_to_key);
  void set_ends(std::string_view before, std::string_view between,
                std::string_view after);
  void drop(std::string_view mark);

  std::deque<std::string> texts_;
  ReplyFormat format_;
  size_t dropped_ = 0;
};

}  // namespace rc::text::chat
