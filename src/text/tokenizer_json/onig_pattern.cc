#include "text/tokenizer_json/onig_pattern.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace rc::text {
namespace {

// Members of classes. PCRE2 counts U+180E among spaces, and fewer characters
// among those of words.
constexpr std::string_view kSpaces =
    R"(\x09-\x0D\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029})"
    R"(\x{202F}\x{205F}\x{3000})";
constexpr std::string_view kNoSpaces =
    R"(\x00-\x08\x0E-\x1F\x21-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F})"
    R"(\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E})"
    R"(\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";
constexpr std::string_view kWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// Outside of classes Oniguruma counts these too: superscripts and fractions.
constexpr std::string_view kBareWords =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
constexpr std::string_view kHexDigits = "0-9A-Fa-f";

struct PosixClass {
  std::string_view name;
  std::string_view members;
};
constexpr std::array<PosixClass, 10> kPosixClasses = {{
    {"alpha", R"(\p{Alphabetic})"},
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"digit", R"(\p{Nd})"},
    {"upper", R"(\p{Uppercase})"},
    {"lower", R"(\p{Lowercase})"},
    {"space", kSpaces},
    {"word", kWords},
    {"xdigit", kHexDigits},
    {"cntrl", R"(\p{Cc})"},
    {"punct", R"(\p{P}\p{S})"},
}};

// Names of categories and of what else is not a script.
constexpr std::array<std::string_view, 48> kCategories = {
    "c",           "cc",
    "cf",          "cn",
    "co",          "cs",
    "l",           "ll",
    "lm",          "lo",
    "lt",          "lu",
    "l&",          "lc",
    "m",           "mc",
    "me",          "mn",
    "n",           "nd",
    "nl",          "no",
    "p",           "pc",
    "pd",          "pe",
    "pf",          "pi",
    "po",          "ps",
    "s",           "sc",
    "sk",          "sm",
    "so",          "z",
    "zl",          "zp",
    "zs",          "any",
    "alphabetic",  "uppercase",
    "lowercase",   "whitespace",
    "emoji",       "extendedpictographic",
    "ideographic", "ascii"};
