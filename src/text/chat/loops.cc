// Loops of chat templates.
#include "text/chat/interpreter.h"
#include "text/chat/operators.h"

namespace rc::text::chat {

// The elements for which the test of a loop holds, each tested when its turn
// comes.
class Interpreter::TestedIterator : public Iterator {
 public:
  TestedIterator(Interpreter* interpreter, const Statement& statement,
                 Ref<Scope> outer, Ref<Iterator> source)
      : Iterator(interpreter->budget(), sizeof(TestedIterator)),
        interpreter_(interpreter),
        statement_(statement),
        outer_(std::move(outer)),
        source_(std::move(source)) {
    set_depth(source_->depth() + 1);
    budget()->check_depth(depth(), "values");
  }
  std::optional<Value> next() override {
    while (std::optional<Value> element = source_->next()) {
      const Ref<Scope> before = interpreter_->scope_;
      interpreter_->scope_ = interpreter_->make_scope(outer_);
      interpreter_->assign(statement_.target, *element);
      const bool holds = truth(interpreter_->evaluate(*statement_.test));
      interpreter_->scope_ = before;
      if (holds) return element;
    }
    return std::nullopt;
  }

 private:
  Interpreter* interpreter_;
  const Statement& statement_;
  Ref<Scope> outer_;
  Ref<Iterator> source_;
};

Interpreter::Flow Interpreter::run_for(const Statement& statement) {
  const Value iterable = evaluate(*statement.expression);
  at_ = statement.at;
  if (!statement.is_recursive) {
    return run_loop(statement, iterable, scope_, 0);
  }
  // The body is a function, which `break` of a loop around it can't leave.
  run_loop(statement, iterable, scope_, 0);
  return Flow::kOn;
}

Interpreter::Flow Interpreter::run_loop(const Statement& statement,
                                        const Value& iterable, Ref<Scope> outer,
                                        size_t depth0) {
  Ref<Iterator> elements = iterate(&budget_, iterable);
  if (statement.test != nullptr) {
    elements = make<TestedIterator>(this, statement, outer, elements);
  }
  Ref<Loop> loop;
  Value loop_value;
  if (statement.uses_loop || statement.is_recursive) {
    loop = make<Loop>(&budget_, statement.test == nullptr ? iterable : Value(),
                      elements, depth0);
    if (statement.is_recursive) {
      loop->recursive = &statement;
      loop->outer = outer;
      keep(outer);
    }
    loop_value = Value(Kind::kLoop, loop);
  }
  const Ref<Scope> before = scope_;
  bool completed = false;
  Ref<Scope> inner;
  while (std::optional<Value> element =
             loop ? loop->next() : elements->next()) {
    budget_.step();
    // Each turn has separate variables; the last ones may have been kept.
    if (inner && !inner->is_shared()) {
      inner->clear();
    } else {
      inner = make_scope(outer);
    }
    scope_ = inner;
    assign(statement.target, std::move(*element));
    if (loop) scope_->set(syntax_.loop, loop_value);
    const Flow flow = run(statement.body);
    scope_ = before;
    if (flow == Flow::kBreak) break;
    // As Jinja has it, a turn that was cut short doesn't count for `else`.
    if (flow == Flow::kOn) completed = true;
  }
  if (completed || statement.otherwise.empty()) return Flow::kOn;
  scope_ = make_scope(outer);
  const Flow flow = run(statement.otherwise);
  scope_ = before;
  return flow;
}

Value Interpreter::call_loop(const Loop& loop, Arguments arguments) {
  if (loop.recursive == nullptr) {
    fault(
        "the loop can't be called: write 'recursive' at the end of its "
        "'for'");
  }
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    fault("loop() takes one argument, what to go through");
  }
  const Level level(this);
  const Statement& statement = *loop.recursive;
  const Ref<Scope> outer = loop.outer;
  Writer writer(&budget_);
  Writer* const before = std::exchange(out_, &writer);
  run_loop(statement, arguments.positional[0], outer, loop.depth0() + 1);
  out_ = before;
  return writer.finish();
}

}  // namespace rc::text::chat
