#include "tensor/shape_pattern.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace rc {
namespace {

bool is_batch(int64_t number) {
  return number == RC_DIM_ROWS || number == RC_DIM_OUTPUTS;
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

// It is under its whole text that a dimension is known to be missing.
bool Dimensions::known_missing(const ShapePattern::Dimension& dimension) const {
  return dimension.kind == ShapePattern::kOptional &&
         known(dimension.text()) != nullptr;
}

const int64_t* Dimensions::find(std::string_view name) const {
  const Name* found = known(name);
  return found == nullptr ? nullptr : found->numbers;
}

void Dimensions::bind(std::string_view name, int64_t number) {
  remember(name, {&number, 1});
}

bool Dimensions::match_one(const ShapePattern::Dimension& dimension,
                           int64_t number) {
  switch (dimension.kind) {
    case ShapePattern::kConstant:
      return number == dimension.number;
    case ShapePattern::kRows:
      return is_batch(number) && agree(dimension.name(), {&number, 1});
    case ShapePattern::kLess: {
      const int64_t* base = find(dimension.name());
      return base != nullptr && number == *base - 1;
    }
    case ShapePattern::kOrOne:
      if (number == 1) return true;
      break;
    case ShapePattern::kOrRows:
      if (is_batch(number)) return true;
      break;
    default:
      break;
  }
  return number >= 1 && agree(dimension.name(), {&number, 1});
}

bool Dimensions::match(const ShapePattern& pattern,
                       const rc_plugin_value& value) {
  const int before = count_;
  if (match_all(pattern, value)) return true;
  count_ = before;
  return false;
}

bool Dimensions::match_all(const ShapePattern& pattern,
                           const rc_plugin_value& value) {
  // The number of dimensions that "..." stands for, or 0 if "k?" is missing.
  const int more = value.rank - pattern.size() + 1;
  int i = 0;
  for (const ShapePattern::Dimension& dimension : pattern) {
    if (dimension.kind == ShapePattern::kRest) {
      if (more < 0) return false;
      const std::span rest(value.shape + i, static_cast<size_t>(more));
      if (!std::all_of(rest.begin(), rest.end(),
                       [](int64_t number) { return number >= 1; }) ||
          !agree(dimension.name(), rest)) {
        return false;
      }
      i += more;
    } else if (dimension.kind == ShapePattern::kOptional && more == 0) {
      if (known(dimension.name()) != nullptr || !agree(dimension.text(), {})) {
        return false;
      }
    } else if (i == value.rank || known_missing(dimension) ||
               !match_one(dimension, value.shape[i++])) {
      return false;
    }
  }
  return i == value.rank;
}

void Dimensions::apply(const ShapePattern& pattern,
                       rc_plugin_value& value) const {
  value.rank = 0;
  const auto add = [&](int64_t number) {
    if (value.rank == RC_PLUGIN_MAX_RANK) {
      throw std::logic_error("a pattern of the schema is too long");
    }
    value.shape[value.rank++] = number;
  };
  for (const ShapePattern::Dimension& dimension : pattern) {
    if (dimension.kind == ShapePattern::kConstant) {
      add(dimension.number);
      continue;
    }
    if (known_missing(dimension)) continue;
    const Name* found = known(dimension.name());
    if (found == nullptr) {
      throw std::logic_error(cat(dimension.text(), " is not known"));
    }
    std::for_each(found->numbers, found->numbers + found->count, add);
  }
}

std::string Dimensions::text(const ShapePattern& pattern) const {
  std::string text;
  const auto add = [&](const auto&... parts) {
    text += cat(text.empty() ? "" : ", ", parts...);
  };
  for (const ShapePattern::Dimension& dimension : pattern) {
    if (known_missing(dimension)) continue;
    const Name* found = known(dimension.name());
    if (found == nullptr) {
      add(dimension.kind == ShapePattern::kOrRows ? dimension.name()
                                                  : dimension.text());
    } else if (dimension.kind == ShapePattern::kLess) {
      add(found->numbers[0] - 1);
    } else if (dimension.kind == ShapePattern::kOrOne) {
      add(found->numbers[0], " or 1");
    } else {
      std::for_each(found->numbers, found->numbers + found->count,
                    [&](int64_t number) { add(dimension_text(number)); });
    }
  }
  return "[" + text + "]";
}

std::string pattern_text(const ShapePattern& pattern) {
  return Dimensions().text(pattern);
}

}  // namespace rc
