// The types that the schemas of tools declare for arguments.
//
// Formats that write values without quotes leave it open whether 7 is a number:
// the schema says it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"

namespace rc::text::chat {

// The values that a schema allows, as far as their types go.
struct ArgumentType {
  enum Bit : unsigned char {
    kNull = 1,
    kBoolean = 2,
    kInteger = 4,
    kFraction = 8,  // numbers that are no integers
    kString = 16,
    kArray = 32,
    kObject = 64,
    kAny = 127,
  };
  unsigned char bits = kAny;
  // The schema names all values, which are these.
  bool closed = false;
  std::vector<JsonValue> values = {};

  bool allows(Bit bit) const { return (bits & bit) != 0; }
  // Strings alone, or strings and null: formats write such strings as they are.
  bool is_text() const { return (bits & ~kNull) == kString; }
  bool operator==(const ArgumentType&) const = default;
};

// The type of a value.
ArgumentType::Bit type_of(const JsonValue& value);

// The place of a value within the arguments of a tool: the schemas about it. It
// refers to the tools that it came from.
class ValuePlace {
 public:
  ValuePlace() = default;  // nothing is known of the value
  explicit ValuePlace(const JsonValue& parameters)
      : root_(&parameters), schemas_{&parameters} {}

  ArgumentType type() const;
  // The places of a member and of an item of the value.
  ValuePlace member(std::string_view name) const;
  ValuePlace item(size_t index) const;

 private:
  const JsonValue* root_ = nullptr;  // what references are resolved in
  std::vector<const JsonValue*> schemas_;
};

// The tools of a conversation by their names.
class ToolTypes {
 public:
  struct Arguments {
    std::map<std::string, ArgumentType, std::less<>> named;
    ArgumentType others;  // arguments that the schema does not name
    std::shared_ptr<const JsonValue> parameters;  // null: there are none
  };
  using Tools = std::map<std::string, Arguments, std::less<>>;

  ToolTypes() = default;
  // `tools` is in the shape of OpenAI's chat completions. References within the
  // parameters of a tool are followed.
  explicit ToolTypes(const JsonValue& tools);

  bool empty() const { return tools_.empty(); }
  bool offers(std::string_view function) const {
    return tools_.find(function) != tools_.end();
  }
  // Any type for functions that are not offered.
  const ArgumentType& type(std::string_view function,
                           std::string_view argument) const;
  // The arguments as a whole.
  ValuePlace place(std::string_view function) const;
  const Tools& tools() const { return tools_; }

 private:
  Tools tools_;
};

// The way in which a format writes values of arguments between marks.
struct ValueStyle {
  // Constants and containers are those of Python.
  bool python = false;
  enum class Said : unsigned char { kNothing, kString, kJson };
  // The format's own word about the value.
  Said said = Said::kNothing;
};

// The JSON of an argument that is written without quotes.
std::string argument_json(const ArgumentType& type, std::string_view written,
                          const ValueStyle& style);

}  // namespace rc::text::chat
