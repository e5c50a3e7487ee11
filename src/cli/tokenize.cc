#include <nlohmann/json.hpp>

#include "commands.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

struct TokenizeArguments {
  std::string path;
  std::string text;
  std::string decode;
  bool no_special = false;
  bool parse_special = false;
  bool json = false;
};

std::string detokenize(const Tokenizer& tokenizer,
                       const std::vector<int32_t>& tokens, bool special) {
  char* text = nullptr;
  size_t length = 0;
  check(rc_detokenize(tokenizer.get(), tokens.data(), tokens.size(),
                      special ? 1 : 0, &text, &length));
  const Returned<char> owned(text);
  return {text, length};
}

void encode(const Tokenizer& tokenizer, const TokenizeArguments& arguments) {
  uint32_t flags = 0;
  if (!arguments.no_special) flags |= RC_TOKENIZE_ADD_SPECIAL;
  if (arguments.parse_special) flags |= RC_TOKENIZE_PARSE_SPECIAL;
  const std::vector<int32_t> tokens =
      tokenize(tokenizer, arguments.text, flags);
  Json list = Json::array();
  std::string lines;
  for (const int32_t token : tokens) {
    const Json piece = detokenize(tokenizer, {token}, true);
    list.push_back({{"id", token}, {"piece", piece}});
    lines += std::to_string(token) + "\t" +
             piece.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  print(arguments.json ? json_text(Json{{"tokens", list}}) : lines);
}

void decode(const Tokenizer& tokenizer, const TokenizeArguments& arguments) {
  const std::string text = detokenize(tokenizer, parse_tokens(arguments.decode),
                                      arguments.parse_special);
  print(arguments.json ? json_text(Json{{"text", text}}) : text + "\n");
}

}  // namespace

void add_tokenize(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("tokenize", "Turns text into tokens, and back");
  auto arguments = std::make_shared<TokenizeArguments>();
  add_model(*command, arguments->path);
  CLI::Option* text = command->add_option(
      "-p,--text,--prompt", arguments->text,
      "the text; - reads stdin; default: the text of a pipe or a file on "
      "stdin");
  CLI::Option* ids = command->add_option(
      "--decode", arguments->decode, "tokens to turn into text, as in 1,2,3");
  text->excludes(ids);
  command->add_flag(
      "--no-special", arguments->no_special,
      "do not add the special tokens that the model has around a text");
  command->add_flag("--parse-special", arguments->parse_special,
                    "take the names of special tokens for them; show them "
                    "when decoding");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, text, ids] {
    const bool given = text->count() + ids->count() > 0;
    if (!given && !text_on_stdin()) {
      throw Failure{kUsage,
                    "there is nothing to tokenize: give a text (--text, or on "
                    "stdin), or tokens (--decode)"};
    }
    if (!given || arguments->text == "-") arguments->text = read_stdin();
    const Tokenizer tokenizer =
        make<Tokenizer>(rc_tokenizer_open, arguments->path.c_str());
    if (ids->count() > 0) {
      decode(tokenizer, *arguments);
    } else {
      encode(tokenizer, *arguments);
    }
  });
}

}  // namespace cli
