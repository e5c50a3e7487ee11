#include "text/chat/containers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "text/chat/numbers.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

// From here on a dictionary is searched by a sorted index.
constexpr size_t kManyEntries = 12;

// Of tuples.
constexpr size_t kHeaviestKey = 1001;  // the tuple itself, too

int sign(bool less, bool greater) { return less ? -1 : greater ? 1 : 0; }

// Kinds of keys that are never equal to each other.
int rank(const Value& key) {
  switch (key.kind()) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return 0;
    case Kind::kString:
      return 1;
    case Kind::kNone:
      return 2;
    case Kind::kTuple:
      return 3;
    case Kind::kUndefined:
      return 4;
    default:
      return 5;
  }
}

template <class Elements, class Depth>
size_t depth_above(const Elements& elements, Depth depth) {
  size_t deepest = 0;
  for (const auto& element : elements) {
    deepest = std::max(deepest, depth(element));
  }
  return deepest + 1;
}

}  // namespace

bool is_hashable(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kDict:
    case Kind::kDictView:
      return false;
    case Kind::kTuple:
      return value.as_sequence().is_hashable();
    default:
      return true;
  }
}

void check_hashable(const Value& value) {
  if (!is_hashable(value)) {
    fault(type_with_article(value),
          " can't be a key of a dictionary: use a string, a number or a tuple "
          "of these");
  }
  // Tuples of tuples may be exponentially larger than what they are made of.
  if (value.is(Kind::kTuple) && value.as_sequence().weight() > kHeaviestKey) {
    fault_of_limit("a tuple of more than ", kHeaviestKey - 1,
                   " values can't be a key of a dictionary");
  }
}

int compare_keys(const Value& a, const Value& b) {
  if (rank(a) != rank(b)) return sign(rank(a) < rank(b), true);
  switch (rank(a)) {
    case 0: {
      const auto order = compare_numbers(a, b);
      if (order == std::partial_ordering::unordered) {
        // Numbers that are not numbers come first, as equals.
        const bool a_is_nan = std::isnan(a.as_real());
        return sign(a_is_nan && !std::isnan(b.as_real()), !a_is_nan);
      }
      return sign(order<0, order> 0);
    }
    case 1: {
      const int order = a.text().bytes().compare(b.text().bytes());
      return sign(order<0, order> 0);
    }
    case 3: {
      const auto& left = a.as_sequence().items();
      const auto& right = b.as_sequence().items();
      for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
        const int order = compare_keys(left[i], right[i]);
        if (order != 0) return order;
      }
      return sign(left.size() < right.size(), left.size() > right.size());
    }
    case 5:
      return sign(std::less<>()(a.object(), b.object()),
                  a.object() != b.object());
    default:
      return 0;
  }
}

String::String(Budget* budget, Text text)
    : Object(budget, sizeof(String) + text.memory()),
      text_(std::move(text)),
      length_(count_characters(text_.bytes())) {}

size_t String::offset(size_t character) const {
  return is_ascii() ? std::min(character, length_)
                    : byte_offset(text_.bytes(), character);
}

Sequence::Sequence(Budget* budget, std::vector<Value> items)
    : Object(budget, sizeof(Sequence) + items.size() * sizeof(Value)),
      items_(std::move(items)),
      is_hashable_(std::all_of(items_.begin(), items_.end(),
                               rc::text::chat::is_hashable)) {
  for (const Value& item : items_) {
    if (!item.is_sequence()) {
      ++weight_;
    } else if (weight_ <= kHeaviestKey) {
      weight_ += item.as_sequence().weight();
    }
  }
  set_depth(depth_above(items_, [](const Value& v) { return v.depth(); }));
  if (budget != nullptr) budget->check_depth(depth(), "values");
}

Dict::Dict(Budget* budget, std::vector<Entry> entries)
    : Object(budget, sizeof(Dict) +
                         entries.size() * (sizeof(Entry) + sizeof(uint32_t))),
      entries_(std::move(entries)) {
  const bool many = entries_.size() >= kManyEntries;
  if (budget != nullptr) {
    budget->step(entries_.size());
    for (const Entry& entry : entries_) {
      if (entry.first.is_string()) {
        // Of so many comparisons when they are sorted.
        budget->step_bytes(entry.first.text().size() * 16);
      }
    }
  }
  many ? merge_many() : merge_few();
  set_depth(depth_above(entries_, [](const Entry& e) {
    return std::max(e.first.depth(), e.second.depth());
  }));
  if (budget != nullptr) budget->check_depth(depth(), "values");
}

void Dict::merge_few() {
  for (size_t i = 1; i < entries_.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (compare_keys(entries_[j].first, entries_[i].first) != 0) continue;
      entries_[j].second = std::move(entries_[i].second);
      entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(i--));
      break;
    }
  }
}

void Dict::merge_many() {
  const auto sort = [&] {
    sorted_.resize(entries_.size());
    std::iota(sorted_.begin(), sorted_.end(), 0);
    std::sort(sorted_.begin(), sorted_.end(), [&](uint32_t a, uint32_t b) {
      const int order = compare_keys(entries_[a].first, entries_[b].first);
      return order != 0 ? order < 0 : a < b;
    });
  };
  sort();
  std::vector<bool> repeated(entries_.size(), false);
  size_t first = 0;  // of those with an equal key
  size_t repetitions = 0;
  for (size_t i = 1; i < sorted_.size(); ++i) {
    Entry& one = entries_[sorted_[first]];
    Entry& other = entries_[sorted_[i]];
    if (compare_keys(one.first, other.first) != 0) {
      first = i;
      continue;
    }
    one.second = std::move(other.second);
    repeated[sorted_[i]] = true;
    ++repetitions;
  }
  if (repetitions == 0) return;
  std::vector<Entry> kept;
  kept.reserve(entries_.size() - repetitions);
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!repeated[i]) kept.push_back(std::move(entries_[i]));
  }
  entries_ = std::move(kept);
  sort();
}

const Value* Dict::find(const Value& key) const {
  if (sorted_.empty()) {
    for (const Entry& entry : entries_) {
      if (compare_keys(entry.first, key) == 0) return &entry.second;
    }
    return nullptr;
  }
  const auto at = std::partition_point(
      sorted_.begin(), sorted_.end(),
      [&](uint32_t i) { return compare_keys(entries_[i].first, key) < 0; });
  if (at == sorted_.end() || compare_keys(entries_[*at].first, key) != 0) {
    return nullptr;
  }
  return &entries_[*at].second;
}

const Value* Dict::find(std::string_view key) const {
  if (sorted_.empty()) {
    for (const Entry& entry : entries_) {
      if (entry.first.is_string() && entry.first.text().bytes() == key) {
        return &entry.second;
      }
    }
    return nullptr;
  }
  return find(Value::string(key, Origin::kTemplate));
}

Range::Range(Budget* budget, int64_t start, int64_t stop, int64_t step)
    : Object(budget, sizeof(Range)), start_(start), stop_(stop), step_(step) {
  // As unsigned numbers, so that no difference overflows.
  const auto from = static_cast<uint64_t>(start);
  const auto to = static_cast<uint64_t>(stop);
  uint64_t size = 0;
  if (step > 0 && start < stop) {
    size = (to - from - 1) / static_cast<uint64_t>(step) + 1;
  } else if (step < 0 && start > stop) {
    size = (from - to - 1) / (~static_cast<uint64_t>(step) + 1) + 1;
  }
  size_ = static_cast<size_t>(std::min<uint64_t>(size, SIZE_MAX));
}

}  // namespace rc::text::chat
