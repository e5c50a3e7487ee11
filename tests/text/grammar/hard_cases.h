// Grammars that are small to write and hard to keep; see make_hard.py.
#pragma once

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test_data.h"
#include "text/grammar/grammar.h"

namespace rc::test {

struct HardCase {
  std::string name;
  std::string kind;
  std::string text;
};

inline std::vector<HardCase> hard_cases() {
  std::ifstream file(source_path("tests/text/grammar/hard_cases.json"));
  std::vector<HardCase> cases;
  for (const auto& one : nlohmann::json::parse(file)) {
    cases.push_back({one.at("name"), one.at("kind"), one.at("text")});
  }
  return cases;
}

inline std::shared_ptr<const text::grammar::Grammar> compile(
    const HardCase& one, text::grammar::Grammar::Vocabulary vocabulary) {
  using text::grammar::Grammar;
  if (one.kind == "regex") return Grammar::regex(one.text, {}, vocabulary);
  if (one.kind == "gbnf") return Grammar::gbnf(one.text, {}, vocabulary);
  if (one.kind == "lark") return Grammar::lark(one.text, {}, vocabulary);
  return Grammar::json_schema(one.text, {}, vocabulary);
}

}  // namespace rc::test
