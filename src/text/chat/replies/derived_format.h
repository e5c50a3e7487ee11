// A format of calls that no table has, found in answers that a template wrote.
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

// kFirstProbe with numbers as its values, and what was thought before it.
inline constexpr std::string_view kProbeNumber = "70013";
inline constexpr std::string_view kOtherProbeNumber = "70014";
inline constexpr std::string_view kProbeReasoning = "probe of reasoning";

// The texts that a template wrote. All but the first may be "".
struct ProbeAnswers {
  std::string_view one;   // the text of an answer that is kFirstProbe
  std::string_view both;  // with kOtherProbe after it, if it writes both
  std::string_view numbers = {};   // kFirstProbe with numbers
  std::string_view reasoned = {};  // a conversation that ends with reasoning
                                   // and kFirstProbe
  bool raw_strings = false;        // Python calls may be as such
};

class DerivedFormat {
 public:
  // nullptr: they are in no shape that is known.
  static std::unique_ptr<const DerivedFormat> find(const ProbeAnswers& answers);

  DerivedFormat(const DerivedFormat&) = delete;
  DerivedFormat& operator=(const DerivedFormat&) = delete;

  // Its name is "derived". Its texts are this object's.
  const ReplyFormat& format() const { return format_; }

 private:
  DerivedFormat() = default;

  std::string_view keep(std::string_view text);
  bool find_objects(const ProbeAnswers& answers);
  bool find_named(const ProbeAnswers& answers);
  bool find_arguments(const ProbeAnswers& answers);
  bool find_python(std::string_view before, std::string_view key_to_value,
                   std::string_view after);
  void set_tags(std::string_view name_to_key, std::string_view key_to_value,
                std::string_view value_to_key);
  void set_attribute(std::string_view key_to_value, std::string_view numbers);
  void set_reasoning(std::string_view text);
  void set_ends(std::string_view before, std::string_view between,
                std::string_view after);
  void drop(std::string_view mark);

  std::deque<std::string> texts_;
  ReplyFormat format_;
  size_t dropped_ = 0;
};

}  // namespace rc::text::chat
