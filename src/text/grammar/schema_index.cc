#include "text/grammar/schema_index.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "text/grammar/uri.h"

namespace rc::text::grammar {
namespace {

constexpr std::array<std::string_view, 6> kMapsOfSchemas = {
    "properties",  "patternProperties", "$defs",
    "definitions", "dependentSchemas",  "dependencies"};
constexpr std::array<std::string_view, 5> kValues = {"enum", "const", "default",
                                                     "examples", "example"};
constexpr std::array<std::string_view, 18> kSchemas = {"items",
                                                       "additionalItems",
                                                       "prefixItems",
                                                       "contains",
                                                       "additionalProperties",
                                                       "propertyNames",
                                                       "allOf",
                                                       "anyOf",
                                                       "oneOf",
                                                       "not",
                                                       "if",
                                                       "then",
                                                       "else",
                                                       "unevaluatedProperties",
                                                       "unevaluatedItems",
                                                       "contentSchema",
                                                       "extends",
                                                       "disallow"};

template <size_t size>
bool is_one_of(const std::array<std::string_view, size>& names,
               std::string_view name) {
  for (const std::string_view known : names) {
    if (known == name) return true;
  }
  return false;
}

struct Dialect {
  std::string_view part;  // of the URI of its meta-schema
  Draft draft;
};
constexpr std::array<Dialect, 6> kDialects = {{{"draft-03", Draft::k3},
                                               {"draft-04", Draft::k4},
                                               {"draft-06", Draft::k6},
                                               {"draft-07", Draft::k7},
                                               {"2019-09", Draft::k2019},
                                               {"2020-12", Draft::k2020}}};

const std::string* text_member(const JsonValue& object, std::string_view name) {
  const JsonValue* const value = object.find(name);
  return value != nullptr && value->is(JsonValue::Type::kString) ? &value->text
                                                                 : nullptr;
}

bool is_recursive_anchor(const JsonValue& schema) {
  const JsonValue* const anchor = schema.find("$recursiveAnchor");
  return anchor != nullptr && anchor->is(JsonValue::Type::kTrue);
}

// URIs are kept with each anchor.
constexpr size_t kMaxUri = 2048;

}  // namespace

// One step of a JSON pointer; nullptr if it leads nowhere.
const JsonValue* SchemaIndex::find_child(const JsonValue& value,
                                         std::string_view token) const {
  std::string name;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size()) {
      name += token[++i] == '1' ? '/' : '~';
    } else {
      name += token[i];
    }
  }
  if (value.is(JsonValue::Type::kObject)) {
    constexpr size_t kFew = 16;
    if (value.members.size() <= kFew) return value.find(name);
    const auto [at, added] = members_.try_emplace(&value);
    if (added) {
      for (const auto& [key, part] : value.members) {
        at->second.emplace(key, &part);
      }
    }
    const auto found = at->second.find(name);
    return found == at->second.end() ? nullptr : found->second;
  }
  if (!value.is(JsonValue::Type::kArray) || name.empty() || name.size() > 9 ||
      name.find_first_not_of("0123456789") != std::string::npos) {
    return nullptr;
  }
  const auto index = static_cast<size_t>(std::stoul(name));
  return index < value.items.size() ? &value.items[index] : nullptr;
}

SchemaIndex::SchemaIndex(const JsonValue& document, Draft draft,
                         SchemaPlaces* places)
    : places_(*places) {
  resources_[""] = &document;
  std::vector<Visit> stack = {{&document,
                               {.value = &document,
                                .places = places,
                                .base = std::make_shared<std::string>(),
                                .draft = draft},
                               true,
                               true}};
  while (!stack.empty()) {
    const Visit next = std::move(stack.back());
    stack.pop_back();
    visit(next, &stack);
  }
  root_ = &locations_.at(&document);
  find_scopes();
}

void SchemaIndex::find_scopes() {
  std::map<std::string_view, size_t> counts;
  for (const Anchor& anchor : dynamic_) ++counts[anchor.name];
  for (const Anchor& anchor : dynamic_) {
    if (counts[anchor.name] < 2) continue;
    const size_t number =
        names_.try_emplace(anchor.name, names_.size()).first->second;
    bound_[anchor.base].emplace_back(number, anchor.schema);
  }
  scopes_.emplace_back(names_.size());
  scope_ids_[scopes_[0]] = kNoScope;
}

ScopeId SchemaIndex::enter(ScopeId scope, const SchemaLocation& at) {
  if (names_.empty()) return kNoScope;
  const auto bound = bound_.find(*at.base);
  if (bound == bound_.end()) return scope;
  Scope entered = scopes_[scope];
  for (const auto& [number, schema] : bound->second) {
    if (entered[number] == nullptr) entered[number] = schema;
  }
  const auto next = static_cast<ScopeId>(scopes_.size());
  const auto [known, added] = scope_ids_.try_emplace(entered, next);
  if (!added) return known->second;
  if (scopes_.size() == kMostScopes) {
    fail(RC_E_UNSUPPORTED, "schema at ", at.pointer(),
         ": references lead here in more than ", kMostScopes,
         " ways on which others depend; use $ref in place of $dynamicRef and "
         "$recursiveRef");
  }
  scopes_.push_back(std::move(entered));
  return next;
}

