// Python's operators on values.
#pragma once

#include "text/chat/containers.h"
#include "text/chat/numbers.h"
#include "text/chat/value.h"

namespace rc::text::chat {

// bool(value)
bool truth(const Value& value);
// a == b
bool equal(Budget* budget, const Value& a, const Value& b);
// a < b; fails for what has no order.
bool less(Budget* budget, const Value& a, const Value& b);
// a <= b
bool less_or_equal(Budget* budget, const Value& a, const Value& b);
// item in container
bool contains(Budget* budget, const Value& container, const Value& item);
// a + b and so on, also of strings and lists.
Value operate(Budget* budget, Arithmetic operation, const Value& a,
              const Value& b);
// -a and +a
Value negative(const Value& a);
Value positive(const Value& a);

// Sorts as sorted() does: stable, `reverse` keeps the order of equals.
void sort_values(Budget* budget, std::vector<std::pair<Value, Value>>* keyed,
                 bool reverse);

}  // namespace rc::text::chat
