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

// A part of the right side of a rule, of a RuleSet.
using RulePart = uint32_t;

struct RuleLimits {
  size_t max_symbols = 100'000;   // of all rules, written out
  uint32_t max_depth = 1'000;     // of rules within one another, in a text
  size_t max_stacks = 1'000'000;  // ways to be within rules
};

// First all rules are given, then compile() is called, then it serves as the
// Follow of a lexer. Not for several threads at a time. Errors are
// RC_E_INVALID_ARGUMENT and RC_E_UNSUPPORTED and name the rule. No function
// recurses, and compiling takes time in proportion to the parts and symbols.
class RuleSet {
 public:
  RuleSet(ExprPool* pool, const RuleLimits& limits)
      : pool_(*pool), limits_(limits) {}

  // The rule with this name, which is made when it is named first.
  uint32_t rule(std::string_view name);
  const std::string& name(uint32_t rule) const {
    return rules_[rules_[rule].owner].name;
  }
  bool defined(uint32_t rule) const { return rules_[rule].body.has_value(); }
  void define(uint32_t rule, RulePart body);

  // Each part belongs to one other part or to one rule.
  RulePart expr(ExprId expr);
  RulePart reference(uint32_t rule);
  RulePart sequence(std::vector<RulePart> parts);
  // One of the parts; without any, no text.
  RulePart choice(std::vector<RulePart> parts);
  RulePart repeat(RulePart part, uint32_t min, uint32_t max);
  // `body` of the rule, with a repetition of what follows in place of
  // alternatives that begin with the rule itself.
  RulePart without_left_recursion(uint32_t rule, RulePart body);
  size_t size() const { return rules_.size(); }

  // Checks the rules and begins with `root`: throws if a rule is not defined,
  // if it may begin with itself, or if no text matches.
  void compile(uint32_t root);

  // Returns the expressions with which texts begin. The tag kEnd marks their
  // end.
  std::vector<TaggedExpr> begin();
  static constexpr uint32_t kEnd = kEndTag;
  void follow(uint32_t tag, std::vector<TaggedExpr>* parts);

 private:
  struct Part {
    enum class Kind : uint8_t { kExpr, kRule, kSequence, kChoice, kRepeat };
    Kind kind;
    uint32_t min = 0;                  // of kRepeat
    uint32_t max = 0;                  // of kRepeat, or kUnbounded
    uint32_t rule = 0;                 // of kRule
    std::vector<RulePart> children{};  // of the others; one of kRepeat
    std::optional<ExprId> expr{};      // of kExpr; of others, once folded
  };
  struct Rule {
    std::string name{};  // of the owner
    uint32_t owner = 0;  // the given rule that it is part of; or itself
    std::optional<RulePart> body{};
    std::vector<uint32_t> starts{};  // of its alternatives, in symbols_
    bool productive = false;
    bool nullable = false;
  };
  struct Symbol {
    enum class Kind : uint8_t { kExpr, kRule, kEnd };
    Kind kind;
    uint32_t id;
  };
  // The work that remains: go on at a symbol, then with the parent.
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
  // Visits to make, each once.
  class Visits;
  // A step from a rule to one that may come first in it.
  struct First {
    uint32_t rule;
    bool last;  // nothing comes after it
  };

  RulePart add_part(Part part);
  ExprId fold(const Part& part);
  void fold_rules();
  std::vector<Symbol> symbols_of(RulePart part, uint32_t owner);
  uint32_t add_rule(uint32_t owner);
  void add_alternative(uint32_t rule, const std::vector<Symbol>& symbols);
  std::vector<Symbol> repeat_symbols(const Part& part, uint32_t owner,
                                     const std::vector<Symbol>& once);
  void check_symbols(size_t more, uint32_t owner) const;
  void find_productive();
  // Sets a property of the rules that have an alternative of nothing but
  // symbols with it.
  template <class HasIt>
  void spread(bool Rule::*property, HasIt expr_has_it);
  std::vector<std::vector<First>> find_firsts() const;
  void refuse_left_recursion() const;
  void visit(Visit at, Visits* visits, std::vector<TaggedExpr>* parts);
  void run(Visits* visits, std::vector<TaggedExpr>* parts);
  uint32_t push(uint32_t parent, uint32_t symbol);

  ExprPool& pool_;
  RuleLimits limits_;
  uint32_t root_ = 0;
  std::vector<Part> parts_;  // those within others come before them
  std::vector<Rule> rules_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<Symbol> symbols_;
  std::vector<Stack> stacks_ = {{0, 0, 0}};  // 0 is the end
  std::unordered_map<uint64_t, uint32_t> stack_ids_;
};

}  // namespace rc::text::grammar
