// Filters that put elements of lists together.
#include <utility>
#include <vector>

#include "text/chat/attribute_path.h"
#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/list_iterator.h"
#include "text/chat/operators.h"

namespace rc::text::chat {
namespace {

int64_t positive_count(const Call& call, const char* what) {
  const int64_t count = call.integer(0, 0);
  if (count <= 0) fault("the number of ", what, " must be positive");
  return count;
}

}  // namespace

Value filter_batch(Call& call) {
  Budget* budget = call.budget();
  const int64_t count = positive_count(call, "elements");
  Items batches(budget);
  Items current(budget);
  for (Value& value : elements(budget, call.self())) {
    if (static_cast<int64_t>(current.size()) == count) {
      batches.push(current.finish());
    }
    current.push(std::move(value));
  }
  if (current.size() > 0) {
    while (!call.is_none(1) && static_cast<int64_t>(current.size()) < count) {
      current.push(call[1]);
    }
    batches.push(current.finish());
  }
  return iterator_of(call, batches.release());
}

Value filter_slice(Call& call) {
  Budget* budget = call.budget();
  const auto slices = static_cast<size_t>(positive_count(call, "slices"));
  const std::vector<Value> values = elements(budget, call.self());
  const size_t each = values.size() / slices;
  const size_t with_one_more = values.size() % slices;
  Items all(budget);
  size_t at = 0;
  for (size_t i = 0; i < slices; ++i) {
    Items slice(budget);
    const size_t end = at + each + (i < with_one_more ? 1 : 0);
    for (; at < end; ++at) slice.push(values[at]);
    if (!call.is_none(1) && i >= with_one_more) slice.push(call[1]);
    all.push(slice.finish());
  }
  return iterator_of(call, all.release());
}

Value filter_groupby(Call& call) {
  Budget* budget = call.budget();
  const AttributePath path(budget, call[0]);
  const Value* otherwise = call.is_none(1) ? nullptr : &call[1];
  const bool case_sensitive = call.truth(2, false);
  std::vector<std::pair<Value, Value>> keyed;
  for (Value& value : elements(budget, call.self())) {
    Value key = comparable(
        budget, path.of(&call.interpreter(), value, otherwise), case_sensitive);
    keyed.emplace_back(std::move(key), std::move(value));
  }
  sort_values(budget, &keyed, false);
  Items groups(budget);
  for (size_t begin = 0; begin < keyed.size();) {
    Items group(budget);
    size_t end = begin;
    while (end < keyed.size() &&
           equal(budget, keyed[end].first, keyed[begin].first)) {
      group.push(keyed[end++].second);
    }
    // A NaN is equal to nothing, itself neither.
    if (end == begin) group.push(keyed[end++].second);
    const Value name =
        path.of(&call.interpreter(), keyed[begin].second, otherwise);
    groups.push(Value(Kind::kTuple, make<Group>(budget, name, group.finish())));
    begin = end;
  }
  return groups.finish();
}

}  // namespace rc::text::chat