// Long names of categories, which PCRE2 does not know.
constexpr std::array<std::array<std::string_view, 2>, 12> kLongNames = {{
    {"letter", "L"},
    {"mark", "M"},
    {"number", "N"},
    {"punctuation", "P"},
    {"symbol", "S"},
    {"separator", "Z"},
    {"other", "C"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"digit", "Nd"},
    {"decimalnumber", "Nd"},
    {"punct", "P"},
}};

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where)
      : pattern_(pattern), where_(where) {}

  std::string translate() {
    while (at_ < pattern_.size()) step();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(RC_E_UNSUPPORTED, where_, "is the pattern ", quote(pattern_),
         "; at byte ", at_, ": ", what);
  }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  bool next_is(std::string_view text) const {
    return pattern_.substr(at_).starts_with(text);
  }
  void copy(size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ = std::min(at_ + count, pattern_.size());
  }

  void step() {
    switch (peek()) {
      case '\\':
        escape();
        break;
      case '[':
        out_ += read_class(0);
        break;
      case '(':
        group();
        break;
      case '{':
        repeat();
        break;
      default:
        copy(1);
    }
  }

  void group() {
    if (next_is("(?<") || next_is("(?#")) {
      copy(3);
      return;
    }
    if (!next_is("(?")) {
      copy(1);
      return;
    }
    copy(2);
    if (peek() == '~') refuse("absent operators are not supported");
    // Options: "m" lets a dot match line breaks, which is "s" in PCRE2.
    for (; peek() == 'i' || peek() == 'm' || peek() == 'x' || peek() == '-';
         ++at_) {
      out_ += peek() == 'm' ? 's' : peek();
    }
  }

  void repeat() {
    const size_t close = pattern_.find('}', at_);
    const std::string_view inside =
        close == pattern_.npos ? std::string_view()
                               : pattern_.substr(at_ + 1, close - at_ - 1);
    const bool counts =
        !inside.empty() && inside != "," &&
        inside.find_first_not_of("0123456789,") == inside.npos &&
        std::count(inside.begin(), inside.end(), ',') <= 1;
    if (!counts) {
      out_ += "\\{";
      ++at_;
      return;
    }
    if (close + 1 < pattern_.size() && pattern_[close + 1] == '+') {
      refuse("a count with a plus sign after it is not supported");
    }
    out_ += inside[0] == ',' ? "{0" : "{";
    ++at_;
    copy(inside.size() + 1);
  }

  // The code point of \uHHHH, \xHH and \x{H...}.
  char32_t read_code() {
    const bool braces = next_is("\\x{");
    const size_t begin = at_ + (braces ? 3 : 2);
    const size_t limit = braces ? 8 : peek(1) == 'u' ? 4 : 2;
    char32_t code = 0;
    size_t end = begin;
    for (; end < pattern_.size() && end < begin + limit; ++end) {
      const char c = pattern_[end];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      code = code * 16 + static_cast<char32_t>(digit);
    }
    if (end == begin || (peek(1) == 'u' && end != begin + 4)) {
      refuse("a code point needs its digits");
    }
    if (!braces && peek(1) == 'x' && code >= 0x80) {
      refuse("bytes that are no characters are not supported");
    }
    if (braces && (end >= pattern_.size() || pattern_[end] != '}')) {
      refuse("a code point needs its closing brace");
    }
    at_ = end + (braces ? 1 : 0);
    return code;
  }

  static std::string code_text(char32_t code) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string digits;
    for (; code != 0 || digits.empty(); code /= 16) {
      digits.insert(digits.begin(), kDigits[code % 16]);
    }
    return "\\x{" + digits + "}";
  }

  // \p{...}, with the scripts named as such.
  std::string property() {
    const size_t close = pattern_.find('}', at_);
    if (peek(2) != '{' || close == pattern_.npos) {
      refuse("a property needs braces around its name");
    }
    bool negated = peek(1) == 'P';
    std::string_view name = pattern_.substr(at_ + 3, close - at_ - 3);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    for (const std::string_view prefix : {"Script=", "sc=", "sc:"}) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    std::string plain;
    for (const char c : name) {
      if (c == ' ' || c == '_' || c == '-') continue;
      plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    std::string known;
    for (const auto& [longer, category] : kLongNames) {
      if (plain == longer) known = category;
    }
    if (known.empty() && std::find(kCategories.begin(), kCategories.end(),
                                   plain) != kCategories.end()) {
      known = name;
    }
    if (plain == "l&" || plain == "lc") known = "L&";
    if (known.empty()) known = "sc:" + std::string(name);
    at_ = close + 1;
    return (negated ? "\\P{" : "\\p{") + known + "}";
  }

  void escape() {
    switch (peek(1)) {
      case 's':
        return replace(2, "[", kSpaces);
      case 'S':
        return replace(2, "[^", kSpaces);
      case 'w':
        return replace(2, "[", kBareWords);
      case 'W':
        return replace(2, "[^", kBareWords);
      case 'h':
        return replace(2, "[", kHexDigits);
      case 'H':
        return replace(2, "[^", kHexDigits);
      case 'b':
        at_ += 2;
        out_ += cat("(?:(?<=[", kBareWords, "])(?![", kBareWords, "])|(?<![",
                    kBareWords, "])(?=[", kBareWords, "]))");
        return;
      case 'B':
        at_ += 2;
        out_ += cat("(?:(?<=[", kBareWords, "])(?=[", kBareWords, "])|(?<![",
                    kBareWords, "])(?![", kBareWords, "]))");
        return;
      case 'p':
      case 'P':
        out_ += property();
        return;
      case 'u':
      case 'x':
        out_ += code_text(read_code());
        return;
      case '\0':
        refuse("the pattern ends within an escape");
      case 'N':
      case 'O':
      case 'C':
      case 'M':
      case 'y':
      case 'Y':
      case 'X':
      case 'c':
        refuse("this escape is not supported");
      default:
        copy(1);
        copy(decode_utf8(pattern_.substr(at_)).size);
    }
  }
  void replace(size_t size, std::string_view open, std::string_view members) {
    at_ += size;
    out_ += open;
    out_ += members;
    out_ += ']';
  }

  // A class from its bracket on. With intersections it becomes a character of
  // the last part that the lookaheads before it accept.
  std::string read_class(size_t depth) {
    if (depth > 8) refuse("classes nest deeper than 8 levels");
    ++at_;
    const bool negated = peek() == '^';
    if (negated) ++at_;
    std::vector<std::string> parts(1);
    bool first = true;
    for (;; first = false) {
      if (at_ >= pattern_.size()) refuse("a class needs its closing bracket");
      if (peek() == ']' && !first) break;
      if (next_is("&&")) {
        at_ += 2;
        parts.emplace_back();
        continue;
      }
      class_member(depth, &parts);
    }
    ++at_;
    if (parts.size() == 1 && !nested_) {
      return cat(negated ? "[^" : "[", parts[0], "]");
    }
    nested_ = false;
    std::string joined;
    for (size_t i = 0; i < parts.size(); ++i) {
      std::string part = parts[i];
      if (part.empty()) refuse("an intersection needs two sides");
      // A part that is a nested class is kept as one.
      if (part[0] != '\1') part = cat("[", part, "]");
      std::erase(part, '\1');
      joined += i + 1 < parts.size() ? cat("(?=", part, ")") : part;
    }
    return negated ? cat("(?:(?!", joined, ")(?s:.))")
                   : cat("(?:", joined, ")");
  }

  void class_member(size_t depth, std::vector<std::string>* parts) {
    std::string& part = parts->back();
    if (next_is("[:")) {
      part += posix_class();
    } else if (peek() == '[') {
      if (!part.empty()) {
        refuse(
            "of nested classes only those alone in an intersection are "
            "supported");
      }
      part = cat("\1", read_class(depth + 1));
      if (peek() != ']' && !next_is("&&")) {
        refuse(
            "of nested classes only those alone in an intersection are "
            "supported");
      }
      nested_ = true;
    } else if (peek() == '\\') {
      class_escape(&part);
    } else {
      const size_t size = decode_utf8(pattern_.substr(at_)).size;
      if (size == 1 && peek() == ']') part += '\\';
      part += pattern_.substr(at_, size);
      at_ += size;
    }
  }

  void class_escape(std::string* part) {
    const auto add = [&](std::string_view members) {
      at_ += 2;
      *part += members;
    };
    switch (peek(1)) {
      case 's':
        return add(kSpaces);
      case 'S':
        return add(kNoSpaces);
      case 'w':
        return add(kWords);
      case 'h':
        return add(kHexDigits);
      case 'W':
      case 'H':
      case 'R':
      case 'X':
        refuse("this escape is not supported in a class");
      case 'p':
      case 'P':
        *part += property();
        return;
      case 'u':
      case 'x':
        *part += code_text(read_code());
        return;
      case '\0':
        refuse("the pattern ends within an escape");
      default: {
        const size_t size = 1 + decode_utf8(pattern_.substr(at_ + 1)).size;
        *part += pattern_.substr(at_, size);
        at_ += size;
      }
    }
  }

  std::string posix_class() {
    const size_t close = pattern_.find(":]", at_);
    if (close == pattern_.npos) refuse("a class needs its closing bracket");
    const std::string_view name = pattern_.substr(at_ + 2, close - at_ - 2);
    for (const PosixClass& known : kPosixClasses) {
      if (known.name != name) continue;
      at_ = close + 2;
      return std::string(known.members);
    }
    refuse("this class of characters is not supported");
  }

  std::string_view pattern_;
  std::string_view where_;
  std::string out_;
  size_t at_ = 0;
  bool nested_ = false;  // the class that is being read holds another
};

}  // namespace

std::string pcre2_pattern(std::string_view onig, std::string_view where) {
  return Translator(onig, where).translate();
}

Regex onig_regex(std::string_view onig, std::string_view where) {
  return Regex::from_file(pcre2_pattern(onig, where), onig, where);
}

std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool names = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z');
    if (static_cast<unsigned char>(c) < 0x80 && !names) {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern;
}

}  // namespace rc::text
