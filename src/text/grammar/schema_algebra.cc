// "And", "or", "not" and "exactly one" of what schemas ask for.
#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "text/grammar/schema_pool.h"

namespace rc::text::grammar {
namespace {

std::vector<RulesId> unite_rules(const std::vector<RulesId>& a,
                                 const std::vector<RulesId>& b) {
  std::vector<RulesId> result = a;
  result.insert(result.end(), b.begin(), b.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

template <class T>
void append(std::vector<T>* to, const std::vector<T>& from) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

void append_missing(const std::vector<std::string>& names,
                    std::vector<std::string>* to) {
  const std::set<std::string> there(to->begin(), to->end());
  for (const std::string& name : names) {
    if (!there.contains(name)) to->push_back(name);
  }
}

void SchemaPool::check_alternatives(
    const std::vector<RulesId>& alternatives) const {
  if (alternatives.size() > limits_.max_alternatives) {
    fail(RC_E_UNSUPPORTED, place(),
         "oneOf, not, if or dependencies leave more than ",
         limits_.max_alternatives,
         " alternatives; distinguish the alternatives by a required property "
         "with different constants");
  }
}

RulesId SchemaPool::merge_objects(const std::vector<RulesId>& parts) {
  ObjectRules rules;
  for (const RulesId part : parts) {
    const ObjectRules& other = object(part);
    append(&rules.all, other.all);
    append(&rules.some, other.some);
    append(&rules.required, other.required);
    append_missing(other.order, &rules.order);
    rules.min = std::max(rules.min, other.min);
    rules.max = std::min(rules.max, other.max);
  }
  return add(std::move(rules));
}

RulesId SchemaPool::merge_arrays(const std::vector<RulesId>& parts) {
  ArrayRules rules;
  for (const RulesId part : parts) {
    const ArrayRules& other = array(part);
    append(&rules.all, other.all);
    append(&rules.counts, other.counts);
    rules.min = std::max(rules.min, other.min);
    rules.max = std::min(rules.max, other.max);
    rules.unique = rules.unique || other.unique;
    rules.repeats = rules.repeats || other.repeats;
  }
  return add(std::move(rules));
}

std::vector<RulesId> SchemaPool::intersect_objects(
    const std::vector<RulesId>& a, const std::vector<RulesId>& b) {
  std::vector<RulesId> result;
  for (const RulesId x : a) {
    for (const RulesId y : b) {
      const RulesId merged = merge_objects({x, y});
      if (merged == x || merged == y || possible_object(merged)) {
        result.push_back(merged);
      }
    }
    result = unite_rules(result, {});
    check_alternatives(result);
  }
  return result;
}

std::vector<RulesId> SchemaPool::intersect_arrays(
    const std::vector<RulesId>& a, const std::vector<RulesId>& b) {
  std::vector<RulesId> result;
  for (const RulesId x : a) {
    for (const RulesId y : b) {
      const RulesId merged = merge_arrays({x, y});
      if (merged == x || merged == y || possible_array(merged)) {
        result.push_back(merged);
      }
    }
    result = unite_rules(result, {});
    check_alternatives(result);
  }
  return result;
}

// Parts with one alternative, which most have, come together first.
std::vector<RulesId> SchemaPool::intersect_objects(
    const std::vector<const Normal*>& parts) {
  std::vector<RulesId> single;
  for (const Normal* part : parts) {
    if (part->objects.empty()) return {};
    if (part->objects.size() == 1) single.push_back(part->objects[0]);
  }
  single = unite_rules(single, {});
  std::vector<RulesId> result;
  if (!single.empty()) {
    const RulesId merged = merge_objects(single);
    if (!std::binary_search(single.begin(), single.end(), merged) &&
        !possible_object(merged)) {
      return {};
    }
    result = {merged};
  }
  for (const Normal* part : parts) {
    if (part->objects.size() == 1) continue;
    result = result.empty() ? part->objects
                            : intersect_objects(result, part->objects);
    if (result.empty()) return {};
  }
  return result;
}

std::vector<RulesId> SchemaPool::intersect_arrays(
    const std::vector<const Normal*>& parts) {
  std::vector<RulesId> single;
  for (const Normal* part : parts) {
    if (part->arrays.empty()) return {};
    if (part->arrays.size() == 1) single.push_back(part->arrays[0]);
  }
  single = unite_rules(single, {});
  std::vector<RulesId> result;
  if (!single.empty()) {
    const RulesId merged = merge_arrays(single);
    if (!std::binary_search(single.begin(), single.end(), merged) &&
        !possible_array(merged)) {
      return {};
    }
    result = {merged};
  }
  for (const Normal* part : parts) {
    if (part->arrays.size() == 1) continue;
    result =
        result.empty() ? part->arrays : intersect_arrays(result, part->arrays);
    if (result.empty()) return {};
  }
  return result;
}

Normal SchemaPool::intersect(const std::vector<const Normal*>& parts) {
  Normal result;
  result.constants = Normal::kNull | Normal::kFalse | Normal::kTrue;
  std::vector<LexicalSet> numbers;
  std::vector<LexicalSet> strings;
  for (const Normal* part : parts) {
    result.constants &= part->constants;
    numbers.push_back(part->number);
    strings.push_back(part->string);
  }
  result.number = both(numbers, &exprs_);
  result.string = both(strings, &exprs_);
  result.objects = intersect_objects(parts);
  result.arrays = intersect_arrays(parts);
  return result;
}

Normal SchemaPool::unite(const std::vector<const Normal*>& parts) {
  Normal result;
  std::vector<LexicalSet> numbers;
  std::vector<LexicalSet> strings;
  // An alternative that allows everything makes the others needless.
  const RulesId any_object = add(ObjectRules());
  const RulesId any_array = add(ArrayRules());
  const auto join = [this](std::vector<RulesId>* to,
                           const std::vector<RulesId>& more, RulesId any) {
    *to = unite_rules(*to, more);
    check_alternatives(*to);
    if (std::binary_search(to->begin(), to->end(), any)) *to = {any};
  };
  for (const Normal* part : parts) {
    result.constants |= part->constants;
    numbers.push_back(part->number);
    strings.push_back(part->string);
    join(&result.objects, part->objects, any_object);
    join(&result.arrays, part->arrays, any_array);
  }
  result.number = either(numbers, &exprs_);
  result.string = either(strings, &exprs_);
  return result;
}

// The ways in which an object may break the rules.
std::vector<RulesId> SchemaPool::complement_object(const ObjectRules& rules) {
  std::vector<RulesId> result;
  for (const PropertyRule& rule : rules.all) {
    const PropertyRule broken = {rule.keys, negation(rule.schema)};
    ObjectRules way;
    if (rule.keys.literal) {
      way.required = {rule.keys.name};
      way.all = {broken};
    } else {
      way.some = {broken};
    }
    result.push_back(add(std::move(way)));
  }
  for (const PropertyRule& rule : rules.some) {
    ObjectRules way;
    way.all = {{rule.keys, negation(rule.schema)}};
    result.push_back(add(std::move(way)));
  }
  for (const std::string& name : rules.required) {
    ObjectRules way;
    way.all = {{KeySet{.name = name}, kFalseSchema}};
    result.push_back(add(std::move(way)));
  }
  if (rules.min > 0) {
    ObjectRules way;
    way.max = rules.min - 1;
    result.push_back(add(std::move(way)));
  }
  if (rules.max != kUnbounded) {
    ObjectRules way;
    way.min = rules.max + 1;
    result.push_back(add(std::move(way)));
  }
  std::erase_if(result, [&](RulesId id) { return !possible_object(id); });
  return unite_rules(result, {});
}

std::vector<RulesId> SchemaPool::complement_array(const ArrayRules& rules) {
  std::vector<RulesId> result;
  for (const ItemRule& rule : rules.all) {
    ArrayRules way;
    way.counts = {{rule.from, rule.to, negation(rule.schema), 1, kUnbounded}};
    result.push_back(add(std::move(way)));
  }
  for (const ItemCount& count : rules.counts) {
    ArrayRules way;
    if (count.min > 0) {
      way.counts = {{count.from, count.to, count.schema, 0, count.min - 1}};
      result.push_back(add(way));
    }
    if (count.max != kUnbounded) {
      way.counts = {
          {count.from, count.to, count.schema, count.max + 1, kUnbounded}};
      result.push_back(add(way));
    }
  }
  if (rules.min > 0) {
    ArrayRules way;
    way.max = rules.min - 1;
    result.push_back(add(std::move(way)));
  }
  if (rules.max != kUnbounded) {
    ArrayRules way;
    way.min = rules.max + 1;
    result.push_back(add(std::move(way)));
  }
  if (rules.unique || rules.repeats) {
    ArrayRules way;
    way.unique = rules.repeats;
    way.repeats = rules.unique;
    result.push_back(add(std::move(way)));
  }
  std::erase_if(result, [&](RulesId id) { return !possible_array(id); });
  return unite_rules(result, {});
}

// Alternatives that have nothing in common with what is taken away stay as they
// are, which keeps their number low.
std::vector<RulesId> SchemaPool::without_objects(
    std::vector<RulesId> left, const std::vector<RulesId>& taken) {
  for (const RulesId away : taken) {
    const std::vector<RulesId> others = complement_object(object(away));
    std::vector<RulesId> next;
    for (const RulesId x : left) {
      if (intersect_objects({x}, {away}).empty()) {
        next.push_back(x);
      } else {
        next = unite_rules(next, intersect_objects({x}, others));
      }
    }
    check_alternatives(next);
    left = unite_rules(next, {});
  }
  return left;
}

std::vector<RulesId> SchemaPool::without_arrays(
    std::vector<RulesId> left, const std::vector<RulesId>& taken) {
  for (const RulesId away : taken) {
    const std::vector<RulesId> others = complement_array(array(away));
    std::vector<RulesId> next;
    for (const RulesId x : left) {
      if (intersect_arrays({x}, {away}).empty()) {
        next.push_back(x);
      } else {
        next = unite_rules(next, intersect_arrays({x}, others));
      }
    }
    check_alternatives(next);
    left = unite_rules(next, {});
  }
  return left;
}

Normal SchemaPool::complement(const Normal& a) {
  Normal result = everything();
  result.constants = static_cast<uint8_t>(result.constants & ~a.constants);
  result.number = negate(a.number);
  result.string = negate(a.string);
  result.objects = without_objects(std::move(result.objects), a.objects);
  result.arrays = without_arrays(std::move(result.arrays), a.arrays);
  return result;
}

Normal SchemaPool::exactly_one(const std::vector<SchemaId>& parts) {
  Normal result = nothing();
  std::vector<LexicalSet> numbers;
  std::vector<LexicalSet> strings;
  for (size_t i = 0; i < parts.size(); ++i) {
    Normal one = normal(parts[i]);
    numbers.push_back(one.number);
    strings.push_back(one.string);
    for (size_t j = 0; j < parts.size(); ++j) {
      if (i == j) continue;
      const Normal& other = normal(parts[j]);
      one.constants = static_cast<uint8_t>(one.constants & ~other.constants);
      one.objects = without_objects(std::move(one.objects), other.objects);
      one.arrays = without_arrays(std::move(one.arrays), other.arrays);
    }
    one.number = {};
    one.string = {};
    result = unite({&result, &one});
  }
  result.number = grammar::exactly_one(numbers, &exprs_);
  result.string = grammar::exactly_one(strings, &exprs_);
  return result;
}

}  // namespace rc::text::grammar
