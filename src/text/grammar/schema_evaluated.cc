// unevaluatedProperties and unevaluatedItems: about what no other keyword of
// the same schema, or of one that it applies to the same value, has looked at
// (JSON Schema 2020-12, core, section 11).
//
// Which keywords look at a value depends on which alternatives hold for it. A
// way says: if this condition holds as well, all of that has been looked at.
// Where more holds than a condition says, more has been looked at. So a value
// is valid if, in one of the ways, the condition holds and the rest of the
// value is as the keyword wants it.
#include <algorithm>
#include <array>
#include <utility>

#include "text/grammar/regex_syntax.h"
#include "text/grammar/schema_keyword.h"
#include "text/grammar/schema_reader.h"

namespace rc::text::grammar {
namespace {

constexpr size_t kMostWays = 64;
constexpr size_t kMostWithin = 64;

constexpr std::array<std::string_view, 2> kUnevaluated = {
    "unevaluatedProperties", "unevaluatedItems"};

template <class T>
void append_all(std::vector<T>* to, const std::vector<T>& from) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

bool SchemaReader::Evaluated::nothing() const {
  return !all && names.empty() && patterns.empty() && prefix == 0 &&
         contained.empty();
}

void SchemaReader::Evaluated::add(const Evaluated& other) {
  all = all || other.all;
  append_all(&names, other.names);
  append_all(&patterns, other.patterns);
  prefix = std::max(prefix, other.prefix);
  append_all(&contained, other.contained);
}

void SchemaReader::read_unevaluated(const Location& at,
                                    std::vector<SchemaId>* parts) {
  if (at.draft < Draft::k2019) return;
  for (const bool items : {false, true}) {
    const std::string_view keyword = kUnevaluated[items];
    const SchemaId rest = member(at, keyword);
    if (rest == kTrueSchema) continue;
    std::vector<SchemaId> alternatives;
    for (const Way& way : at_keyword(at, keyword, [&] {
           return ways_of(at, items, /*within=*/false);
         })) {
      if (way.evaluated.all) {
        alternatives.push_back(way.condition);
        continue;
      }
      alternatives.push_back(pool_.all_of(
          {way.condition, items ? other_items(way.evaluated, rest)
                                : other_properties(way.evaluated, rest)}));
    }
    parts->push_back(pool_.any_of(std::move(alternatives)));
  }
}

SchemaId SchemaReader::other_properties(const Evaluated& evaluated,
                                        SchemaId schema) {
  ExprPool& exprs = pool_.exprs();
  std::vector<ExprId> names = evaluated.patterns;
  names.push_back(exprs.one_of(evaluated.names));
  ObjectRules rules;
  rules.all = {{KeySet{.literal = false,
                       .names = exprs.negate(exprs.either(std::move(names)))},
                schema}};
  return object_rules(std::move(rules));
}

SchemaId SchemaReader::other_items(const Evaluated& evaluated,
                                   SchemaId schema) {
  std::vector<SchemaId> wanted = evaluated.contained;
  wanted.push_back(schema);
  ArrayRules rules;
  rules.all = {{evaluated.prefix, kUnbounded, pool_.any_of(std::move(wanted))}};
  Normal normal = pool_.everything();
  normal.arrays = {pool_.add(std::move(rules))};
  return pool_.leaf(std::move(normal));
}

SchemaReader::Evaluated SchemaReader::evaluated_by_itself(const Location& at,
                                                          bool items,
                                                          bool within) {
  Evaluated result;
  const auto has = [&](std::string_view keyword) {
    return at.value->find(keyword) != nullptr;
  };
  // What it applies to, the schemas around it need not look at.
  result.all = within && has(kUnevaluated[items]);
  if (!items) {
    if (const JsonValue* map = at.value->find("properties")) {
      for (const auto& [name, value] : map->members) {
        result.names.push_back(name);
      }
    }
    if (const JsonValue* map = at.value->find("patternProperties")) {
      for (const auto& [pattern, value] : map->members) {
        result.patterns.push_back(
            parse_regex(pattern, {.search = true}, &pool_.exprs()));
      }
    }
    result.all = result.all || has("additionalProperties");
    return result;
  }
  const JsonValue* const list = at.value->find("items");
  const bool tuple = list != nullptr && list->is(JsonValue::Type::kArray);
  const JsonValue* const prefix = tuple ? list : at.value->find("prefixItems");
  if (prefix != nullptr) {
    result.prefix = static_cast<uint32_t>(prefix->items.size());
  }
  result.all = result.all || has(tuple ? "additionalItems" : "items");
  if (at.draft >= Draft::k2020 && has("contains")) {
    result.contained.push_back(member(at, "contains"));
  }
  return result;
}

// Each way with each option.
void SchemaReader::choose(const Ways& options, Ways* ways) {
  if (ways->size() * options.size() > kMostWays) {
    fail(RC_E_UNSUPPORTED, "the schemas that it depends on hold in more than ",
         kMostWays,
         " combinations; name all properties or items in one schema");
  }
  Ways result;
  for (const Way& way : *ways) {
    for (const Way& option : options) {
      Way& both = result.emplace_back(way);
      both.condition = pool_.all_of({way.condition, option.condition});
      both.evaluated.add(option.evaluated);
    }
  }
  *ways = std::move(result);
}

SchemaReader::Ways SchemaReader::ways_of(const Location& at, bool items,
                                         bool within) {
  if (!at.value->is(JsonValue::Type::kObject)) return {{}};
  if (evaluating_ >= kMostWithin) {
    fail(RC_E_UNSUPPORTED, "schemas of one value are more than ", kMostWithin,
         " within one another; simplify them");
  }
  struct Leave {
    size_t* nesting;
    ~Leave() { --*nesting; }
  } leave{&++evaluating_};
  Ways ways = {{.evaluated = evaluated_by_itself(at, items, within)}};
  // A schema that holds anyway, or may hold where the condition does.
  const auto always = [&](const JsonValue& schema) {
    choose(ways_of(index_.at(schema), items, true), &ways);
  };
  const auto add_option = [&](const JsonValue& schema, SchemaId condition,
                              Ways* options) {
    for (Way& way : ways_of(index_.at(schema), items, true)) {
      if (way.evaluated.nothing()) continue;
      way.condition = pool_.all_of({condition, way.condition});
      options->push_back(std::move(way));
    }
  };
  const auto perhaps = [&](const JsonValue& schema, SchemaId condition) {
    Ways options = {{}};
    add_option(schema, condition, &options);
    choose(options, &ways);
  };
  for (const std::string_view keyword :
       {"$ref", "$dynamicRef", "$recursiveRef"}) {
    if (const std::string* reference = keyword_text(at, keyword)) {
      always(keyword == "$ref" ? *index_.resolve(at, *reference).value
                               : *index_.resolve_dynamic(at, *reference).value);
    }
  }
  const auto schemas =
      [&](std::string_view keyword) -> const std::vector<JsonValue>& {
    static const std::vector<JsonValue> kNone;
    const JsonValue* const list = at.value->find(keyword);
    return list == nullptr ? kNone : list->items;
  };
  for (const JsonValue& schema : schemas("allOf")) always(schema);
  for (const JsonValue& schema : schemas("anyOf")) {
    perhaps(schema, refer(schema));
  }
  Ways one = {{}};
  for (const JsonValue& schema : schemas("oneOf")) {
    add_option(schema, refer(schema), &one);
  }
  choose(one, &ways);
  if (const JsonValue* condition = at.value->find("if")) {
    const SchemaId holds = refer(*condition);
    perhaps(*condition, holds);
    const JsonValue* const then = at.value->find("then");
    if (then != nullptr) perhaps(*then, holds);
    const JsonValue* const otherwise = at.value->find("else");
    if (otherwise != nullptr) perhaps(*otherwise, pool_.negation(holds));
  }
  for (const std::string_view keyword : {"dependentSchemas", "dependencies"}) {
    const JsonValue* const map = at.value->find(keyword);
    if (map == nullptr) continue;
    for (const auto& [name, schema] : map->members) {
      perhaps(schema, required({name}));
    }
  }
  return ways;
}

}  // namespace rc::text::grammar
