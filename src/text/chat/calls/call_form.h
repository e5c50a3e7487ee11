// The calls of a format, with its special tokens found, for a CallMachine.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/calls/watch.h"
#include "text/chat/replies/reply_format.h"
#include "text/chat/replies/tool_types.h"

namespace rc::text::chat {

// When calls are written.
enum class CallUse : unsigned char {
  kRequired,  // one, and nothing else but reasoning before it
  kAllowed,   // among text; what begins like a call is one
  kNone,      // never
};

struct CallForm {
  enum Literal : unsigned char {
    kReasoningBegin,
    kBegin,
    kNameEnd,
    kKeyBegin,
    kNextKeyBegin,
    kKeyEnd,
    kStringKeyEnd,
    kValueEnd,
    kEnd,
    kLiterals,
  };

  // `is_special` as for ReplyOptions. Throws RC_E_UNSUPPORTED if the format has
  // no calls, or no grammar can distinguish its calls from text, and
  // RC_E_INVALID_ARGUMENT for names of tools or arguments that it can't write.
  CallForm(const ReplyFormat& format, const JsonValue& tools, CallUse use,
           const std::function<bool(std::string_view)>& is_special);
  // Of an answer that is one text, all of it JSON.
  static CallForm of_text(
      const ReplyFormat& format,
      const std::function<bool(std::string_view)>& is_special);

  CallShape shape;
  CallUse use;
  // Whether the format writes an argument without quotes, as a string.
  bool writes_text(std::string_view function, std::string_view argument) const {
    return shape == CallShape::kTags &&
           tools.type(function, argument).is_text();
  }
  bool numbered = false;
  // A call may begin without its mark, where an answer begins.
  bool bare = false;
  // Special tokens as with_special_names gives them.
  std::array<std::string, kLiterals> literals;
  // The text before a call: kBegin, or as much as distinguishes it from text.
  Watch trigger;
  // The marks that text may not contain, and the text before an answer that may
  // be the beginning of one.
  std::vector<Watch> forbidden;
  std::string before;
  Watch reasoning_end;
  // Of kTags and kGemma: what ends a string; what ends a value for those who
  // read it, wherever it is. Of kElements: what the mark at an element's end
  // begins with.
  std::string string_end;
  Watch value_mark;
  ToolTypes tools;
  // The text for null where a string may be null.
  std::string_view null_text;

 private:
  CallForm(CallShape shape, CallUse use) : shape(shape), use(use) {}
  void set_reasoning(const ReplyFormat& format,
                     const std::function<bool(std::string_view)>& is_special);
};

}  // namespace rc::text::chat
