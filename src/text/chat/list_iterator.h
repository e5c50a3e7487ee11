// Iterators over elements that were made at once.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "text/chat/builtins.h"
#include "text/chat/objects.h"

namespace rc::text::chat {

// Gives the elements of a list, the last one first.
class ReverseIterator : public Iterator {
 public:
  ReverseIterator(Budget* budget, std::vector<Value> values)
      : Iterator(budget,
                 sizeof(ReverseIterator) + values.size() * sizeof(Value)),
        values_(std::move(values)) {
    for (const Value& value : values_) {
      set_depth(std::max(depth(), value.depth() + 1));
    }
  }
  std::optional<Value> next() override {
    budget()->step();
    if (values_.empty()) return std::nullopt;
    Value value = std::move(values_.back());
    values_.pop_back();
    return value;
  }

 private:
  std::vector<Value> values_;
};

// An iterator over the values, the first one first.
inline Value iterator_of(Call& call, std::vector<Value> values) {
  std::reverse(values.begin(), values.end());
  return Value(Kind::kIterator,
               make<ReverseIterator>(call.budget(), std::move(values)));
}

}  // namespace rc::text::chat
