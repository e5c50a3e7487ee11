#include "grammar_choice.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace cli {

void GrammarChoice::add_to(CLI::App& command) {
  CLI::Option* const schema = command.add_option(
      "--schema", schema_file_,
      "generate JSON, without white space, that keeps to the JSON schema in "
      "this file");
  CLI::Option* const regex =
      command
          .add_option("--regex", regex_,
                      "generate a text that this regular expression matches")
          ->excludes(schema);
  CLI::Option* const grammar =
      command
          .add_option("--grammar", grammar_file_,
                      "generate what the rules in this file allow: Lark if its "
                      "name ends in .lark, else GBNF")
          ->excludes(schema)
          ->excludes(regex);
  command
      .add_option("--choices", choices_,
                  "generate one of these texts, which commas part")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(schema)
      ->excludes(regex)
      ->excludes(grammar);
  regex_option_ = regex;
}

void GrammarChoice::read() {
  if (!schema_file_.empty()) read_file(schema_file_);
  if (!grammar_file_.empty()) read_file(grammar_file_);
}

void GrammarChoice::read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  text_.assign(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    throw Failure{kFile,
                  "cannot read " + path +
                      (errno != 0 ? std::string(": ") + std::strerror(errno)
                                  : std::string())};
  }
}

Grammar GrammarChoice::compile(const Model& model) const {
  const bool any = !schema_file_.empty() || !grammar_file_.empty() ||
                   regex_option_->count() > 0 || !choices_.empty();
  if (!any) return nullptr;
  const Tokenizer tokenizer =
      make<Tokenizer>(rc_model_get_tokenizer, model.get());
  if (!choices_.empty()) {
    std::vector<const char*> texts;
    for (const std::string& text : choices_) texts.push_back(text.c_str());
    return make<Grammar>(rc_grammar_create_choices, tokenizer.get(),
                         texts.data(), texts.size());
  }
  const auto create = [&](rc_grammar_kind kind, const std::string& text) {
    return make<Grammar>(rc_grammar_create, tokenizer.get(), kind, text.data(),
                         text.size(), nullptr);
  };
  if (regex_option_->count() > 0) return create(RC_GRAMMAR_REGEX, regex_);
  const std::string& path = schema_file_.empty() ? grammar_file_ : schema_file_;
  constexpr std::string_view kLark = ".lark";
  const bool lark =
      path.size() > kLark.size() &&
      path.compare(path.size() - kLark.size(), kLark.size(), kLark) == 0;
  try {
    return create(!schema_file_.empty() ? RC_GRAMMAR_JSON_SCHEMA
                  : lark                ? RC_GRAMMAR_LARK
                                        : RC_GRAMMAR_GBNF,
                  text_);
  } catch (Failure& failure) {
    failure.message = path + ": " + failure.message;
    throw;
  }
}

}  // namespace cli
