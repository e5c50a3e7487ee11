#include "text/grammar/schema_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/nested_calls.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {

namespace {

// A schema is needed to find out what it is itself.
class SelfReference : public Error {
 public:
  using Error::Error;
};

// Levels of SchemaPool::Nesting that take as much stack as a nested call may.
constexpr size_t kPerCall = 2;

struct ByName {
  bool operator()(const PropertyRule& rule, std::string_view name) const {
    return rule.keys.name < name;
  }
  bool operator()(std::string_view name, const PropertyRule& rule) const {
    return name < rule.keys.name;
  }
};

}  // namespace

// Counts how deep operations nest, and which schema is at fault.
class SchemaPool::Nesting {
 public:
  explicit Nesting(SchemaPool* pool) : pool_(*pool) {
    if (pool_.nesting_ >= pool_.limits_.max_nesting) {
      fail(RC_E_UNSUPPORTED, pool_.place(), "schemas refer to one another ",
           pool_.limits_.max_nesting, " levels deep; simplify them");
    }
    ++pool_.nesting_;
    pool_.step();
  }
  ~Nesting() { --pool_.nesting_; }

 private:
  SchemaPool& pool_;
};

SchemaPool::SchemaPool(ExprPool* exprs, const SchemaLimits& limits)
    : exprs_(*exprs), limits_(limits), numbers_(exprs) {
  leaf(nothing());
  leaf(everything());
}

Normal SchemaPool::nothing() const {
  Normal normal;
  normal.number = numbers_.none();
  normal.string = {ExprPool::kNothing, ExprPool::kAny};
  return normal;
}

Normal SchemaPool::everything() {
  Normal normal;
  normal.constants = Normal::kNull | Normal::kFalse | Normal::kTrue;
  normal.number = numbers_.all();
  normal.string = {ExprPool::kAny, ExprPool::kNothing};
  normal.objects = {add(ObjectRules())};
  normal.arrays = {add(ArrayRules())};
  return normal;
}

RulesId SchemaPool::add(ObjectRules rules) {
  // A rule about all other names counts on it that these are mentioned.
  const bool keeps_names =
      std::any_of(rules.all.begin(), rules.all.end(),
                  [](const PropertyRule& rule) { return rule.keys.others; });
  std::erase_if(rules.all, [&](const PropertyRule& rule) {
    return rule.schema == kTrueSchema && !(keeps_names && rule.keys.literal);
  });
  const auto tidy = [](auto* list) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  };
  tidy(&rules.all);
  tidy(&rules.some);
  tidy(&rules.required);
  const auto [at, added] = object_ids_.try_emplace(
      std::move(rules), static_cast<RulesId>(objects_.size()));
  if (added) {
    objects_.push_back(&at->first);
    possible_objects_.push_back(Known::kUnknown);
    step(1 + at->first.all.size() + at->first.some.size() +
         at->first.required.size());
  }
  return at->second;
}

RulesId SchemaPool::add(ArrayRules rules) {
  for (ItemCount& count : rules.counts) {
    if (count.max != 0) continue;
    rules.all.push_back({count.from, count.to, negation(count.schema)});
  }
  std::erase_if(rules.counts, [](const ItemCount& count) {
    return count.max == 0 || (count.min == 0 && count.max == kUnbounded);
  });
  std::erase_if(rules.all, [](const ItemRule& rule) {
    return rule.schema == kTrueSchema || rule.from > rule.to;
  });
  const auto tidy = [](auto* list) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  };
  tidy(&rules.all);
  tidy(&rules.counts);
  if (rules.max <= 1) rules.unique = false;
  const auto [at, added] = array_ids_.try_emplace(
      std::move(rules), static_cast<RulesId>(arrays_.size()));
  if (added) {
    arrays_.push_back({&at->first, {}});
    for (const ItemRule& rule : at->first.all) {
      if (rule.from != rule.to) arrays_.back().ranges.push_back(&rule);
    }
    possible_arrays_.push_back(Known::kUnknown);
    step(1 + at->first.all.size() + at->first.counts.size());
  }
  return at->second;
}

