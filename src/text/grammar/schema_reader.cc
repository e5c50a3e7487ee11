#include "text/grammar/schema_reader.h"

#include <array>
#include <utility>

#include "base/quote.h"
#include "text/grammar/schema_keyword.h"

namespace rc::text::grammar {
namespace {

// Assertions of draft 3, and of drafts that look into strings.
constexpr std::array<std::string_view, 3> kUnsupported = {"extends", "disallow",
                                                          "divisibleBy"};
constexpr std::array<std::string_view, 2> kContents = {"contentEncoding",
                                                       "contentMediaType"};

}  // namespace

SchemaReader::SchemaReader(const JsonValue& document,
                           const SchemaReaderOptions& options, SchemaPool* pool)
    : document_(document),
      options_(options),
      pool_(*pool),
      index_(document, options.draft, &pool->places()) {}

SchemaId SchemaReader::read() {
  const SchemaId root =
      refer(document_, options_.closed ? Form::kValue : Form::kWritten);
  // References are followed one after the other: they may be long chains.
  while (!queue_.empty()) {
    const Pending next = queue_.front();
    queue_.pop_front();
    form_ = next.form == Form::kValue ? Form::kClosed : next.form;
    scope_ = next.scope;
    pool_.define(next.declared, next.form == Form::kValue
                                    ? closed_value(*next.at)
                                    : lower(*next.at));
  }
  for (const NameRule& rule : name_rules_) define_names(rule);
  return root;
}

SchemaId SchemaReader::refer(const JsonValue& value, Form form) {
  if (value.is_bool()) {
    return value.is(JsonValue::Type::kTrue) ? kTrueSchema : kFalseSchema;
  }
  const ScopeId scope =
      index_.has_scopes() ? index_.enter(scope_, index_.at(value)) : kNoScope;
  const auto [at, added] = known_.try_emplace({&value, form, scope}, 0);
  if (added) {
    const Location& location = index_.at(value);
    at->second = pool_.declare(location.place);
    queue_.push_back({&location, form, scope, at->second});
  }
  return at->second;
}

SchemaId SchemaReader::closed_value(const Location& at) {
  if (!at.value->is(JsonValue::Type::kObject)) return lower(at);
  const std::string* const reference = keyword_text(at, "$ref");
  if (reference != nullptr &&
      (at.draft <= Draft::k7 || at.value->members.size() == 1)) {
    return refer(*index_.resolve(at, *reference).value, Form::kValue);
  }
  const SchemaId closed = closing(at);
  return pool_.all_of({lower(at, closed != kTrueSchema), closed});
}

SchemaId SchemaReader::refer_value(const JsonValue& value) {
  return refer(value, form_ == Form::kClosed ? Form::kValue : form_);
}

SchemaId SchemaReader::member(const Location& at, std::string_view name) {
  const JsonValue* const value = at.value->find(name);
  return value == nullptr ? kTrueSchema : refer(*value);
}

SchemaId SchemaReader::written_member(const Location& at,
                                      std::string_view name) {
  const JsonValue* const value = at.value->find(name);
  return value == nullptr ? kTrueSchema : refer_written(*value);
}

SchemaId SchemaReader::value_member(const Location& at, std::string_view name) {
  const JsonValue* const value = at.value->find(name);
  return value == nullptr ? kTrueSchema : refer_value(*value);
}

std::vector<SchemaId> SchemaReader::list(const Location& at,
                                         std::string_view name, Form form) {
  const JsonValue& value = *at.value->find(name);
  if (!value.is(JsonValue::Type::kArray)) {
    malformed_keyword(at, name, "this has to be a list of schemas");
  }
  std::vector<SchemaId> schemas;
  for (const JsonValue& item : value.items) {
    schemas.push_back(refer(item, form));
  }
  return schemas;
}

void SchemaReader::refuse_unsupported(const Location& at) const {
  for (const std::string_view keyword : kUnsupported) {
    if (at.value->find(keyword) != nullptr) {
      unsupported_keyword(at, keyword, "this keyword is not supported");
    }
  }
  for (const std::string_view keyword : kContents) {
    if (at.draft <= Draft::k7 && at.value->find(keyword) != nullptr) {
      unsupported_keyword(at, keyword,
                          "this asserts something in drafts up to 7, which is "
                          "not supported; name a later draft in $schema");
    }
  }
}

SchemaId SchemaReader::lower(const Location& at, bool closed) {
  if (!at.value->is(JsonValue::Type::kObject)) {
    fail(RC_E_INVALID_ARGUMENT, "schema at ", at.pointer(),
         ": a schema is an object, true or false");
  }
  std::vector<SchemaId> parts;
  read_references(at, &parts);
  // Old drafts don't look at what stands next to a reference.
  if (!parts.empty() && at.draft <= Draft::k7) return pool_.all_of(parts);
  refuse_unsupported(at);
  Normal normal = pool_.everything();
  restrict_strings(at, &normal);
  restrict_numbers(at, &normal);
  restrict_objects(at, &normal);
  restrict_arrays(at, &normal);
  restrict_types(at, &normal);
  parts.push_back(pool_.leaf(std::move(normal)));
  read_values(at, &parts);
  read_combinations(at, closed, &parts);
  read_dependencies(at, &parts);
  read_unevaluated(at, &parts);
  read_names(at, &parts);
  return pool_.all_of(std::move(parts));
}

void SchemaReader::read_references(const Location& at,
                                   std::vector<SchemaId>* parts) {
  if (const std::string* reference = keyword_text(at, "$ref")) {
    parts->push_back(refer(*index_.resolve(at, *reference).value));
  }
  for (const std::string_view keyword : {"$dynamicRef", "$recursiveRef"}) {
    if (const std::string* reference = keyword_text(at, keyword)) {
      parts->push_back(
          refer(*index_.resolve_dynamic(at, *reference, scope_).value));
    }
  }
}

void SchemaReader::read_values(const Location& at,
                               std::vector<SchemaId>* parts) {
  if (const JsonValue* value = at.value->find("const")) {
    parts->push_back(
        at_keyword(at, "const", [&] { return pool_.leaf(constant(*value)); }));
  }
  const JsonValue* const values = at.value->find("enum");
  if (values == nullptr) return;
  if (!values->is(JsonValue::Type::kArray)) {
    malformed_keyword(at, "enum", "this has to be a list");
  }
  // All strings together: enums may be long.
  Normal all = pool_.nothing();
  std::vector<std::string> strings;
  std::vector<SchemaId> choices;
  for (const JsonValue& value : values->items) {
    if (value.is(JsonValue::Type::kString)) {
      strings.push_back(value.text);
    } else {
      choices.push_back(
          at_keyword(at, "enum", [&] { return pool_.leaf(constant(value)); }));
    }
  }
  if (!strings.empty()) {
    all.string.in = pool_.exprs().one_of(std::move(strings));
    all.string.out = pool_.exprs().negate(all.string.in);
    choices.push_back(pool_.leaf(std::move(all)));
  }
  parts->push_back(pool_.any_of(std::move(choices)));
}

Normal SchemaReader::constant(const JsonValue& value) {
  struct Open {
    const JsonValue* value;
    std::vector<SchemaId> parts{};  // those that were read
  };
  std::vector<Open> open = {{&value}};
  for (;;) {
    const JsonValue& at = *open.back().value;
    const std::vector<SchemaId>& parts = open.back().parts;
    if (parts.size() < at.items.size()) {
      open.push_back({&at.items[parts.size()]});
      continue;
    }
    if (parts.size() < at.members.size()) {
      open.push_back({&at.members[parts.size()].second});
      continue;
    }
    Normal normal = at.is(JsonValue::Type::kArray) ? constant_array(parts)
                    : at.is(JsonValue::Type::kObject)
                        ? constant_object(at, parts)
                        : scalar(at);
    open.pop_back();
    if (open.empty()) return normal;
    open.back().parts.push_back(pool_.leaf(std::move(normal)));
  }
}

Normal SchemaReader::scalar(const JsonValue& value) {
  Normal normal = pool_.nothing();
  switch (value.type) {
    case JsonValue::Type::kNull:
      normal.constants = Normal::kNull;
      break;
    case JsonValue::Type::kFalse:
      normal.constants = Normal::kFalse;
      break;
    case JsonValue::Type::kTrue:
      normal.constants = Normal::kTrue;
      break;
    case JsonValue::Type::kNumber:
      normal.number = pool_.numbers().equal(parse_decimal(value.text));
      break;
    default:
      normal.string.in = pool_.exprs().literal(value.text);
      normal.string.out = pool_.exprs().negate(normal.string.in);
  }
  return normal;
}

Normal SchemaReader::constant_array(const std::vector<SchemaId>& items) {
  ArrayRules rules;
  rules.min = rules.max = static_cast<uint32_t>(items.size());
  for (uint32_t i = 0; i < rules.max; ++i) {
    rules.all.push_back({i, i, items[i]});
  }
  Normal normal = pool_.nothing();
  normal.arrays = {pool_.add(std::move(rules))};
  return normal;
}

Normal SchemaReader::constant_object(const JsonValue& value,
                                     const std::vector<SchemaId>& members) {
  ObjectRules rules;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string& name = value.members[i].first;
    rules.all.push_back({KeySet{.name = name}, members[i]});
    rules.required.push_back(name);
  }
  KeySet others = {.literal = false};
  others.names = pool_.exprs().negate(pool_.exprs().one_of(rules.required));
  others.others = true;
  rules.all.push_back({others, kFalseSchema});
  Normal normal = pool_.nothing();
  normal.objects = {pool_.add(std::move(rules))};
  return normal;
}

