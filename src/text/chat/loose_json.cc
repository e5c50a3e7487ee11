#include "text/chat/loose_json.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

constexpr uint32_t kNoUnit = UINT32_MAX;

bool is_loose_digit(char c) { return c >= '0' && c <= '9'; }

bool is_high(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

class LooseReader {
 public:
  explicit LooseReader(std::string_view text) : text_(text) {}

  std::optional<JsonValue> read() {
    JsonValue result = value();
    skip_spaces();
    if (failed_ || at_ != text_.size()) return std::nullopt;
    return result;
  }

 private:
  // An object or array that is not over.
  struct Open {
    JsonValue value;
    std::string name = {};  // of the member that is read
    std::unordered_map<std::string, size_t> places = {};

    bool is_object() const { return value.is(Type::kObject); }
    char end() const { return is_object() ? '}' : ']'; }
  };

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' ||
                                  text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    skip_spaces();
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) failed_ = true;
  }

  // Not recursive, since the caller's stack may be small.
  JsonValue value() {
    std::vector<Open> open;
    while (!failed_) {
      skip_spaces();
      JsonValue read;
      if (next() == '{' || next() == '[') {
        if (open.size() == kDeepestJson) break;
        const bool object = next() == '{';
        open.push_back({{.type = object ? Type::kObject : Type::kArray}});
        ++at_;
        if (!take(open.back().end())) {
          if (object) name(&open.back());
          continue;
        }
        read = std::move(open.back().value);
        open.pop_back();
      } else {
        read = scalar();
      }
      while (!failed_) {
        if (open.empty()) return read;
        Open& around = open.back();
        add(std::move(read), &around);
        if (take(',')) {
          if (around.is_object()) name(&around);
          break;
        }
        need(around.end());
        read = std::move(around.value);
        open.pop_back();
      }
    }
    failed_ = true;
    return {};
  }

  JsonValue scalar() {
    if (next() == '"') return {.type = Type::kString, .text = string()};
    if (word("null")) return {};
    if (word("true")) return {.type = Type::kTrue};
    if (word("false")) return {.type = Type::kFalse};
    return number();
  }

  void name(Open* object) {
    skip_spaces();
    if (next() != '"') failed_ = true;
    if (failed_) return;
    object->name = string();
    need(':');
  }

  static void add(JsonValue value, Open* to) {
    if (!to->is_object()) {
      to->value.items.push_back(std::move(value));
      return;
    }
    auto& members = to->value.members;
    const auto [place, added] =
        to->places.try_emplace(to->name, members.size());
    if (added) {
      members.emplace_back(std::move(to->name), std::move(value));
    } else {
      members[place->second].second = std::move(value);
    }
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  void digits() {
    if (!is_loose_digit(next())) failed_ = true;
    while (is_loose_digit(next())) ++at_;
  }

  JsonValue number() {
    const size_t begin = at_;
    if (next() == '-') ++at_;
    if (next() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (next() == '.') {
      ++at_;
      digits();
    }
    if (next() == 'e' || next() == 'E') {
      ++at_;
      if (next() == '+' || next() == '-') ++at_;
      digits();
    }
    return {.type = Type::kNumber,
            .text = std::string(text_.substr(begin, at_ - begin))};
  }

  std::string string() {
    std::string result;
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        escape(&result);
      } else {
        result += text_[at_++];
      }
      if (failed_) return result;
    }
    need('"');
    return result;
  }

  // The four digits of a UTF-16 unit after "\u"; kNoUnit if there are none.
  uint32_t unit_at(size_t at) const {
    if (text_.substr(at, 2) != "\\u" || text_.size() < at + 6) return kNoUnit;
    uint32_t unit = 0;
    for (const char c : text_.substr(at + 2, 4)) {
      const bool upper = c >= 'A' && c <= 'F';
      if (!is_loose_digit(c) && !upper && !(c >= 'a' && c <= 'f'))
        return kNoUnit;
      const int digit =
          is_loose_digit(c) ? c - '0' : c - (upper ? 'A' : 'a') + 10;
      unit = unit * 16 + static_cast<uint32_t>(digit);
    }
    return unit;
  }

  void escape(std::string* out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (letter == 'u') return unicode(out);
    const size_t known = kLetters.find(letter);
    if (known == kLetters.npos) {
      failed_ = true;
      return;
    }
    *out += kMeant[known];
    at_ += 2;
  }

  void unicode(std::string* out) {
    constexpr size_t kSize = 6;
    uint32_t unit = unit_at(at_);
    if (unit == kNoUnit) {
      failed_ = true;
      return;
    }
    at_ += kSize;
    const uint32_t low = is_high(unit) ? unit_at(at_) : kNoUnit;
    if (low != kNoUnit && is_low(low)) {
      at_ += kSize;
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    } else if (is_high(unit) || is_low(unit)) {
      unit = kReplacement;
    }
    append_utf8(unit, out);
  }

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<JsonValue> read_loose_json(std::string_view text) {
  return LooseReader(text).read();
}

void append_control(char c, std::string* out) {
  constexpr std::string_view kNamed = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kDigits = "0123456789abcdef";
  const size_t named = kNamed.find(c);
  if (named != kNamed.npos) {
    *out += {'\\', kLetters[named]};
    return;
  }
  const auto value = static_cast<unsigned char>(c);
  *out += "\\u00";
  *out += {kDigits[value >> 4], kDigits[value & 15]};
}

std::string with_escaped_controls(std::string_view json) {
  std::string out;
  bool in_string = false;
  bool escaped = false;
  for (const char c : json) {
    if (in_string && static_cast<unsigned char>(c) < 0x20) {
      append_control(c, &out);
      continue;
    }
    out += c;
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return out;
}

}  // namespace rc::text::chat
