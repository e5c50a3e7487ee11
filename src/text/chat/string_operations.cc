#include "text/chat/string_operations.h"

#include <algorithm>
#include <string_view>

#include "text/chat/search.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

Value part(Budget* budget, const Value& string, size_t begin, size_t end) {
  Writer out(budget);
  out.append(string.text(), begin, end);
  return out.finish(string.is_markup());
}

// Whether a character is to be stripped.
class Stripped {
 public:
  explicit Stripped(const Text* characters) : characters_(characters) {}
  bool operator()(std::string_view bytes, char32_t c) const {
    if (characters_ == nullptr) return is_space(c);
    return characters_->bytes().find(bytes) != std::string::npos;
  }

 private:
  const Text* characters_;
};

std::vector<Value> split_at_spaces(Budget* budget, const Value& string,
                                   int64_t most) {
  const std::string_view bytes = string.text().bytes();
  Items parts(budget);
  size_t begin = std::string_view::npos;
  for (const Character& c : characters(bytes)) {
    if (!is_space(c.code_point)) {
      if (begin == std::string_view::npos) begin = c.begin;
      if (most >= 0 && static_cast<int64_t>(parts.size()) >= most) {
        // The last part is what is left, the spaces at its end too.
        parts.push(part(budget, string, begin, bytes.size()));
        return parts.release();
      }
    } else if (begin != std::string_view::npos) {
      parts.push(part(budget, string, begin, c.begin));
      begin = std::string_view::npos;
    }
  }
  if (begin != std::string_view::npos) {
    parts.push(part(budget, string, begin, bytes.size()));
  }
  return parts.release();
}

std::vector<Value> split_at_spaces_from_right(Budget* budget,
                                              const Value& string,
                                              int64_t most) {
  const std::string_view bytes = string.text().bytes();
  Items parts(budget);
  size_t end = bytes.size();
  const auto skip = [&](bool spaces) {
    while (end > 0) {
      const Character c = character_before(bytes, end);
      if (is_space(c.code_point) != spaces) break;
      end -= c.size;
    }
    return end;
  };
  for (skip(true); end > 0; skip(true)) {
    const size_t last = end;
    if (most >= 0 && static_cast<int64_t>(parts.size()) >= most) {
      parts.push(part(budget, string, 0, last));
      break;
    }
    const size_t begin = skip(false);
    parts.push(part(budget, string, begin, last));
  }
  std::reverse(parts.values().begin(), parts.values().end());
  return parts.release();
}

std::vector<Value> split_from_right(Budget* budget, const Value& string,
                                    std::string_view separator, int64_t most) {
  const std::string_view bytes = string.text().bytes();
  Items parts(budget);
  size_t end = bytes.size();
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    // Each search for a long one goes through all that is left.
    budget->step_bytes(separator.size() > 64 ? 8 * end : 0);
    const size_t at = find_last(bytes, separator, end);
    if (at == std::string_view::npos) break;
    parts.push(part(budget, string, at + separator.size(), end));
    end = at;
  }
  parts.push(part(budget, string, 0, end));
  std::reverse(parts.values().begin(), parts.values().end());
  return parts.release();
}

}  // namespace

Value strip(Budget* budget, const Value& string, Side side, const Text* chars) {
  const std::string_view bytes = string.text().bytes();
  const Stripped stripped(chars);
  size_t begin = 0;
  size_t end = bytes.size();
  budget->step_bytes(end);
  while (side != Side::kRight && begin < end) {
    const Utf8Char c = decode_utf8(bytes.substr(begin));
    budget->step_bytes(chars != nullptr ? chars->size() : 0);
    if (!stripped(bytes.substr(begin, c.size), c.code_point)) break;
    begin += c.size;
  }
  while (side != Side::kLeft && end > begin) {
    const Character c = character_before(bytes, end);
    budget->step_bytes(chars != nullptr ? chars->size() : 0);
    if (!stripped(bytes.substr(c.begin, c.size), c.code_point)) break;
    end = c.begin;
  }
  if (begin == 0 && end == bytes.size()) return string;
  return part(budget, string, begin, end);
}

std::vector<Value> split(Budget* budget, const Value& string,
                         const Text* separator, int64_t most, Side side) {
  budget->step_bytes(search_cost(
      string.text().bytes(), separator != nullptr ? separator->bytes() : ""));
  if (separator == nullptr) {
    return side == Side::kRight
               ? split_at_spaces_from_right(budget, string, most)
               : split_at_spaces(budget, string, most);
  }
  if (separator->empty()) fault("a separator can't be empty");
  const std::string& cut = separator->bytes();
  if (side == Side::kRight) {
    return split_from_right(budget, string, cut, most);
  }
  const std::string& bytes = string.text().bytes();
  Items parts(budget);
  size_t begin = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at = find_first(bytes, cut, begin);
    if (at == std::string::npos) break;
    parts.push(part(budget, string, begin, at));
    begin = at + cut.size();
  }
  parts.push(part(budget, string, begin, bytes.size()));
  return parts.release();
}

std::vector<Value> split_lines(Budget* budget, const Value& string,
                               bool keep_ends) {
  const std::string_view bytes = string.text().bytes();
  budget->step_bytes(bytes.size());
  Items lines(budget);
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Char c = decode_utf8(bytes.substr(at));
    size_t end = at + c.size;
    if (is_line_break(c.code_point)) {
      if (c.code_point == '\r' && end < bytes.size() && bytes[end] == '\n') {
        ++end;
      }
      lines.push(part(budget, string, begin, keep_ends ? end : at));
      begin = end;
    }
    at = end;
  }
  if (begin < bytes.size()) {
    lines.push(part(budget, string, begin, bytes.size()));
  }
  return lines.release();
}

Value replace(Budget* budget, const Value& string, const Text& from,
              const Text& to, int64_t most) {
  const Text& text = string.text();
  const std::string& bytes = text.bytes();
  budget->step_bytes(search_cost(bytes, from.bytes()));
  Writer out(budget);
  size_t begin = 0;
  int64_t count = 0;
  if (from.empty()) {
    // Before every character, and at the end.
    for (; most < 0 || count < most; ++count) {
      budget->step();
      out.append(to);
      if (begin == bytes.size()) break;
      const size_t size =
          decode_utf8(std::string_view(bytes).substr(begin)).size;
      out.append(text, begin, begin + size);
      begin += size;
    }
    out.append(text, begin, bytes.size());
    return out.finish(string.is_markup());
  }
  for (; most < 0 || count < most; ++count) {
    const size_t at = find_first(bytes, from.bytes(), begin);
    if (at == std::string::npos) break;
    budget->step();
    out.append(text, begin, at);
    out.append(to);
    begin = at + from.size();
  }
  if (count == 0) return string;
  out.append(text, begin, bytes.size());
  return out.finish(string.is_markup());
}

Value pad(Budget* budget, const Value& string, int64_t width, const Text& fill,
          Side side) {
  if (count_characters(fill.bytes()) != 1) {
    fault("what fills a string must be one character");
  }
  const auto length = static_cast<int64_t>(string.as_string().length());
  if (width <= length) return string;
  const int64_t padding = width - length;
  // str.center() puts the odd one left if the width is odd.
  const int64_t left = side == Side::kLeft ? padding
                       : side == Side::kRight
                           ? 0
                           : padding / 2 + (padding & width & 1);
  Writer out(budget);
  out.repeat(fill, static_cast<size_t>(left));
  out.append(string.text());
  out.repeat(fill, static_cast<size_t>(padding - left));
  return out.finish(string.is_markup());
}

}  // namespace rc::text::chat
