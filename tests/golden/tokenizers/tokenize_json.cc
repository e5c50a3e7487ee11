// Tokenizes for compare_json.py and its kin with a tokenizer.json, or a model
// with a vocabulary, whose path is the argument: a line of JSON in, a line out.
// With "keys" as another argument the vocabulary is that of tokenizer.ggml.*.
//
// In: {"text": ..., "parse_special": ...}. Out: {"ids": [...], "text": ...,
// "shown": ...} (decoded without and with special tokens) or {"error": ...}.
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "files/open_model.h"
#include "text/tokenizer_json/json_tokenizer.h"
#include "text/vocabulary.h"

namespace {

std::shared_ptr<const rc::text::Tokenizer> load(const std::string& path,
                                                bool by_keys) {
  if (by_keys) {
    auto vocabulary = rc::text::read_vocabulary(*rc::open_model(path));
    if (!vocabulary) rc::fail(RC_E_FORMAT, path, ": no tokenizer.ggml.model");
    return rc::text::Tokenizer::create(*std::move(vocabulary));
  }
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
  const bool by_keys = argc == 3 && std::string_view(argv[2]) == "keys";
  if (argc != (by_keys ? 3 : 2)) return 2;
  try {
    const auto tokenizer = load(argv[1], by_keys);
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
