// Tokens of a template, read one after the other.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "text/chat/lexer.h"

namespace rc::text::chat {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Lexeme> lexemes)
      : lexemes_(std::move(lexemes)) {}

  const Lexeme& current() const { return lexemes_[at_]; }
  const Lexeme& look() const {
    return lexemes_[at_ + 1 < lexemes_.size() ? at_ + 1 : at_];
  }
  const Lexeme& next() {
    return lexemes_[at_ + 1 < lexemes_.size() ? at_++ : at_];
  }

  static bool is(const Lexeme& lexeme, Token token, std::string_view text) {
    return lexeme.token == token && lexeme.text == text;
  }
  bool sees(Token token) const { return current().token == token; }
  bool sees_operator(std::string_view text) const {
    return is(current(), Token::kOperator, text);
  }
  bool sees_name(std::string_view text) const {
    return is(current(), Token::kName, text);
  }
  bool skip_operator(std::string_view text) {
    if (!sees_operator(text)) return false;
    next();
    return true;
  }
  bool skip_name(std::string_view text) {
    if (!sees_name(text)) return false;
    next();
    return true;
  }
  void expect_operator(std::string_view text) {
    if (!skip_operator(text)) fail_expected("'" + std::string(text) + "'");
  }
  void expect_name(std::string_view text) {
    if (!skip_name(text)) fail_expected("'" + std::string(text) + "'");
  }
  void expect(Token token, std::string_view what) {
    if (!sees(token)) fail_expected(what);
    next();
  }
  std::string expect_any_name() {
    if (!sees(Token::kName)) fail_expected("a name");
    return next().text;
  }

  [[noreturn]] void fail_expected(std::string_view what) const {
    fail_at(current().at, RC_E_FORMAT,
            "expected " + std::string(what) + ", found " + describe(current()));
  }

  static std::string describe(const Lexeme& lexeme) {
    switch (lexeme.token) {
      case Token::kEnd:
        return "the end of the template";
      case Token::kData:
        return "text";
      case Token::kPrintBegin:
        return "'{{'";
      case Token::kPrintEnd:
        return "'}}'";
      case Token::kBlockBegin:
        return "'{%'";
      case Token::kBlockEnd:
        return "'%}'";
      case Token::kString:
        return "the string " + quote(lexeme.text);
      default:
        return quote(lexeme.text);
    }
  }

 private:
  std::vector<Lexeme> lexemes_;
  size_t at_ = 0;
};

}  // namespace rc::text::chat
