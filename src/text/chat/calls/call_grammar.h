// Grammars of answers in the format of a model: with calls of tools, or of JSON
// by a schema.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_value.h"
#include "text/chat/replies/reply_format.h"
#include "text/grammar/grammar.h"
#include "text/tokenizer.h"

namespace rc::text::chat {

// The use of tools by an answer; see rc_generate_options.
struct ToolChoice {
  enum class Kind : unsigned char { kAuto, kNone, kRequired };
  Kind kind = Kind::kAuto;
  std::string name = {};  // kRequired: of the only one that may be called

  bool operator==(const ToolChoice&) const = default;
};

// Reads a choice in the shape of "tool_choice" of OpenAI's chat completions:
// one of the words auto, none and required, also as a JSON string, or an object
// that names a function. Throws RC_E_INVALID_ARGUMENT.
ToolChoice parse_tool_choice(std::string_view text);

// Throws RC_E_INVALID_ARGUMENT for a call that is required without tools, or of
// a tool that is not there.
void check_tool_choice(const JsonValue* tools, const ToolChoice& choice);

// The beginning of an answer: whether the prompt ended within reasoning, and
// whether reasoning may come first otherwise.
struct AnswerBegin {
  bool within_reasoning = false;
  bool may_reason = false;
  bool operator==(const AnswerBegin&) const = default;
};

// Returns the grammar of an answer with this choice; nullptr: a model need not
// keep to any. A call that is required is written alone, after the model's
// reasoning; its arguments are valid by the schema of the tool. By choice,
// calls of tools that are strict ("strict": true) are valid by their schemas.
//
// `should_stop` is asked while schemas are compiled; if it returns true,
// RC_E_CANCELLED is thrown.
// Throws what check_tool_choice throws; RC_E_UNSUPPORTED for a format whose
// calls can't be forced; what Grammar::json_schema throws for the tools'
// schemas.
std::shared_ptr<const grammar::Grammar> call_grammar(
    const ReplyFormat& format, const JsonValue* tools, const ToolChoice& choice,
    const AnswerBegin& begin, const Tokenizer& tokenizer,
    const std::function<bool(std::string_view)>& is_special,
    std::function<bool()> should_stop = {});

// Reads what an answer has to be, in the shape of "response_format" of OpenAI's
// chat completions: the JSON schema of the types json_schema and json_object;
// nothing of the type text. Throws RC_E_INVALID_ARGUMENT.
std::optional<JsonValue> parse_response_format(std::string_view json);

// An answer that is JSON by a schema, with what the model thinks before it.
// Throws what Grammar::json_schema throws.
std::shared_ptr<const grammar::Grammar> response_grammar(
    const ReplyFormat& format, const JsonValue& schema,
    const AnswerBegin& begin, const Tokenizer& tokenizer,
    const std::function<bool(std::string_view)>& is_special,
    std::function<bool()> should_stop = {});

}  // namespace rc::text::chat
