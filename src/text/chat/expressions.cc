// Expressions of chat templates.
#include "base/quote.h"
#include "text/chat/interpreter.h"
#include "text/chat/operators.h"
#include "text/chat/print.h"

namespace rc::text::chat {

Value Interpreter::evaluate(const Expression& node) {
  const Level level(this);
  switch (node.kind) {
    case ExpressionKind::kConstant:
      return node.constant;
    case ExpressionKind::kName:
      return evaluate_name(node.name);
    case ExpressionKind::kCaptured:
      return captured_;
    case ExpressionKind::kList:
    case ExpressionKind::kTuple:
    case ExpressionKind::kDict:
      return evaluate_container(node);
    case ExpressionKind::kAttribute: {
      const Value object = evaluate(*node.parts[0]);
      at_ = node.at;
      return attribute(object, node.text);
    }
    case ExpressionKind::kItem: {
      const Value object = evaluate(*node.parts[0]);
      const Value key = evaluate(*node.parts[1]);
      at_ = node.at;
      return item(object, key);
    }
    case ExpressionKind::kSlice: {
      const Value object = evaluate(*node.parts[0]);
      Value bounds[3];
      for (size_t i = 0; i < 3; ++i) {
        const Expression* bound = node.parts[i + 1].get();
        bounds[i] = bound != nullptr ? evaluate(*bound) : Value::none();
      }
      at_ = node.at;
      return slice(object, bounds[0], bounds[1], bounds[2]);
    }
    case ExpressionKind::kCall:
      return evaluate_call(node);
    case ExpressionKind::kFilter:
    case ExpressionKind::kTest:
      return evaluate_filter(node);
    case ExpressionKind::kNot:
      return Value::boolean(!truth(evaluate(*node.parts[0])));
    case ExpressionKind::kNegative:
    case ExpressionKind::kPositive: {
      const Value value = evaluate(*node.parts[0]);
      at_ = node.at;
      return node.kind == ExpressionKind::kNegative ? negative(value)
                                                    : positive(value);
    }
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr: {
      Value left = evaluate(*node.parts[0]);
      const bool decided = truth(left) == (node.kind == ExpressionKind::kOr);
      return decided ? left : evaluate(*node.parts[1]);
    }
    case ExpressionKind::kArithmetic: {
      const Value left = evaluate(*node.parts[0]);
      const Value right = evaluate(*node.parts[1]);
      at_ = node.at;
      return operate(&budget_, node.operation, left, right);
    }
    case ExpressionKind::kConcat:
      return evaluate_concat(node);
    case ExpressionKind::kCompare:
      return evaluate_compare(node);
    case ExpressionKind::kConditional:
      return evaluate_conditional(node);
  }
  return Value();
}

Value Interpreter::evaluate_name(NameId name) {
  for (const Scope* scope = scope_.get(); scope != nullptr;
       scope = scope->parent()) {
    if (scope->size() >= 32) budget_.step(scope->size() / 32);
    if (const Value* value = scope->find(name)) return *value;
  }
  if (variables_[name]) return *variables_[name];
  if (const Builtin* function = find_function(syntax_.names[name])) {
    return bind(*function, Value());
  }
  return undefined(&budget_, Missing::What::kVariable, syntax_.names[name]);
}

Value Interpreter::evaluate_container(const Expression& node) {
  if (node.kind != ExpressionKind::kDict) {
    Items items(&budget_);
    for (const ExpressionPtr& part : node.parts) items.push(evaluate(*part));
    return items.finish(node.kind == ExpressionKind::kList ? Kind::kList
                                                           : Kind::kTuple);
  }
  std::vector<Dict::Entry> entries;
  for (size_t i = 0; i + 1 < node.parts.size(); i += 2) {
    Value key = evaluate(*node.parts[i]);
    entries.emplace_back(std::move(key), evaluate(*node.parts[i + 1]));
  }
  at_ = node.at;
  return make_dict(&budget_, std::move(entries));
}

Value Interpreter::evaluate_call(const Expression& node) {
  const Expression& callee = *node.parts[0];
  if (callee.kind == ExpressionKind::kAttribute) {
    // Methods need not become values first.
    Value object = evaluate(*callee.parts[0]);
    at_ = callee.at;
    const Builtin* method = find_method(object, callee.text);
    if (method != nullptr && method->run != nullptr) {
      Arguments arguments = evaluate_arguments(node.arguments.get());
      at_ = callee.at;
      return apply(*method, object, std::move(arguments));
    }
    if (method != nullptr && object.is(Kind::kList)) {
      object = Value();
      const auto result =
          change(*callee.parts[0], callee.text, node.arguments.get());
      if (result) return *result;
      object = evaluate(*callee.parts[0]);
      at_ = callee.at;
    }
    const Value function = attribute(object, callee.text);
    Arguments arguments = evaluate_arguments(node.arguments.get());
    at_ = node.at;
    return call(function, std::move(arguments));
  }
  const Value function = evaluate(callee);
  Arguments arguments = evaluate_arguments(node.arguments.get());
  at_ = callee.at;
  return call(function, std::move(arguments));
}

Value* Interpreter::place_of(const Expression& node) {
  if (node.kind == ExpressionKind::kAttribute &&
      node.parts[0]->kind == ExpressionKind::kName) {
    const Value object = evaluate_name(node.parts[0]->name);
    return object.is(Kind::kNamespace) ? object.as<Namespace>().find(node.text)
                                       : nullptr;
  }
  if (node.kind != ExpressionKind::kName) return nullptr;
  for (Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent()) {
    if (Value* value = scope->find(node.name)) return value;
  }
  return nullptr;
}

std::optional<Value> Interpreter::change(const Expression& list,
                                         std::string_view method,
                                         const CallArguments* given) {
  const bool appends = method == "append";
  if (!appends && method != "pop") return std::nullopt;
  Arguments arguments = evaluate_arguments(given);
  const size_t count = arguments.positional.size();
  Value* place = place_of(list);
  // Other holders of the list would see the change, in Python.
  if (place == nullptr || !place->is(Kind::kList) ||
      place->as_sequence().is_shared() || !arguments.named.empty() ||
      count > 1 || (appends && count == 0)) {
    return std::nullopt;
  }
  Items items(&budget_);
  for (const Value& item : place->as_sequence().items()) items.push(item);
  Value result = Value::none();
  if (appends) {
    items.push(std::move(arguments.positional[0]));
  } else {
    const Value last = Value::integer(-1);
    const Value& index = count == 0 ? last : arguments.positional[0];
    at_ = list.at;
    if (!index.is_int()) {
      fault("pop takes a whole number, not ", type_with_article(index));
    }
    result = item(*place, index);
    if (result.is_undefined()) {
      fault("pop: the list has no element ", index.as_int());
    }
    const int64_t at = index.as_int();
    items.erase(static_cast<size_t>(
        at < 0 ? at + static_cast<int64_t>(items.size()) : at));
  }
  *place = items.finish();
  return result;
}

Value Interpreter::evaluate_filter(const Expression& node) {
  if (node.builtin == nullptr) {
    at_ = node.at;
    fault("there is no ",
          node.kind == ExpressionKind::kFilter ? "filter" : "test", " named ",
          quote(node.text));
  }
  const Value self = evaluate(*node.parts[0]);
  Arguments arguments = evaluate_arguments(node.arguments.get());
  at_ = node.at;
  return apply(*node.builtin, self, std::move(arguments));
}

Value Interpreter::evaluate_concat(const Expression& node) {
  std::vector<Value> parts;
  parts.reserve(node.parts.size());
  for (const ExpressionPtr& part : node.parts) parts.push_back(evaluate(*part));
  at_ = node.at;
  Writer out(&budget_);
  for (const Value& part : parts) write_str(&out, part);
  return out.finish();
}

bool Interpreter::compare(Comparison comparison, const Value& a,
                          const Value& b) {
  switch (comparison) {
    case Comparison::kEqual:
      return equal(&budget_, a, b);
    case Comparison::kNotEqual:
      return !equal(&budget_, a, b);
    case Comparison::kLess:
      return less(&budget_, a, b);
    case Comparison::kLessOrEqual:
      return less_or_equal(&budget_, a, b);
    case Comparison::kGreater:
      return less(&budget_, b, a);
    case Comparison::kGreaterOrEqual:
      return less_or_equal(&budget_, b, a);
    case Comparison::kIn:
      return contains(&budget_, b, a);
    case Comparison::kNotIn:
      return !contains(&budget_, b, a);
  }
  return false;
}

Value Interpreter::evaluate_compare(const Expression& node) {
  Value left = evaluate(*node.parts[0]);
  for (size_t i = 0; i < node.comparisons.size(); ++i) {
    Value right = evaluate(*node.parts[i + 1]);
    at_ = node.at;
    if (!compare(node.comparisons[i], left, right))
      return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_conditional(const Expression& node) {
  if (truth(evaluate(*node.parts[0]))) return evaluate(*node.parts[1]);
  if (node.parts[2] != nullptr) return evaluate(*node.parts[2]);
  return undefined(&budget_, Missing::What::kOther,
                   "the condition does not hold and there is no 'else'");
}

Arguments Interpreter::evaluate_arguments(const CallArguments* given) {
  Arguments arguments;
  if (given == nullptr) return arguments;
  arguments.positional.reserve(given->positional.size());
  for (const ExpressionPtr& argument : given->positional) {
    arguments.positional.push_back(evaluate(*argument));
  }
  for (const auto& [name, argument] : given->named) {
    arguments.named.emplace_back(name, evaluate(*argument));
  }
  if (given->list != nullptr) spread_list(*given->list, &arguments);
  if (given->dict != nullptr) spread_dict(*given->dict, &arguments);
  return arguments;
}

void Interpreter::spread_list(const Expression& list, Arguments* arguments) {
  const Value value = evaluate(list);
  at_ = list.at;
  for (Value& element : elements(&budget_, value)) {
    arguments->positional.push_back(std::move(element));
  }
}

void Interpreter::spread_dict(const Expression& dict, Arguments* arguments) {
  const Value value = evaluate(dict);
  at_ = dict.at;
  if (!value.is(Kind::kDict)) {
    fault("arguments after ** must be a dict, not ", type_with_article(value));
  }
  const size_t before = arguments->named.size();
  for (const auto& [key, argument] : value.as_dict().entries()) {
    if (!key.is_string()) {
      fault("names of arguments after ** must be strings, not ",
            type_with_article(key));
    }
    budget_.step(before + 1);
    for (size_t i = 0; i < before; ++i) {
      if (arguments->named[i].first == key.text().bytes()) {
        fault("the argument ", quote(key.text().bytes()), " is given twice");
      }
    }
    arguments->named.emplace_back(key.text().bytes(), argument);
  }
}

}  // namespace rc::text::chat
