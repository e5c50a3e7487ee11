// Parses what is assigned to.
#pragma once

#include <string_view>

#include "text/chat/expression_parser.h"
#include "text/chat/token_stream.h"

namespace rc::text::chat {

class TargetParser {
 public:
  TargetParser(TokenStream* tokens, ExpressionParser* expressions)
      : tokens_(tokens), expressions_(expressions) {}

  // One or, separated by commas, several; attributes of namespaces only
  // `with_attributes`.
  Target target(bool with_attributes);
  // Fails if a name can't be set.
  void check_assignable(const Lexeme& name) const;

  // Loops around, in which `loop` is taken.
  int loop_bodies = 0;

 private:
  Target single_target(bool with_attributes);

  TokenStream* tokens_;
  ExpressionParser* expressions_;
};

}  // namespace rc::text::chat
