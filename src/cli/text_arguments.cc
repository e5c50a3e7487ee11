#include <charconv>
#include <iostream>
#include <iterator>

#include "commands.h"

namespace cli {

std::vector<int32_t> parse_tokens(const std::string& text) {
  std::vector<int32_t> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int32_t token = 0;
    const auto [stop, error] = std::from_chars(at, end, token);
    if (error != std::errc() || (stop != end && *stop != ',') ||
        (stop != end && stop + 1 == end)) {
      throw Failure{kUsage,
                    "tokens are numbers separated by commas, as in "
                    "1,2,3; this is not: " +
                        std::string(at, end)};
    }
    tokens.push_back(token);
    at = stop == end ? end : stop + 1;
  }
  return tokens;
}

std::string read_prompt(const std::string& argument) {
  if (argument != "-") return argument;
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) throw Failure{kFile, "cannot read stdin"};
  return text;
}

std::vector<int32_t> tokenize(const Tokenizer& tokenizer,
                              const std::string& text, uint32_t flags) {
  int32_t* tokens = nullptr;
  size_t count = 0;
  check(rc_tokenize(tokenizer.get(), text.data(), text.size(), flags, &tokens,
                    &count));
  const Returned<int32_t> owned(tokens);
  return {tokens, tokens + count};
}

}  // namespace cli