void SchemaReader::read_combinations(const Location& at, bool closed,
                                     std::vector<SchemaId>* parts) {
  if (at.value->find("allOf") != nullptr) {
    const std::vector<SchemaId> all = list(at, "allOf", form_);
    parts->insert(parts->end(), all.begin(), all.end());
  }
  if (at.value->find("anyOf") != nullptr) {
    std::vector<SchemaId> any = list(at, "anyOf", form_);
    if (!closed || any.empty()) parts->push_back(pool_.any_of(std::move(any)));
  }
  if (at.value->find("oneOf") != nullptr) {
    parts->push_back(pool_.one_of(list(at, "oneOf", Form::kWritten)));
    if (form_ == Form::kClosed && !closed) {
      parts->push_back(pool_.any_of(list(at, "oneOf", form_)));
    }
  }
  if (at.value->find("not") != nullptr) {
    parts->push_back(pool_.negation(written_member(at, "not")));
  }
  // Before draft 7 it was no keyword, and schemas that name an earlier draft
  // are judged by it.
  if (at.draft < Draft::k7 || at.value->find("if") == nullptr) return;
  const SchemaId condition = written_member(at, "if");
  const SchemaId then = member(at, "then");
  const SchemaId otherwise = member(at, "else");
  if (then == kTrueSchema && otherwise == kTrueSchema) return;
  parts->push_back(
      pool_.any_of({pool_.all_of({condition, then}),
                    pool_.all_of({pool_.negation(condition), otherwise})}));
}

