// The filter wordwrap, as Python's textwrap.wrap() breaks lines.
#include <algorithm>

#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/print.h"
#include "text/chat/string_operations.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// A run of spaces, or a word or a part of one that may be followed by a break.
struct Chunk {
  size_t begin;
  size_t end;
  int64_t length;  // characters
  bool is_blank;
};

// textwrap knows these spaces only.
bool is_wrap_space(char c) {
  return std::string_view("\t\n\x0b\x0c\r ").find(c) != std::string_view::npos;
}

// Whether a word may break after the hyphen that ends at `end`: a letter before
// it and one after it, none of them a digit (textwrap's wordsep_re).
bool breaks_after_hyphen(std::string_view word, size_t end) {
  if (end < 3 || end + 1 >= word.size()) return false;
  const Character before = character_before(word, end - 1);
  if (!is_word(before.code_point) || is_numeric(before.code_point) ||
      before.code_point == '_' || before.begin == 0) {
    return false;
  }
  const Character before_that = character_before(word, before.begin);
  const Utf8Char after = decode_utf8(word.substr(end));
  const std::string_view rest = word.substr(end + after.size);
  const auto is_plain = [](char32_t c) {
    return is_word(c) && !is_numeric(c) && c != '_';
  };
  if (!is_plain(before_that.code_point) || !is_plain(after.code_point)) {
    return false;
  }
  if (rest.empty()) return false;
  const char32_t next = decode_utf8(rest).code_point;
  return is_plain(next) || next == '-';
}

std::vector<Chunk> chunks_of(Budget* budget, std::string_view line,
                             bool at_hyphens) {
  std::vector<Chunk> chunks;
  const auto add = [&](size_t begin, size_t end, bool is_space) {
    budget->step();
    const auto length =
        static_cast<int64_t>(count_characters(line.substr(begin, end - begin)));
    const bool is_blank =
        is_space || strip_spaces(line.substr(begin, end - begin)).empty();
    chunks.push_back({begin, end, length, is_blank});
  };
  for (size_t at = 0; at < line.size();) {
    const bool space = is_wrap_space(line[at]);
    size_t end = at;
    while (end < line.size() && is_wrap_space(line[end]) == space) ++end;
    size_t begin = at;
    for (size_t i = at; !space && at_hyphens && i < end; ++i) {
      if (line[i] == '-' &&
          breaks_after_hyphen(line.substr(at, end - at), i + 1 - at)) {
        add(begin, i + 1, false);
        begin = i + 1;
      }
    }
    add(begin, end, space);
    at = end;
  }
  return chunks;
}

class Wrapper {
 public:
  Wrapper(Budget* budget, const Text& line, int64_t width, bool break_long,
          bool at_hyphens)
      : budget_(budget),
        line_(line),
        width_(width),
        break_long_(break_long),
        chunks_(chunks_of(budget, line.bytes(), at_hyphens)) {
    std::reverse(chunks_.begin(), chunks_.end());
  }

  // The lines, each as the bytes that it takes of the text.
  std::vector<Span> run() {
    std::vector<Span> lines;
    while (!chunks_.empty()) {
      budget_->step();
      if (!lines.empty() && chunks_.back().is_blank) {
        chunks_.pop_back();
        if (chunks_.empty()) break;
      }
      std::vector<Chunk> current = next_line();
      if (!current.empty() && current.back().is_blank) current.pop_back();
      if (!current.empty()) {
        lines.push_back({current.front().begin, current.back().end});
      }
    }
    return lines;
  }

 private:
  std::vector<Chunk> next_line() {
    std::vector<Chunk> current;
    int64_t length = 0;
    while (!chunks_.empty() && length + chunks_.back().length <= width_) {
      length += chunks_.back().length;
      current.push_back(chunks_.back());
      chunks_.pop_back();
    }
    if (chunks_.empty() || chunks_.back().length <= width_) return current;
    // A word that fits on no line.
    Chunk& word = chunks_.back();
    const int64_t room = width_ < 1 ? 1 : width_ - length;
    if (break_long_ && room > 0) {
      const std::string_view rest =
          std::string_view(line_.bytes()).substr(word.begin);
      const size_t cut =
          word.begin + byte_offset(rest, static_cast<size_t>(room));
      current.push_back({word.begin, cut, room, word.is_blank});
      word.begin = cut;
      word.length -= room;
    } else if (!break_long_ && current.empty()) {
      current.push_back(word);
      chunks_.pop_back();
    }
    return current;
  }

  Budget* budget_;
  const Text& line_;
  int64_t width_;
  bool break_long_;
  std::vector<Chunk> chunks_;  // the next one last
};

}  // namespace

Value filter_wordwrap(Call& call) {
  Budget* budget = call.budget();
  if (!call.self().is_string()) {
    if (call.self().is_undefined()) fault_undefined(call.self());
    fault("'wordwrap' is for strings, not for ",
          type_with_article(call.self()));
  }
  const int64_t width = call.integer(0, 79);
  const Text newline =
      call.is_none(2) ? Text("\n", Origin::kTemplate) : call.string(2).text();
  Writer out(budget);
  bool first_line = true;
  for (const Value& line : split_lines(budget, call.self(), false)) {
    if (!first_line) out.append(newline);
    first_line = false;
    if (width <= 0) fault("'wordwrap' needs a width above 0");
    Wrapper wrapper(budget, line.text(), width, call.truth(1, true),
                    call.truth(3, true));
    bool first_part = true;
    for (const Span& part : wrapper.run()) {
      if (!first_part) out.append(newline);
      first_part = false;
      out.append(line.text(), part.begin, part.end);
    }
  }
  return out.finish();
}

}  // namespace rc::text::chat
