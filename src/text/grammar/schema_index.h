// Where the schemas of a document are, and what their references name.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_value.h"

namespace rc::text::grammar {

// Versions of JSON Schema, in order.
enum class Draft { k3, k4, k6, k7, k2019, k2020 };

struct SchemaLocation {
  const JsonValue* value = nullptr;
  std::string pointer;  // from the root of the document
  std::string base;     // the URI of the resource that it is part of
  Draft draft = Draft::k2020;
};

// The document must outlive it.
class SchemaIndex {
 public:
  // The draft counts where the document does not name one.
  SchemaIndex(const JsonValue& document, Draft draft);

  const SchemaLocation& root() const { return *root_; }
  // The location of a part of the document.
  const SchemaLocation& at(const JsonValue& value) const {
    return locations_.at(&value);
  }
  // What a $ref at `from` names. Throws RC_E_UNSUPPORTED if it is outside of
  // the document.
  const SchemaLocation& resolve(const SchemaLocation& from,
                                std::string_view reference) const;
  // The same of $dynamicRef and $recursiveRef, if it does not depend on the
  // way that leads there; throws RC_E_UNSUPPORTED if it does.
  const SchemaLocation& resolve_dynamic(const SchemaLocation& from,
                                        std::string_view reference) const;

 private:
  struct Visit {
    const JsonValue* value;
    SchemaLocation location;
    bool schema;  // or an object whose members are schemas
    bool named;   // whether identifiers count here
  };

  void visit(const Visit& visit, std::vector<Visit>* next);
  void identify(const JsonValue& schema, bool root, SchemaLocation* location);

  const SchemaLocation* root_ = nullptr;
  std::unordered_map<const JsonValue*, SchemaLocation> locations_;
  std::unordered_map<std::string, const JsonValue*> resources_;  // by URI
  std::unordered_map<std::string, const JsonValue*> anchors_;    // URI#name
  std::unordered_map<std::string, size_t> dynamic_anchors_;      // by name
  size_t recursive_anchors_ = 0;
};

}  // namespace rc::text::grammar