void SchemaPool::step(size_t steps) {
  exprs_.step();
  Work::walk(steps);
  steps_ += steps;
  if (steps_ > limits_.max_steps) {
    fail(RC_E_UNSUPPORTED, place(), "combining the schemas takes more than ",
         limits_.max_steps, " steps; simplify them");
  }
}

std::string SchemaPool::place() const {
  for (size_t i = open_.size(); i-- > 0;) {
    const PlaceId place = schemas_[open_[i]].place;
    if (place != SchemaPlaces::kRoot) {
      return cat("schema at ", places_.pointer(place), ": ");
    }
  }
  return "schema: ";
}

SchemaId SchemaPool::add(Schema schema) {
  if (schemas_.size() >= limits_.max_schemas) {
    fail(RC_E_UNSUPPORTED, place(), "combining the schemas takes more than ",
         limits_.max_schemas, " formulas; simplify them");
  }
  schemas_.push_back(std::move(schema));
  return static_cast<SchemaId>(schemas_.size() - 1);
}

SchemaId SchemaPool::leaf(Normal normal) {
  return add({.kind = Kind::kLeaf, .normal = std::move(normal)});
}

SchemaId SchemaPool::combination(Kind kind, std::vector<SchemaId> parts) {
  const auto known = combinations_.find({kind, parts});
  if (known != combinations_.end()) return known->second;
  const SchemaId id = add({.kind = kind, .parts = parts});
  combinations_.emplace(std::make_pair(kind, std::move(parts)), id);
  return id;
}

SchemaId SchemaPool::all_of(std::vector<SchemaId> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::erase(parts, kTrueSchema);
  if (parts.empty()) return kTrueSchema;
  if (parts[0] == kFalseSchema) return kFalseSchema;
  if (parts.size() == 1) return parts[0];
  return combination(Kind::kAll, std::move(parts));
}

SchemaId SchemaPool::any_of(std::vector<SchemaId> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::erase(parts, kFalseSchema);
  if (parts.empty()) return kFalseSchema;
  if (parts[0] == kTrueSchema) return kTrueSchema;
  if (parts.size() == 1) return parts[0];
  return combination(Kind::kAny, std::move(parts));
}

SchemaId SchemaPool::one_of(std::vector<SchemaId> parts) {
  std::erase(parts, kFalseSchema);
  if (parts.empty()) return kFalseSchema;
  if (parts.size() == 1) return parts[0];
  std::sort(parts.begin(), parts.end());
  return combination(Kind::kOne, std::move(parts));
}

SchemaId SchemaPool::negation(SchemaId schema) {
  if (schema == kFalseSchema) return kTrueSchema;
  if (schema == kTrueSchema) return kFalseSchema;
  if (schemas_[schema].kind == Kind::kNot) return schemas_[schema].parts[0];
  return combination(Kind::kNot, {schema});
}

SchemaId SchemaPool::declare(PlaceId place) {
  return add({.kind = Kind::kDeclared, .place = place});
}

void SchemaPool::define(SchemaId declared, SchemaId schema) {
  schemas_[declared].parts = {schema};
}

const Normal& SchemaPool::normal(SchemaId schema) {
  Schema& entry = schemas_[schema];
  if (entry.normal) return *entry.normal;
  const Nesting nesting(this);
  if (entry.busy || (entry.kind == Kind::kDeclared && entry.parts.empty())) {
    throw SelfReference(
        RC_E_UNSUPPORTED,
        cat(place(), "it refers to itself without going into a value"));
  }
  open_.push_back(schema);
  entry.busy = true;
  // An error must not leave the schema busy: another request may ask again.
  struct Leave {
    SchemaPool* pool;
    Schema* entry;
    ~Leave() {
      entry->busy = false;
      pool->open_.pop_back();
    }
  } leave{this, &entry};
  call_nested(nesting_ / kPerCall, [&] { entry.normal = compute(schema); });
  return *entry.normal;
}

