// Expressions that are no operations: names, literals, brackets.
#include "text/chat/expression_parser.h"

namespace rc::text::chat {

ExpressionPtr ExpressionParser::primary() {
  const Lexeme& lexeme = tokens_->current();
  if (lexeme.token == Token::kName) return name();
  if (lexeme.token == Token::kString) return string();
  if (lexeme.token == Token::kInt || lexeme.token == Token::kFloat) {
    tokens_->next();
    Node node = make(ExpressionKind::kConstant, lexeme.at);
    node->constant = lexeme.token == Token::kInt
                         ? Value::integer(lexeme.integer)
                         : Value::real(lexeme.real);
    return node;
  }
  if (tokens_->skip_operator("(")) {
    const Level level(this);
    ExpressionPtr node;
    if (tokens_->sees_operator(")")) {
      node = make(ExpressionKind::kTuple, lexeme.at);
    } else {
      node = tuple();
    }
    tokens_->expect_operator(")");
    return node;
  }
  if (tokens_->sees_operator("[")) return list();
  if (tokens_->sees_operator("{")) return dict();
  tokens_->fail_expected("an expression");
}

ExpressionPtr ExpressionParser::name() {
  const Lexeme& lexeme = tokens_->next();
  const std::string& text = lexeme.text;
  Node node = make(ExpressionKind::kConstant, lexeme.at);
  if (text == "true" || text == "True") {
    node->constant = Value::boolean(true);
  } else if (text == "false" || text == "False") {
    node->constant = Value::boolean(false);
  } else if (text == "none" || text == "None") {
    node->constant = Value::none();
  } else {
    node->kind = ExpressionKind::kName;
    node->name = name_id(text);
    for (Mentions& body : mentions) {
      body.caller = body.caller || text == "caller";
      body.kwargs = body.kwargs || text == "kwargs";
      body.varargs = body.varargs || text == "varargs";
      body.loop = body.loop || text == "loop";
    }
  }
  return node;
}

ExpressionPtr ExpressionParser::string() {
  Node node = make(ExpressionKind::kConstant, tokens_->current().at);
  std::string text;
  while (tokens_->sees(Token::kString)) text += tokens_->next().text;
  node->constant = Value::string(text, Origin::kTemplate);
  return node;
}

bool ExpressionParser::at_end_of_tuple() const {
  return tokens_->sees(Token::kPrintEnd) || tokens_->sees(Token::kBlockEnd) ||
         tokens_->sees_operator(")") || tokens_->sees_name("recursive");
}

ExpressionPtr ExpressionParser::tuple(bool conditional) {
  const Position at = tokens_->current().at;
  ExpressionPtr first = expression(conditional);
  if (!tokens_->sees_operator(",")) return first;
  Node node = make(ExpressionKind::kTuple, at, std::move(first));
  while (tokens_->skip_operator(",")) {
    if (at_end_of_tuple()) break;
    add_part(node.get(), expression(conditional));
  }
  return node;
}

ExpressionPtr ExpressionParser::list() {
  Node node = make(ExpressionKind::kList, tokens_->next().at);
  while (!tokens_->sees_operator("]")) {
    if (!node->parts.empty()) {
      tokens_->expect_operator(",");
      if (tokens_->sees_operator("]")) break;
    }
    add_part(node.get(), expression());
  }
  tokens_->expect_operator("]");
  return node;
}

ExpressionPtr ExpressionParser::dict() {
  Node node = make(ExpressionKind::kDict, tokens_->next().at);
  while (!tokens_->sees_operator("}")) {
    if (!node->parts.empty()) {
      tokens_->expect_operator(",");
      if (tokens_->sees_operator("}")) break;
    }
    add_part(node.get(), expression());
    tokens_->expect_operator(":");
    add_part(node.get(), expression());
  }
  tokens_->expect_operator("}");
  return node;
}

}  // namespace rc::text::chat
