// The calls that a model may write, as a JSON schema.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_value.h"
#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {

// A schema of {NAME: the name of a tool, ARGUMENTS: what its parameters say}
// with the names of members that the format has (those of JSON only; otherwise
// "name" and "arguments"), in an array of one if it writes calls so. Of
// `tools`, in the shape of OpenAI's chat completions, only those that `wanted`
// says yes to. A tool that is not `exact` may have any object as arguments.
//
// The arguments of a tool that only names properties are these and no others.
JsonValue call_schema(const JsonValue& tools, const ReplyFormat& format,
                      const std::function<bool(std::string_view)>& wanted,
                      const std::function<bool(const JsonValue&)>& exact);

}  // namespace rc::text::chat
