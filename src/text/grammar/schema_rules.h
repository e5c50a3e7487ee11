// The rules of JSON values, as plain data.
//
// Every schema is reduced to a Normal: the rules of the values of each type. Of
// objects and arrays there may be several alternatives, each a conjunction of
// rules. Normals are closed under "and", "or" and "not" (schema_algebra.h),
// which is why rules come in pairs: "all properties .. are .." is the negation
// of "some property .. is not ..".
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "text/grammar/lexical_set.h"

namespace rc::text::grammar {

using SchemaId = uint32_t;  // of a SchemaPool
inline constexpr SchemaId kFalseSchema = 0;
inline constexpr SchemaId kTrueSchema = 1;

// One name, or all names that an expression matches.
struct KeySet {
  bool literal = true;
  std::string name{};
  ExprId names = ExprPool::kNothing;
  // Whether it holds all names but some of those that rules mention, so that
  // it does not distinguish other names.
  bool others = false;
  auto operator<=>(const KeySet&) const = default;
};

struct PropertyRule {
  KeySet keys;
  SchemaId schema;
  auto operator<=>(const PropertyRule&) const = default;
};

struct ObjectRules {
  std::vector<PropertyRule> all;      // every property named so is like this
  std::vector<PropertyRule> some;     // some property is; no literal keys
  std::vector<std::string> required;  // sorted
  // Those of them that are required come first, in this order.
  std::vector<std::string> order;
  uint32_t min = 0;  // properties
  uint32_t max = kUnbounded;
  auto operator<=>(const ObjectRules&) const = default;
};

// Appends the names that are not there yet.
void append_missing(const std::vector<std::string>& names,
                    std::vector<std::string>* to);

// The items from index `from` to index `to`, both included.
struct ItemRule {
  uint32_t from;
  uint32_t to;
  SchemaId schema;
  auto operator<=>(const ItemRule&) const = default;
};

// From min to max of the items from `from` to `to` are like this.
struct ItemCount {
  uint32_t from;
  uint32_t to;
  SchemaId schema;
  uint32_t min;
  uint32_t max;
  auto operator<=>(const ItemCount&) const = default;
};

struct ArrayRules {
  std::vector<ItemRule> all;
  std::vector<ItemCount> counts;
  uint32_t min = 0;  // items
  uint32_t max = kUnbounded;
  bool unique = false;   // no two items are equal
  bool repeats = false;  // some two are
  auto operator<=>(const ArrayRules&) const = default;
};

using RulesId = uint32_t;  // of objects or of arrays in a SchemaPool

struct Normal {
  static constexpr uint8_t kNull = 1;
  static constexpr uint8_t kFalse = 2;
  static constexpr uint8_t kTrue = 4;
  uint8_t constants = 0;  // of the above
  LexicalSet number;
  LexicalSet string;  // between the quotes, without escapes
  std::vector<RulesId> objects;
  std::vector<RulesId> arrays;
};

}  // namespace rc::text::grammar
