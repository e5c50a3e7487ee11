// Where the schemas of a document are, and what their references name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_value.h"
#include "text/grammar/schema_places.h"

namespace rc::text::grammar {

// Versions of JSON Schema, in order.
enum class Draft { k3, k4, k6, k7, k2019, k2020 };

struct SchemaLocation {
  const JsonValue* value = nullptr;
  const SchemaPlaces* places = nullptr;
  PlaceId place = SchemaPlaces::kRoot;
  // The URI of the resource that it is part of.
  std::shared_ptr<const std::string> base{};
  Draft draft = Draft::k2020;

  // From the root of the document.
  std::string pointer() const { return places->pointer(place); }
};

// The resources on the way to a schema, as far as $dynamicRef and $recursiveRef
// depend on them: the first that has an anchor counts.
using ScopeId = uint32_t;
inline constexpr ScopeId kNoScope = 0;  // nothing has been entered

// The document must outlive it, and the places, to which it adds.
class SchemaIndex {
 public:
  // The draft counts where the document does not name one.
  SchemaIndex(const JsonValue& document, Draft draft, SchemaPlaces* places);

  const SchemaLocation& root() const { return *root_; }
  // The location of a part of the document.
  const SchemaLocation& at(const JsonValue& value) const {
    return locations_.at(&value);
  }
  // Returns the target of a $ref at `from`. Throws RC_E_UNSUPPORTED if it is
  // outside of the document.
  const SchemaLocation& resolve(const SchemaLocation& from,
                                std::string_view reference) const;
  // Whether there is more than one scope.
  bool has_scopes() const { return !names_.empty(); }
  // The scope of a location that is reached from another scope. Throws
  // RC_E_UNSUPPORTED if there would be more than kMostScopes.
  ScopeId enter(ScopeId scope, const SchemaLocation& at);
  static constexpr size_t kMostScopes = 256;
  // The same as resolve() of $dynamicRef and $recursiveRef in a scope.
  const SchemaLocation& resolve_dynamic(const SchemaLocation& from,
                                        std::string_view reference,
                                        ScopeId scope) const;

 private:
  struct Visit {
    const JsonValue* value;
    SchemaLocation location;
    bool schema;  // or an object whose members are schemas
    bool named;   // whether identifiers count here
  };

  void visit(const Visit& visit, std::vector<Visit>* next);
  void identify(const JsonValue& schema, bool root, SchemaLocation* location);
  void find_scopes();
  const JsonValue* find_child(const JsonValue& value,
                              std::string_view token) const;

  SchemaPlaces& places_;
  const SchemaLocation* root_ = nullptr;
  std::unordered_map<const JsonValue*, SchemaLocation> locations_;
  std::unordered_map<std::string, const JsonValue*> resources_;  // by URI
  std::unordered_map<std::string, const JsonValue*> anchors_;    // URI#name
  // The schemas of $dynamicAnchor, and of $recursiveAnchor under the name "".
  struct Anchor {
    std::string base;
    std::string name;
    const JsonValue* schema;
  };
  std::vector<Anchor> dynamic_;
  // Names that several schemas have, by their numbers; and the schemas that
  // have one, by the URIs of resources.
  std::map<std::string, size_t, std::less<>> names_;
  using Bound = std::vector<std::pair<size_t, const JsonValue*>>;
  std::unordered_map<std::string, Bound> bound_;
  // Of each scope the schemas that its names mean, or nullptr.
  using Scope = std::vector<const JsonValue*>;
  std::vector<Scope> scopes_;
  std::map<Scope, ScopeId> scope_ids_;
  // The members of large objects that references have gone into.
  using Members = std::unordered_map<std::string_view, const JsonValue*>;
  mutable std::unordered_map<const JsonValue*, Members> members_;
};

}  // namespace rc::text::grammar
