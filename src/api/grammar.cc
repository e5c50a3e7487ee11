#include "api/grammar.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "api/guard.h"
#include "api/model.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "text/grammar/forced_tokens.h"

namespace rc::api {
namespace {

using text::grammar::Grammar;
using GrammarPtr = std::shared_ptr<const Grammar>;

constexpr rc_grammar_options kGrammarDefaults = RC_GRAMMAR_OPTIONS_INIT;
constexpr int32_t kMostSpaces = 1024;
constexpr int32_t kMostDepth = 1024;

GrammarPtr compile(rc_grammar_kind kind, std::string_view text,
                   const rc_grammar_options& options,
                   Grammar::Vocabulary vocabulary) {
  switch (kind) {
    case RC_GRAMMAR_JSON_SCHEMA: {
      text::grammar::JsonOptions json;
      json.max_spaces = static_cast<uint32_t>(options.max_spaces);
      json.max_depth = static_cast<uint32_t>(options.max_depth);
      json.reader.closed = options.open == 0;
      json.reader.plain_integers = options.open == 0;
      json.short_numbers = options.open == 0;
      return Grammar::json_schema(text, json, std::move(vocabulary));
    }
    case RC_GRAMMAR_REGEX:
      return Grammar::regex(text, {}, std::move(vocabulary));
    case RC_GRAMMAR_GBNF:
      return Grammar::gbnf(text, {}, std::move(vocabulary));
    case RC_GRAMMAR_LARK:
      return Grammar::lark(text, {}, std::move(vocabulary));
    default:
      fail(RC_E_INVALID_ARGUMENT, "kind: ", kind,
           " is none of RC_GRAMMAR_JSON_SCHEMA, RC_GRAMMAR_REGEX, "
           "RC_GRAMMAR_GBNF and RC_GRAMMAR_LARK");
  }
}

rc_grammar* give_out(const rc_tokenizer& tokenizer, GrammarPtr grammar) {
  return add_handle(std::unique_ptr<rc_grammar>(
      new rc_grammar{tokenizer.tokenizer, std::move(grammar)}));
}

rc_grammar_matcher* give_out(std::shared_ptr<const text::Tokenizer> tokenizer,
                             GrammarPtr grammar,
                             std::unique_ptr<text::grammar::Matcher> matcher,
                             std::vector<int32_t> tokens) {
  return add_handle(std::unique_ptr<rc_grammar_matcher>(
      new rc_grammar_matcher{std::move(tokenizer),
                             std::move(grammar),
                             {},
                             std::move(matcher),
                             std::move(tokens)}));
}

// The part of the text that forced_tokens needs: a few tokens, back to one that
// stands alone.
std::span<const int32_t> last_tokens(const std::vector<int32_t>& tokens) {
  size_t count = 0;
  while (count < std::min(text::grammar::kLastTokens, tokens.size()) &&
         tokens[tokens.size() - 1 - count] != rc_grammar_matcher::kText) {
    ++count;
  }
  return std::span(tokens).last(count);
}

// Adds tokens to the text until one is not allowed, or none if that fails.
size_t accept(rc_grammar_matcher& handle, std::span<const int32_t> tokens) {
  const size_t before = handle.tokens.size();
  size_t accepted = 0;
  try {
    for (; accepted < tokens.size(); ++accepted) {
      handle.tokens.push_back(tokens[accepted]);
      if (!handle.matcher->accept(tokens[accepted])) break;
    }
  } catch (...) {
    handle.tokens.resize(before);
    handle.matcher->rollback(accepted);
    throw;
  }
  handle.tokens.resize(before + accepted);
  return accepted;
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_array;
using rc::api::need_pointer;

void rc_grammar_options_init(rc_grammar_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kGrammarDefaults);
}

rc_status rc_grammar_create(const rc_tokenizer* tokenizer, rc_grammar_kind kind,
                            const char* text, size_t length,
                            const rc_grammar_options* options,
                            rc_grammar** grammar) {
  return guard_handle(grammar, "grammar", [&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    need_array(text, length, 1, "text");
    const rc_grammar_options read =
        rc::api::read_options(options, rc::api::kGrammarDefaults, "options");
    rc::api::need_range(read.max_spaces, 0, rc::api::kMostSpaces,
                        "options->max_spaces");
    rc::api::need_range(read.max_depth, 1, rc::api::kMostDepth,
                        "options->max_depth");
    rc::api::need_range(read.open, 0, 1, "options->open");
    return rc::api::give_out(
        handle, rc::api::compile(kind, {text, length}, read,
                                 handle.tokenizer->grammar_vocabulary()));
  });
}

rc_status rc_grammar_create_choices(const rc_tokenizer* tokenizer,
                                    const char* const* choices, size_t count,
                                    rc_grammar** grammar) {
  return guard_handle(grammar, "grammar", [&] {
    const rc_tokenizer& handle = need(tokenizer, "tokenizer");
    need_array(choices, count, sizeof(*choices), "choices");
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) {
      if (choices[i] == nullptr) {
        rc::fail(RC_E_INVALID_ARGUMENT, "choices[", i, "] is NULL");
      }
      texts.emplace_back(choices[i]);
    }
    return rc::api::give_out(
        handle, rc::text::grammar::Grammar::choices(
                    texts, {}, handle.tokenizer->grammar_vocabulary()));
  });
}

rc_grammar* rc_grammar_retain(rc_grammar* grammar) {
  return rc::api::retain_handle(grammar, "grammar");
}

void rc_grammar_release(rc_grammar* grammar) {
  rc::api::release_handle(grammar, "grammar");
}

rc_status rc_grammar_matcher_create(rc_grammar* grammar,
                                    rc_grammar_matcher** matcher) {
  return guard_handle(matcher, "matcher", [&] {
    const rc_grammar& handle = need(grammar, "grammar");
    return rc::api::give_out(handle.tokenizer, handle.grammar,
                             handle.grammar->match(), {});
  });
}

rc_grammar_matcher* rc_grammar_matcher_retain(rc_grammar_matcher* matcher) {
  return rc::api::retain_handle(matcher, "matcher");
}

void rc_grammar_matcher_release(rc_grammar_matcher* matcher) {
  rc::api::release_handle(matcher, "matcher");
}

rc_status rc_grammar_matcher_mask(rc_grammar_matcher* matcher, uint32_t* mask,
                                  size_t count) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    need_pointer(mask, "mask");
    const size_t tokens = handle.grammar->vocabulary()->size();
    if (count < (tokens + 31) / 32) {
      rc::fail(RC_E_INVALID_ARGUMENT, "count: ", count, " elements, but ",
               tokens, " tokens take ", (tokens + 31) / 32);
    }
    need_array(mask, count, sizeof(*mask), "mask");
    const std::lock_guard lock(handle.mutex);
    handle.matcher->mask().copy_to({mask, count});
  });
}

