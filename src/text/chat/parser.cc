#include "text/chat/parser.h"

#include "text/chat/expression_parser.h"
#include "text/chat/target_parser.h"

namespace rc::text::chat {
namespace {

using StatementPtr = std::unique_ptr<Statement>;

class Parser {
 public:
  Parser(std::string_view source, const Limits& limits)
      : tokens_(lex(source)),
        expressions_(&tokens_, &syntax_, limits),
        targets_(&tokens_, &expressions_) {}

  Syntax run() {
    syntax_.caller = expressions_.name_id("caller");
    syntax_.kwargs = expressions_.name_id("kwargs");
    syntax_.varargs = expressions_.name_id("varargs");
    syntax_.loop = expressions_.name_id("loop");
    syntax_.body = body({}, "");
    expressions_.check_names();
    return std::move(syntax_);
  }

 private:
  static StatementPtr make(StatementKind kind, Position at) {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->at = at;
    return statement;
  }

  // Statements up to one of the tags `ends`, of which the name is then the
  // current token; up to the end of the template if there are none.
  Body body(const std::vector<std::string_view>& ends, std::string_view tag) {
    const ExpressionParser::Level level(&expressions_);
    const Position begin = tokens_.current().at;
    Body statements;
    for (;;) {
      const Lexeme& lexeme = tokens_.next();
      if (lexeme.token == Token::kData) {
        StatementPtr text = make(StatementKind::kText, lexeme.at);
        text->text = lexeme.text;
        statements.push_back(std::move(text));
      } else if (lexeme.token == Token::kPrintBegin) {
        StatementPtr print = make(StatementKind::kPrint, lexeme.at);
        print->expression = expressions_.tuple();
        tokens_.expect(Token::kPrintEnd, "'}}'");
        statements.push_back(std::move(print));
      } else if (lexeme.token == Token::kBlockBegin) {
        for (const std::string_view end : ends) {
          if (tokens_.sees_name(end)) return statements;
        }
        statement(&statements);
        tokens_.expect(Token::kBlockEnd, "'%}'");
      } else if (ends.empty()) {
        return statements;
      } else {
        fail_at(begin, RC_E_FORMAT,
                cat("the block '", tag, "' has no end: close it with '{% ",
                    ends.back(), " %}'"));
      }
    }
  }

  // The same from the end of the opening tag, a colon before it allowed.
  Body block(const std::vector<std::string_view>& ends, std::string_view tag) {
    tokens_.skip_operator(":");
    tokens_.expect(Token::kBlockEnd, "'%}'");
    return body(ends, tag);
  }
  Body block_to(std::string_view end, std::string_view tag) {
    Body statements = block({end}, tag);
    tokens_.next();
    return statements;
  }

  void statement(Body* out) {
    if (!tokens_.sees(Token::kName)) tokens_.fail_expected("the name of a tag");
    const Lexeme& tag = tokens_.next();
    const std::string& name = tag.text;
    if (name == "print") {
      print_statement(tag, out);
    } else if (StatementPtr parsed = parse_tag(tag)) {
      out->push_back(std::move(parsed));
    } else if (name == "include" || name == "import" || name == "from" ||
               name == "extends" || name == "block" || name == "autoescape") {
      fail_at(tag.at, RC_E_UNSUPPORTED,
              cat("the tag ", quote(name),
                  " is not for chat templates, which are one file of text: "
                  "write out what it would bring"));
    } else {
      fail_at(tag.at, RC_E_FORMAT, cat("unknown tag ", quote(name)));
    }
  }

  // Null if there is no tag of that name.
  StatementPtr parse_tag(const Lexeme& tag) {
    const std::string& name = tag.text;
    if (name == "if") return if_statement(tag);
    if (name == "for") return for_statement(tag);
    if (name == "set") return set_statement(tag);
    if (name == "macro") return macro_statement(tag);
    if (name == "call") return call_statement(tag);
    if (name == "filter") return filter_statement(tag);
    if (name == "with") return with_statement(tag);
    if (name == "generation") return generation_statement(tag);
    if (name == "break" || name == "continue") {
      if (loops_ == 0) {
        fail_at(tag.at, RC_E_FORMAT, cat("'", name, "' outside of a loop"));
      }
      return make(
          name == "break" ? StatementKind::kBreak : StatementKind::kContinue,
          tag.at);
    }
    return nullptr;
  }

  void print_statement(const Lexeme& tag, Body* out) {
    for (bool first = true; !tokens_.sees(Token::kBlockEnd); first = false) {
      if (!first) tokens_.expect_operator(",");
      StatementPtr print = make(StatementKind::kPrint, tag.at);
      print->expression = expressions_.expression();
      out->push_back(std::move(print));
    }
  }

  // Sets a variable for as long as it lives.
  template <class T>
  class Temporarily {
   public:
    Temporarily(T* variable, T value)
        : variable_(variable), before_(std::exchange(*variable, value)) {}
    ~Temporarily() { *variable_ = before_; }
    Temporarily(const Temporarily&) = delete;
    Temporarily& operator=(const Temporarily&) = delete;

   private:
    T* variable_;
    T before_;
  };

