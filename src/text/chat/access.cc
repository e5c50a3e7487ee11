// Attributes, items and calls of values.
#include <algorithm>

#include "base/utf8.h"
#include "text/chat/interpreter.h"
#include "text/chat/operators.h"
#include "text/chat/print.h"
#include "text/chat/slicing.h"

namespace rc::text::chat {
namespace {

// An index from the front; nothing if it is outside.
std::optional<size_t> index_in(int64_t index, size_t size) {
  const auto count = static_cast<int64_t>(size);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return std::nullopt;
  return static_cast<size_t>(index);
}

Value character(Budget* budget, const Value& value, size_t index) {
  const String& string = value.as_string();
  if (!string.is_ascii()) budget->step_bytes(string.text().size());
  const size_t begin = string.offset(index);
  const std::string_view rest =
      std::string_view(string.text().bytes()).substr(begin);
  return make_string(budget,
                     string.text().slice(begin, begin + decode_utf8(rest).size),
                     value.is_markup());
}

}  // namespace

const Builtin* Interpreter::find_method(const Value& value,
                                        std::string_view name) const {
  switch (value.kind()) {
    case Kind::kString:
      return find_string_method(name);
    case Kind::kDict:
      return find_dict_method(name);
    case Kind::kList:
      return find_sequence_method(name);
    case Kind::kTuple:
    case Kind::kRange: {
      const Builtin* method = find_sequence_method(name);
      const bool has = name == "count" || name == "index";
      return has ? method : nullptr;
    }
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
      return find_number_method(name);
    case Kind::kLoop:
    case Kind::kCycler:
      return find_loop_method(value.kind(), name);
    default:
      return nullptr;
  }
}

Value Interpreter::bind(const Builtin& method, const Value& self) {
  return Value(Kind::kFunction, make<BuiltinFunction>(&budget_, &method, self));
}

// Attributes that are no methods; nothing if there is none of the name.
std::optional<Value> Interpreter::special_attribute(const Value& value,
                                                    std::string_view name) {
  if (value.is(Kind::kNamespace)) {
    const Namespace& space = value.as<Namespace>();
    budget_.step(space.entries().size() / 8);
    const Value* found = space.find(name);
    if (found != nullptr) return *found;
  }
  if (value.is(Kind::kLoop)) return value.as<Loop>().attribute(name);
  if (value.is(Kind::kCycler) && name == "current") {
    const Cycler& cycler = value.as<Cycler>();
    return cycler.items[cycler.at];
  }
  if (value.is(Kind::kFunction) && name == "name") {
    return make_string(&budget_, value.as<Function>().name());
  }
  if (value.is_number()) {
    const bool is_int = value.is_int();
    if (name == "real" || (name == "numerator" && is_int)) {
      return positive(value);
    }
    if (name == "imag") return is_int ? Value::integer(0) : Value::real(0);
    if (name == "denominator" && is_int) return Value::integer(1);
  }
  if (value.is(Kind::kTuple) && value.as_sequence().is_group()) {
    if (name == "grouper") return value.as_sequence().items()[0];
    if (name == "list") return value.as_sequence().items()[1];
  }
  if (value.is(Kind::kRange)) {
    const Range& range = value.as<Range>();
    if (name == "start") return Value::integer(range.start());
    if (name == "stop") return Value::integer(range.stop());
    if (name == "step") return Value::integer(range.step());
  }
  return std::nullopt;
}

Value Interpreter::attribute(const Value& value, std::string_view name) {
  if (value.is_undefined()) fault_undefined(value);
  if (const Builtin* method = find_method(value, name)) {
    if (method->run != nullptr) return bind(*method, value);
    return undefined(&budget_, Missing::What::kMutation, name,
                     type_name(value));
  }
  if (std::optional<Value> found = special_attribute(value, name)) {
    return *found;
  }
  if (value.is(Kind::kDict)) {
    budget_.step_bytes(name.size());
    if (const Value* found = value.as_dict().find(name)) return *found;
  }
  return undefined(&budget_, Missing::What::kAttribute, name, type_name(value));
}

Value Interpreter::item(const Value& value, const Value& key) {
  if (value.is_undefined()) fault_undefined(value);
  if (value.is(Kind::kDict)) {
    if (is_hashable(key)) {
      if (key.is_string()) budget_.step_bytes(key.text().size());
      check_hashable(key);
      if (const Value* found = value.as_dict().find(key)) return *found;
    }
  } else if (key.is_int()) {
    const std::optional<size_t> size =
        value.is_string() || value.is_sequence() || value.is(Kind::kRange)
            ? length(value)
            : std::nullopt;
    const std::optional<size_t> index =
        size ? index_in(key.as_int(), *size) : std::nullopt;
    if (index && value.is_string()) return character(&budget_, value, *index);
    if (index && value.is(Kind::kRange)) return value.as<Range>().at(*index);
    if (index) return value.as_sequence().items()[*index];
  }
  if (key.is_string()) {
    // An attribute of that name, of a dict only a method.
    const std::string& name = key.text().bytes();
    if (!value.is(Kind::kDict) || find_dict_method(name) != nullptr) {
      return attribute(value, name);
    }
    return undefined(&budget_, Missing::What::kAttribute, name,
                     type_name(value));
  }
  if (key.is_undefined() || key.is(Kind::kNone) || key.is_number()) {
    Writer name(&budget_);
    write_repr(&name, key);
    return undefined(&budget_, Missing::What::kElement, name.text().bytes(),
                     type_name(value));
  }
  return undefined(&budget_, Missing::What::kElement, "of that key",
                   type_name(value));
}

Value Interpreter::slice(const Value& value, const Value& first,
                         const Value& last, const Value& step) {
  if (value.is_undefined()) fault_undefined(value);
  return slice_value(&budget_, value, first, last, step);
}

Value Interpreter::call(const Value& function, Arguments arguments) {
  switch (function.kind()) {
    case Kind::kUndefined:
      fault_undefined(function);
    case Kind::kFunction: {
      const Value keep(function);
      return keep.as<Function>().call(this, std::move(arguments));
    }
    case Kind::kLoop: {
      const Value keep(function);
      return call_loop(keep.as<Loop>(), std::move(arguments));
    }
    case Kind::kJoiner: {
      Joiner& joiner = function.as<Joiner>();
      if (!arguments.positional.empty() || !arguments.named.empty()) {
        fault("a joiner takes no arguments");
      }
      if (joiner.used) return joiner.separator;
      joiner.used = true;
      return make_string(&budget_, "");
    }
    default:
      fault(type_with_article(function), " can't be called");
  }
}

Value Interpreter::apply(const Builtin& builtin, const Value& self,
                         Arguments arguments) {
  Call call(this, builtin, self, std::move(arguments));
  return builtin.run(call);
}

}  // namespace rc::text::chat
