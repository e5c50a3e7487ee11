// Calls written like those of Python, and like those of Gemma 4.
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "base/json_value.h"
#include "base/utf8.h"
#include "text/chat/loose_json.h"
#include "text/chat/replies/call_parts.h"

namespace rc::text::chat {
namespace {

using Type = JsonValue::Type;

// Reads values; what it finds wrong makes it fail for good.
class LiteralReader {
 public:
  // `raw`: strings that are arguments themselves have no escapes.
  LiteralReader(CallShape shape, std::string_view text, bool raw = false)
      : gemma_(shape == CallShape::kGemma), raw_(raw), text_(text) {}

  bool failed() const { return failed_; }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }

  // Whether the text goes on like this; takes it.
  bool take(std::string_view expected) {
    skip_spaces();
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  void need(std::string_view expected) {
    if (!take(expected)) failed_ = true;
  }

  std::string_view name() {
    skip_spaces();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (static_cast<unsigned char>(text_[at_]) >= 0x80 ||
            std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
            text_[at_] == '_' || text_[at_] == '-' || text_[at_] == '.' ||
            text_[at_] == '/')) {
      ++at_;
    }
    if (at_ == begin) failed_ = true;
    return text_.substr(begin, at_ - begin);
  }

  JsonValue literal() { return value(0); }

  // Members up to the closing bracket, the opening one taken.
  JsonValue members(char close, std::string_view between, int depth) {
    JsonValue object{.type = Type::kObject};
    while (!failed_ && !take({&close, 1})) {
      if (!object.members.empty()) need(",");
      const std::string key = at_string() ? string() : std::string(name());
      need(between);
      if (!failed_) set(key, value(depth + 1), &object);
    }
    return object;
  }

 private:
  // As in Python, the last of several values counts.
  static void set(const std::string& key, JsonValue value, JsonValue* object) {
    for (auto& [name, member] : object->members) {
      if (name != key) continue;
      member = std::move(value);
      return;
    }
    object->members.emplace_back(key, std::move(value));
  }

  static constexpr int kDeepest = 100;
  static constexpr std::string_view kQuote = "<|\"|>";

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                  text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool at_string() {
    skip_spaces();
    const std::string_view rest = text_.substr(at_);
    if (gemma_ && rest.starts_with(kQuote)) return true;
    return rest.starts_with('"') || (!gemma_ && rest.starts_with('\''));
  }

  std::string string() {
    if (gemma_ && take(kQuote)) {
      const size_t end = text_.find(kQuote, at_);
      if (end == text_.npos) {
        failed_ = true;
        return {};
      }
      const std::string result(text_.substr(at_, end - at_));
      at_ = end + kQuote.size();
      return result;
    }
    return quoted();
  }

  // Up to the quote after which the next argument, or the end of the call
  // comes.
  std::string raw_string() {
    const char quote = text_[at_++];
    const size_t begin = at_;
    for (size_t end = text_.find(quote, begin); end != text_.npos;
         end = text_.find(quote, end + 1)) {
      at_ = end + 1;
      if (!ends_argument()) continue;
      at_ = end + 1;
      return std::string(text_.substr(begin, end - begin));
    }
    failed_ = true;
    return {};
  }

  bool ends_argument() {
    if (take(")")) {
      return at_end() || text_[at_] == ',' || text_[at_] == ']';
    }
    if (!take(",")) return false;
    name();
    const bool is_key = !failed_ && take("=");
    failed_ = false;
    return is_key;
  }