rc_status rc_grammar_matcher_accept(rc_grammar_matcher* matcher,
                                    const int32_t* tokens, size_t count,
                                    size_t* accepted) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    need_array(tokens, count, sizeof(*tokens), "tokens");
    need_pointer(accepted, "accepted");
    const std::lock_guard lock(handle.mutex);
    *accepted = rc::api::accept(handle, {tokens, count});
  });
}

rc_status rc_grammar_matcher_accept_text(rc_grammar_matcher* matcher,
                                         const char* text, size_t length,
                                         int32_t* accepted) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    need_array(text, length, 1, "text");
    need_pointer(accepted, "accepted");
    const std::lock_guard lock(handle.mutex);
    handle.tokens.reserve(handle.tokens.size() + 1);
    *accepted = handle.matcher->accept_bytes({text, length}) ? 1 : 0;
    if (*accepted != 0) handle.tokens.push_back(rc_grammar_matcher::kText);
  });
}

rc_status rc_grammar_matcher_forced(rc_grammar_matcher* matcher,
                                    int32_t** tokens, size_t* count) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    need_pointer(tokens, "tokens");
    need_pointer(count, "count");
    const std::lock_guard lock(handle.mutex);
    const std::vector<int32_t> forced = rc::text::grammar::forced_tokens(
        *handle.tokenizer, rc::api::last_tokens(handle.tokens),
        handle.matcher.get());
    *tokens = rc::api::return_array(std::span(forced)).release();
    *count = forced.size();
  });
}

rc_status rc_grammar_matcher_is_accepting(rc_grammar_matcher* matcher,
                                          int32_t* accepting) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    need_pointer(accepting, "accepting");
    const std::lock_guard lock(handle.mutex);
    *accepting = handle.matcher->can_end() ? 1 : 0;
  });
}

rc_status rc_grammar_matcher_rollback(rc_grammar_matcher* matcher,
                                      size_t count) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    const std::lock_guard lock(handle.mutex);
    handle.matcher->rollback(count);
    handle.tokens.resize(handle.tokens.size() - count);
  });
}

rc_status rc_grammar_matcher_reset(rc_grammar_matcher* matcher) {
  return guard([&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    const std::lock_guard lock(handle.mutex);
    handle.matcher->rollback(handle.tokens.size());
    handle.tokens.clear();
  });
}

rc_status rc_grammar_matcher_fork(rc_grammar_matcher* matcher,
                                  rc_grammar_matcher** fork) {
  return guard_handle(fork, "fork", [&] {
    rc_grammar_matcher& handle = need(matcher, "matcher");
    const std::lock_guard lock(handle.mutex);
    return rc::api::give_out(handle.tokenizer, handle.grammar,
                             handle.matcher->clone(), handle.tokens);
  });
}
