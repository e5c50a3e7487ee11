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

// By UTF8PROC_CATEGORY_...
constexpr std::array<std::string_view, 30> kCategoryNames = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
    "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
    "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

using CategoryRanges = std::array<std::vector<CharSet::Range>, 30>;

// The characters of each category. Found once: there are a million to look at.
const CategoryRanges& category_ranges() {
  static const CategoryRanges kRanges = [] {
    CategoryRanges ranges;
    for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
      const auto category = static_cast<size_t>(
          utf8proc_category(static_cast<utf8proc_int32_t>(c)));
      std::vector<CharSet::Range>& of_category = ranges[category];
      if (!of_category.empty() && of_category.back().high + 1 == c) {
        of_category.back().high = c;
      } else {
        of_category.push_back({c, c});
      }
    }
    return ranges;
  }();
  return kRanges;
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
  std::vector<Range> ranges;
  for (const char c : ascii) {
    const auto point = static_cast<unsigned char>(c);
    ranges.push_back({point, point});
  }
  return of(std::move(ranges));
}

CharSet CharSet::of(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  CharSet result;
  for (const Range& range : ranges) result.append(range);
  return result & all();
}

// Ranges come in order.
void CharSet::append(const Range& range) {
  if (!ranges_.empty() && range.low <= ranges_.back().high + 1) {
    ranges_.back().high = std::max(ranges_.back().high, range.high);
  } else {
    ranges_.push_back(range);
  }
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
  for (const Range& range : sorted) result.append(range);
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
  if (name.empty() || name.size() > 2) return false;
  std::vector<CharSet::Range> ranges;
  bool known = false;
  for (size_t i = 0; i < kCategoryNames.size(); ++i) {
    if (!kCategoryNames[i].starts_with(name)) continue;
    known = true;
    const std::vector<CharSet::Range>& more = category_ranges()[i];
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  if (known) *set = CharSet::of(std::move(ranges));
  return known;
}

}  // namespace rc::text::grammar
