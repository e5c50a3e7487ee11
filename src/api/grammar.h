// The handles of grammars and matchers.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/handle.h"
#include "runcible/grammar.h"
#include "text/grammar/grammar.h"
#include "text/tokenizer.h"

struct rc_grammar {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kGrammar;

  const std::shared_ptr<const rc::text::Tokenizer> tokenizer;
  const std::shared_ptr<const rc::text::grammar::Grammar> grammar;
};

struct rc_grammar_matcher {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kGrammarMatcher;

  const std::shared_ptr<const rc::text::Tokenizer> tokenizer;
  const std::shared_ptr<const rc::text::grammar::Grammar> grammar;

  std::mutex mutex;  // for what follows
  std::unique_ptr<rc::text::grammar::Matcher> matcher;
  std::vector<int32_t> tokens;  // of the text; kText for what was no token

  static constexpr int32_t kText = -1;
};
