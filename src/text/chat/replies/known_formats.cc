// Finds formats by their names and by the signs in templates.
#include <algorithm>

#include "text/chat/replies/reply_format.h"

namespace rc::text::chat {
namespace {

bool has_signs(const ReplyFormat& format, std::string_view source) {
  return std::all_of(format.signs.begin(), format.signs.end(),
                     [&](std::string_view sign) {
                       return source.find(sign) != std::string_view::npos;
                     });
}

}  // namespace

const ReplyFormat* reply_format(std::string_view name) {
  for (const ReplyFormat& format : reply_formats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

const ReplyFormat& reply_format_of(std::string_view template_source) {
  for (const ReplyFormat& format : reply_formats()) {
    if (has_signs(format, template_source)) return format;
  }
  return reply_formats().back();
}

}  // namespace rc::text::chat
