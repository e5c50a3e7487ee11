// Tokenizes for compare_json.py with a tokenizer.json, whose path is the
// argument: a line of JSON in, a line out.
//
// In: {"text": ..., "parse_special": ...}. Out: {"ids": [...], "text": ...,
// "shown": ...} (decoded without and with special tokens) or {"error": ...}.
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/utf8.h"
#include "text/tokenizer_json/json_tokenizer.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  rc::text::Vocabulary known;
  known.source = argv[1];
  try {
    const auto tokenizer = rc::text::make_json_tokenizer(json, known);
    for (std::string text; std::getline(std::cin, text);) {
      const auto line = nlohmann::json::parse(text);
      nlohmann::json out;
      try {
        const auto ids = tokenizer->tokenize(
            line["text"].get<std::string>(),
            {.parse_special = line.value("parse_special", true)});
        out["ids"] = ids;
        out["text"] = rc::valid_utf8(tokenizer->detokenize(ids));
        out["shown"] = rc::valid_utf8(tokenizer->detokenize(ids, true));
      } catch (const std::exception& error) {
        out["error"] = error.what();
      }
      std::cout << out.dump() << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
