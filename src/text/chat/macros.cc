// Macros and call blocks of chat templates.
#include <algorithm>

#include "base/quote.h"
#include "text/chat/interpreter.h"
#include "text/chat/print.h"

namespace rc::text::chat {
namespace {

// Takes an argument out of those given by name.
std::optional<Value> take_named(Arguments* arguments, std::string_view name) {
  auto& named = arguments->named;
  const auto at =
      std::find_if(named.begin(), named.end(),
                   [&](const auto& one) { return one.first == name; });
  if (at == named.end()) return std::nullopt;
  Value value = std::move(at->second);
  named.erase(at);
  return value;
}

}  // namespace

Ref<Scope> Interpreter::make_scope(Ref<Scope> parent) {
  return make<Scope>(&budget_, std::move(parent));
}

void Interpreter::keep(const Ref<Scope>& scope) {
  if (!scopes_.empty() && scopes_.back().get() == scope.get()) return;
  budget_.take(sizeof(Ref<Scope>));
  scopes_.push_back(scope);
}

Ref<Macro> Interpreter::make_macro(const Statement& statement) {
  keep(scope_);
  return make<Macro>(&budget_, statement.macro, scope_);
}

void Interpreter::run_macro(const Statement& statement) {
  scope_->set(statement.target.name,
              Value(Kind::kFunction, make_macro(statement)));
}

void Interpreter::run_call_block(const Statement& statement) {
  const Expression& node = *statement.expression;
  const Value callee = evaluate(*node.parts[0]);
  Arguments arguments = evaluate_arguments(node.arguments.get());
  arguments.named.emplace_back("caller",
                               Value(Kind::kFunction, make_macro(statement)));
  at_ = node.at;
  write_str(out_, call(callee, std::move(arguments)));
}

// Names of parameters get their values in the current scope, the special
// variables too.
void Interpreter::bind_parameters(const Macro& macro, Arguments* arguments) {
  const MacroDefinition& definition = macro.definition();
  const size_t count = definition.parameters.size();
  std::vector<bool> missing(count, false);
  for (size_t i = 0; i < count; ++i) {
    const Parameter& parameter = definition.parameters[i];
    std::optional<Value> value;
    if (i < arguments->positional.size()) {
      value = arguments->positional[i];
    } else {
      budget_.step(arguments->named.size() / 8);
      value = take_named(arguments, parameter.text);
    }
    missing[i] = !value.has_value();
    if (value) scope_->set(parameter.name, std::move(*value));
  }
  if (definition.uses_caller) {
    const std::optional<Value> caller = take_named(arguments, "caller");
    scope_->set(syntax_.caller,
                caller ? *caller
                       : undefined(&budget_, Missing::What::kOther,
                                   "the macro was called without a caller: use "
                                   "it in a call block"));
  }
  if (definition.uses_kwargs) {
    std::vector<Dict::Entry> entries;
    for (auto& [name, value] : arguments->named) {
      entries.emplace_back(make_string(&budget_, name), std::move(value));
    }
    scope_->set(syntax_.kwargs, make_dict(&budget_, std::move(entries)));
  } else if (!arguments->named.empty()) {
    fault("the macro ", quote(definition.name), " takes no argument named ",
          quote(arguments->named[0].first));
  }
  const size_t taken = std::min(count, arguments->positional.size());
  if (definition.uses_varargs) {
    Items rest(&budget_);
    for (size_t i = taken; i < arguments->positional.size(); ++i) {
      rest.push(arguments->positional[i]);
    }
    scope_->set(syntax_.varargs, rest.finish(Kind::kTuple));
  } else if (taken < arguments->positional.size()) {
    fault("the macro ", quote(definition.name), " takes ", count,
          " arguments at most, not ", arguments->positional.size());
  }
  // Defaults may speak of the parameters before them.
  for (size_t i = 0; i < count; ++i) {
    const Parameter& parameter = definition.parameters[i];
    if (!missing[i]) continue;
    if (parameter.initial != nullptr) {
      scope_->set(parameter.name, evaluate(*parameter.initial));
    } else {
      scope_->set(parameter.name,
                  undefined(&budget_, Missing::What::kOther,
                            "the parameter " + quote(parameter.text) +
                                " was not given"));
    }
  }
}

Value Interpreter::call_macro(const Macro& macro, Arguments arguments) {
  const Level level(this);
  const Ref<Scope> before = scope_;
  scope_ = make_scope(macro.scope());
  bind_parameters(macro, &arguments);
  Value written;
  capture(macro.definition().body, &written);
  scope_ = before;
  return written;
}

}  // namespace rc::text::chat
