// Chat templates: the language in which models say how a conversation is
// written down for them, as the Hugging Face library transformers runs it (its
// apply_chat_template: Jinja in a sandbox where nothing changes in place, with
// trim_blocks, lstrip_blocks, loop controls and {% generation %}). But append
// and pop change a list that a single variable of the template holds, since
// templates in files use them.
//
//   const auto chat = Template::parse(source);
//   const Rendered prompt = chat.render(
//       make_variables({{"messages", from_json(messages, Origin::kContent)},
//                       {"bos_token", from_json("<s>", Origin::kTemplate)}}));
//
// The result marks the bytes that are content, so that text of users is never
// taken for control tokens.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/limits.h"
#include "text/chat/render.h"
#include "text/chat/value.h"

namespace rc::text::chat {

struct Syntax;

// Immutable: any number of threads may render one at a time. Copies share it.
class Template {
 public:
  // Throws rc::Error with line and column of the mistake: RC_E_FORMAT, or
  // RC_E_UNSUPPORTED for what is beyond a limit.
  static Template parse(std::string_view source, const Limits& limits = {});

  // `variables` is a dict from names to values. Throws rc::Error with line and
  // column: RC_E_INVALID_ARGUMENT if the template refuses the conversation
  // (raise_exception), RC_E_FORMAT for mistakes of the template,
  // RC_E_UNSUPPORTED for what is beyond a limit or 64 bits.
  Rendered render(const Value& variables,
                  const RenderOptions& options = {}) const;

 private:
  Template(std::shared_ptr<const Syntax> syntax, const Limits& limits)
      : syntax_(std::move(syntax)), limits_(limits) {}

  std::shared_ptr<const Syntax> syntax_;
  Limits limits_;
};

// A list, of messages for example.
Value make_list(std::vector<Value> items);
// A dict of variables by name, or a message of its parts.
Value make_variables(
    std::initializer_list<std::pair<std::string_view, Value>> variables);

}  // namespace rc::text::chat
