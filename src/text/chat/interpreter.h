// Renders a syntax tree. One interpreter renders once, on one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat/builtins.h"
#include "text/chat/objects.h"
#include "text/chat/render.h"
#include "text/chat/syntax.h"

namespace rc::text::chat {

class Interpreter {
 public:
  Interpreter(const Syntax& syntax, const Dict& variables,
              const RenderOptions& options, const Limits& limits);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // To be called once. Throws rc::Error with the place in the template.
  Rendered render();

  // The following is for builtins.

  Budget* budget() { return &budget_; }
  const RenderOptions& options() const { return options_; }

  // value.name and value[key]: undefined if there is nothing of that name.
  Value attribute(const Value& value, std::string_view name);
  Value item(const Value& value, const Value& key);
  // value[first:last:step], of which each bound may be None.
  Value slice(const Value& value, const Value& first, const Value& last,
              const Value& step);
  Value call(const Value& function, Arguments arguments);
  Value call_macro(const Macro& macro, Arguments arguments);
  // A filter, a test, a method or a function.
  Value apply(const Builtin& builtin, const Value& self, Arguments arguments);
  // A new namespace, of which the end of the rendering lets go.
  Ref<Namespace> make_namespace();

  // Counts a level of evaluation, which ends with it.
  class Level {
   public:
    explicit Level(Interpreter* interpreter) : interpreter_(interpreter) {
      interpreter_->budget_.step();
      interpreter_->budget_.check_depth(interpreter_->depth_ + 1,
                                        "evaluations");
      ++interpreter_->depth_;
    }
    ~Level() { --interpreter_->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Interpreter* interpreter_;
  };

 private:
  enum class Flow { kOn, kBreak, kContinue };
  class TestedIterator;

  // Statements.
  Flow run(const Body& body);
  Flow run(const Statement& statement);
  Flow run_if(const Statement& statement);
  Flow run_in_scope(const Body& body);
  // Runs a body and returns its output.
  Flow capture(const Body& body, Value* captured);
  Flow run_set_block(const Statement& statement);
  Flow run_filter_block(const Statement& statement);
  Flow run_with(const Statement& statement);
  void run_call_block(const Statement& statement);
  void run_generation(const Statement& statement);
  void run_macro(const Statement& statement);
  void assign(const Target& target, Value value);
  void assign_attribute(const Target& target, Value value);

  // Loops.
  Flow run_for(const Statement& statement);
  Flow run_loop(const Statement& statement, const Value& iterable,
                Ref<Scope> outer, size_t depth0);
  Value call_loop(const Loop& loop, Arguments arguments);

  // Expressions.
  Value evaluate(const Expression& node);
  Value evaluate_name(NameId name);
  Value evaluate_container(const Expression& node);
  Value evaluate_call(const Expression& node);
  // Where the variable, or attribute of a namespace, that an expression names
  // is held; nullptr: it is none, or one of the caller.
  Value* place_of(const Expression& node);
  // list.append(element) and list.pop(index), if nothing else holds the list;
  // nothing: something does, or it is another method.
  std::optional<Value> change(const Expression& list, std::string_view method,
                              const CallArguments* given);
  Value evaluate_filter(const Expression& node);
  Value evaluate_concat(const Expression& node);
  Value evaluate_compare(const Expression& node);
  Value evaluate_conditional(const Expression& node);
  bool compare(Comparison comparison, const Value& a, const Value& b);
  Arguments evaluate_arguments(const CallArguments* given);
  void spread_list(const Expression& list, Arguments* arguments);
  void spread_dict(const Expression& dict, Arguments* arguments);

  // Access.
  const Builtin* find_method(const Value& value, std::string_view name) const;
  std::optional<Value> special_attribute(const Value& value,
                                         std::string_view name);
  Value bind(const Builtin& method, const Value& self);

  // Macros.
  void bind_parameters(const Macro& macro, Arguments* arguments);
  Ref<Scope> make_scope(Ref<Scope> parent);
  Ref<Macro> make_macro(const Statement& statement);
  void keep(const Ref<Scope>& scope);
  void let_go() noexcept;

  const Syntax& syntax_;
  const RenderOptions& options_;
  Budget budget_;
  std::vector<std::optional<Value>> variables_;  // of the caller, by NameId
  Position at_;                                  // of what is done now
  size_t depth_ = 0;
  Writer* out_ = nullptr;
  Writer root_;
  Ref<Scope> scope_;
  Value captured_;
  std::vector<Span> generation_;
  // Objects that may refer to themselves in a circle, to be taken apart at the
  // end.
  std::vector<Ref<Namespace>> namespaces_;
  std::vector<Ref<Scope>> scopes_;
};

}  // namespace rc::text::chat
