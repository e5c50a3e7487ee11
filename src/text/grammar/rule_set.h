// A context-free grammar over regular expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/grammar/lexer.h"

namespace rc::text::grammar {

// A part of the right side of a rule.
struct RuleNode {
  enum class Kind : uint8_t { kExpr, kRule, kSequence, kChoice, kRepeat };
  Kind kind = Kind::kSequence;
  ExprId expr = ExprPool::kEmpty;    // of kExpr
  uint32_t rule = 0;                 // of kRule
  uint32_t min = 0;                  // of kRepeat
  uint32_t max = 0;                  // of kRepeat, or kUnbounded
  std::vector<RuleNode> children{};  // of the others; one of kRepeat

  static RuleNode of(ExprId expr) {
    return {.kind = Kind::kExpr, .expr = expr};
  }
  static RuleNode repeat(RuleNode child, uint32_t min, uint32_t max);
};

struct RuleLimits {
  size_t max_symbols = 100'000;   // of all rules, written out
  uint32_t max_depth = 1'000;     // of rules within one another, in a text
  size_t max_stacks = 1'000'000;  // ways to be within rules
};

// First all rules are given, then compile() is called, then it serves as the
// Follow of a lexer. Not for several threads at a time. Errors are
// RC_E_INVALID_ARGUMENT and RC_E_UNSUPPORTED and name the rule.
class RuleSet {
 public:
  RuleSet(ExprPool* pool, const RuleLimits& limits)
      : pool_(*pool), limits_(limits) {}

  // The rule with this name, which is made when it is named first.
  uint32_t rule(std::string_view name);
  const std::string& name(uint32_t rule) const { return rules_[rule].name; }
  bool defined(uint32_t rule) const { return rules_[rule].body.has_value(); }
  void define(uint32_t rule, RuleNode body);
  size_t size() const { return rules_.size(); }

  // Checks the rules and begins with `root`: throws if a rule is not defined,
  // if it may begin with itself, or if no text matches.
  void compile(uint32_t root);

  // How texts begin. The tag kEnd is of what ends them.
  std::vector<TaggedExpr> begin();
  static constexpr uint32_t kEnd = 0;
  void follow(uint32_t tag, std::vector<TaggedExpr>* parts);

 private:
  struct Rule {
    std::string name;
    std::optional<RuleNode> body{};
    std::optional<ExprId> expr{};    // if it is regular
    std::vector<uint32_t> starts{};  // of its alternatives, in symbols_
    bool productive = false;
    bool nullable = false;
  };
  struct Symbol {
    enum class Kind : uint8_t { kExpr, kRule, kEnd };
    Kind kind;
    uint32_t id;
  };
  // What is left to do: go on at a symbol, then with the parent.
  struct Stack {
    uint32_t parent;
    uint32_t symbol;
    uint32_t depth;
  };
  struct Visit {
    uint32_t symbol;
    uint32_t parent;
    bool operator==(const Visit&) const = default;
  };

  std::optional<ExprId> fold(const RuleNode& node);
  void fold_rules();
  std::vector<Symbol> symbols_of(const RuleNode& node, uint32_t owner);
  uint32_t add_rule(uint32_t owner);
  void add_alternative(uint32_t rule, std::vector<Symbol> symbols);
  std::vector<Symbol> repeat_symbols(const RuleNode& node, uint32_t owner);
  void find_productive();
  void refuse_left_recursion() const;
  bool alternative_holds(uint32_t start, bool Rule::*property,
                         bool exprs_nullable) const;
  void visit(Visit at, std::vector<Visit>* queue,
             std::vector<TaggedExpr>* parts);
  void run(Visit first, std::vector<TaggedExpr>* parts);
  uint32_t push(uint32_t parent, uint32_t symbol);

  ExprPool& pool_;
  RuleLimits limits_;
  uint32_t root_ = 0;
  std::vector<Rule> rules_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<Symbol> symbols_;
  std::vector<Stack> stacks_ = {{0, 0, 0}};  // 0 is the end
  std::unordered_map<uint64_t, uint32_t> stack_ids_;
};

}  // namespace rc::text::grammar
