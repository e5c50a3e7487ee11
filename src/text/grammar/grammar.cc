#include "text/grammar/grammar.h"

#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "text/grammar/compile.h"
#include "text/grammar/gbnf.h"
#include "text/grammar/json_machine.h"
#include "text/grammar/json_masks.h"
#include "text/grammar/lark.h"
#include "text/grammar/machine_grammar.h"
#include "text/grammar/regex_syntax.h"
#include "text/grammar/text_masks.h"

namespace rc::text::grammar {
namespace {

// Makes a grammar of a model that `begin` begins.
template <class Begin>
std::shared_ptr<const Grammar> of_text(std::string_view kind,
                                       std::string_view source,
                                       const TextOptions& options,
                                       Grammar::Vocabulary vocabulary,
                                       Begin begin) {
  const TextHash hash =
      source_hash(kind, source,
                  {options.rules.max_symbols, options.rules.max_depth,
                   options.rules.max_stacks, options.max_expressions,
                   options.max_lex_states},
                  *vocabulary);
  return compile(hash, [&](std::shared_ptr<KnownFailures> failures) {
    auto model = std::make_shared<TextModel>(options);
    begin(*model);
    return std::make_shared<MachineGrammar<TextMachine, TextMasks>>(
        std::make_shared<TextMachine>(std::move(model)), vocabulary,
        std::move(failures));
  });
}

}  // namespace

std::shared_ptr<const Grammar> Grammar::regex(std::string_view pattern,
                                              const TextOptions& options,
                                              Vocabulary vocabulary) {
  return of_text(
      "regex", pattern, options, std::move(vocabulary), [&](TextModel& model) {
        model.begin_with(
            parse_regex(pattern, {.lookahead = true}, &model.exprs()));
      });
}

std::shared_ptr<const Grammar> Grammar::choices(
    std::span<const std::string> choices, const TextOptions& options,
    Vocabulary vocabulary) {
  std::string source;
  for (const std::string& choice : choices) {
    if (!is_utf8(choice)) {
      fail(RC_E_INVALID_ARGUMENT, "grammar: the choice ", quote(choice),
           " is not UTF-8");
    }
    source += cat(choice.size(), ":", choice);
  }
  return of_text("choices", source, options, std::move(vocabulary),
                 [&](TextModel& model) {
                   model.begin_with(
                       model.exprs().one_of({choices.begin(), choices.end()}));
                 });
}

std::shared_ptr<const Grammar> Grammar::gbnf(std::string_view text,
                                             const TextOptions& options,
                                             Vocabulary vocabulary) {
  return of_text("gbnf", text, options, std::move(vocabulary),
                 [&](TextModel& model) {
                   model.begin_with_rules(
                       parse_gbnf(text, &model.exprs(), &model.rules()));
                 });
}

std::shared_ptr<const Grammar> Grammar::lark(std::string_view text,
                                             const TextOptions& options,
                                             Vocabulary vocabulary) {
  return of_text("lark", text, options, std::move(vocabulary),
                 [&](TextModel& model) {
                   model.begin_with_rules(
                       parse_lark(text, &model.exprs(), &model.rules()));
                 });
}

std::shared_ptr<const Grammar> Grammar::json_schema(std::string_view schema,
                                                    const JsonOptions& options,
                                                    Vocabulary vocabulary) {
  const TextHash hash =
      json_source_hash("schema", schema, options, *vocabulary);
  return compile(hash, [&](std::shared_ptr<KnownFailures> failures) {
    auto machine = std::make_shared<JsonMachine>(
        std::make_shared<JsonModel>(schema, options));
    return std::make_shared<MachineGrammar<JsonMachine, JsonMasks>>(
        std::move(machine), vocabulary, std::move(failures));
  });
}

}  // namespace rc::text::grammar
