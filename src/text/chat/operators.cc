#include "text/chat/operators.h"

#include <algorithm>
#include <string>

#include "base/checked.h"
#include "text/chat/objects.h"
#include "text/chat/percent_format.h"
#include "text/chat/print.h"
#include "text/chat/search.h"

namespace rc::text::chat {
namespace {

[[noreturn]] void no_operator(const char* symbol, const Value& a,
                              const Value& b) {
  if (a.is_undefined()) fault_undefined(a);
  if (b.is_undefined()) fault_undefined(b);
  fault("'", symbol, "' doesn't go with ", type_with_article(a), " and ",
        type_with_article(b),
        ": convert one of them, for example with the filters "
        "'string' or 'int'");
}

const char* symbol(Arithmetic operation) {
  static constexpr const char* kSymbols[] = {"+",  "-", "*", "/",
                                             "//", "%", "**"};
  return kSymbols[static_cast<size_t>(operation)];
}

bool equal_dicts(Budget* budget, const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    budget->step();
    if (key.is_string()) budget->step_bytes(key.text().size() * 16);
    const Value* other = b.find(key);
    if (other == nullptr || !equal(budget, value, *other)) return false;
  }
  return true;
}

bool equal_views(Budget* budget, const DictView& a, const Value& b) {
  // As sets; views of values are equal to nothing.
  if (!b.is(Kind::kDictView) || a.what() != b.as<DictView>().what()) {
    return false;
  }
  const Dict& other = b.as<DictView>().dict();
  if (a.what() == DictView::What::kValues) return false;
  if (a.what() == DictView::What::kItems) {
    return equal_dicts(budget, a.dict(), other);
  }
  if (a.dict().size() != other.size()) return false;
  budget->step(other.size());
  return std::all_of(
      other.entries().begin(), other.entries().end(),
      [&](const Dict::Entry& e) { return a.dict().find(e.first) != nullptr; });
}

bool equal_ranges(const Range& a, const Range& b) {
  if (a.size() != b.size()) return false;
  if (a.size() == 0) return true;
  return a.start() == b.start() && (a.size() == 1 || a.step() == b.step());
}

Value add_strings(Budget* budget, const Value& a, const Value& b) {
  Writer out(budget);
  // A safe string escapes what is added to it.
  const bool markup = a.is_markup() || b.is_markup();
  if (!markup) out.expect(a.text().size() + b.text().size());
  out.append(markup ? escape_html(budget, a).text() : a.text());
  out.append(markup ? escape_html(budget, b).text() : b.text());
  return out.finish(markup);
}

Value join_sequences(Budget* budget, const Value& a, const Value& b) {
  Items items(budget);
  for (const Value& item : a.as_sequence().items()) items.push(item);
  for (const Value& item : b.as_sequence().items()) items.push(item);
  return items.finish(a.kind());
}

Value repeat(Budget* budget, const Value& value, int64_t times) {
  const auto count = static_cast<size_t>(std::max<int64_t>(times, 0));
  if (value.is_string()) {
    Writer out(budget);
    out.repeat(value.text(), count);
    return out.finish(value.is_markup());
  }
  Items items(budget);
  const std::vector<Value>& once = value.as_sequence().items();
  const auto total = checked_mul(once.size(), count);
  const auto bytes = total ? checked_mul(*total, sizeof(Value)) : std::nullopt;
  // Before the first copy, so that what is too much fails at once.
  const size_t needed = bytes.value_or(SIZE_MAX);
  budget->take(needed);
  budget->give(needed);
  for (size_t i = 0; i < count; ++i) {
    for (const Value& item : once) items.push(item);
    if (once.empty()) break;
  }
  return items.finish(value.kind());
}

bool can_repeat(const Value& value) {
  return value.is_string() || value.is_sequence();
}

enum class Order { kLess, kEqual, kGreater, kNone };

Order order_of(std::partial_ordering order) {
  return order < 0    ? Order::kLess
         : order > 0  ? Order::kGreater
         : order == 0 ? Order::kEqual
                      : Order::kNone;
}

Order compare(Budget* budget, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return order_of(compare_numbers(a, b));
  if (a.is_string() && b.is_string()) {
    budget->step_bytes(std::min(a.text().size(), b.text().size()));
    return order_of(a.text().bytes() <=> b.text().bytes());
  }
  if (!a.is_sequence() || a.kind() != b.kind()) no_operator("<", a, b);
  const auto& left = a.as_sequence().items();
  const auto& right = b.as_sequence().items();
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    // As Python: what is equal needs no order.
    if (equal(budget, left[i], right[i])) continue;
    return compare(budget, left[i], right[i]);
  }
  return order_of(left.size() <=> right.size());
}

}  // namespace

