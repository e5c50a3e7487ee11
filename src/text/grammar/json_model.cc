#include "text/grammar/json_model.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/nested_calls.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {
namespace {

// Numbers of at most 15 digits, -?([0-9]{1,15}|[0-9]{1}\.[0-9]{1,14}|...),
// and an exponent.
ExprId short_numbers(ExprPool* pool) {
  constexpr uint32_t kDigits = 15;
  const ExprId digit = pool->set(CharSet::of('0', '9'));
  const ExprId point = pool->literal(".");
  std::vector<ExprId> plain = {pool->repeat(digit, 1, kDigits)};
  for (uint32_t whole = 1; whole < kDigits; ++whole) {
    plain.push_back(pool->concat({pool->repeat(digit, whole, whole), point,
                                  pool->repeat(digit, 1, kDigits - whole)}));
  }
  const ExprId sign = pool->optional(pool->set(CharSet::of("+-")));
  return pool->concat(
      {pool->optional(pool->literal("-")), pool->either(std::move(plain)),
       pool->optional(pool->concat(
           {pool->set(CharSet::of("eE")), sign, pool->repeat(digit, 1, 3)}))});
}

// Bounds how deep schemas nest in the text of one: brackets in strings count
// too, and references may lead anywhere. Schemas that are deeper than it says
// only take a deep stack later.
size_t nesting_of(std::string_view schema) {
  if (schema.find("Ref\"") != schema.npos ||
      schema.find("$ref") != schema.npos) {
    return SIZE_MAX;
  }
  size_t open = 0;
  size_t most = 0;
  for (const char c : schema) {
    if (c == '{' || c == '[') most = std::max(most, ++open);
    if ((c == '}' || c == ']') && open > 0) --open;
  }
  return most;
}

// Names that texts bring up are remembered, but not without end.
constexpr size_t kMaxRememberedNames = 1000;

constexpr size_t kMaxClosedNames = 64;  // bits of a word

// Numbers of an array that expressions leave out, so that no number is begun
// that could only become one of them; the others are refused where they end.
constexpr size_t kMaxNumbersLeft = 100;

}  // namespace

JsonModel::JsonModel(std::string_view schema, const JsonOptions& options)
    : options_(options),
      exprs_(options.max_expressions),
      schemas_(&exprs_, options.limits),
      lexer_(&exprs_, &mutex_, options.max_lex_states),
      document_(parse_json(schema, "schema", options.max_schema_depth)) {
  // Schemas are looked into as deep as they nest.
  call_nested(nesting_of(schema), [this] { compile(); });
}

void JsonModel::compile() {
  exprs_.set_should_stop(&options_.should_stop);
  const auto read = [this] {
    root_ = SchemaReader(document_, options_.reader, &schemas_).read();
    return schemas_.possible(root_);
  };
  // It may ask for properties that it does not name.
  if (!read() && options_.reader.closed) {
    options_.reader.closed = false;
    read();
  }
  if (!schemas_.possible(root_)) {
    fail(RC_E_INVALID_ARGUMENT, "schema: no value is valid");
  }
  prepare();
  // Matching goes on for as long as there are requests.
  exprs_.set_should_stop(nullptr);
  options_.should_stop = {};
}

// Asks all that matching may ask of schemas which stand alone, so that most
// errors come up here.
void JsonModel::prepare() {
  std::vector<SchemaId> queue = {root_};
  std::set<SchemaId> seen = {root_};
  const auto add = [&](SchemaId schema) {
    if (schemas_.possible(schema) && seen.insert(schema).second) {
      queue.push_back(schema);
    }
  };
  while (!queue.empty()) {
    const SchemaId schema = queue.back();
    queue.pop_back();
    const Start& begin = start(schema);
    for (const RulesId id : begin.objects) {
      for (const auto& [name, property] : object(id).properties) add(property);
      for (const PropertyRule& rule : schemas_.object(id).all) {
        if (!rule.keys.literal) add(rule.schema);
      }
    }
    for (const RulesId id : begin.arrays) {
      for (const ItemRule& rule : schemas_.array(id).all) {
        add(item(id, rule.from));
      }
    }
  }
}