// Takes notice of the identifiers of a schema.
void SchemaIndex::identify(const JsonValue& schema, bool root,
                           SchemaLocation* location) {
  if (const std::string* dialect = text_member(schema, "$schema")) {
    for (const Dialect& known : kDialects) {
      if (dialect->find(known.part) != std::string::npos) {
        location->draft = known.draft;
      }
    }
  }
  const bool old = location->draft <= Draft::k7;
  // Next to a reference nothing counts in old drafts.
  if (old && !root && schema.find("$ref") != nullptr) return;
  const std::string* id =
      text_member(schema, location->draft <= Draft::k4 ? "id" : "$id");
  if (id != nullptr) {
    const std::string fragment = uri_fragment(*id);
    const bool only_fragment = id->starts_with('#');
    if (!only_fragment) {
      const std::string uri = resolve_uri(*location->base, *id);
      if (uri.size() > kMaxUri) {
        fail(RC_E_UNSUPPORTED, "schema at ", location->pointer(),
             ": an identifier has more than ", kMaxUri, " bytes; shorten it");
      }
      location->base = std::make_shared<std::string>(uri);
      resources_[uri] = &schema;
    }
    if (!fragment.empty()) anchors_[*location->base + "#" + fragment] = &schema;
  }
  if (root) resources_[*location->base] = &schema;
  if (const std::string* anchor = text_member(schema, "$anchor")) {
    anchors_[*location->base + "#" + *anchor] = &schema;
  }
  if (const std::string* anchor = text_member(schema, "$dynamicAnchor")) {
    anchors_[*location->base + "#" + *anchor] = &schema;
    if (!anchor->empty())
      dynamic_.push_back({*location->base, *anchor, &schema});
  }
  if (is_recursive_anchor(schema)) {
    dynamic_.push_back({*location->base, "", &schema});
  }
}

void SchemaIndex::visit(const Visit& visit, std::vector<Visit>* next) {
  const JsonValue& value = *visit.value;
  SchemaLocation location = visit.location;
  location.value = &value;
  if (visit.schema && visit.named) {
    identify(value, location.place == SchemaPlaces::kRoot, &location);
  }
  const auto follow = [&](const JsonValue& part, const std::string& name,
                          bool schema, bool named) {
    next->push_back({&part,
                     {.value = &part,
                      .places = &places_,
                      .place = places_.add(location.place, name),
                      .base = location.base,
                      .draft = location.draft},
                     schema,
                     named});
  };
  for (size_t i = 0; i < value.items.size(); ++i) {
    follow(value.items[i], std::to_string(i), visit.schema, visit.named);
  }
  for (const auto& [name, part] : value.members) {
    if (!visit.schema) {
      follow(part, name, true, visit.named);
    } else if (!is_one_of(kValues, name)) {
      const bool map = is_one_of(kMapsOfSchemas, name);
      follow(part, name, !map,
             visit.named && (map || is_one_of(kSchemas, name)));
    }
  }
  locations_[&value] = std::move(location);
}

const SchemaLocation& SchemaIndex::resolve(const SchemaLocation& from,
                                           std::string_view reference) const {
  const std::string uri = resolve_uri(*from.base, reference);
  const std::string fragment = uri_fragment(reference);
  const JsonValue* found = nullptr;
  if (fragment.empty() || fragment.starts_with('/')) {
    const auto resource = resources_.find(uri);
    found = resource != resources_.end() ? resource->second : nullptr;
    std::string_view rest = fragment;
    while (found != nullptr && !rest.empty()) {
      rest.remove_prefix(1);
      const std::string_view token = rest.substr(0, rest.find('/'));
      rest.remove_prefix(token.size());
      found = find_child(*found, token);
    }
  } else if (const auto anchor = anchors_.find(uri + "#" + fragment);
             anchor != anchors_.end()) {
    found = anchor->second;
  }
  const auto location = locations_.find(found);
  if (location == locations_.end()) {
    fail(RC_E_UNSUPPORTED, "schema at ", from.pointer(), ": the reference ",
         quote(reference),
         " names nothing in this document; put what it "
         "names into $defs");
  }
  return location->second;
}

const SchemaLocation& SchemaIndex::resolve_dynamic(const SchemaLocation& from,
                                                   std::string_view reference,
                                                   ScopeId scope) const {
  const SchemaLocation& found = resolve(from, reference);
  if (names_.empty() || !found.value->is(JsonValue::Type::kObject)) {
    return found;
  }
  // Only a reference that names such an anchor by itself is dynamic.
  const std::string fragment = uri_fragment(reference);
  const std::string* const anchor = text_member(*found.value, "$dynamicAnchor");
  const bool dynamic = fragment.empty()
                           ? is_recursive_anchor(*found.value)
                           : anchor != nullptr && *anchor == fragment;
  const auto name = dynamic ? names_.find(fragment) : names_.end();
  const JsonValue* const bound =
      name == names_.end() ? nullptr : scopes_[scope][name->second];
  return bound == nullptr ? found : locations_.at(bound);
}

}  // namespace rc::text::grammar
