#include "grammar_choice.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace cli {

void GrammarChoice::add_to(CLI::App& command) {
  const auto add = [&](CLI::Option* option) {
    for (CLI::Option* const other : options_) option->excludes(other);
    options_.push_back(option);
    return option;
  };
  schema_option_ = add(takes_file(command.add_option(
      "--schema", schema_file_,
      "generate JSON, without white space, that keeps to the JSON schema in "
      "this file")));
  command
      .add_flag("--schema-open", is_open_,
                "with --schema: generate any JSON that it allows, with "
                "properties that it does not name and in any order")
      ->needs(schema_option_);
  regex_option_ = add(command.add_option(
      "--regex", regex_,
      "generate a text that this regular expression matches"));
  grammar_option_ = add(takes_file(command.add_option(
      "--grammar", grammar_file_,
      "generate what the rules in this file allow: Lark if its name ends in "
      ".lark, else GBNF")));
  choices_option_ = add(
      takes_several(command.add_option("--choices", choices_,
                                       "generate one of these texts, separated "
                                       "by commas"))
          ->delimiter(','));
}

void GrammarChoice::exclude(CLI::Option* option) {
  for (CLI::Option* const each : options_) option->excludes(each);
}

void GrammarChoice::read() {
  if (schema_option_->count() > 0) read_file(schema_file_);
  if (grammar_option_->count() > 0) read_file(grammar_file_);
}

void GrammarChoice::read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  // A folder can be opened, but not read.
  if (file) file.peek();
  if (!file.is_open() || file.bad()) {
    throw Failure{kFile, "cannot read " + path + ": " + std::strerror(errno)};
  }
  text_.assign(std::istreambuf_iterator<char>(file), {});
}

Grammar GrammarChoice::compile(const Model& model) const {
  const bool any = std::any_of(
      options_.begin(), options_.end(),
      [](const CLI::Option* option) { return option->count() > 0; });
  if (!any) return nullptr;
  const Tokenizer tokenizer =
      make<Tokenizer>(rc_model_get_tokenizer, model.get());
  if (choices_option_->count() > 0) {
    std::vector<const char*> texts;
    for (const std::string& text : choices_) texts.push_back(text.c_str());
    return make<Grammar>(rc_grammar_create_choices, tokenizer.get(),
                         texts.data(), texts.size());
  }
  rc_grammar_options options = RC_GRAMMAR_OPTIONS_INIT;
  options.open = is_open_ ? 1 : 0;
  const auto create = [&](rc_grammar_kind kind, const std::string& text) {
    return make<Grammar>(rc_grammar_create, tokenizer.get(), kind, text.data(),
                         text.size(), &options);
  };
  if (regex_option_->count() > 0) return create(RC_GRAMMAR_REGEX, regex_);
  const bool schema = schema_option_->count() > 0;
  const std::string& path = schema ? schema_file_ : grammar_file_;
  constexpr std::string_view kLark = ".lark";
  const bool lark =
      path.size() > kLark.size() &&
      path.compare(path.size() - kLark.size(), kLark.size(), kLark) == 0;
  try {
    return create(schema ? RC_GRAMMAR_JSON_SCHEMA
                  : lark ? RC_GRAMMAR_LARK
                         : RC_GRAMMAR_GBNF,
                  text_);
  } catch (Failure& failure) {
    failure.message = path + ": " + failure.message;
    throw;
  }
}

bool is_whole(const Grammar& grammar, const std::vector<int32_t>& tokens) {
  const Matcher matcher =
      make<Matcher>(rc_grammar_matcher_create, grammar.get());
  size_t accepted = 0;
  check(rc_grammar_matcher_accept(matcher.get(), tokens.data(), tokens.size(),
                                  &accepted));
  int32_t may_end = 0;
  check(rc_grammar_matcher_is_accepting(matcher.get(), &may_end));
  if (accepted < tokens.size() || may_end == 0) return false;
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    int32_t goes_on = 0;
    check(rc_grammar_matcher_accept_text(matcher.get(), &text, 1, &goes_on));
    if (goes_on != 0) return false;
  }
  return true;
}

}  // namespace cli
