#include "text/chat/template.h"

#include "base/quote.h"
#include "text/chat/containers.h"
#include "text/chat/interpreter.h"
#include "text/chat/parser.h"

namespace rc::text::chat {

Template Template::parse(std::string_view source, const Limits& limits) {
  if (source.size() > limits.source_bytes) {
    fail(RC_E_UNSUPPORTED, "the chat template has ", source.size(),
         " bytes, more than ", limits.source_bytes,
         ": raise the limit if it is to be trusted");
  }
  if (!is_utf8(source)) {
    fail(RC_E_FORMAT, "the chat template is not valid UTF-8: convert it");
  }
  return Template(
      std::make_shared<const Syntax>(parse_template(source, limits)), limits);
}

Rendered Template::render(const Value& variables,
                          const RenderOptions& options) const {
  if (!variables.is(Kind::kDict)) {
    fail(RC_E_INVALID_ARGUMENT, "the variables of a chat template are ",
         type_with_article(variables), ": give a dict of them by name");
  }
  if (variables.depth() > limits_.depth) {
    fail(RC_E_INVALID_ARGUMENT,
         "the variables of the chat template are nested ", variables.depth(),
         " levels deep, more than ", limits_.depth);
  }
  return Interpreter(*syntax_, variables.as_dict(), options, limits_).render();
}

Value make_list(std::vector<Value> items) {
  return make_sequence(nullptr, Kind::kList, std::move(items));
}

Value make_variables(
    std::initializer_list<std::pair<std::string_view, Value>> variables) {
  std::vector<Dict::Entry> entries;
  for (const auto& [name, value] : variables) {
    entries.emplace_back(Value::string(name, Origin::kTemplate), value);
  }
  return make_dict(nullptr, std::move(entries));
}

}  // namespace rc::text::chat
