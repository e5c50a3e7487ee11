#include "base/cat.h"

#include <charconv>
#include <cstring>

namespace rc {
namespace {

// Of 64 bits or of six digits with an exponent.
constexpr size_t kLongestNumber = 24;
constexpr int kDigits = 6;

// The text of one part that is none yet, in a buffer.
std::string_view number_text(PartKind kind, const PartValue& value,
                             char* buffer) {
  char* const end = buffer + kLongestNumber;
  char* last = buffer;
  if (kind == PartKind::kNumber) {
    last = std::to_chars(buffer, end, value.number, std::chars_format::general,
                         kDigits)
               .ptr;
  } else if (kind == PartKind::kInteger) {
    last = std::to_chars(buffer, end, value.integer).ptr;
  } else {
    last = std::to_chars(buffer, end, value.unsigned_integer).ptr;
  }
  return {buffer, static_cast<size_t>(last - buffer)};
}

}  // namespace

std::string cat_parts(const PartKind* kinds, const PartValue* values) {
  std::string text;
  char buffer[kLongestNumber];
  for (; *kinds != PartKind::kEnd; ++kinds, ++values) {
    switch (*kinds) {
      case PartKind::kCharacters:
        text += values->characters;
        break;
      case PartKind::kString:
        text += *values->string;
        break;
      case PartKind::kView:
        text += *values->view;
        break;
      case PartKind::kCharacter:
        text += values->character;
        break;
      default:
        text += number_text(*kinds, *values, buffer);
    }
  }
  return text;
}

}  // namespace rc
