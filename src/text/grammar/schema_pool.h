// Schemas as formulas over Normals, with references that may be cycles.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/grammar/numbers.h"
#include "text/grammar/schema_places.h"
#include "text/grammar/schema_rules.h"

namespace rc::text::grammar {

struct SchemaLimits {
  size_t max_schemas = 200'000;    // formulas, those that are derived included
  size_t max_alternatives = 1024;  // of the objects, or arrays, of one schema
  size_t max_steps = 2'000'000;    // of all operations, and rules stored
  size_t max_nesting = 300;        // of references and operations
};

// Not for several threads at a time. What it computes is kept. Errors are
// RC_E_UNSUPPORTED or RC_E_INVALID_ARGUMENT and name the schema by its pointer.
class SchemaPool {
 public:
  SchemaPool(ExprPool* exprs, const SchemaLimits& limits);
  SchemaPool(const SchemaPool&) = delete;
  SchemaPool& operator=(const SchemaPool&) = delete;

  ExprPool& exprs() { return exprs_; }
  Numbers& numbers() { return numbers_; }
  SchemaPlaces& places() { return places_; }

  // Normals of everything and of nothing.
  Normal everything();
  Normal nothing() const;
  RulesId add(ObjectRules rules);
  RulesId add(ArrayRules rules);
  const ObjectRules& object(RulesId id) const { return *objects_[id]; }
  const ArrayRules& array(RulesId id) const { return *arrays_[id].rules; }

  SchemaId leaf(Normal normal);
  SchemaId all_of(std::vector<SchemaId> parts);
  SchemaId any_of(std::vector<SchemaId> parts);
  SchemaId one_of(std::vector<SchemaId> parts);
  SchemaId negation(SchemaId schema);
  // A schema that is given later; the place is for messages.
  SchemaId declare(PlaceId place);
  void define(SchemaId declared, SchemaId schema);

  const Normal& normal(SchemaId schema);
  // Whether any value is valid. What can only be infinite is not.
  bool possible(SchemaId schema);
  bool possible_object(RulesId rules);
  bool possible_array(RulesId rules);

  // The schema of the value of a property; kFalseSchema if the property must
  // not exist.
  SchemaId property(RulesId object, std::string_view name);
  // The names that a property may have.
  ExprId allowed_names(RulesId object);
  // The schema of the item at the index, not regarding counts.
  SchemaId item(RulesId array, uint32_t index);

 private:
  enum class Kind : uint8_t { kLeaf, kAll, kAny, kOne, kNot, kDeclared };
  enum class Known : uint8_t { kUnknown, kBusy, kNo, kYes };
  struct Schema {
    Kind kind;
    std::vector<SchemaId> parts{};
    PlaceId place = SchemaPlaces::kRoot;
    bool busy = false;
    Known possible = Known::kUnknown;
    std::optional<Normal> normal{};
  };
  struct StoredArray {
    const ArrayRules* rules;
    std::vector<const ItemRule*> ranges;  // those about more than one item
  };
  class Nesting;

  SchemaId add(Schema schema);
  SchemaId combination(Kind kind, std::vector<SchemaId> parts);
  std::vector<const Normal*> normals(const std::vector<SchemaId>& schemas);
  Normal compute(SchemaId schema);
  // Of all at once: one after the other would take quadratic memory.
  Normal intersect(const std::vector<const Normal*>& parts);
  Normal unite(const std::vector<const Normal*>& parts);
  Normal complement(const Normal& a);
  Normal exactly_one(const std::vector<SchemaId>& parts);
  std::vector<RulesId> intersect_objects(const std::vector<RulesId>& a,
                                         const std::vector<RulesId>& b);
  std::vector<RulesId> intersect_arrays(const std::vector<RulesId>& a,
                                        const std::vector<RulesId>& b);
  std::vector<RulesId> complement_object(const ObjectRules& rules);
  std::vector<RulesId> complement_array(const ArrayRules& rules);
  std::vector<RulesId> without_objects(std::vector<RulesId> left,
                                       const std::vector<RulesId>& taken);
  std::vector<RulesId> without_arrays(std::vector<RulesId> left,
                                      const std::vector<RulesId>& taken);
  RulesId merge_objects(const std::vector<RulesId>& parts);
  RulesId merge_arrays(const std::vector<RulesId>& parts);
  std::vector<RulesId> intersect_objects(
      const std::vector<const Normal*>& parts);
  std::vector<RulesId> intersect_arrays(
      const std::vector<const Normal*>& parts);
  bool compute_possible_object(const ObjectRules& rules, RulesId id);
  bool compute_possible_array(const ArrayRules& rules, RulesId id);
  // Whether there are so many values that differ. It may be true of objects and
  // arrays that are fewer.
  bool has_values(SchemaId schema, uint32_t count);
  template <class Compute>
  bool remember_possible(Known* known, Compute compute);
  void check_alternatives(const std::vector<RulesId>& alternatives) const;
  void step(size_t steps = 1);
  std::string place() const;

  ExprPool& exprs_;
  SchemaLimits limits_;
  Numbers numbers_;
  SchemaPlaces places_;
  std::deque<Schema> schemas_;
  std::map<std::pair<Kind, std::vector<SchemaId>>, SchemaId> combinations_;
  // The rules are the keys of these.
  std::map<ObjectRules, RulesId> object_ids_;
  std::map<ArrayRules, RulesId> array_ids_;
  std::deque<const ObjectRules*> objects_;
  std::deque<StoredArray> arrays_;
  std::deque<Known> possible_objects_;
  std::deque<Known> possible_arrays_;
  std::unordered_map<RulesId, ExprId> allowed_names_;
  std::vector<SchemaId> open_;  // the schemas that are being computed
  size_t nesting_ = 0;
  size_t steps_ = 0;
  size_t assumptions_ = 0;  // how often something busy was taken as impossible
};

}  // namespace rc::text::grammar
