// Filters of lists and dictionaries.
#include <algorithm>
#include <map>

#include "text/chat/attribute_path.h"
#include "text/chat/filters.h"
#include "text/chat/interpreter.h"
#include "text/chat/list_iterator.h"
#include "text/chat/operators.h"
#include "text/chat/print.h"

namespace rc::text::chat {

namespace {

// An argument `attribute`; the value itself if there is none.
AttributePath path_argument(const Call& call, size_t i) {
  return call.is_none(i) ? AttributePath()
                         : AttributePath(call.budget(), call[i]);
}

// Elements with what they are compared by.
using Keyed = std::vector<std::pair<Value, Value>>;

Value list_of(Call& call, const Keyed& keyed) {
  Items items(call.budget());
  for (const auto& [key, value] : keyed) items.push(value);
  return items.finish();
}

Value extreme(Call& call, bool largest) {
  const bool case_sensitive = call.truth(0, false);
  const AttributePath path = path_argument(call, 1);
  const Ref<Iterator> iterator = iterate(call.budget(), call.self());
  std::optional<std::pair<Value, Value>> best;
  while (std::optional<Value> value = iterator->next()) {
    Value key = comparable(call.budget(), path.of(&call.interpreter(), *value),
                           case_sensitive);
    const bool better =
        !best || (largest ? less(call.budget(), best->first, key)
                          : less(call.budget(), key, best->first));
    if (better) best.emplace(std::move(key), std::move(*value));
  }
  if (best) return best->second;
  return undefined(call.budget(), Missing::What::kOther,
                   "there is no smallest or largest of no elements");
}

Value no_element(Call& call) {
  return undefined(call.budget(), Missing::What::kOther,
                   "there is no first or last of no elements");
}

}  // namespace

Value filter_list(Call& call) {
  return make_sequence(call.budget(), Kind::kList,
                       elements(call.budget(), call.self()));
}

Value filter_first(Call& call) {
  const Ref<Iterator> iterator = iterate(call.budget(), call.self());
  std::optional<Value> value = iterator->next();
  return value ? *value : no_element(call);
}

Value filter_last(Call& call) {
  const Value& self = call.self();
  if (self.is_undefined()) return no_element(call);
  const std::optional<size_t> size = length(self);
  if (!size || self.is(Kind::kLoop)) {
    fault("'last' is for what has its elements in a known number, not for ",
          type_with_article(self));
  }
  if (*size == 0) return no_element(call);
  if (self.is_string()) {
    return call.interpreter().item(self, Value::integer(-1)).with_markup(false);
  }
  if (self.is(Kind::kRange)) return self.as<Range>().at(*size - 1);
  return elements(call.budget(), self).back();
}

Value filter_reverse(Call& call) {
  const Value& self = call.self();
  if (self.is_string()) {
    return call.interpreter().slice(self, Value::none(), Value::none(),
                                    Value::integer(-1));
  }
  if (self.is_undefined() || self.is(Kind::kIterator)) {
    std::vector<Value> values = elements(call.budget(), self);
    std::reverse(values.begin(), values.end());
    return make_sequence(call.budget(), Kind::kList, std::move(values));
  }
  return Value(
      Kind::kIterator,
      make<ReverseIterator>(call.budget(), elements(call.budget(), self)));
}

Value filter_items(Call& call) {
  const Value& self = call.self();
  if (self.is_undefined()) return iterator_of(call, {});
  if (!self.is(Kind::kDict)) {
    fault("'items' is for dicts, not for ", type_with_article(self));
  }
  Items pairs(call.budget());
  for (const auto& [key, value] : self.as_dict().entries()) {
    pairs.push(make_pair(call.budget(), key, value));
  }
  return iterator_of(call, pairs.release());
}

Value filter_join(Call& call) {
  Budget* budget = call.budget();
  const AttributePath path = path_argument(call, 1);
  const Value separator =
      call.has(0) ? to_string(budget, call[0]) : make_string(budget, "");
  const Ref<Iterator> iterator = iterate(budget, call.self());
  Writer out(budget);
  bool first = true;
  while (std::optional<Value> value = iterator->next()) {
    if (!first) out.append(separator.text());
    first = false;
    write_str(&out, path.of(&call.interpreter(), std::move(*value)));
  }
  return out.finish();
}

Value filter_sort(Call& call) {
  Budget* budget = call.budget();
  const bool case_sensitive = call.truth(1, false);
  // Several attributes, separated by commas, are compared one after the other.
  std::vector<AttributePath> paths;
  if (!call.is_none(2) && call[2].is_string()) {
    const Text& all = call[2].text();
    for (size_t begin = 0; begin <= all.size();) {
      const size_t end = std::min(all.bytes().find(',', begin), all.size());
      paths.emplace_back(budget, make_string(budget, all.slice(begin, end)));
      begin = end + 1;
    }
  } else {
    paths.push_back(path_argument(call, 2));
  }
  Keyed keyed;
  for (Value& value : elements(budget, call.self())) {
    Items key(budget);
    for (const AttributePath& path : paths) {
      key.push(comparable(budget, path.of(&call.interpreter(), value),
                          case_sensitive));
    }
    keyed.emplace_back(key.finish(), std::move(value));
  }
  sort_values(budget, &keyed, call.truth(0, false));
  return list_of(call, keyed);
}

Value filter_dictsort(Call& call) {
  if (!call.self().is(Kind::kDict)) {
    if (call.self().is_undefined()) fault_undefined(call.self());
    fault("'dictsort' is for dicts, not for ", type_with_article(call.self()));
  }
  const std::string by = call.has(1) ? call.string(1).text().bytes() : "key";
  if (by != "key" && by != "value") {
    fault("'dictsort' sorts by \"key\" or by \"value\"");
  }
  const bool case_sensitive = call.truth(0, false);
  Keyed keyed;
  for (const auto& [key, value] : call.self().as_dict().entries()) {
    keyed.emplace_back(
        comparable(call.budget(), by == "key" ? key : value, case_sensitive),
        make_pair(call.budget(), key, value));
  }
  sort_values(call.budget(), &keyed, call.truth(2, false));
  return list_of(call, keyed);
}

Value filter_unique(Call& call) {
  const bool case_sensitive = call.truth(0, false);
  const AttributePath path = path_argument(call, 1);
  const auto before = [](const Value& a, const Value& b) {
    return compare_keys(a, b) < 0;
  };
  std::map<Value, bool, decltype(before)> seen(before);
  Items kept(call.budget());
  for (Value& value : elements(call.budget(), call.self())) {
    Value key = comparable(call.budget(), path.of(&call.interpreter(), value),
                           case_sensitive);
    check_hashable(key);
    if (key.is_string()) call.budget()->step_bytes(key.text().size() * 16);
    if (seen.emplace(std::move(key), true).second) kept.push(value);
  }
  return iterator_of(call, kept.release());
}

Value filter_min(Call& call) { return extreme(call, false); }
Value filter_max(Call& call) { return extreme(call, true); }

Value filter_sum(Call& call) {
  const AttributePath path = path_argument(call, 0);
  Value sum = call.has(1) ? call[1] : Value::integer(0);
  if (sum.is_string()) fault("'sum' adds no strings: use 'join'");
  const Ref<Iterator> iterator = iterate(call.budget(), call.self());
  while (std::optional<Value> value = iterator->next()) {
    sum = operate(call.budget(), Arithmetic::kAdd, sum,
                  path.of(&call.interpreter(), std::move(*value)));
  }
  return sum;
}

}  // namespace rc::text::chat