// Returns the expression for the numbers of a schema. It is kept, since few
// schemas differ in it.
ExprId JsonModel::numbers(const Normal& normal) {
  const ExprId all = normal.number.in;
  if (!options_.short_numbers || all == ExprPool::kNothing) return all;
  const auto known = numbers_.find(all);
  if (known != numbers_.end()) return known->second;
  if (short_numbers_ == ExprPool::kNothing) {
    short_numbers_ = short_numbers(&exprs_);
  }
  const ExprId few = exprs_.both(all, short_numbers_);
  const ExprId used = lexer_.start({{few, 0}}) == kDeadLex ? all : few;
  numbers_.emplace(all, used);
  return used;
}

void JsonModel::try_numbers(ExprId numbers) {
  try {
    exprs_.try_out(numbers);
  } catch (const Error& error) {
    fail(error.status(),
         "schema: multipleOf and bounds of numbers that have to hold at once: ",
         error.message());
  }
}

const JsonModel::Start& JsonModel::start(SchemaId schema) {
  const Work::Lock lock(mutex_);
  std::unique_ptr<Start>& entry = starts_[schema];
  if (entry != nullptr) return *entry;
  const Normal& normal = schemas_.normal(schema);
  auto begin = std::make_unique<Start>();
  begin->string = normal.string.in;
  std::vector<std::string> words;
  if ((normal.constants & Normal::kNull) != 0) words.emplace_back("null");
  if ((normal.constants & Normal::kFalse) != 0) words.emplace_back("false");
  if ((normal.constants & Normal::kTrue) != 0) words.emplace_back("true");
  begin->bare = exprs_.either(numbers(normal), exprs_.one_of(std::move(words)));
  for (const RulesId id : normal.objects) {
    if (schemas_.possible_object(id)) begin->objects.push_back(id);
  }
  for (const RulesId id : normal.arrays) {
    if (schemas_.possible_array(id)) begin->arrays.push_back(id);
  }
  for (const RulesId id : begin->arrays) {
    if (schemas_.array(id).repeats) {
      fail(RC_E_UNSUPPORTED,
           "schema: not, oneOf, if or dependencies ask for arrays of which two "
           "items are equal, the opposite of uniqueItems, which is not "
           "supported");
    }
  }
  // Of several multiples, or bounds, that come together only here.
  if (exprs_.has_multiples()) try_numbers(begin->bare);
  begin->string_lex = lexer_.start({{begin->string, 0}});
  begin->bare_lex = lexer_.start({{begin->bare, 0}});
  entry = std::move(begin);
  return *entry;
}

const JsonModel::Object& JsonModel::object(RulesId rules) {
  const Work::Lock lock(mutex_);
  std::unique_ptr<Object>& entry = objects_[rules];
  if (entry != nullptr) return *entry;
  auto object = std::make_unique<Object>();
  object->rules = &schemas_.object(rules);
  object->names = schemas_.allowed_names(rules);
  object->names_lex = lexer_.start({{object->names, 0}});
  for (const PropertyRule& rule : object->rules->all) {
    if (!rule.keys.literal) {
      object->only_literals = false;
      object->uniform = object->uniform && rule.keys.others;
      continue;
    }
    const std::string& name = rule.keys.name;
    if (!object->properties.contains(name)) {
      object->properties[name] = schemas_.property(rules, name);
      object->literals.push_back(name);
    }
  }
  object->uniform = object->uniform && object->rules->some.empty();
  for (const PropertyRule& rule : object->rules->all) {
    if (rule.keys.others && object->literals.size() <= kMaxClosedNames &&
        !schemas_.possible(rule.schema)) {
      object->closed = true;
    }
  }
  entry = std::move(object);
  return *entry;
}

SchemaId JsonModel::property(RulesId object, const std::string& name) {
  const Work::Lock lock(mutex_);
  this->object(object);
  Object& entry = *objects_[object];
  const auto known = entry.properties.find(name);
  if (known != entry.properties.end()) return known->second;
  if (entry.only_literals) return kTrueSchema;
  const SchemaId schema = schemas_.property(object, name);
  if (entry.properties.size() < kMaxRememberedNames) {
    entry.properties[name] = schema;
  }
  return schema;
}

