#include "text/chat/replies/tool_types.h"

#include <utility>

#include "text/chat/replies/argument_schemas.h"

namespace rc::text::chat {

using Type = JsonValue::Type;
using Bit = ArgumentType::Bit;

Bit type_of(const JsonValue& value) {
  switch (value.type) {
    case Type::kNull:
      return Bit::kNull;
    case Type::kFalse:
    case Type::kTrue:
      return Bit::kBoolean;
    case Type::kNumber:
      return value.text.find_first_of(".eE") == std::string::npos
                 ? Bit::kInteger
                 : Bit::kFraction;
    case Type::kString:
      return Bit::kString;
    case Type::kArray:
      return Bit::kArray;
    case Type::kObject:
      break;
  }
  return Bit::kObject;
}

ToolTypes::ToolTypes(const JsonValue& tools) {
  for (const JsonValue& tool : tools.items) {
    const JsonValue* function = tool.find("function");
    if (function == nullptr) continue;
    const JsonValue* name = function->find("name");
    if (name == nullptr || !name->is(Type::kString)) continue;
    Arguments arguments;
    if (const JsonValue* parameters = function->find("parameters")) {
      arguments.parameters = std::make_shared<const JsonValue>(*parameters);
      ArgumentSchemas(*parameters).add_arguments(*parameters, 0, &arguments);
    }
    tools_.insert_or_assign(name->text, std::move(arguments));
  }
}

const ArgumentType& ToolTypes::type(std::string_view function,
                                    std::string_view argument) const {
  static const ArgumentType kUnknown;
  const auto tool = tools_.find(function);
  if (tool == tools_.end()) return kUnknown;
  const auto found = tool->second.named.find(argument);
  return found == tool->second.named.end() ? tool->second.others
                                           : found->second;
}

ValuePlace ToolTypes::place(std::string_view function) const {
  const auto tool = tools_.find(function);
  if (tool == tools_.end() || tool->second.parameters == nullptr) return {};
  return ValuePlace(*tool->second.parameters);
}

ArgumentType ValuePlace::type() const {
  if (schemas_.empty()) return {};
  const ArgumentSchemas schemas(*root_);
  ArgumentType type = schemas.type(*schemas_[0], 0);
  for (size_t i = 1; i < schemas_.size(); ++i) {
    type = either_type(std::move(type), schemas.type(*schemas_[i], 0));
  }
  return type;
}

ValuePlace ValuePlace::member(std::string_view name) const {
  ValuePlace place;
  place.root_ = root_;
  if (!schemas_.empty()) {
    place.schemas_ = ArgumentSchemas(*root_).members(schemas_, name);
  }
  return place;
}

ValuePlace ValuePlace::item(size_t index) const {
  ValuePlace place;
  place.root_ = root_;
  if (!schemas_.empty()) {
    place.schemas_ = ArgumentSchemas(*root_).items(schemas_, index);
  }
  return place;
}

}  // namespace rc::text::chat
