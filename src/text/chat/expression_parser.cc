#include "text/chat/expression_parser.h"

#include <algorithm>
#include <iterator>

namespace rc::text::chat {

ExpressionParser::Level::Level(ExpressionParser* parser) : parser_(parser) {
  if (++parser_->depth_ > parser_->limits_.nesting) {
    --parser_->depth_;
    fail_at(parser_->tokens_->current().at, RC_E_UNSUPPORTED,
            cat("the template is nested more than ", parser_->limits_.nesting,
                " levels deep: flatten it"));
  }
}

NameId ExpressionParser::name_id(const std::string& name) {
  const auto [at, is_new] =
      syntax_->ids.emplace(name, static_cast<NameId>(syntax_->names.size()));
  if (is_new) syntax_->names.push_back(name);
  return at->second;
}

ExpressionParser::Node ExpressionParser::make(ExpressionKind kind,
                                              Position at) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->at = at;
  return node;
}

void ExpressionParser::add_part(Expression* node, ExpressionPtr part) {
  if (part != nullptr && part->depth >= node->depth) {
    node->depth = part->depth + 1;
    // Chains of operators are deep without nesting.
    if (node->depth > limits_.depth) {
      fail_at(node->at, RC_E_UNSUPPORTED,
              cat("the expression is more than ", limits_.depth,
                  " levels deep: set parts of it as variables first"));
    }
  }
  node->parts.push_back(std::move(part));
}

ExpressionParser::Node ExpressionParser::make(ExpressionKind kind, Position at,
                                              ExpressionPtr part) {
  Node node = make(kind, at);
  add_part(node.get(), std::move(part));
  return node;
}

ExpressionParser::Node ExpressionParser::make(ExpressionKind kind, Position at,
                                              ExpressionPtr left,
                                              ExpressionPtr right) {
  Node node = make(kind, at, std::move(left));
  add_part(node.get(), std::move(right));
  return node;
}

ExpressionPtr ExpressionParser::expression(bool conditional) {
  const Level level(this);
  const size_t first_unknown = unknown_.size();
  ExpressionPtr node = disjunction();
  while (conditional && tokens_->sees_name("if")) {
    const Position at = tokens_->next().at;
    Node whole =
        make(ExpressionKind::kConditional, at, disjunction(), std::move(node));
    ExpressionPtr otherwise;
    if (tokens_->skip_name("else")) otherwise = expression();
    add_part(whole.get(), std::move(otherwise));
    node = std::move(whole);
    for (size_t i = first_unknown; i < unknown_.size(); ++i) {
      unknown_[i].is_soft = true;
    }
  }
  return node;
}

void ExpressionParser::check_names() const {
  for (const auto& [node, soft] : unknown_) {
    if (soft) continue;
    const bool is_filter = node->kind == ExpressionKind::kFilter;
    fail_at(node->at, RC_E_FORMAT,
            cat("there is no ", is_filter ? "filter" : "test", " named ",
                quote(node->text)));
  }
}

ExpressionPtr ExpressionParser::disjunction() {
  ExpressionPtr left = conjunction();
  while (tokens_->sees_name("or")) {
    const Position at = tokens_->next().at;
    left = make(ExpressionKind::kOr, at, std::move(left), conjunction());
  }
  return left;
}

ExpressionPtr ExpressionParser::conjunction() {
  ExpressionPtr left = negation();
  while (tokens_->sees_name("and")) {
    const Position at = tokens_->next().at;
    left = make(ExpressionKind::kAnd, at, std::move(left), negation());
  }
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  if (!tokens_->sees_name("not")) return comparison();
  const Level level(this);
  const Position at = tokens_->next().at;
  return make(ExpressionKind::kNot, at, negation());
}

bool ExpressionParser::take_comparison(Comparison* comparison) {
  static constexpr std::pair<std::string_view, Comparison> kOperators[] = {
      {"==", Comparison::kEqual},  {"!=", Comparison::kNotEqual},
      {"<", Comparison::kLess},    {"<=", Comparison::kLessOrEqual},
      {">", Comparison::kGreater}, {">=", Comparison::kGreaterOrEqual},
  };
  for (const auto& [text, meaning] : kOperators) {
    if (tokens_->skip_operator(text)) {
      *comparison = meaning;
      return true;
    }
  }
  if (tokens_->skip_name("in")) {
    *comparison = Comparison::kIn;
    return true;
  }
  if (tokens_->sees_name("not") &&
      TokenStream::is(tokens_->look(), Token::kName, "in")) {
    tokens_->next();
    tokens_->next();
    *comparison = Comparison::kNotIn;
    return true;
  }
  return false;
}

ExpressionPtr ExpressionParser::comparison() {
  ExpressionPtr left = sum();
  Position at = tokens_->current().at;
  Comparison comparison;
  if (!take_comparison(&comparison)) return left;
  Node node = make(ExpressionKind::kCompare, at, std::move(left));
  do {
    node->comparisons.push_back(comparison);
    add_part(node.get(), sum());
  } while (take_comparison(&comparison));
  return node;
}

ExpressionPtr ExpressionParser::sum() {
  ExpressionPtr left = concatenation();
  while (tokens_->sees_operator("+") || tokens_->sees_operator("-")) {
    const Lexeme& sign = tokens_->next();
    Node node = make(ExpressionKind::kArithmetic, sign.at, std::move(left),
                     concatenation());
    node->operation = sign.text == "+" ? Arithmetic::kAdd : Arithmetic::kSub;
    left = std::move(node);
  }
  return left;
}

ExpressionPtr ExpressionParser::concatenation() {
  ExpressionPtr left = product();
  if (!tokens_->sees_operator("~")) return left;
  Node node =
      make(ExpressionKind::kConcat, tokens_->current().at, std::move(left));
  while (tokens_->skip_operator("~")) add_part(node.get(), product());
  return node;
}

ExpressionPtr ExpressionParser::product() {
  static constexpr std::pair<std::string_view, Arithmetic> kOperators[] = {
      {"*", Arithmetic::kMul},
      {"/", Arithmetic::kDiv},
      {"//", Arithmetic::kFloorDiv},
      {"%", Arithmetic::kMod},
  };
  ExpressionPtr left = power();
  for (;;) {
    const auto* found = std::find_if(
        std::begin(kOperators), std::end(kOperators),
        [&](const auto& one) { return tokens_->sees_operator(one.first); });
    if (found == std::end(kOperators)) return left;
    const Position at = tokens_->next().at;
    Node node = make(ExpressionKind::kArithmetic, at, std::move(left), power());
    node->operation = found->second;
    left = std::move(node);
  }
}

ExpressionPtr ExpressionParser::power() {
  ExpressionPtr left = unary(true);
  while (tokens_->sees_operator("**")) {
    const Position at = tokens_->next().at;
    // From the left, as Jinja has it and Python has not.
    Node node =
        make(ExpressionKind::kArithmetic, at, std::move(left), unary(true));
    node->operation = Arithmetic::kPow;
    left = std::move(node);
  }
  return left;
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  ExpressionPtr node;
  const Position at = tokens_->current().at;
  if (tokens_->skip_operator("-")) {
    const Level level(this);
    node = make(ExpressionKind::kNegative, at, unary(false));
  } else if (tokens_->skip_operator("+")) {
    const Level level(this);
    node = make(ExpressionKind::kPositive, at, unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filters ? filters_and_tests(std::move(node)) : std::move(node);
}

}  // namespace rc::text::chat
