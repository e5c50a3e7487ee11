#include "text/tokenizer_json/metaspace.h"

#include "base/quote.h"
#include "base/utf8.h"

namespace rc::text {

Metaspace read_metaspace(const JsonNode& node) {
  Metaspace rules;
  const JsonNode member = node.at("replacement");
  rules.replacement = member.text();
  if (rules.replacement.empty() ||
      decode_utf8(rules.replacement).size != rules.replacement.size()) {
    member.refuse("is ", quote(rules.replacement),
                  "; it must be one character");
  }
  rules.split = node.flag("split", true);
  if (const auto scheme = node.find("prepend_scheme")) {
    const std::string name = scheme->text();
    if (name == "never") {
      rules.scheme = Metaspace::Scheme::kNever;
    } else if (name == "first") {
      rules.scheme = Metaspace::Scheme::kFirst;
    } else if (name != "always") {
      scheme->refuse("is ", quote(name), "; it must be always, first or never");
    }
  } else if (!node.flag("add_prefix_space", true)) {
    rules.scheme = Metaspace::Scheme::kNever;  // as files said it earlier
  }
  return rules;
}

}  // namespace rc::text
