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
  int64_t length;    // characters
  size_t solid_end;  // of its last character that str.strip() would leave

  bool is_blank() const { return begin >= solid_end; }
};

// textwrap knows these spaces only.
bool is_wrap_space(char c) {
  return std::string_view("\t\n\x0b\x0c\r ").find(c) != std::string_view::npos;
}

// A character of a word that is no decimal digit: [^\d\W].
bool is_wrap_letter(char32_t c) { return is_word(c) && decimal_digit(c) < 0; }

// Places within a word where textwrap may break it (its wordsep_re).
class Breaks {
 public:
  explicit Breaks(std::string_view word) : word_(word) {}

  // Whether a word may break after the hyphen at `at`: behind two letters, or
  // behind two that a hyphen divides, and before two letters or such ones.
  bool after_hyphen(size_t at) const {
    size_t end = at;
    if (!take_letter_before(&end)) return false;
    size_t hyphen = end;
    if (!take_letter_before(&end) &&
        !(take_hyphen_before(&hyphen) && take_letter_before(&hyphen))) {
      return false;
    }
    size_t next = at + 1;
    if (!take_letter(&next)) return false;
    if (next < word_.size() && word_[next] == '-') ++next;
    return take_letter(&next);
  }

  // The end of the dash of two hyphens or more that begins at `at`, between
  // characters of words; `at` if there is none.
  size_t dash_end(size_t at) const {
    if (at == 0) return at;
    const char32_t before = character_before(word_, at).code_point;
    const bool punctuation =
        before < 128 &&
        std::string_view("!\"'&.,?").find(static_cast<char>(before)) !=
            std::string_view::npos;
    if (!punctuation && !is_word(before)) return at;
    size_t end = at;
    while (end < word_.size() && word_[end] == '-') ++end;
    if (end < at + 2 || end == word_.size()) return at;
    return is_word(decode_utf8(word_.substr(end)).code_point) ? end : at;
  }

 private:
  bool take_letter(size_t* at) const {
    if (*at == word_.size()) return false;
    const Utf8Char c = decode_utf8(word_.substr(*at));
    *at += c.size;
    return is_wrap_letter(c.code_point);
  }
  bool take_letter_before(size_t* end) const {
    if (*end == 0) return false;
    const Character c = character_before(word_, *end);
    *end = c.begin;
    return is_wrap_letter(c.code_point);
  }
  bool take_hyphen_before(size_t* end) const {
    return *end > 0 && word_[--*end] == '-';
  }

  std::string_view word_;
};

std::vector<Chunk> chunks_of(Budget* budget, std::string_view line,
                             bool at_hyphens) {
  std::vector<Chunk> chunks;
  const auto add = [&](size_t begin, size_t end) {
    budget->step();
    const std::string_view text = line.substr(begin, end - begin);
    const std::string_view solid = strip_spaces(text);
    const size_t solid_end =
        solid.empty()
            ? begin
            : begin + static_cast<size_t>(solid.data() - text.data()) +
                  solid.size();
    chunks.push_back(
        {begin, end, static_cast<int64_t>(count_characters(text)), solid_end});
  };
  for (size_t at = 0; at < line.size();) {
    const bool space = is_wrap_space(line[at]);
    size_t end = at;
    while (end < line.size() && is_wrap_space(line[end]) == space) ++end;
    const Breaks breaks(line.substr(at, end - at));
    size_t begin = at;
    for (size_t i = at; !space && at_hyphens && i < end; ++i) {
      if (line[i] != '-') continue;
      if (const size_t dash = at + breaks.dash_end(i - at); dash > i) {
        if (i > begin) add(begin, i);
        add(i, dash);
        begin = dash;
        i = dash - 1;
      } else if (breaks.after_hyphen(i - at)) {
        add(begin, i + 1);
        begin = i + 1;
      }
    }
    if (begin < end) add(begin, end);
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
        at_hyphens_(at_hyphens),
        chunks_(chunks_of(budget, line.bytes(), at_hyphens)) {
    std::reverse(chunks_.begin(), chunks_.end());
  }

  // The lines, each as the bytes that it takes of the text.
  std::vector<Span> run() {
    std::vector<Span> lines;
    while (!chunks_.empty()) {
      budget_->step();
      if (!lines.empty() && chunks_.back().is_blank()) {
        chunks_.pop_back();
        if (chunks_.empty()) break;
      }
      const std::vector<Chunk> current = next_line();
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
    if (!chunks_.empty() && chunks_.back().length > width_) {
      // A word that fits on no line.
      if (break_long_) {
        const int64_t room = width_ - length;
        // As textwrap does, an empty piece is what is dropped of the line.
        if (room == 0) return current;
        current.push_back(cut(room));
      } else if (current.empty()) {
        current.push_back(chunks_.back());
        chunks_.pop_back();
      }
    }
    if (!current.empty() && current.back().is_blank()) current.pop_back();
    return current;
  }

  // Takes as many characters of the next chunk, or those up to the last hyphen
  // among them that is behind something else.
  Chunk cut(int64_t room) {
    Chunk& word = chunks_.back();
    const std::string_view rest =
        std::string_view(line_.bytes())
            .substr(word.begin, word.end - word.begin);
    std::string_view piece =
        rest.substr(0, byte_offset(rest, static_cast<size_t>(room)));
    const size_t hyphen = at_hyphens_ ? piece.rfind('-') : piece.npos;
    if (hyphen != piece.npos && piece.find_first_not_of('-') < hyphen) {
      piece = piece.substr(0, hyphen + 1);
    }
    const auto length = static_cast<int64_t>(count_characters(piece));
    const size_t end = word.begin + piece.size();
    const Chunk taken = {word.begin, end, length,
                         strip_spaces(piece).empty()
                             ? word.begin
                             : std::min(end, word.solid_end)};
    word.begin = end;
    word.length -= length;
    return taken;
  }

  Budget* budget_;
  const Text& line_;
  int64_t width_;
  bool break_long_;
  bool at_hyphens_;
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
