#include "text/chat/lexer.h"

#include <algorithm>

#include "base/quote.h"
#include "text/chat/fault.h"
#include "text/chat/literals.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// Line breaks as "\n", without the last one.
std::string normalized(std::string_view source) {
  std::string text = normalize_newlines(source);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Lexeme> run() {
    while (at_ < source_.size()) outside();
    add(Token::kEnd, "");
    return std::move(lexemes_);
  }

 private:
  [[noreturn]] void fail_here(std::string_view message) {
    fail_at(position(at_), RC_E_FORMAT, message);
  }

  // Bytes are asked for from left to right but for a few steps back.
  Position position(size_t at) {
    if (at < counted_) {
      counted_ = 0;
      place_ = {};
    }
    for (const char c : source_.substr(counted_, at - counted_)) {
      if (c == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((c & 0xC0) != 0x80) {
        ++place_.column;
      }
    }
    counted_ = at;
    return place_;
  }

  Lexeme& add(Token token, std::string text) {
    Lexeme& lexeme = lexemes_.emplace_back();
    lexeme.token = token;
    lexeme.text = std::move(text);
    lexeme.at = position(std::min(at_, source_.size()));
    return lexeme;
  }

  bool sees(std::string_view what) const {
    return source_.substr(at_).starts_with(what);
  }

  size_t skip_spaces(size_t at) const {
    while (at < source_.size()) {
      const Utf8Char c = decode_utf8(source_.substr(at));
      if (!is_space(c.code_point)) break;
      at += c.size;
    }
    return at;
  }

  // Goes on after the end of a tag, and what is trimmed with it. `size` counts
  // the bytes of the end without its sign.
  void leave_tag(char sign, size_t size, bool trim_newline) {
    at_ += size + (sign != 0 ? 1 : 0);
    if (sign == '-') {
      at_ = skip_spaces(at_);
    } else if (sign == 0 && trim_newline && sees("\n")) {
      ++at_;
    }
    line_starting_ = at_ > 0 && source_[at_ - 1] == '\n';
  }

  // Text up to a tag with that sign at its begin, trimmed as the sign says.
  void add_data(size_t begin, size_t end, char sign, bool is_print) {
    std::string_view text = source_.substr(begin, end - begin);
    if (sign == '-') {
      while (!text.empty()) {
        const Character c = character_before(text, text.size());
        if (!is_space(c.code_point)) break;
        text.remove_suffix(c.size);
      }
    } else if (sign != '+' && !is_print) {
      const size_t newline = text.rfind('\n');
      const size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line > 0 || line_starting_) &&
          strip_spaces(text.substr(line)).empty()) {
        text = text.substr(0, line);
      }
    }
    if (!text.empty()) add(Token::kData, std::string(text));
  }

  char sign_at(size_t at) const {
    const bool has =
        at < source_.size() && (source_[at] == '-' || source_[at] == '+');
    return has ? source_[at] : 0;
  }

  void outside() {
    const size_t begin = at_;
    size_t tag = begin;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string_view::npos || tag + 1 == source_.size()) {
        add_data(begin, source_.size(), '+', false);
        at_ = source_.size();
        return;
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
    }
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    add_data(begin, tag, sign, kind == '{');
    at_ = tag;
    line_starting_ = false;
    const size_t inside = tag + 2 + (sign != 0 ? 1 : 0);
    if (kind == '#') return comment(inside);
    if (kind == '%' && raw(inside)) return;
    add(kind == '{' ? Token::kPrintBegin : Token::kBlockBegin, "");
    at_ = inside;
    tag_body(kind == '{');
  }

  void comment(size_t inside) {
    const size_t end = source_.find("#}", inside);
    if (end == std::string_view::npos) {
      // As Jinja has it, nothing at all may follow what opens.
      at_ = source_.size();
      if (inside == source_.size()) return;
      at_ = inside;
      fail_here("the comment has no end: close it with '#}'");
    }
    const char sign = end > inside ? sign_at(end - 1) : 0;
    at_ = end - (sign != 0 ? 1 : 0);
    leave_tag(sign, 2, true);
  }

  // Matches `{% name %}` from behind its sign; gives where its end begins.
  size_t match_word(size_t at, std::string_view name) const {
    at = skip_spaces(at);
    if (!source_.substr(at).starts_with(name)) return std::string_view::npos;
    at = skip_spaces(at + name.size());
    const size_t end = at + (sign_at(at) != 0 ? 1 : 0);
    return source_.substr(end).starts_with("%}") ? at : std::string_view::npos;
  }

  // {% raw %}...{% endraw %} is data as it stands.
  bool raw(size_t inside) {
    const size_t end = match_word(inside, "raw");
    if (end == std::string_view::npos || sign_at(end) == '+') return false;
    const size_t opened = at_;
    at_ = end;
    leave_tag(sign_at(end), 2, false);
    const size_t begin = at_;
    for (size_t tag = source_.find("{%", begin); tag != std::string_view::npos;
         tag = source_.find("{%", tag + 1)) {
      const char sign = sign_at(tag + 2);
      const size_t close = match_word(tag + 2 + (sign != 0 ? 1 : 0), "endraw");
      if (close == std::string_view::npos) continue;
      add_data(begin, tag, sign, false);
      at_ = close;
      leave_tag(sign_at(close), 2, true);
      return true;
    }
    if (begin == source_.size()) return true;
    at_ = opened;
    fail_here("the raw block has no end: close it with '{% endraw %}'");
  }

  // The end of a tag, unless a bracket is open that it may belong to.
  bool tag_end(bool is_print) {
    if (!brackets_.empty()) return false;
    const std::string_view end = is_print ? "}}" : "%}";
    char sign = sign_at(at_);
    if (is_print && sign == '+') sign = 0;
    const size_t from = at_ + (sign != 0 ? 1 : 0);
    if (!source_.substr(from).starts_with(end)) return false;
    add(is_print ? Token::kPrintEnd : Token::kBlockEnd, "");
    leave_tag(sign, 2, !is_print);
    return true;
  }

  void tag_body(bool is_print) {
    const size_t opened = at_;
    for (;;) {
      if (tag_end(is_print)) return;
      if (at_ == source_.size()) {
        at_ = opened;
        fail_here(is_print ? "the tag has no end: close it with '}}'"
                           : "the tag has no end: close it with '%}'");
      }
      const size_t rest = skip_spaces(at_);
      if (rest > at_) {
        at_ = rest;
      } else {
        token();
      }
    }
  }

  void token() {
    const std::string_view rest = source_.substr(at_);
    const char c = rest[0];
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (c >= '0' && c <= '9') return number(rest, after_dot);
    if (c == '\'' || c == '"') return string(rest);
    size_t size = 0;
    while (size < rest.size()) {
      const Utf8Char letter = decode_utf8(rest.substr(size));
      if (!is_word(letter.code_point)) break;
      size += letter.size;
    }
    if (size > 0) {
      if (!is_name_start(decode_utf8(rest).code_point)) {
        fail_here(cat("a name can't begin with ", quote(rest.substr(0, size))));
      }
      add(Token::kName, std::string(rest.substr(0, size)));
      at_ += size;
      return;
    }
    operator_token(rest);
  }

  void number(std::string_view rest, bool after_dot) {
    NumberLiteral literal;
    try {
      literal = read_number(rest, after_dot);
    } catch (const Fault& wrong) {
      fail_at(position(at_), wrong.status, wrong.message);
    }
    Lexeme& lexeme = add(literal.is_float ? Token::kFloat : Token::kInt,
                         std::string(rest.substr(0, literal.size)));
    lexeme.integer = literal.integer;
    lexeme.real = literal.real;
    at_ += literal.size;
  }

  void string(std::string_view rest) {
    const size_t size = string_size(rest);
    if (size == 0) {
      fail_here("the string has no end: close it with the quote it began with");
    }
    try {
      add(Token::kString, unescape(rest.substr(1, size - 2)));
    } catch (const Fault& wrong) {
      fail_at(position(at_), wrong.status, wrong.message);
    }
    at_ += size;
  }

  void operator_token(std::string_view rest) {
    const std::string_view found = read_operator(rest);
    if (found.empty()) {
      fail_here(
          cat("unexpected ", quote(rest.substr(0, decode_utf8(rest).size))));
    }
    balance(found[0]);
    add(Token::kOperator, std::string(found));
    at_ += found.size();
  }

  void balance(char bracket) {
    if (bracket == '(') brackets_ += ')';
    if (bracket == '[') brackets_ += ']';
    if (bracket == '{') brackets_ += '}';
    if (bracket != ')' && bracket != ']' && bracket != '}') return;
    if (brackets_.empty()) fail_here(cat("unexpected '", bracket, "'"));
    if (brackets_.back() != bracket) {
      fail_here(
          cat("unexpected '", bracket, "', expected '", brackets_.back(), "'"));
    }
    brackets_.pop_back();
  }

  std::string_view source_;
  size_t at_ = 0;
  bool line_starting_ = true;
  std::string brackets_;  // the closing ones that are expected
  std::vector<Lexeme> lexemes_;
  size_t counted_ = 0;  // bytes before place_
  Position place_;
};

}  // namespace

void fail_at(Position at, rc_status status, std::string_view message) {
  fail(status, "chat template, line ", at.line, ", column ", at.column, ": ",
       message);
}

std::vector<Lexeme> lex(std::string_view source) {
  const std::string text = normalized(source);
  return Lexer(text).run();
}

}  // namespace rc::text::chat
