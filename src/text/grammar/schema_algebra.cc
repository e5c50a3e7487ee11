// "And", "or", "not" and "exactly one" of what schemas ask for.
#include <algorithm>
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

void SchemaPool::check_alternatives(
    const std::vector<RulesId>& alternatives) const {
  if (alternatives.size() > limits_.max_alternatives) {
    fail(RC_E_UNSUPPORTED, place(),
         "oneOf, not, if or dependencies leave more than ",
         limits_.max_alternatives,
         " alternatives; tell the alternatives apart by a required property "
         "with different constants");
  }
}

RulesId SchemaPool::merge_objects(RulesId a, RulesId b) {
  ObjectRules rules = objects_[a];
  const ObjectRules& other = objects_[b];
  append(&rules.all, other.all);
  append(&rules.some, other.some);
  append(&rules.required, other.required);
  rules.min = std::max(rules.min, other.min);
  rules.max = std::min(rules.max, other.max);
  return add(std::move(rules));
}

RulesId SchemaPool::merge_arrays(RulesId a, RulesId b) {
  ArrayRules rules = arrays_[a];
  const ArrayRules& other = arrays_[b];
  append(&rules.all, other.all);
  append(&rules.counts, other.counts);
  rules.min = std::max(rules.min, other.min);
  rules.max = std::min(rules.max, other.max);
  return add(std::move(rules));
}

std::vector<RulesId> SchemaPool::intersect_objects(
    const std::vector<RulesId>& a, const std::vector<RulesId>& b) {
  std::vector<RulesId> result;
  for (const RulesId x : a) {
    for (const RulesId y : b) {
      const RulesId merged = merge_objects(x, y);
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
      const RulesId merged = merge_arrays(x, y);
      if (merged == x || merged == y || possible_array(merged)) {
        result.push_back(merged);
      }
    }
    result = unite_rules(result, {});
    check_alternatives(result);
  }
  return result;
}

Normal SchemaPool::intersect(const Normal& a, const Normal& b) {
  Normal result;
  result.constants = a.constants & b.constants;
  result.number = both(a.number, b.number, &exprs_);
  result.string = both(a.string, b.string, &exprs_);
  result.objects = intersect_objects(a.objects, b.objects);
  result.arrays = intersect_arrays(a.arrays, b.arrays);
  return result;
}

Normal SchemaPool::unite(const Normal& a, const Normal& b) {
  Normal result;
  result.constants = a.constants | b.constants;
  result.number = either(a.number, b.number, &exprs_);
  result.string = either(a.string, b.string, &exprs_);
  result.objects = unite_rules(a.objects, b.objects);
  result.arrays = unite_rules(a.arrays, b.arrays);
  check_alternatives(result.objects);
  check_alternatives(result.arrays);
  // What allows everything makes the others needless.
  const RulesId any_object = add(ObjectRules());
  const RulesId any_array = add(ArrayRules());
  const auto simplify = [](std::vector<RulesId>* list, RulesId any) {
    if (std::binary_search(list->begin(), list->end(), any)) *list = {any};
  };
  simplify(&result.objects, any_object);
  simplify(&result.arrays, any_array);
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
  std::erase_if(result, [&](RulesId id) { return !possible_array(id); });
  return unite_rules(result, {});
}

// Alternatives that have nothing in common with what is taken away stay as they
// are, which keeps their number low.
std::vector<RulesId> SchemaPool::without_objects(
    std::vector<RulesId> left, const std::vector<RulesId>& taken) {
  for (const RulesId away : taken) {
    const std::vector<RulesId> others = complement_object(objects_[away]);
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
    const std::vector<RulesId> others = complement_array(arrays_[away]);
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
  for (size_t i = 0; i < parts.size(); ++i) {
    Normal one = normal(parts[i]);
    for (size_t j = 0; j < parts.size(); ++j) {
      if (i == j) continue;
      const Normal& other = normal(parts[j]);
      one.constants = static_cast<uint8_t>(one.constants & ~other.constants);
      one.number = both(one.number, negate(other.number), &exprs_);
      one.string = both(one.string, negate(other.string), &exprs_);
      one.objects = without_objects(std::move(one.objects), other.objects);
      one.arrays = without_arrays(std::move(one.arrays), other.arrays);
    }
    result = unite(result, one);
  }
  return result;
}

}  // namespace rc::text::grammar
