#include "text/chat/target_parser.h"

namespace rc::text::chat {

void TargetParser::check_assignable(const Lexeme& name) const {
  static constexpr std::string_view kConstants[] = {"true", "false", "none",
                                                    "True", "False", "None"};
  for (const std::string_view constant : kConstants) {
    if (name.text == constant) {
      fail_at(name.at, RC_E_FORMAT, cat("can't assign to ", constant));
    }
  }
  if (name.text == "loop" && loop_bodies > 0) {
    fail_at(name.at, RC_E_FORMAT,
            "can't assign to 'loop', which belongs to the loop: use another "
            "name");
  }
}

Target TargetParser::target(bool with_attributes) {
  const Position at = tokens_->current().at;
  Target first = single_target(with_attributes);
  if (!tokens_->sees_operator(",")) return first;
  Target all;
  all.kind = Target::Kind::kTuple;
  all.at = at;
  all.parts.push_back(std::move(first));
  while (tokens_->skip_operator(",")) {
    if (tokens_->sees_name("in") || tokens_->sees_operator("=") ||
        tokens_->sees_operator(")") || tokens_->sees(Token::kBlockEnd)) {
      break;
    }
    all.parts.push_back(single_target(with_attributes));
  }
  return all;
}

Target TargetParser::single_target(bool with_attributes) {
  const ExpressionParser::Level level(expressions_);
  if (tokens_->skip_operator("(")) {
    Target inner = target(with_attributes);
    tokens_->expect_operator(")");
    return inner;
  }
  const Lexeme& name = tokens_->current();
  Target one;
  one.at = name.at;
  one.name = expressions_->name_id(tokens_->expect_any_name());
  if (with_attributes && tokens_->skip_operator(".")) {
    one.kind = Target::Kind::kAttribute;
    one.attribute = tokens_->expect_any_name();
  } else {
    check_assignable(name);
  }
  return one;
}

}  // namespace rc::text::chat
