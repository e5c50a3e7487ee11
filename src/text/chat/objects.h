// Values that live within one rendering: variables, loops, functions and what
// else changes or calls back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/chat/builtins.h"
#include "text/chat/containers.h"
#include "text/chat/syntax.h"

namespace rc::text::chat {

// The reason why a value is undefined, for messages.
class Missing : public Object {
 public:
  enum class What { kVariable, kAttribute, kElement, kMutation, kOther };
  Missing(Budget* budget, What what, std::string name, const char* owner)
      : Object(budget, sizeof(Missing) + name.size()),
        what_(what),
        name_(std::move(name)),
        owner_(owner) {}
  std::string message() const;

 private:
  What what_;
  std::string name_;  // for kOther the whole message
  const char* owner_;
};

Value undefined(Budget* budget, Missing::What what, std::string_view name,
                const char* owner = "");
// Fails because an undefined value was used.
[[noreturn]] void fault_undefined(const Value& value);

// The variables of a block, within those of the blocks around it.
class Scope : public Object {
 public:
  Scope(Budget* budget, Ref<Scope> parent)
      : Object(budget, sizeof(Scope)), parent_(std::move(parent)) {}
  const Value* find(NameId name) const {
    for (const auto& [id, value] : variables_) {
      if (id == name) return &value;
    }
    return nullptr;
  }
  Value* find(NameId name) {
    return const_cast<Value*>(std::as_const(*this).find(name));
  }
  void set(NameId name, Value value);
  void clear() { variables_.clear(); }
  size_t size() const { return variables_.size(); }
  Scope* parent() const { return parent_.get(); }

 private:
  std::vector<std::pair<NameId, Value>> variables_;
  Ref<Scope> parent_;
};

class Namespace : public Object {
 public:
  explicit Namespace(Budget* budget) : Object(budget, sizeof(Namespace)) {}
  const Value* find(std::string_view name) const;
  Value* find(std::string_view name) {
    return const_cast<Value*>(std::as_const(*this).find(name));
  }
  void set(const Value& name, Value value);
  const std::vector<Dict::Entry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::vector<Dict::Entry> entries_;
};

// Gives values one after the other, once.
class Iterator : public Object {
 public:
  using Object::Object;
  virtual std::optional<Value> next() = 0;
};

// Goes through a value; fails if that can't be done.
Ref<Iterator> iterate(Budget* budget, const Value& value);
bool is_iterable(const Value& value);
// The elements of a value.
std::vector<Value> elements(Budget* budget, const Value& value);
// len(); nothing if the value has none.
std::optional<size_t> length(const Value& value);

// The variable `loop` within a loop, which also drives the loop.
class Loop : public Object {
 public:
  Loop(Budget* budget, Value iterable, Ref<Iterator> iterator, size_t depth0);
  std::optional<Value> next();
  // loop.name; nothing if it has no such attribute.
  std::optional<Value> attribute(std::string_view name);
  // Whether the values differ from those of the last call.
  bool changed(std::vector<Value> values);
  size_t index0() const { return index0_; }
  size_t depth0() const { return depth0_; }
  size_t length();

  // For a recursive loop: how to go through something else in the same way.
  const Statement* recursive = nullptr;
  Ref<Scope> outer;

 private:
  const std::optional<Value>& peek();

  Value iterable_;  // undefined if its length is not that of the loop
  Ref<Iterator> iterator_;
  std::vector<Value> rest_;  // of the iterator, once the length was asked for
  size_t rest_at_ = 0;
  bool has_rest_ = false;
  size_t depth0_;
  size_t index0_ = SIZE_MAX;
  std::optional<size_t> length_;
  bool peeked_ = false;
  std::optional<Value> after_;
  std::optional<Value> current_;
  std::optional<Value> before_;
  std::optional<std::vector<Value>> last_changed_;
};

// cycler() and joiner().
class Cycler : public Object {
 public:
  Cycler(Budget* budget, std::vector<Value> items);
  const std::vector<Value> items;
  size_t at = 0;
};
class Joiner : public Object {
 public:
  Joiner(Budget* budget, Value separator);
  const Value separator;
  bool used = false;
};

class Function : public Object {
 public:
  using Object::Object;
  virtual Value call(Interpreter* interpreter, Arguments arguments) = 0;
  virtual std::string name() const = 0;
  // The text that printing it shows.
  virtual std::string text() const { return "<function " + name() + ">"; }
};

// A builtin function, or a method of a value.
class BuiltinFunction : public Function {
 public:
  BuiltinFunction(Budget* budget, const Builtin* builtin, Value self)
      : Function(budget, sizeof(BuiltinFunction)),
        builtin_(builtin),
        self_(std::move(self)) {
    set_depth(self_.depth() + 1);
    if (budget != nullptr) budget->check_depth(depth(), "values");
  }
  Value call(Interpreter* interpreter, Arguments arguments) override;
  std::string name() const override { return std::string(builtin_->name); }

 private:
  const Builtin* builtin_;
  Value self_;
};

// A macro, or the body of a call block, with the variables around it.
class Macro : public Function {
 public:
  Macro(Budget* budget, std::shared_ptr<const MacroDefinition> definition,
        Ref<Scope> scope)
      : Function(budget, sizeof(Macro)),
        definition_(std::move(definition)),
        scope_(std::move(scope)) {}
  Value call(Interpreter* interpreter, Arguments arguments) override;
  std::string name() const override { return definition_->name; }
  std::string text() const override {
    return name().empty() ? "<Macro anonymous>" : "<Macro '" + name() + "'>";
  }
  const MacroDefinition& definition() const { return *definition_; }
  const Ref<Scope>& scope() const { return scope_; }

 private:
  std::shared_ptr<const MacroDefinition> definition_;
  Ref<Scope> scope_;
};

}  // namespace rc::text::chat