std::vector<const Normal*> SchemaPool::normals(
    const std::vector<SchemaId>& schemas) {
  std::vector<const Normal*> result;
  for (const SchemaId schema : schemas) result.push_back(&normal(schema));
  return result;
}

Normal SchemaPool::compute(SchemaId schema) {
  const Schema& entry = schemas_[schema];
  switch (entry.kind) {
    case Kind::kLeaf:
      return *entry.normal;
    case Kind::kDeclared:
      return normal(entry.parts.at(0));
    case Kind::kNot:
      return complement(normal(entry.parts[0]));
    case Kind::kOne:
      return exactly_one(entry.parts);
    case Kind::kAll:
      return intersect(normals(entry.parts));
    case Kind::kAny:
      return unite(normals(entry.parts));
  }
  return nothing();
}

template <class Compute>
bool SchemaPool::remember_possible(Known* known, Compute compute) {
  if (*known == Known::kYes) return true;
  if (*known == Known::kNo) return false;
  if (*known == Known::kBusy) {
    // Values are finite: one that needs itself inside does not count.
    ++assumptions_;
    return false;
  }
  const Nesting nesting(this);
  const size_t before = assumptions_;
  *known = Known::kBusy;
  bool result = false;
  try {
    result = call_nested(nesting_ / kPerCall, compute);
  } catch (...) {
    *known = Known::kUnknown;
    throw;
  }
  // "No" only stands if it does not rest on something that is not known yet,
  // unless that is this very question.
  const bool final = result || assumptions_ == before || nesting_ == 1;
  *known = !final ? Known::kUnknown : result ? Known::kYes : Known::kNo;
  return result;
}

bool SchemaPool::possible(SchemaId schema) {
  try {
    return remember_possible(&schemas_[schema].possible, [&] {
      const Normal& all = normal(schema);
      if (all.constants != 0 || exprs_.live(all.number.in) ||
          exprs_.live(all.string.in)) {
        return true;
      }
      return std::any_of(all.arrays.begin(), all.arrays.end(),
                         [&](RulesId id) { return possible_array(id); }) ||
             std::any_of(all.objects.begin(), all.objects.end(),
                         [&](RulesId id) { return possible_object(id); });
    });
  } catch (const SelfReference&) {
    // Asked by what is needed to answer: better an alternative too many.
    ++assumptions_;
    return true;
  }
}

bool SchemaPool::possible_object(RulesId id) {
  return remember_possible(&possible_objects_[id], [&] {
    return compute_possible_object(object(id), id);
  });
}

bool SchemaPool::possible_array(RulesId id) {
  return remember_possible(&possible_arrays_[id], [&] {
    return compute_possible_array(array(id), id);
  });
}

bool SchemaPool::compute_possible_object(const ObjectRules& rules, RulesId id) {
  if (rules.min > rules.max || rules.required.size() > rules.max) return false;
  for (const std::string& name : rules.required) {
    if (property(id, name) == kFalseSchema) return false;
  }
  for (const PropertyRule& rule : rules.some) {
    if (rules.max == 0 || !possible(rule.schema)) return false;
    if (!exprs_.live(exprs_.both(rule.keys.names, allowed_names(id)))) {
      return false;
    }
  }
  return rules.min == 0 ||
         exprs_.count(allowed_names(id), rules.min) >= rules.min;
}

