// Keywords that assert something about values of one type.
#include <algorithm>
#include <array>
#include <utility>

#include "base/quote.h"
#include "text/grammar/formats.h"
#include "text/grammar/regex_syntax.h"
#include "text/grammar/schema_keyword.h"
#include "text/grammar/schema_reader.h"

namespace rc::text::grammar {
namespace {

LexicalSet integers_of(Draft draft, bool plain, const Numbers& numbers) {
  if (draft <= Draft::k4) return numbers.plain_integers();
  if (!plain) return numbers.integers();
  return {numbers.plain_integers().in, numbers.integers().out};
}

void allow_type(const SchemaLocation& at, const std::string& type,
                const Normal& from, bool plain_integers, SchemaPool* pool,
                Normal* to) {
  if (type == "null") {
    to->constants |= Normal::kNull;
  } else if (type == "boolean") {
    to->constants |= Normal::kFalse | Normal::kTrue;
  } else if (type == "number") {
    to->number = from.number;
  } else if (type == "integer") {
    const LexicalSet integers =
        integers_of(at.draft, plain_integers, pool->numbers());
    to->number = either(to->number, both(from.number, integers, &pool->exprs()),
                        &pool->exprs());
  } else if (type == "string") {
    to->string = from.string;
  } else if (type == "array") {
    to->arrays = from.arrays;
  } else if (type == "object") {
    to->objects = from.objects;
  } else if (type == "any" && at.draft <= Draft::k3) {
    *to = from;
  } else {
    malformed_keyword(at, "type", "there is no type ", quote(type));
  }
}

}  // namespace

void SchemaReader::restrict_types(const Location& at, Normal* normal) {
  const JsonValue* const type = at.value->find("type");
  if (type == nullptr) return;
  std::vector<std::string> names;
  if (type->is(JsonValue::Type::kString)) {
    names = {type->text};
  } else {
    names = texts_of(at, "type", *type);
  }
  Normal allowed = pool_.nothing();
  // "number" last: it includes integers.
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    allow_type(at, name, *normal, options_.plain_integers, &pool_, &allowed);
  }
  *normal = std::move(allowed);
}

void SchemaReader::restrict_strings(const Location& at, Normal* normal) {
  ExprPool& exprs = pool_.exprs();
  LexicalSet& string = normal->string;
  const uint32_t min = keyword_count(at, "minLength").value_or(0);
  const uint32_t max = keyword_count(at, "maxLength").value_or(kUnbounded);
  if (min > 0 || max != kUnbounded) {
    const ExprId sizes =
        min > max ? ExprPool::kNothing
                  : exprs.repeat(exprs.set(CharSet::all()), min, max);
    string = both(string, {sizes, exprs.negate(sizes)}, &exprs);
  }
  if (const std::string* pattern = keyword_text(at, "pattern")) {
    const ExprId matching = at_keyword(at, "pattern", [&] {
      return parse_regex(*pattern, {.search = true, .lookahead = true}, &exprs);
    });
    string = both(string, {matching, exprs.negate(matching)}, &exprs);
  }
  if (!options_.assert_formats) return;
  if (const std::string* format = keyword_text(at, "format")) {
    const std::optional<LexicalSet> known =
        at_keyword(at, "format", [&] { return find_format(*format, &exprs); });
    if (known) string = both(string, *known, &exprs);
  }
}

void SchemaReader::restrict_numbers(const Location& at, Normal* normal) {
  Numbers& numbers = pool_.numbers();
  const auto limit = [&](std::string_view keyword, std::string_view exclusive,
                         auto side) {
    // Draft 4 has booleans there.
    const JsonValue* const flag = at.value->find(exclusive);
    const bool boolean = flag != nullptr && flag->is_bool();
    if (const std::optional<Decimal> value = keyword_number(at, keyword)) {
      const bool inclusive = !boolean || flag->is(JsonValue::Type::kFalse);
      normal->number =
          both(normal->number, side(*value, inclusive), &pool_.exprs());
    }
    if (boolean) return;
    if (const std::optional<Decimal> value = keyword_number(at, exclusive)) {
      normal->number =
          both(normal->number, side(*value, false), &pool_.exprs());
    }
  };
  limit("minimum", "exclusiveMinimum",
        [&](const Decimal& value, bool inclusive) {
          return numbers.above(value, inclusive);
        });
  limit("maximum", "exclusiveMaximum",
        [&](const Decimal& value, bool inclusive) {
          return numbers.below(value, inclusive);
        });
  if (const std::optional<Decimal> value = keyword_number(at, "multipleOf")) {
    const LexicalSet multiples =
        at_keyword(at, "multipleOf", [&] { return numbers.multiples(*value); });
    normal->number = both(normal->number, multiples, &pool_.exprs());
    at_keyword(at, "multipleOf", [&] {
      pool_.exprs().try_out(normal->number.in);
      return true;
    });
  }
}

