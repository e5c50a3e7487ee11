#include "tensor/shape_pattern.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/error.h"

namespace rc {
namespace {

// Takes the first dimension off a pattern; "" when there is none.
std::string_view next_dimension(std::string_view& pattern) {
  const size_t end = std::min(pattern.find(' '), pattern.size());
  const std::string_view first = pattern.substr(0, end);
  pattern.remove_prefix(std::min(end + 1, pattern.size()));
  return first;
}

int dimension_count(std::string_view pattern) {
  int count = 0;
  while (!next_dimension(pattern).empty()) ++count;
  return count;
}

bool is_rest(std::string_view dimension) {
  return dimension.starts_with("...");
}

bool is_batch(int64_t number) {
  return number == RC_DIM_ROWS || number == RC_DIM_OUTPUTS;
}

// The number that a dimension is by itself; 0 for one that is a name.
int64_t constant(std::string_view dimension) {
  if (dimension == "rows") return RC_DIM_ROWS;
  if (dimension == "sequences") return RC_DIM_SEQUENCES;
  int64_t number = 0;
  std::from_chars(dimension.data(), dimension.data() + dimension.size(),
                  number);
  return number;
}

std::string dimension_text(int64_t number) {
  switch (number) {
    case RC_DIM_ROWS:
      return "rows";
    case RC_DIM_OUTPUTS:
      return "outputs";
    case RC_DIM_SEQUENCES:
      return "sequences";
  }
  return cat(number);
}

// The name in "k?", "k-1" and "B|1", and in "k" itself.
std::string_view name_in(std::string_view dimension) {
  return dimension.substr(0, dimension.find_first_of("?-|"));
}

}  // namespace

const Dimensions::Name* Dimensions::known(std::string_view name) const {
  const Name* end = names_ + count_;
  const Name* found = std::find_if(
      names_, end, [&](const Name& other) { return other.name == name; });
  return found == end ? nullptr : found;
}

void Dimensions::remember(std::string_view name,
                          std::span<const int64_t> numbers) {
  if (count_ == kMostNames) {
    throw std::logic_error("an op of the schema has too many names");
  }
  Name& added = names_[count_++];
  added.name = name;
  added.count = static_cast<int>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), added.numbers);
}

bool Dimensions::agree(std::string_view name,
                       std::span<const int64_t> numbers) {
  const Name* found = known(name);
  if (found == nullptr) {
    remember(name, numbers);
    return true;
  }
  return std::equal(numbers.begin(), numbers.end(), found->numbers,
                    found->numbers + found->count);
}

bool Dimensions::known_missing(std::string_view dimension) const {
  return dimension.ends_with("?") && known(dimension) != nullptr;
}

const int64_t* Dimensions::find(std::string_view name) const {
  const Name* found = known(name);
  return found == nullptr ? nullptr : found->numbers;
}

void Dimensions::bind(std::string_view name, int64_t number) {
  remember(name, {&number, 1});
}

bool Dimensions::match_one(std::string_view dimension, int64_t number) {
  if (const int64_t wanted = constant(dimension); wanted != 0) {
    return number == wanted;
  }
  const std::string_view name = name_in(dimension);
  if (dimension.ends_with("-1")) {
    const int64_t* base = find(name);
    return base != nullptr && number == *base - 1;
  }
  if (dimension.ends_with("|1") && number == 1) return true;
  if (dimension.ends_with("|R'") && is_batch(number)) return true;
  const bool possible =
      name == "R" || name == "R'" ? is_batch(number) : number >= 1;
  return possible && agree(name, {&number, 1});
}

bool Dimensions::match(const char* pattern, const rc_plugin_value& value) {
  const int before = count_;
  if (match_all(pattern, value)) return true;
  count_ = before;
  return false;
}

bool Dimensions::match_all(std::string_view left,
                           const rc_plugin_value& value) {
  // How many dimensions "..." stands for, or -1 if "k?" is missing.
  const int more = value.rank - dimension_count(left) + 1;
  int i = 0;
  while (!left.empty()) {
    const std::string_view dimension = next_dimension(left);
    if (is_rest(dimension)) {
      if (more < 0) return false;
      const std::span rest(value.shape + i, static_cast<size_t>(more));
      if (!std::all_of(rest.begin(), rest.end(),
                       [](int64_t number) { return number >= 1; }) ||
          !agree(dimension, rest)) {
        return false;
      }
      i += more;
    } else if (dimension.ends_with("?") && more == 0) {
      // It is under its whole name that a dimension is known to be missing.
      if (known(name_in(dimension)) != nullptr || !agree(dimension, {})) {
        return false;
      }
    } else if (i == value.rank || known_missing(dimension) ||
               !match_one(dimension, value.shape[i++])) {
      return false;
    }
  }
  return i == value.rank;
}

void Dimensions::apply(const char* pattern, rc_plugin_value& value) const {
  value.rank = 0;
  const auto add = [&](int64_t number) {
    if (value.rank == RC_PLUGIN_MAX_RANK) {
      throw std::logic_error("a pattern of the schema is too long");
    }
    value.shape[value.rank++] = number;
  };
  std::string_view left = pattern;
  while (!left.empty()) {
    const std::string_view dimension = next_dimension(left);
    if (const int64_t number = constant(dimension); number != 0) {
      add(number);
      continue;
    }
    if (known_missing(dimension)) continue;
    const Name* found = known(name_in(dimension));
    if (found == nullptr) {
      throw std::logic_error(cat(pattern, ": ", dimension, " is not known"));
    }
    std::for_each(found->numbers, found->numbers + found->count, add);
  }
}

std::string Dimensions::text(const char* pattern) const {
  std::string text;
  const auto add = [&](const auto&... parts) {
    text += cat(text.empty() ? "" : ", ", parts...);
  };
  std::string_view left = pattern;
  while (!left.empty()) {
    const std::string_view dimension = next_dimension(left);
    if (known_missing(dimension)) continue;
    const Name* found = known(name_in(dimension));
    if (found == nullptr) {
      add(dimension.substr(0, dimension.find("|R'")));
    } else if (dimension.ends_with("-1")) {
      add(found->numbers[0] - 1);
    } else if (dimension.ends_with("|1")) {
      add(found->numbers[0], " or 1");
    } else {
      std::for_each(found->numbers, found->numbers + found->count,
                    [&](int64_t number) { add(dimension_text(number)); });
    }
  }
  return "[" + text + "]";
}

std::string pattern_text(const char* pattern) {
  return Dimensions().text(pattern);
}

}  // namespace rc