bool SchemaPool::compute_possible_array(const ArrayRules& rules, RulesId id) {
  if (rules.unique && rules.repeats) return false;
  uint32_t least = std::max(rules.min, rules.repeats ? 2U : 0U);
  for (const ItemCount& count : rules.counts) {
    if (count.min > count.max) return false;
    if (count.min == 0) continue;
    if (count.from > count.to || count.to - count.from < count.min - 1) {
      return false;
    }
    if (!possible(count.schema)) return false;
    least = std::max(least, count.from + count.min);
  }
  if (least > rules.max) return false;
  // Rules change at few places; those after the last one are all alike.
  uint32_t last = 0;
  for (const ItemRule& rule : rules.all) {
    last = std::max(last, rule.from);
    if (rule.to != kUnbounded) last = std::max(last, rule.to + 1);
  }
  for (uint32_t index = 0; index < least && index <= last; ++index) {
    if (!possible(item(id, index))) return false;
  }
  // Of those that are all alike there may be too few that differ.
  return !rules.unique || least <= last ||
         has_values(item(id, last), least - last);
}

bool SchemaPool::has_values(SchemaId schema, uint32_t count) {
  if (count <= 1) return true;
  const Normal& all = normal(schema);
  if (!all.objects.empty() || !all.arrays.empty()) return true;
  const auto constants =
      static_cast<uint64_t>(std::popcount(unsigned{all.constants}));
  const uint64_t strings = exprs_.count(all.string.in, count);
  return constants + strings + numbers_.count(all.number, count) >= count;
}

SchemaId SchemaPool::property(RulesId object, std::string_view name) {
  // Rules about one name come last, by their names.
  const std::vector<PropertyRule>& all = this->object(object).all;
  std::vector<SchemaId> parts;
  size_t i = 0;
  for (; i < all.size() && !all[i].keys.literal; ++i) {
    if (exprs_.matches(all[i].keys.names, name)) parts.push_back(all[i].schema);
  }
  const auto named = std::equal_range(
      all.begin() + static_cast<std::ptrdiff_t>(i), all.end(), name, ByName());
  for (auto at = named.first; at != named.second; ++at) {
    parts.push_back(at->schema);
  }
  const SchemaId schema = all_of(std::move(parts));
  return possible(schema) ? schema : kFalseSchema;
}

ExprId SchemaPool::allowed_names(RulesId object) {
  const auto known = allowed_names_.find(object);
  if (known != allowed_names_.end()) return known->second;
  const size_t before = assumptions_;
  std::vector<PropertyRule> patterns;
  std::vector<std::string> forbidden;
  std::vector<ExprId> allowed;
  for (const PropertyRule& rule : this->object(object).all) {
    if (!rule.keys.literal) {
      patterns.push_back(rule);
    } else if (property(object, rule.keys.name) == kFalseSchema) {
      forbidden.push_back(rule.keys.name);
    }
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!possible(patterns[i].schema)) {
      allowed.push_back(exprs_.negate(patterns[i].keys.names));
      continue;
    }
    for (size_t j = 0; j < i; ++j) {
      if (possible(all_of({patterns[i].schema, patterns[j].schema}))) continue;
      allowed.push_back(exprs_.negate(
          exprs_.both(patterns[i].keys.names, patterns[j].keys.names)));
    }
  }
  if (!forbidden.empty()) {
    allowed.push_back(exprs_.negate(exprs_.one_of(std::move(forbidden))));
  }
  const ExprId names = exprs_.both(std::move(allowed));
  if (assumptions_ == before) allowed_names_.emplace(object, names);
  return names;
}

SchemaId SchemaPool::item(RulesId array, uint32_t index) {
  const StoredArray& stored = arrays_[array];
  const std::vector<ItemRule>& all = stored.rules->all;
  std::vector<SchemaId> parts;
  for (const ItemRule* rule : stored.ranges) {
    if (rule->from <= index && index <= rule->to) parts.push_back(rule->schema);
  }
  // Rules about one item, by their items.
  auto at = std::lower_bound(
      all.begin(), all.end(), index,
      [](const ItemRule& rule, uint32_t i) { return rule.from < i; });
  for (; at != all.end() && at->from == index; ++at) {
    if (at->to == index) parts.push_back(at->schema);
  }
  return all_of(std::move(parts));
}

}  // namespace rc::text::grammar