void SchemaReader::restrict_objects(const Location& at, Normal* normal) {
  ExprPool& exprs = pool_.exprs();
  ObjectRules rules;
  std::vector<std::string> names;
  std::vector<ExprId> patterns;
  const auto members = [&](std::string_view keyword) {
    static const std::vector<std::pair<std::string, JsonValue>> kNone;
    const JsonValue* const map = at.value->find(keyword);
    if (map != nullptr && !map->is(JsonValue::Type::kObject)) {
      malformed_keyword(at, keyword, "this has to be an object of schemas");
    }
    return map == nullptr ? &kNone : &map->members;
  };
  for (const auto& [name, schema] : *members("properties")) {
    names.push_back(name);
    rules.all.push_back({KeySet{.name = name}, refer_value(schema)});
  }
  for (const auto& [pattern, schema] : *members("patternProperties")) {
    const ExprId matching =
        at_keyword(at, "patternProperties", [&, &p = pattern] {
          return parse_regex(p, {.search = true, .lookahead = true}, &exprs);
        });
    patterns.push_back(matching);
    rules.all.push_back(
        {KeySet{.literal = false, .names = matching}, refer_value(schema)});
  }
  const SchemaId additional = value_member(at, "additionalProperties");
  if (additional != kTrueSchema) {
    const bool others = patterns.empty();
    patterns.push_back(exprs.one_of(std::move(names)));
    const ExprId rest = exprs.negate(exprs.either(std::move(patterns)));
    rules.all.push_back(
        {KeySet{.literal = false, .names = rest, .others = others},
         additional});
  }
  if (const JsonValue* required = at.value->find("required")) {
    // Booleans there are of draft 3, and mean nothing to the others.
    if (required->is_bool()) {
      unsupported_keyword(at, "required", "a boolean here is not supported");
    }
    rules.required = texts_of(at, "required", *required);
  }
  rules.min = keyword_count(at, "minProperties").value_or(0);
  rules.max = keyword_count(at, "maxProperties").value_or(kUnbounded);
  normal->objects = {pool_.add(std::move(rules))};
}

void SchemaReader::restrict_arrays(const Location& at, Normal* normal) {
  ArrayRules rules;
  const JsonValue* const items = at.value->find("items");
  const bool tuple = items != nullptr && items->is(JsonValue::Type::kArray);
  const std::string_view first = tuple ? "items" : "prefixItems";
  const std::string_view rest = tuple ? "additionalItems" : "items";
  uint32_t prefix = 0;
  if (const JsonValue* list = at.value->find(first)) {
    if (!list->is(JsonValue::Type::kArray)) {
      malformed_keyword(at, first, "this has to be a list of schemas");
    }
    for (const JsonValue& item : list->items) {
      rules.all.push_back({prefix, prefix, refer_value(item)});
      ++prefix;
    }
  }
  const SchemaId others = value_member(at, rest);
  rules.all.push_back({prefix, kUnbounded, others});
  rules.min = keyword_count(at, "minItems").value_or(0);
  rules.max = keyword_count(at, "maxItems").value_or(kUnbounded);
  if (at.value->find("contains") != nullptr) {
    rules.counts.push_back(
        {0, kUnbounded, written_member(at, "contains"),
         keyword_count(at, "minContains").value_or(1),
         keyword_count(at, "maxContains").value_or(kUnbounded)});
  }
  if (const JsonValue* unique = at.value->find("uniqueItems")) {
    rules.unique = unique->is(JsonValue::Type::kTrue);
  }
  normal->arrays = {pool_.add(std::move(rules))};
}

}  // namespace rc::text::grammar
