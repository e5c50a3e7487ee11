// The message that an answer is, in the shape of OpenAI's chat completions.
#pragma once

#include <string>
#include <vector>

#include "base/json_value.h"
#include "text/chat/replies/reply_parser.h"

namespace rc::text::chat {

class Answer {
 public:
  // `calls_before` is how many calls the conversation had: ids are its own
  // where the format has none.
  explicit Answer(size_t calls_before) : calls_before_(calls_before) {}

  // Takes an event. A piece of arguments gets the name of its call, and its id
  // if that is known; a whole call gets an id if the model gave it none.
  void add(ReplyEvent* event);

  bool has_calls() const { return !calls_.empty(); }
  // Whether the model has said anything at all.
  bool empty() const {
    return text_.empty() && reasoning_.empty() && calls_.empty();
  }
  // Role "assistant", "content" (null if there are only calls),
  // "reasoning_content" and "tool_calls" if there are any.
  JsonValue message() const;

 private:
  struct Call {
    std::string id, name, arguments;
  };

  size_t calls_before_;
  std::string text_;
  std::string reasoning_;
  std::vector<Call> calls_;  // that are whole
  std::string name_, id_;    // of the one that is open
};

}  // namespace rc::text::chat