  StatementPtr if_statement(const Lexeme& tag) {
    const Temporarily soft(&expressions_.is_soft, true);
    StatementPtr node = make(StatementKind::kIf, tag.at);
    for (;;) {
      ExpressionPtr test = expressions_.tuple(false);
      Body statements = block({"elif", "else", "endif"}, "if");
      node->branches.emplace_back(std::move(test), std::move(statements));
      const std::string end = tokens_.next().text;
      if (end == "elif") continue;
      if (end == "else") {
        node->branches.emplace_back(nullptr, block_to("endif", "else"));
      }
      return node;
    }
  }

  StatementPtr for_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kFor, tag.at);
    ++targets_.loop_bodies;
    node->target = targets_.target(false);
    tokens_.expect_name("in");
    node->expression = expressions_.tuple(false);
    const Temporarily soft(&expressions_.is_soft, false);
    if (tokens_.skip_name("if")) node->test = expressions_.expression();
    node->is_recursive = tokens_.skip_name("recursive");
    ++loops_;
    expressions_.mentions.emplace_back();
    node->body = block({"endfor", "else"}, "for");
    node->uses_loop = expressions_.mentions.back().loop;
    expressions_.mentions.pop_back();
    --loops_;
    if (tokens_.next().text == "else") {
      node->otherwise = block_to("endfor", "else");
    }
    --targets_.loop_bodies;
    return node;
  }

  StatementPtr set_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kSet, tag.at);
    node->target = targets_.target(true);
    if (tokens_.skip_operator("=")) {
      node->expression = expressions_.tuple();
      return node;
    }
    node->kind = StatementKind::kSetBlock;
    const Temporarily soft(&expressions_.is_soft, false);
    if (tokens_.skip_operator("|")) {
      node->expression = expressions_.block_filters();
    }
    node->body = block_to("endset", "set");
    return node;
  }

  // The body of a macro or call block, and what it speaks of.
  void macro_body(MacroDefinition* macro, std::string_view end,
                  std::string_view tag) {
    // The body is a function: it cannot leave a loop around it.
    const Temporarily loops(&loops_, 0);
    const Temporarily soft(&expressions_.is_soft, false);
    expressions_.mentions.emplace_back();
    macro->body = block_to(end, tag);
    const Mentions mentions = expressions_.mentions.back();
    expressions_.mentions.pop_back();
    macro->uses_caller = mentions.caller;
    macro->uses_kwargs = mentions.kwargs;
    macro->uses_varargs = mentions.varargs;
    for (const Parameter& parameter : macro->parameters) {
      if (parameter.text == "caller" && parameter.initial == nullptr &&
          mentions.caller) {
        fail_at(tokens_.current().at, RC_E_FORMAT,
                "the parameter 'caller' of a macro must have a default, or be "
                "left out");
      }
      macro->uses_caller = macro->uses_caller && parameter.text != "caller";
      macro->uses_kwargs = macro->uses_kwargs && parameter.text != "kwargs";
      macro->uses_varargs = macro->uses_varargs && parameter.text != "varargs";
    }
  }

  StatementPtr macro_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kMacro, tag.at);
    const Lexeme& name = tokens_.current();
    auto macro = std::make_shared<MacroDefinition>();
    macro->name = tokens_.expect_any_name();
    targets_.check_assignable(name);
    node->target.name = expressions_.name_id(macro->name);
    macro->parameters = expressions_.parameters();
    macro_body(macro.get(), "endmacro", "macro");
    node->macro = std::move(macro);
    return node;
  }

  StatementPtr call_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kCallBlock, tag.at);
    auto macro = std::make_shared<MacroDefinition>();
    if (tokens_.sees_operator("(")) {
      macro->parameters = expressions_.parameters();
    }
    node->expression = expressions_.expression();
    if (node->expression->kind != ExpressionKind::kCall) {
      fail_at(tag.at, RC_E_FORMAT,
              "expected the call of a macro, such as {% call name() %}");
    }
    macro_body(macro.get(), "endcall", "call");
    node->macro = std::move(macro);
    return node;
  }

  StatementPtr filter_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kFilterBlock, tag.at);
    const Temporarily soft(&expressions_.is_soft, false);
    node->expression = expressions_.block_filters();
    node->body = block_to("endfilter", "filter");
    return node;
  }

  StatementPtr with_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kWith, tag.at);
    while (!tokens_.sees(Token::kBlockEnd) && !tokens_.sees_operator(":")) {
      if (!node->assignments.empty()) tokens_.expect_operator(",");
      Target variable = targets_.target(false);
      tokens_.expect_operator("=");
      node->assignments.emplace_back(std::move(variable),
                                     expressions_.expression());
    }
    const Temporarily soft(&expressions_.is_soft, false);
    node->body = block_to("endwith", "with");
    return node;
  }

  StatementPtr generation_statement(const Lexeme& tag) {
    StatementPtr node = make(StatementKind::kGeneration, tag.at);
    const Temporarily loops(&loops_, 0);
    const Temporarily soft(&expressions_.is_soft, false);
    node->body = block_to("endgeneration", "generation");
    return node;
  }

  TokenStream tokens_;
  Syntax syntax_;
  ExpressionParser expressions_;
  TargetParser targets_;
  int loops_ = 0;  // that may be left by `break`
};

}  // namespace

Syntax parse_template(std::string_view source, const Limits& limits) {
  return Parser(source, limits).run();
}

}  // namespace rc::text::chat
