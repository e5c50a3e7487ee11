#include "text/grammar/char_set.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace rc::text::grammar {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kLastSurrogate = 0xDFFF;

struct LongName {
  std::string_view name;
  std::string_view category;
};
constexpr std::array<LongName, 10> kLongNames = {{
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Mark", "M"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"Punctuation", "P"},
    {"Symbol", "S"},
    {"Separator", "Z"},
    {"Other", "C"},
}};

// Whether some category's short name begins like this.
bool is_category(std::string_view name) {
  for (int i = 0; i <= UTF8PROC_CATEGORY_CO; ++i) {
    // Category and character numbers only share the table's order.
    static constexpr std::array<std::string_view, 30> kNames = {
        "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
        "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
        "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
    if (kNames[static_cast<size_t>(i)].starts_with(name)) return true;
  }
  return false;
}

}  // namespace

CharSet CharSet::all() {
  CharSet set;
  set.ranges_ = {{0, kFirstSurrogate - 1}, {kLastSurrogate + 1, kMaxCodePoint}};
  return set;
}

CharSet CharSet::of(char32_t low, char32_t high) {
  CharSet set;
  set.ranges_ = {{low, high}};
  return set & all();
}

CharSet CharSet::of(std::string_view ascii) {
  CharSet set;
  for (const char c : ascii) {
    set =
        set | of(static_cast<unsigned char>(c), static_cast<unsigned char>(c));
  }
  return set;
}

bool CharSet::contains(char32_t c) const {
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), c,
      [](char32_t value, const Range& range) { return value < range.low; });
  return after != ranges_.begin() && c <= std::prev(after)->high;
}

CharSet CharSet::operator|(const CharSet& other) const {
  std::vector<Range> sorted;
  sorted.reserve(ranges_.size() + other.ranges_.size());
  std::merge(ranges_.begin(), ranges_.end(), other.ranges_.begin(),
             other.ranges_.end(), std::back_inserter(sorted));
  CharSet result;
  for (const Range& range : sorted) {
    if (!result.ranges_.empty() &&
        range.low <= result.ranges_.back().high + 1) {
      Range& last = result.ranges_.back();
      last.high = std::max(last.high, range.high);
    } else {
      result.ranges_.push_back(range);
    }
  }
  return result;
}

CharSet CharSet::operator&(const CharSet& other) const {
  CharSet result;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const char32_t low = std::max(a->low, b->low);
    const char32_t high = std::min(a->high, b->high);
    if (low <= high) result.ranges_.push_back({low, high});
    if (a->high < b->high) {
      ++a;
    } else {
      ++b;
    }
  }
  return result;
}

CharSet CharSet::operator~() const {
  CharSet result;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.low > next) result.ranges_.push_back({next, range.low - 1});
    next = range.high + 1;
  }
  if (next <= kMaxCodePoint) result.ranges_.push_back({next, kMaxCodePoint});
  return result & all();
}

const CharSet& white_space() {
  static const CharSet kSet = [] {
    CharSet set = CharSet::of("\t\n\v\f\r ");
    for (const char32_t c :
         {0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF}) {
      set = set | CharSet::of(c, c);
    }
    return set | CharSet::of(0x2000, 0x200A);
  }();
  return kSet;
}

const CharSet& word_characters() {
  static const CharSet kSet = CharSet::of('0', '9') | CharSet::of('A', 'Z') |
                              CharSet::of('_', '_') | CharSet::of('a', 'z');
  return kSet;
}

bool find_category(std::string_view name, CharSet* set) {
  if (name == "Any") {
    *set = CharSet::all();
    return true;
  }
  if (name == "ASCII") {
    *set = CharSet::of(0, 0x7F);
    return true;
  }
  for (const LongName& known : kLongNames) {
    if (known.name == name) name = known.category;
  }
  if (name == "digit") name = "Nd";
  if (name.empty() || name.size() > 2 || !is_category(name)) return false;
  CharSet found;
  std::vector<CharSet> parts;
  char32_t start = 0;
  bool inside = false;
  for (char32_t c = 0; c <= kMaxCodePoint + 1; ++c) {
    const bool in = c <= kMaxCodePoint &&
                    std::string_view(utf8proc_category_string(
                                         static_cast<utf8proc_int32_t>(c)))
                        .starts_with(name);
    if (in && !inside) start = c;
    // Ranges come in order, so each is appended.
    if (!in && inside) parts.push_back(CharSet::of(start, c - 1));
    inside = in;
  }
  // Halves are joined rather than one after the other: the number of ranges
  // is in the hundreds.
  while (parts.size() > 1) {
    std::vector<CharSet> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      joined.push_back(i + 1 < parts.size() ? parts[i] | parts[i + 1]
                                            : parts[i]);
    }
    parts = std::move(joined);
  }
  *set = parts.empty() ? found : parts[0];
  return true;
}

}  // namespace rc::text::grammar
