#include "text/chat/replies/special_names.h"

namespace rc::text::chat {

std::string special_name(std::string_view name) {
  std::string marked(1, kSpecialMark);
  marked += name;
  marked += kSpecialMark;
  return marked;
}

std::string with_special_names(
    std::string_view mark,
    const std::function<bool(std::string_view)>& is_special) {
  std::string result;
  for (size_t at = 0; at < mark.size();) {
    size_t size = is_special ? mark.size() - at : 0;
    while (size > 0 && !is_special(mark.substr(at, size))) --size;
    if (size == 0) {
      result += mark[at++];
    } else {
      result += special_name(mark.substr(at, size));
      at += size;
    }
  }
  return result;
}

std::string without_marks_of_special(std::string_view text) {
  std::string result(text);
  std::erase(result, kSpecialMark);
  return result;
}

}  // namespace rc::text::chat