  std::string quoted() {
    const char quote = text_[at_++];
    std::string result;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
        result += text_[at_++];
        continue;
      }
      escape(&result);
    }
    if (at_ == text_.size()) {
      failed_ = true;
    } else {
      ++at_;
    }
    return result;
  }

  void escape(std::string* out) {
    const char letter = text_[at_ + 1];
    at_ += 2;
    constexpr std::string_view kLetters = "nrtabfv\\'\"\n";
    constexpr std::string_view kMeant = "\n\r\t\a\b\f\v\\'\"";
    const size_t known = kLetters.find(letter);
    // A line break after a backslash is none.
    if (known < kMeant.size()) *out += kMeant[known];
    if (known != kLetters.npos) return;
    if (letter == 'x' && code_point(2, 16, out)) return;
    if (letter == 'u' && code_point(4, 16, out)) return;
    if (letter == 'U' && code_point(8, 16, out)) return;
    if (letter >= '0' && letter <= '7') {
      --at_;
      size_t digits = 1;
      while (digits < 3 && at_ + digits < text_.size() &&
             text_[at_ + digits] >= '0' && text_[at_ + digits] <= '7') {
        ++digits;
      }
      code_point(digits, 8, out);
      return;
    }
    *out += {'\\', letter};
  }

  // A character by so many digits; false: they are not there.
  bool code_point(size_t digits, uint32_t base, std::string* out) {
    uint32_t code = 0;
    if (text_.size() - at_ < digits) return false;
    for (const char c : text_.substr(at_, digits)) {
      const auto lower =
          static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const bool decimal = c >= '0' && c <= '9';
      if (!decimal && !(lower >= 'a' && lower <= 'f')) return false;
      code = code * base +
             static_cast<uint32_t>(decimal ? c - '0' : lower - 'a' + 10);
    }
    at_ += digits;
    // A pair of UTF-16, as JSON has it.
    if (digits == 4 && code >= 0xD800 && code < 0xDC00) code = pair(code);
    const bool scalar = code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
    append_utf8(scalar ? code : kReplacement, out);
    return true;
  }

  uint32_t pair(uint32_t high) {
    if (text_.substr(at_, 2) != "\\u") return high;
    uint32_t low = 0;
    const std::string_view digits = text_.substr(at_ + 2, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), low, 16);
    if (error != std::errc() || digits.size() < 4 || end != digits.data() + 4 ||
        low < 0xDC00 || low > 0xDFFF) {
      return high;
    }
    at_ += 6;
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  JsonValue value(int depth) {
    if (depth > kDeepest) failed_ = true;
    if (failed_) return {};
    if (at_string()) {
      return {.type = Type::kString,
              .text = raw_ && depth == 1 ? raw_string() : string()};
    }
    if (take("{")) return members('}', ":", depth);
    if (take("[")) return elements(depth);
    return word();
  }

  JsonValue elements(int depth) {
    JsonValue list{.type = Type::kArray};
    while (!failed_ && !take("]")) {
      if (!list.items.empty()) need(",");
      list.items.push_back(value(depth + 1));
    }
    return list;
  }

  // A number or a constant.
  JsonValue word() {
    const size_t end = text_.find_first_of(" \n\t\r,)]}", at_);
    const std::string_view found = text_.substr(at_, end - at_);
    at_ += found.size();
    if (found == "True" || found == "true") return {.type = Type::kTrue};
    if (found == "False" || found == "false") return {.type = Type::kFalse};
    if (found == "None" || found == "null") return {};
    // Brackets begin no word.
    auto number = read_loose_json(found);
    if (number) return std::move(*number);
    failed_ = true;
    return {};
  }

  const bool gemma_;
  const bool raw_;
  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
};

struct LiteralCall {
  std::string name;
  std::string arguments;
};

}  // namespace

std::optional<JsonValue> read_python_literal(std::string_view text) {
  LiteralReader reader(CallShape::kPython, text);
  JsonValue value = reader.literal();
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return value;
}

bool read_literal_calls(const ReplyFormat& format, std::string_view text,
                        CallSink* sink) {
  const bool gemma = format.shape == CallShape::kGemma;
  LiteralReader reader(format.shape, text, format.raw_strings);
  std::vector<LiteralCall> calls;
  do {
    const bool bracketed = !gemma && reader.take("[");
    do {
      if (gemma) reader.need("call:");
      LiteralCall call;
      call.name = reader.name();
      reader.need(gemma ? "{" : "(");
      const JsonValue arguments =
          reader.members(gemma ? '}' : ')', gemma ? ":" : "=", 0);
      if (reader.failed()) return false;
      call.arguments = json_text(arguments);
      calls.push_back(std::move(call));
    } while (reader.take(","));
    if (bracketed) reader.need("]");
    if (reader.failed()) return false;
  } while (!reader.at_end());
  for (const LiteralCall& call : calls) {
    sink->begin_call(call.name, "");
    sink->add_arguments(call.arguments);
    sink->end_call("");
  }
  return true;
}

}  // namespace rc::text::chat
