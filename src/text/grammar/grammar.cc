#include "text/grammar/grammar.h"

#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "text/grammar/gbnf.h"
#include "text/grammar/json_machine.h"
#include "text/grammar/json_masks.h"
#include "text/grammar/lark.h"
#include "text/grammar/machine_grammar.h"
#include "text/grammar/regex_syntax.h"
#include "text/grammar/text_masks.h"

namespace rc::text::grammar {
namespace {

std::shared_ptr<const Grammar> of_model(std::shared_ptr<TextModel> model,
                                        Grammar::Vocabulary vocabulary) {
  return std::make_shared<MachineGrammar<TextMachine, TextMasks>>(
      std::make_shared<TextMachine>(std::move(model)), std::move(vocabulary));
}

}  // namespace

std::shared_ptr<const Grammar> Grammar::regex(std::string_view pattern,
                                              const TextOptions& options,
                                              Vocabulary vocabulary) {
  auto model = std::make_shared<TextModel>(options);
  model->begin_with(parse_regex(pattern, {}, &model->exprs()));
  return of_model(std::move(model), std::move(vocabulary));
}

std::shared_ptr<const Grammar> Grammar::choices(
    std::span<const std::string> choices, const TextOptions& options,
    Vocabulary vocabulary) {
  for (const std::string& choice : choices) {
    if (!is_utf8(choice)) {
      fail(RC_E_INVALID_ARGUMENT, "grammar: the choice ", quote(choice),
           " is not UTF-8");
    }
  }
  auto model = std::make_shared<TextModel>(options);
  model->begin_with(model->exprs().one_of({choices.begin(), choices.end()}));
  return of_model(std::move(model), std::move(vocabulary));
}

std::shared_ptr<const Grammar> Grammar::gbnf(std::string_view text,
                                             const TextOptions& options,
                                             Vocabulary vocabulary) {
  auto model = std::make_shared<TextModel>(options);
  model->begin_with_rules(parse_gbnf(text, &model->exprs(), &model->rules()));
  return of_model(std::move(model), std::move(vocabulary));
}

std::shared_ptr<const Grammar> Grammar::lark(std::string_view text,
                                             const TextOptions& options,
                                             Vocabulary vocabulary) {
  auto model = std::make_shared<TextModel>(options);
  model->begin_with_rules(parse_lark(text, &model->exprs(), &model->rules()));
  return of_model(std::move(model), std::move(vocabulary));
}

std::shared_ptr<const Grammar> Grammar::json_schema(std::string_view schema,
                                                    const JsonOptions& options,
                                                    Vocabulary vocabulary) {
  auto machine = std::make_shared<JsonMachine>(
      std::make_shared<JsonModel>(schema, options));
  return std::make_shared<MachineGrammar<JsonMachine, JsonMasks>>(
      std::move(machine), std::move(vocabulary));
}

}  // namespace rc::text::grammar
