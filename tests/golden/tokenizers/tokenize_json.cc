// Tokenizes for compare_json.py and compare_pieces.py with a tokenizer.json, or
// a model with a vocabulary, whose path is the argument: a line of JSON in, a
// line out.
//
// In: {"text": ..., "parse_special": ...}. Out: {"ids": [...], "text": ...,
// "shown": ...} (decoded without and with special tokens) or {"error": ...}.
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/utf8.h"
#include "files/open_model.h"
#include "text/tokenizer_json/json_tokenizer.h"

namespace {

std::shared_ptr<const rc::text::Tokenizer> load(const std::string& path) {
  if (!path.ends_with(".json")) {
    auto tokenizer = rc::text::Tokenizer::load(*rc::open_model(path));
    if (tokenizer == nullptr) rc::fail(RC_E_FORMAT, path, ": no vocabulary");
    return tokenizer;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  rc::text::Vocabulary known;
  known.source = path;
  return rc::text::make_json_tokenizer(json, known);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto tokenizer = load(argv[1]);
    for (std::string text; std::getline(std::cin, text);) {
      const auto line = nlohmann::json::parse(text);
      nlohmann::json out;
      try {
        const auto ids = tokenizer->tokenize(
            line["text"].get<std::string>(),
            {.add_special = line.value("add_special", true),
             .parse_special = line.value("parse_special", true)});
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
