#include "text/tokenizer_json/pattern.h"

#include "text/tokenizer_json/onig_pattern.h"

namespace rc::text {
namespace {

std::string literal_of(const JsonNode& node) {
  const auto text = node.find("String");
  return text ? text->text(kMaxPatternText) : std::string();
}

Regex regex_of(const JsonNode& node, const std::string& literal) {
  if (node.find("String")) {
    return Regex::from_file(literal_pattern(literal), literal, node.where());
  }
  const JsonNode regex = node.at("Regex");
  return onig_regex(regex.text(kMaxPatternText), regex.where());
}

}  // namespace

Pattern::Pattern(const JsonNode& node)
    : literal_(literal_of(node)), regex_(regex_of(node, literal_)) {}

}  // namespace rc::text
