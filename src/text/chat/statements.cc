// Statements of chat templates.
#include <utility>

#include "text/chat/interpreter.h"
#include "text/chat/operators.h"
#include "text/chat/print.h"

namespace rc::text::chat {

Interpreter::Interpreter(const Syntax& syntax, const Dict& variables,
                         const RenderOptions& options, const Limits& limits)
    : syntax_(syntax),
      options_(options),
      budget_(limits, options.should_stop),
      variables_(syntax.names.size()),
      out_(&root_),
      root_(&budget_, options.most_bytes) {
  for (const auto& [name, value] : variables.entries()) {
    if (!name.is_string()) continue;
    const auto known = syntax.ids.find(name.text().bytes());
    if (known != syntax.ids.end()) variables_[known->second] = value;
  }
}

Interpreter::~Interpreter() { let_go(); }

void Interpreter::let_go() noexcept {
  for (const Ref<Namespace>& one : namespaces_) one->clear();
  for (const Ref<Scope>& one : scopes_) one->clear();
}

Rendered Interpreter::render() {
  try {
    budget_.ask();
    scope_ = make<Scope>(&budget_, Ref<Scope>());
    run(syntax_.body);
    Text text = root_.take();
    std::vector<Span> content = text.content();
    return {text.release(), std::move(content), std::move(generation_)};
  } catch (const Fault& wrong) {
    fail_at(at_, wrong.status, wrong.message);
  }
}

Ref<Namespace> Interpreter::make_namespace() {
  namespaces_.push_back(make<Namespace>(&budget_));
  return namespaces_.back();
}

Interpreter::Flow Interpreter::run(const Body& body) {
  const Level level(this);
  for (const auto& statement : body) {
    const Flow flow = run(*statement);
    if (flow != Flow::kOn) return flow;
    // Only here: what is captured counts as memory, and is output later.
    if (root_.size() > budget_.limits().output_bytes) {
      fault_of_limit("the rendered text has more than ",
                     budget_.limits().output_bytes,
                     " bytes: shorten the conversation");
    }
  }
  return Flow::kOn;
}

Interpreter::Flow Interpreter::run(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kText:
      out_->append(statement.text, Origin::kTemplate);
      return Flow::kOn;
    case StatementKind::kPrint: {
      const Value value = evaluate(*statement.expression);
      write_str(out_, value);
      return Flow::kOn;
    }
    case StatementKind::kIf:
      return run_if(statement);
    case StatementKind::kFor:
      return run_for(statement);
    case StatementKind::kSet:
      assign(statement.target, evaluate(*statement.expression));
      return Flow::kOn;
    case StatementKind::kSetBlock:
      return run_set_block(statement);
    case StatementKind::kMacro:
      run_macro(statement);
      return Flow::kOn;
    case StatementKind::kCallBlock:
      run_call_block(statement);
      return Flow::kOn;
    case StatementKind::kFilterBlock:
      return run_filter_block(statement);
    case StatementKind::kWith:
      return run_with(statement);
    case StatementKind::kGeneration:
      run_generation(statement);
      return Flow::kOn;
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kOn;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement) {
  for (const auto& [test, body] : statement.branches) {
    if (test == nullptr || truth(evaluate(*test))) return run(body);
  }
  return Flow::kOn;
}

Interpreter::Flow Interpreter::run_in_scope(const Body& body) {
  const Ref<Scope> outer = scope_;
  scope_ = make_scope(outer);
  const Flow flow = run(body);
  scope_ = outer;
  return flow;
}

Interpreter::Flow Interpreter::capture(const Body& body, Value* captured) {
  Writer writer(&budget_);
  Writer* const outer = std::exchange(out_, &writer);
  const Flow flow = run(body);
  out_ = outer;
  *captured = writer.finish();
  return flow;
}

Interpreter::Flow Interpreter::run_set_block(const Statement& statement) {
  const Ref<Scope> outer = scope_;
  scope_ = make_scope(outer);
  Value captured;
  const Flow flow = capture(statement.body, &captured);
  if (flow == Flow::kOn && statement.expression != nullptr) {
    captured_ = std::move(captured);
    captured = evaluate(*statement.expression);
  }
  scope_ = outer;
  if (flow == Flow::kOn) assign(statement.target, std::move(captured));
  return flow;
}

Interpreter::Flow Interpreter::run_filter_block(const Statement& statement) {
  const Ref<Scope> outer = scope_;
  scope_ = make_scope(outer);
  Value captured;
  const Flow flow = capture(statement.body, &captured);
  if (flow == Flow::kOn) {
    captured_ = std::move(captured);
    write_str(out_, evaluate(*statement.expression));
  }
  scope_ = outer;
  return flow;
}

Interpreter::Flow Interpreter::run_with(const Statement& statement) {
  std::vector<Value> values;
  for (const auto& assignment : statement.assignments) {
    values.push_back(evaluate(*assignment.second));
  }
  const Ref<Scope> outer = scope_;
  scope_ = make_scope(outer);
  for (size_t i = 0; i < values.size(); ++i) {
    assign(statement.assignments[i].first, std::move(values[i]));
  }
  const Flow flow = run(statement.body);
  scope_ = outer;
  return flow;
}

void Interpreter::run_generation(const Statement& statement) {
  const size_t begin = root_.size();
  const bool is_output = out_ == &root_;
  run_in_scope(statement.body);
  if (is_output && root_.size() > begin) {
    generation_.push_back({begin, root_.size()});
  }
}

void Interpreter::assign(const Target& target, Value value) {
  switch (target.kind) {
    case Target::Kind::kName:
      scope_->set(target.name, std::move(value));
      return;
    case Target::Kind::kAttribute:
      assign_attribute(target, std::move(value));
      return;
    case Target::Kind::kTuple:
      break;
  }
  at_ = target.at;
  const std::vector<Value> parts = elements(&budget_, value);
  if (parts.size() != target.parts.size()) {
    fault("can't assign ", parts.size(), " elements to ", target.parts.size(),
          " variables");
  }
  for (size_t i = 0; i < parts.size(); ++i) assign(target.parts[i], parts[i]);
}

void Interpreter::assign_attribute(const Target& target, Value value) {
  const Value space = evaluate_name(target.name);
  at_ = target.at;
  if (!space.is(Kind::kNamespace)) {
    fault("can't set an attribute of ", type_with_article(space),
          ": make it with namespace()");
  }
  space.as<Namespace>().set(
      make_string(&budget_, target.attribute, Origin::kTemplate),
      std::move(value));
}

}  // namespace rc::text::chat
