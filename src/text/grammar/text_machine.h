// Reads texts byte by byte as far as a regular expression or rules allow them.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "text/grammar/lexer.h"
#include "text/grammar/rule_set.h"
#include "text/grammar/text_decoder.h"

namespace rc::text::grammar {

struct TextOptions {
  RuleLimits rules;
  size_t max_expressions = 1'000'000;  // see ExprPool
  size_t max_lex_states = 100'000;     // see Lexer
};

// The expressions and rules of a grammar. While it is made only one thread may
// use it.
class TextModel {
 public:
  explicit TextModel(const TextOptions& options)
      : exprs_(options.max_expressions),
        rules_(&exprs_, options.rules),
        lexer_(&exprs_, &mutex_, options.max_lex_states,
               [this](uint32_t tag, std::vector<TaggedExpr>* parts) {
                 rules_.follow(tag, parts);
               }) {}
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;

  ExprPool& exprs() { return exprs_; }
  RuleSet& rules() { return rules_; }
  Lexer& lexer() { return lexer_; }

  // Texts are what the expression matches, or what the rules allow. Throws
  // RC_E_INVALID_ARGUMENT if there are none.
  void begin_with(ExprId expr);
  void begin_with_rules(uint32_t root);
  LexState start() const { return start_; }

 private:
  void begin_with(std::vector<TaggedExpr> parts);

  std::recursive_mutex mutex_;
  ExprPool exprs_;
  RuleSet rules_;
  Lexer lexer_;
  LexState start_ = kDeadLex;
};

// See JsonMachine.
class TextMachine {
 public:
  struct State {
    LexState lex = kDeadLex;
    PartialChar partial;
    bool operator==(const State&) const = default;
  };
  enum class Reading : uint8_t { kOther, kContent, kText, kSpaces };

  explicit TextMachine(std::shared_ptr<TextModel> model)
      : model_(std::move(model)) {}

  State begin() const { return {model_->start(), {}}; }
  bool step(State* state, uint8_t byte);
  bool can_end(const State& state) const;

  bool refuses(const State& state, LexState lex, uint8_t byte) const;
  Reading reading(const State& state) const {
    return state.partial.none() ? Reading::kText : Reading::kOther;
  }
  void catch_up(State* state, LexState lex, uint32_t /*spaces*/,
                std::string_view /*bytes*/) const {
    state->lex = lex;
  }
  uint32_t spaces(const State& /*state*/) const { return 0; }
  uint32_t max_spaces() const { return 0; }
  Lexer& lexer() const { return model_->lexer(); }

 private:
  std::shared_ptr<TextModel> model_;
};

}  // namespace rc::text::grammar
