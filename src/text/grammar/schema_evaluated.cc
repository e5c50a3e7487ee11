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
constexpr size_t kMostWaysToClose = 512;
constexpr size_t kMostWithin = 64;

constexpr std::array<std::string_view, 2> kUnevaluated = {
    "unevaluatedProperties", "unevaluatedItems"};

// With any of them, a schema says more of an object than that it is one.
constexpr std::array<std::string_view, 12> kAboutProperties = {
    "properties",
    "patternProperties",
    "required",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "$dynamicRef",
    "$recursiveRef",
    "dependentSchemas",
    "dependentRequired"};

template <class T>
void append_all(std::vector<T>* to, const std::vector<T>& from) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

bool SchemaReader::Evaluated::nothing() const {
  return !all && names.empty() && patterns.empty() && prefix == 0 &&
         contained.empty() && least == 0;
}

void SchemaReader::Evaluated::add(const Evaluated& other) {
  all = all || other.all;
  append_all(&names, other.names);
  append_all(&patterns, other.patterns);
  prefix = std::max(prefix, other.prefix);
  append_all(&contained, other.contained);
  least = std::max(least, other.least);
}

void SchemaReader::read_unevaluated(const Location& at,
                                    std::vector<SchemaId>* parts) {
  if (at.draft < Draft::k2019) return;
  for (const bool items : {false, true}) {
    const std::string_view keyword = kUnevaluated[items];
    const SchemaId rest = value_member(at, keyword);
    if (rest == kTrueSchema) continue;
    std::vector<SchemaId> alternatives;
    for (const Way& way : at_keyword(
             at, keyword, [&] { return ways_of(at, items, Within::kNone); })) {
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

// That properties which nothing has looked at are like this.
void SchemaReader::restrict_others(const Evaluated& evaluated, SchemaId schema,
                                   ObjectRules* rules) {
  ExprPool& exprs = pool_.exprs();
  std::vector<ExprId> names = evaluated.patterns;
  names.push_back(exprs.one_of(evaluated.names));
  // All that is not among the others has to be mentioned.
  const bool others = evaluated.patterns.empty();
  if (others) {
    for (const std::string& name : evaluated.names) {
      rules->all.push_back({KeySet{.name = name}, kTrueSchema});
    }
  }
  rules->all.push_back(
      {KeySet{.literal = false,
              .names = exprs.negate(exprs.either(std::move(names))),
              .others = others},
       schema});
}

SchemaId SchemaReader::other_properties(const Evaluated& evaluated,
                                        SchemaId schema) {
  ObjectRules rules;
  restrict_others(evaluated, schema, &rules);
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
                                                          Within within) {
  Evaluated result;
  const auto has = [&](std::string_view keyword) {
    return at.value->find(keyword) != nullptr;
  };
  // The schemas around it need not evaluate these again.
  result.all = within != Within::kNone && has(kUnevaluated[items]);
  if (!items) {
    if (const JsonValue* map = at.value->find("properties")) {
      for (const auto& [name, value] : map->members) {
        result.names.push_back(name);
      }
    }
    if (const JsonValue* map = at.value->find("patternProperties")) {
      for (const auto& [pattern, value] : map->members) {
        result.patterns.push_back(
            at_keyword(at, "patternProperties", [&, &p = pattern] {
              return parse_regex(p, {.search = true, .lookahead = true},
                                 &pool_.exprs());
            }));
      }
    }
    result.all = result.all || has("additionalProperties");
    if (closing_) close(at, within, &result);
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
    result.contained.push_back(written_member(at, "contains"));
  }
  return result;
}

// Of closing(): names that are only required may be written, too.
void SchemaReader::close(const Location& at, Within within,
                         Evaluated* evaluated) const {
  const auto find = [&](std::string_view keyword) {
    return at.value->find(keyword);
  };
  const auto add_names = [&](const JsonValue& names) {
    for (const JsonValue& name : names.items) {
      evaluated->names.push_back(name.text);
    }
  };
  if (const JsonValue* names = find("required")) add_names(*names);
  if (const JsonValue* map = find("dependentRequired")) {
    for (const auto& [name, names] : map->members) add_names(names);
  }
  // Any object, as one alternative of several.
  const auto is_object = [](const JsonValue& type) {
    return type.text == "object";
  };
  const JsonValue* const type = find("type");
  if (within == Within::kAlternative && type != nullptr &&
      (is_object(*type) ||
       std::any_of(type->items.begin(), type->items.end(), is_object)) &&
      std::none_of(kAboutProperties.begin(), kAboutProperties.end(), find)) {
    evaluated->all = true;
  }
  evaluated->least = keyword_count(at, "minProperties").value_or(0);
}

// Whether an object may have as many properties as it needs with those alone
// that are named.
bool SchemaReader::names_enough(const Evaluated& evaluated) {
  if (!evaluated.patterns.empty()) return true;
  std::vector<std::string_view> names(evaluated.names.begin(),
                                      evaluated.names.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names.size() >= evaluated.least;
}

SchemaId SchemaReader::closing(const Location& at) {
  Ways ways;
  closing_ = true;
  try {
    ways = ways_of(at, false, Within::kSchema);
  } catch (const Error& error) {
    closing_ = false;
    if (error.status() != RC_E_UNSUPPORTED) throw;
    return kTrueSchema;  // there are too many ways: it stays open
  }
  closing_ = false;
  if (std::all_of(ways.begin(), ways.end(),
                  [](const Way& way) { return way.evaluated.nothing(); })) {
    return kTrueSchema;
  }
  std::vector<SchemaId> alternatives;
  for (const Way& way : ways) {
    ObjectRules rules;
    if (options_.ordered) append_missing(way.evaluated.names, &rules.order);
    if (!way.evaluated.all && names_enough(way.evaluated)) {
      restrict_others(way.evaluated, kFalseSchema, &rules);
    }
    alternatives.push_back(
        pool_.all_of({way.condition, object_rules(std::move(rules))}));
  }
  return pool_.any_of(std::move(alternatives));
}

// Each way with each option.
void SchemaReader::choose(const Ways& options, Ways* ways) {
  const size_t most = closing_ ? kMostWaysToClose : kMostWays;
  if (ways->size() * options.size() > most) {
    fail(RC_E_UNSUPPORTED, "the schemas that it depends on hold in more than ",
         most, " combinations; name all properties or items in one schema");
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
                                         Within within) {
  if (!at.value->is(JsonValue::Type::kObject)) return {{}};
  if (evaluating_ >= kMostWithin) {
    fail(RC_E_UNSUPPORTED, "schemas of one value are more than ", kMostWithin,
         " within one another; simplify them");
  }
  struct Leave {
    SchemaReader* reader;
    ScopeId scope;
    ~Leave() {
      --reader->evaluating_;
      reader->scope_ = scope;
    }
  } leave{this, scope_};
  ++evaluating_;
  scope_ = index_.enter(scope_, at);
  // Old drafts don't look at what stands next to a reference.
  const bool only_reference =
      at.draft <= Draft::k7 && keyword_text(at, "$ref") != nullptr;
  Ways ways = {{}};
  if (!only_reference) {
    ways[0].evaluated = evaluated_by_itself(at, items, within);
  }
  // A schema that holds anyway, or may hold where the condition does.
  const auto always = [&](const JsonValue& schema) {
    choose(ways_of(index_.at(schema), items, Within::kSchema), &ways);
  };
  // Returns whether something is looked at in every way.
  const auto add_option = [&](const JsonValue& schema, SchemaId condition,
                              Within as, Ways* options) {
    bool always_looks = true;
    for (Way& way : ways_of(index_.at(schema), items, as)) {
      if (way.evaluated.nothing()) {
        always_looks = false;
        continue;
      }
      way.condition = pool_.all_of({condition, way.condition});
      options->push_back(std::move(way));
    }
    return always_looks;
  };
  const auto perhaps = [&](const JsonValue& schema, SchemaId condition) {
    Ways options = {{}};
    add_option(schema, condition, Within::kSchema, &options);
    choose(options, &ways);
  };
  for (const std::string_view keyword :
       {"$ref", "$dynamicRef", "$recursiveRef"}) {
    if (const std::string* reference = keyword_text(at, keyword)) {
      const Location& target =
          keyword == "$ref" ? index_.resolve(at, *reference)
                            : index_.resolve_dynamic(at, *reference, scope_);
      const bool alone = only_reference || at.value->members.size() == 1;
      choose(ways_of(target, items, alone ? within : Within::kSchema), &ways);
    }
  }
  if (only_reference) return ways;
  const auto schemas =
      [&](std::string_view keyword) -> const std::vector<JsonValue>& {
    static const std::vector<JsonValue> kNone;
    const JsonValue* const list = at.value->find(keyword);
    return list == nullptr ? kNone : list->items;
  };
  for (const JsonValue& schema : schemas("allOf")) always(schema);
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    if (schemas(keyword).empty()) continue;
    if (keyword == "anyOf" && !closing_) {
      for (const JsonValue& schema : schemas(keyword)) {
        perhaps(schema, refer(schema));
      }
      continue;
    }
    // One of them; to close an object one of anyOf will do, too.
    Ways one;
    std::vector<SchemaId> others;  // that look at nothing
    for (const JsonValue& schema : schemas(keyword)) {
      if (!add_option(schema, refer(schema), Within::kAlternative, &one)) {
        others.push_back(refer(schema));
      }
    }
    if (!others.empty()) one.push_back({pool_.any_of(std::move(others)), {}});
    choose(one, &ways);
  }
  if (const JsonValue* condition = at.value->find("if")) {
    const SchemaId holds = refer_written(*condition);
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