ExprId JsonModel::names_left(RulesId object,
                             const std::vector<std::string>& seen) {
  const Work::Lock lock(mutex_);
  this->object(object);
  Object& entry = *objects_[object];
  if (!entry.closed) {
    Work::walk(seen.size());
    return exprs_.both(entry.names, exprs_.negate(exprs_.one_of(seen)));
  }
  Work::walk(1 + entry.literals.size() / 4);
  uint64_t taken = 0;
  std::vector<std::string> left;
  for (size_t i = 0; i < entry.literals.size(); ++i) {
    const std::string& name = entry.literals[i];
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      taken |= uint64_t{1} << i;
    } else if (entry.properties[name] != kFalseSchema) {
      left.push_back(name);
    }
  }
  const auto [at, added] =
      entry.names_left.try_emplace(taken, ExprPool::kNothing);
  if (added) {
    at->second = exprs_.one_of(std::move(left));
  }
  return at->second;
}

bool JsonModel::concerns(RulesId object, size_t index, std::string_view name) {
  const Work::Lock lock(mutex_);
  return exprs_.matches(schemas_.object(object).some[index].keys.names, name);
}

ExprId JsonModel::next_name(RulesId object,
                            const std::vector<std::string>& seen) {
  const Work::Lock lock(mutex_);
  const ObjectRules& rules = schemas_.object(object);
  for (const std::string& name : rules.order) {
    Work::walk(1);
    if (std::binary_search(rules.required.begin(), rules.required.end(),
                           name) &&
        std::find(seen.begin(), seen.end(), name) == seen.end()) {
      return exprs_.literal(name);
    }
  }
  return required_names(object, seen);
}

ExprId JsonModel::required_names(RulesId object,
                                 const std::vector<std::string>& seen) {
  const Work::Lock lock(mutex_);
  std::vector<std::string> names = schemas_.object(object).required;
  std::erase_if(names, [&](const std::string& name) {
    return std::find(seen.begin(), seen.end(), name) != seen.end();
  });
  return exprs_.one_of(std::move(names));
}

ExprId JsonModel::last_names(RulesId object, uint32_t done,
                             const std::vector<std::string>& seen) {
  const Work::Lock lock(mutex_);
  std::vector<ExprId> all = {this->object(object).names,
                             exprs_.negate(exprs_.one_of(seen))};
  const std::vector<PropertyRule>& some = schemas_.object(object).some;
  for (size_t i = 0; i < some.size(); ++i) {
    if ((done >> i & 1) == 0) all.push_back(some[i].keys.names);
  }
  return exprs_.both(std::move(all));
}

const ArrayRules& JsonModel::array(RulesId rules) {
  const Work::Lock lock(mutex_);
  return schemas_.array(rules);
}

SchemaId JsonModel::item(RulesId array, uint32_t index) {
  const Work::Lock lock(mutex_);
  return schemas_.item(array, index);
}

SchemaId JsonModel::all_of(SchemaId a, SchemaId b) {
  const Work::Lock lock(mutex_);
  return schemas_.all_of({a, b});
}

SchemaId JsonModel::without(SchemaId a, SchemaId b) {
  const Work::Lock lock(mutex_);
  return schemas_.all_of({a, schemas_.negation(b)});
}

JsonModel::Left JsonModel::values_left(SchemaId schema,
                                       const std::vector<std::string>& seen) {
  const Work::Lock lock(mutex_);
  const Start& begin = start(schema);
  std::vector<std::string> strings;
  std::vector<ExprId> bare;
  Work::walk(1 + seen.size());
  for (const std::string& value : seen) {
    if (value[0] == '"') {
      strings.push_back(value.substr(1));
    } else if (value == "null" || value == "false" || value == "true") {
      bare.push_back(exprs_.literal(value));
    } else if ((value[0] == '-' || value[0] == '0') &&
               bare.size() < kMaxNumbersLeft) {
      bare.push_back(schemas_.numbers().equal(parse_decimal(value)).in);
    }
  }
  return {exprs_.both(begin.string, exprs_.negate(exprs_.one_of(strings))),
          exprs_.both(begin.bare, exprs_.negate(exprs_.either(bare)))};
}

bool JsonModel::possible(SchemaId schema) {
  const Work::Lock lock(mutex_);
  return schemas_.possible(schema);
}

}  // namespace rc::text::grammar