bool truth(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_real() != 0;
    case Kind::kLoop:
      return value.as<Loop>().length() != 0;
    default: {
      const std::optional<size_t> size = length(value);
      return !size || *size != 0;
    }
  }
}

bool equal(Budget* budget, const Value& a, const Value& b) {
  budget->step();
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString: {
      const std::string& left = a.text().bytes();
      const std::string& right = b.text().bytes();
      if (left.size() == right.size()) budget->step_bytes(left.size());
      return left == right;
    }
    case Kind::kList:
    case Kind::kTuple: {
      if (a.object() == b.object()) return true;
      const auto& left = a.as_sequence().items();
      const auto& right = b.as_sequence().items();
      return left.size() == right.size() &&
             std::equal(left.begin(), left.end(), right.begin(),
                        [&](const Value& one, const Value& other) {
                          return equal(budget, one, other);
                        });
    }
    case Kind::kDict:
      return a.object() == b.object() ||
             equal_dicts(budget, a.as_dict(), b.as_dict());
    case Kind::kDictView:
      return a.object() == b.object() ||
             equal_views(budget, a.as<DictView>(), b);
    case Kind::kRange:
      return equal_ranges(a.as<Range>(), b.as<Range>());
    default:
      return a.object() == b.object();
  }
}

bool less(Budget* budget, const Value& a, const Value& b) {
  budget->step();
  return compare(budget, a, b) == Order::kLess;
}

bool less_or_equal(Budget* budget, const Value& a, const Value& b) {
  budget->step();
  const Order order = compare(budget, a, b);
  return order == Order::kLess || order == Order::kEqual;
}

bool contains(Budget* budget, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) {
      fault("only a string can be in a string, not ", type_with_article(item));
    }
    budget->step_bytes(
        search_cost(container.text().bytes(), item.text().bytes()));
    return find_first(container.text().bytes(), item.text().bytes()) !=
           std::string_view::npos;
  }
  const bool is_keys = container.is(Kind::kDictView) &&
                       container.as<DictView>().what() == DictView::What::kKeys;
  if (container.is(Kind::kDict) || is_keys) {
    check_hashable(item);
    if (item.is_string()) budget->step_bytes(item.text().size());
    const Dict& dict =
        is_keys ? container.as<DictView>().dict() : container.as_dict();
    return dict.find(item) != nullptr;
  }
  if (container.is_sequence()) {
    const auto& items = container.as_sequence().items();
    return std::any_of(items.begin(), items.end(), [&](const Value& one) {
      return equal(budget, one, item);
    });
  }
  const Ref<Iterator> iterator = iterate(budget, container);
  while (const std::optional<Value> one = iterator->next()) {
    if (equal(budget, *one, item)) return true;
  }
  return false;
}

Value operate(Budget* budget, Arithmetic operation, const Value& a,
              const Value& b) {
  if (a.is_number() && b.is_number()) return calculate(operation, a, b);
  switch (operation) {
    case Arithmetic::kAdd:
      if (a.is_string() && b.is_string()) return add_strings(budget, a, b);
      if (a.is_sequence() && a.kind() == b.kind()) {
        return join_sequences(budget, a, b);
      }
      break;
    case Arithmetic::kMul:
      if (can_repeat(a) && b.is_int()) return repeat(budget, a, b.as_int());
      if (can_repeat(b) && a.is_int()) return repeat(budget, b, a.as_int());
      break;
    case Arithmetic::kMod:
      if (a.is_string()) return percent_format(budget, a, b);
      break;
    default:
      break;
  }
  no_operator(symbol(operation), a, b);
}

Value negative(const Value& a) {
  if (a.is_undefined()) fault_undefined(a);
  if (!a.is_number()) fault(type_with_article(a), " can't be negated");
  return negate(a);
}

Value positive(const Value& a) {
  if (a.is_undefined()) fault_undefined(a);
  if (!a.is_number()) fault(type_with_article(a), " has no sign");
  return a.is_int() ? Value::integer(a.as_int()).with_origin(a.origin()) : a;
}

void sort_values(Budget* budget, std::vector<std::pair<Value, Value>>* keyed,
                 bool reverse) {
  // Merge sort sees each order at most once and doesn't mind answers that
  // contradict each other, as those about NaN do.
  std::stable_sort(keyed->begin(), keyed->end(),
                   [&](const auto& a, const auto& b) {
                     return reverse ? less(budget, b.first, a.first)
                                    : less(budget, a.first, b.first);
                   });
}

}  // namespace rc::text::chat
