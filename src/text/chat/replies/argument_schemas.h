// Reads types of values from the JSON schemas of tools.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "text/chat/replies/tool_types.h"

namespace rc::text::chat {

// The values that one of two types allows.
ArgumentType either_type(ArgumentType a, const ArgumentType& b);

// Reads schemas within the parameters of one tool, in which references are
// resolved. The work of all calls together has a limit, beyond which nothing is
// known.
class ArgumentSchemas {
 public:
  using Schemas = std::vector<const JsonValue*>;

  explicit ArgumentSchemas(const JsonValue& root) : root_(root) {}

  ArgumentType type(const JsonValue& schema, int depth) const;
  // Adds the arguments that a schema names, and those of its parts.
  void add_arguments(const JsonValue& schema, int depth,
                     ToolTypes::Arguments* arguments) const;
  // The schemas of a member and of an item of a value that `schemas` are about.
  Schemas members(const Schemas& schemas, std::string_view name) const;
  Schemas items(const Schemas& schemas, size_t index) const;

 private:
  // The schemas and those that they apply to the same value.
  Schemas parts(const Schemas& schemas) const;
  void add_parts(const JsonValue& schema, int depth, Schemas* parts) const;
  // The target of "$ref"; nullptr if there is none.
  const JsonValue* reference(const JsonValue& schema) const;
  bool may_read(const JsonValue& schema, int depth) const;

  const JsonValue& root_;
  mutable size_t read_ = 0;
};

}  // namespace rc::text::chat
