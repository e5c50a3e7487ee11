// The parts that may follow an expression: attributes, items, calls, filters
// and tests.
#include "text/chat/builtins.h"

#include <algorithm>
#include "text/chat/expression_parser.h"

namespace rc::text::chat {
namespace {

// Names that are compared with each other.
constexpr size_t kMostNames = 1000;

void check_count(size_t count, Position at) {
  if (count >= kMostNames) {
    fail_at(at, RC_E_UNSUPPORTED,
            cat("more than ", kMostNames,
                " parameters or arguments by name: use a dict"));
  }
}

}  // namespace

ExpressionPtr ExpressionParser::postfix(ExpressionPtr node) {
  for (;;) {
    if (tokens_->sees_operator(".") || tokens_->sees_operator("[")) {
      node = subscript(std::move(node));
    } else if (tokens_->sees_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::filters_and_tests(ExpressionPtr node) {
  for (;;) {
    if (tokens_->skip_operator("|")) {
      node = filter(std::move(node));
    } else if (tokens_->sees_name("is")) {
      node = test(std::move(node));
    } else if (tokens_->sees_operator("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr node) {
  const Position at = tokens_->current().at;
  if (tokens_->skip_operator("[")) {
    node = subscript_argument(std::move(node));
    tokens_->expect_operator("]");
    return node;
  }
  tokens_->next();
  const Lexeme& lexeme = tokens_->current();
  if (lexeme.token == Token::kName) {
    tokens_->next();
    Node whole = make(ExpressionKind::kAttribute, lexeme.at, std::move(node));
    whole->text = lexeme.text;
    return whole;
  }
  if (lexeme.token != Token::kInt) {
    tokens_->fail_expected("a name or a number after '.'");
  }
  tokens_->next();
  Node index = make(ExpressionKind::kConstant, lexeme.at);
  index->constant = Value::integer(lexeme.integer);
  return make(ExpressionKind::kItem, at, std::move(node), std::move(index));
}

ExpressionPtr ExpressionParser::subscript_argument(ExpressionPtr node) {
  const Position at = tokens_->current().at;
  if (tokens_->sees_operator("]")) {
    // Jinja takes an empty pair of brackets for an empty tuple.
    return make(ExpressionKind::kItem, at, std::move(node),
                make(ExpressionKind::kTuple, at));
  }
  ExpressionPtr first;
  if (!tokens_->sees_operator(":")) {
    first = expression();
    if (tokens_->sees_operator(",")) {
      Node key = make(ExpressionKind::kTuple, at, std::move(first));
      while (tokens_->skip_operator(",")) {
        if (tokens_->sees_operator("]")) break;
        add_part(key.get(), expression());
      }
      first = std::move(key);
    }
    if (!tokens_->sees_operator(":")) {
      return make(ExpressionKind::kItem, at, std::move(node), std::move(first));
    }
  }
  Node slice = make(ExpressionKind::kSlice, at, std::move(node));
  add_part(slice.get(), std::move(first));
  for (int i = 0; i < 2; ++i) {
    ExpressionPtr bound;
    if (tokens_->skip_operator(":") && !tokens_->sees_operator(":") &&
        !tokens_->sees_operator("]")) {
      bound = expression();
    }
    add_part(slice.get(), std::move(bound));
  }
  return slice;
}

ExpressionPtr ExpressionParser::call(ExpressionPtr node) {
  Node whole =
      make(ExpressionKind::kCall, tokens_->current().at, std::move(node));
  arguments(whole.get());
  return whole;
}

std::string ExpressionParser::dotted_name() {
  std::string name = tokens_->expect_any_name();
  while (tokens_->skip_operator(".")) name += "." + tokens_->expect_any_name();
  return name;
}

ExpressionPtr ExpressionParser::filter(ExpressionPtr node) {
  Node whole =
      make(ExpressionKind::kFilter, tokens_->current().at, std::move(node));
  whole->text = dotted_name();
  whole->builtin = find_filter(whole->text);
  if (whole->builtin == nullptr) unknown_.push_back({whole.get(), is_soft});
  if (tokens_->sees_operator("(")) arguments(whole.get());
  return whole;
}

ExpressionPtr ExpressionParser::block_filters() {
  ExpressionPtr node = make(ExpressionKind::kCaptured, tokens_->current().at);
  do {
    node = filter(std::move(node));
  } while (tokens_->skip_operator("|"));
  return node;
}

ExpressionPtr ExpressionParser::test(ExpressionPtr node) {
  const Position at = tokens_->next().at;
  const bool negated = tokens_->skip_name("not");
  Node whole = make(ExpressionKind::kTest, at, std::move(node));
  whole->text = dotted_name();
  whole->builtin = find_test(whole->text);
  if (whole->builtin == nullptr) unknown_.push_back({whole.get(), is_soft});
  const Lexeme& next = tokens_->current();
  if (tokens_->sees_operator("(")) {
    arguments(whole.get());
  } else if ((next.token == Token::kName && next.text != "else" &&
              next.text != "or" && next.text != "and") ||
             next.token == Token::kString || next.token == Token::kInt ||
             next.token == Token::kFloat || tokens_->sees_operator("[") ||
             tokens_->sees_operator("{")) {
    if (next.text == "is" && next.token == Token::kName) {
      fail_at(next.at, RC_E_FORMAT,
              "tests can't be chained: join them with 'and'");
    }
    auto given = std::make_unique<CallArguments>();
    ExpressionPtr argument = postfix(primary());
    whole->depth = std::max(whole->depth, argument->depth + 1);
    given->positional.push_back(std::move(argument));
    whole->arguments = std::move(given);
  }
  if (!negated) return whole;
  return make(ExpressionKind::kNot, at, std::move(whole));
}

void ExpressionParser::arguments(Expression* node) {
  const Level level(this);
  auto given = std::make_unique<CallArguments>();
  const auto argument = [&] {
    ExpressionPtr one = expression();
    node->depth = std::max(node->depth, one->depth + 1);
    return one;
  };
  tokens_->expect_operator("(");
  for (bool first = true; !tokens_->sees_operator(")"); first = false) {
    if (!first) {
      tokens_->expect_operator(",");
      if (tokens_->sees_operator(")")) break;
    }
    const Lexeme& lexeme = tokens_->current();
    const auto ensure = [&](bool holds) {
      if (!holds) {
        fail_at(lexeme.at, RC_E_FORMAT,
                "arguments are in a wrong order: first those by position, then "
                "those by name, then *list and **dict, each once");
      }
    };
    if (tokens_->skip_operator("*")) {
      ensure(given->list == nullptr && given->dict == nullptr);
      given->list = argument();
    } else if (tokens_->skip_operator("**")) {
      ensure(given->dict == nullptr);
      given->dict = argument();
    } else if (lexeme.token == Token::kName &&
               TokenStream::is(tokens_->look(), Token::kOperator, "=")) {
      ensure(given->dict == nullptr);
      const std::string& name = tokens_->next().text;
      tokens_->next();
      check_count(given->named.size(), lexeme.at);
      for (const auto& other : given->named) {
        if (other.first == name) {
          fail_at(lexeme.at, RC_E_FORMAT,
                  cat("the argument ", quote(name), " is given twice"));
        }
      }
      given->named.emplace_back(name, argument());
    } else {
      ensure(given->list == nullptr && given->dict == nullptr &&
             given->named.empty());
      given->positional.push_back(argument());
    }
  }
  tokens_->expect_operator(")");
  node->arguments = std::move(given);
}

std::vector<Parameter> ExpressionParser::parameters() {
  std::vector<Parameter> all;
  tokens_->expect_operator("(");
  while (!tokens_->sees_operator(")")) {
    if (!all.empty()) tokens_->expect_operator(",");
    const Position at = tokens_->current().at;
    const std::string name = tokens_->expect_any_name();
    check_count(all.size(), at);
    for (const Parameter& other : all) {
      if (other.text == name) {
        fail_at(at, RC_E_FORMAT,
                cat("the parameter ", quote(name), " is there twice"));
      }
    }
    ExpressionPtr initial;
    if (tokens_->skip_operator("=")) {
      initial = expression();
    } else if (!all.empty() && all.back().initial != nullptr) {
      fail_at(at, RC_E_FORMAT,
              cat("the parameter ", quote(name),
                  " needs a default, as the one before it has one"));
    }
    all.push_back({name_id(name), name, std::move(initial)});
  }
  tokens_->expect_operator(")");
  return all;
}

}  // namespace rc::text::chat
