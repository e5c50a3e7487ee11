// Which format the models of a template write reasoning and calls in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/replies/derived_format.h"
#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

struct FoundFormat {
  const ReplyFormat* format = nullptr;  // of the table, or that of `derived`
  std::unique_ptr<const DerivedFormat> derived = nullptr;
};

// The functions and data with which a template is tried.
struct FormatTrial {
  // The text of a conversation with these tools; with the beginning of an
  // answer, or not. Throws rc::Error if the template refuses it.
  std::function<std::string(const JsonValue& messages, const JsonValue& tools,
                            bool begins_answer)>
      render;
  // Whether a message may have several calls.
  bool several_calls = false;
  // The names of the tokens that end answers.
  std::vector<std::string_view> ends;
};

// The format in the table that the template has the signs of. If the calls that
// it writes are not read with that one as they were given, it is derived from
// two of them, where that gives a format that reads all calls tried.
FoundFormat find_format(std::string_view source, const FormatTrial& trial);

}  // namespace rc::text::chat