SchemaId SchemaReader::object_rules(ObjectRules rules) {
  Normal normal = pool_.everything();
  normal.objects = {pool_.add(std::move(rules))};
  return pool_.leaf(std::move(normal));
}

SchemaId SchemaReader::required(std::vector<std::string> names) {
  ObjectRules rules;
  rules.required = std::move(names);
  // Values of other types don't matter to those who ask, but are not objects.
  Normal normal = pool_.nothing();
  normal.objects = {pool_.add(std::move(rules))};
  return pool_.leaf(std::move(normal));
}

SchemaId SchemaReader::absent(const std::string& name) {
  ObjectRules rules;
  rules.all = {{KeySet{.name = name}, kFalseSchema}};
  return object_rules(std::move(rules));
}

void SchemaReader::read_dependencies(const Location& at,
                                     std::vector<SchemaId>* parts) {
  for (const std::string_view keyword :
       {"dependencies", "dependentRequired", "dependentSchemas"}) {
    const JsonValue* const map = at.value->find(keyword);
    if (map == nullptr) continue;
    if (!map->is(JsonValue::Type::kObject)) {
      malformed_keyword(at, keyword, "this has to be an object");
    }
    for (const auto& [name, value] : map->members) {
      SchemaId then = kTrueSchema;
      if (value.is(JsonValue::Type::kArray)) {
        std::vector<std::string> names = texts_of(at, keyword, value);
        if (names.empty()) continue;
        names.push_back(name);
        then = required(std::move(names));
      } else if (value.is(JsonValue::Type::kString)) {
        then = required({name, value.text});
      } else {
        then = pool_.all_of({required({name}), refer(value)});
      }
      parts->push_back(pool_.any_of({absent(name), then}));
    }
  }
}

void SchemaReader::read_names(const Location& at,
                              std::vector<SchemaId>* parts) {
  if (at.value->find("propertyNames") == nullptr) return;
  const PlaceId place = pool_.places().add(at.place, "propertyNames");
  const SchemaId declared = pool_.declare(place);
  name_rules_.push_back({declared, written_member(at, "propertyNames"), place});
  parts->push_back(declared);
}

void SchemaReader::define_names(const NameRule& rule) {
  const LexicalSet names = pool_.normal(rule.names).string;
  ExprPool& exprs = pool_.exprs();
  // The rule may be negated, so that its names have to be known exactly.
  if (exprs.live(exprs.both(exprs.negate(names.in), exprs.negate(names.out)))) {
    fail(RC_E_UNSUPPORTED, "schema at ", pool_.places().pointer(rule.place),
         ": names of a format that is only known in part are not supported");
  }
  ObjectRules rules;
  KeySet others = {.literal = false};
  others.names = exprs.negate(names.in);
  if (others.names != ExprPool::kNothing) {
    rules.all = {{others, kFalseSchema}};
  }
  pool_.define(rule.declared, object_rules(std::move(rules)));
}

}  // namespace rc::text::grammar
