// Calls of tools for templates that write the contents of messages and not
// their calls, though their models call tools: a call becomes a part of the
// content, as the model wrote it.
#pragma once

#include <string_view>

#include "base/json_value.h"
#include "text/chat/replies/reply_format.h"
#include "text/chat/text.h"

namespace rc::text::chat {

// Whether calls of the format can be written so: objects and Python calls, as
// others have templates that write them.
bool may_be_content(const ReplyFormat& format);

// The content with the calls after it, as messages_value takes them. The marks
// of the format are the template's.
Text with_calls(std::string_view content, const JsonValue& calls,
                const ReplyFormat& format);

}  // namespace rc::text::chat
