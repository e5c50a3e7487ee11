#include "text/chat/value.h"

#include "text/chat/containers.h"

namespace rc::text::chat {

Value Value::string(std::string_view bytes, Origin origin) {
  return make_string(nullptr, bytes, origin);
}

const String& Value::as_string() const { return as<String>(); }
const Text& Value::text() const { return as<String>().text(); }
const Sequence& Value::as_sequence() const { return as<Sequence>(); }
const Dict& Value::as_dict() const { return as<Dict>(); }

bool Value::is_same(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kUndefined:
      return payload_.object == other.payload_.object;
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return payload_.integer == other.payload_.integer;
    case Kind::kFloat:
      return as_real() == other.as_real();
    case Kind::kString:
      // Python keeps one object for equal literals and short strings.
      return markup_ == other.markup_ && text().bytes() == other.text().bytes();
    default:
      return payload_.object == other.payload_.object;
  }
}

const char* type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return value.is_markup() ? "Markup" : "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kDictView:
      return "view of a dict";
    case Kind::kIterator:
      return "iterator";
    case Kind::kNamespace:
      return "namespace";
    case Kind::kLoop:
      return "loop";
    case Kind::kCycler:
      return "cycler";
    case Kind::kJoiner:
      return "joiner";
    case Kind::kFunction:
      return "function";
  }
  return "value";
}

std::string with_article(std::string_view type) {
  if (type == "None") return std::string(type);
  const bool vowel =
      std::string_view("aeiouAEIOU").find(type.front()) != std::string::npos;
  return std::string(vowel ? "an " : "a ").append(type);
}

std::string type_with_article(const Value& value) {
  return with_article(type_name(value));
}

}  // namespace rc::text::chat
