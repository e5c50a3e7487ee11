// Parses expressions of chat templates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/chat/limits.h"
#include "text/chat/syntax.h"
#include "text/chat/token_stream.h"

namespace rc::text::chat {

// Which of the special variables a body speaks of.
struct Mentions {
  bool caller = false;
  bool kwargs = false;
  bool varargs = false;
  bool loop = false;
};

class ExpressionParser {
 public:
  ExpressionParser(TokenStream* tokens, Syntax* syntax, const Limits& limits)
      : tokens_(tokens), syntax_(syntax), limits_(limits) {}

  // An expression; without `conditional` it ends before `if`.
  ExpressionPtr expression(bool conditional = true);
  // Several, separated by commas, are a tuple.
  ExpressionPtr tuple(bool conditional = true);
  // Filters of a block, `name|name(...)|...`, over what the block captured.
  ExpressionPtr block_filters();
  std::vector<Parameter> parameters();

  NameId name_id(const std::string& name);

  // Counts a level of nesting, which ends with it.
  class Level {
   public:
    explicit Level(ExpressionParser* parser);
    ~Level() { --parser_->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser* parser_;
  };

  // Bodies being parsed, the innermost last: each collects the names that it
  // mentions.
  std::vector<Mentions> mentions;
  // Within `if`, names of filters and tests that don't exist are no error
  // before they are used.
  bool is_soft = false;
  // Fails if a name that doesn't exist was used elsewhere.
  void check_names() const;

 private:
  using Node = std::unique_ptr<Expression>;

  Node make(ExpressionKind kind, Position at);
  Node make(ExpressionKind kind, Position at, ExpressionPtr part);
  Node make(ExpressionKind kind, Position at, ExpressionPtr left,
            ExpressionPtr right);
  void add_part(Expression* node, ExpressionPtr part);

  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  bool take_comparison(Comparison* comparison);
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters);
  ExpressionPtr primary();
  ExpressionPtr name();
  ExpressionPtr string();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filters_and_tests(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr node);
  ExpressionPtr subscript_argument(ExpressionPtr node);
  ExpressionPtr call(ExpressionPtr node);
  ExpressionPtr filter(ExpressionPtr node);
  ExpressionPtr test(ExpressionPtr node);
  std::string dotted_name();
  void arguments(Expression* node);
  bool at_end_of_tuple() const;

  struct Unknown {
    const Expression* node;
    bool is_soft;
  };

  TokenStream* tokens_;
  Syntax* syntax_;
  const Limits& limits_;
  size_t depth_ = 0;
  std::vector<Unknown> unknown_;
};

}  // namespace rc::text::chat
