#include "text/chat/builtins.h"

#include <algorithm>

#include "base/quote.h"
#include "text/chat/interpreter.h"
#include "text/chat/operators.h"

namespace rc::text::chat {
namespace {

struct ParameterName {
  std::string_view name;
  bool is_optional;
};

// The next of the parameters, which are separated by spaces.
ParameterName next_parameter(std::string_view* parameters) {
  const size_t end = std::min(parameters->find(' '), parameters->size());
  std::string_view name = parameters->substr(0, end);
  parameters->remove_prefix(std::min(end + 1, parameters->size()));
  const bool is_optional = name.ends_with('?');
  if (is_optional) name.remove_suffix(1);
  return {name, is_optional};
}

}  // namespace

Call::Call(Interpreter* interpreter, const Builtin& builtin, const Value& self,
           Arguments arguments)
    : interpreter_(interpreter),
      builtin_(builtin),
      self_(self),
      arguments_(std::move(arguments)) {
  budget()->step(arguments_.named.size());
  std::string_view parameters = builtin.parameters;
  if (parameters == "*") return;
  const bool by_position = parameters.starts_with('/');
  if (by_position) parameters.remove_prefix(1);
  const auto& positional = arguments_.positional;
  while (!parameters.empty()) {
    const ParameterName parameter = next_parameter(&parameters);
    const size_t i = bound_.size();
    const Value* value = i < positional.size() ? &positional[i] : nullptr;
    for (const auto& [name, given] : arguments_.named) {
      if (by_position || name != parameter.name) continue;
      if (value != nullptr) {
        fault(quote(builtin.name), " gets its argument ", quote(name),
              " twice");
      }
      value = &given;
    }
    if (value == nullptr && !parameter.is_optional) {
      fault(quote(builtin.name), " needs the argument ", quote(parameter.name));
    }
    bound_.push_back(value);
  }
  if (positional.size() > bound_.size()) {
    fault(quote(builtin.name), " takes ", bound_.size(),
          " arguments at most, not ", positional.size());
  }
  check_names(by_position);
}

// Every argument by name must be one of the parameters.
void Call::check_names(bool by_position) const {
  for (const auto& given : arguments_.named) {
    std::string_view parameters = builtin_.parameters;
    bool known = false;
    while (!by_position && !known && !parameters.empty()) {
      known = next_parameter(&parameters).name == given.first;
    }
    if (!known) {
      fault(quote(builtin_.name), " takes no argument ", quote(given.first),
            " by name");
    }
  }
}

Budget* Call::budget() const { return interpreter_->budget(); }

void Call::refuse(size_t i, std::string_view expected) const {
  if ((*this)[i].is_undefined()) fault_undefined((*this)[i]);
  fault(quote(builtin_.name), " needs ", expected, " as argument ", i + 1,
        ", not ", type_with_article((*this)[i]));
}

int64_t Call::integer(size_t i, int64_t otherwise) const {
  if (!has(i)) return otherwise;
  if (!(*this)[i].is_int()) refuse(i, "a whole number");
  return (*this)[i].as_int();
}

const Value& Call::string(size_t i) const {
  if (!(*this)[i].is_string()) refuse(i, "a string");
  return (*this)[i];
}

bool Call::truth(size_t i, bool otherwise) const {
  return has(i) ? rc::text::chat::truth((*this)[i]) : otherwise;
}

}  // namespace rc::text::chat
