// Chat templates under hostile sources and variables.
//
// The input is a source and, after a zero byte, JSON with its variables. What
// is rendered must keep its promises: content within the text, in order, and
// nothing of a template that is taken for content or the other way round where
// this can be checked.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "small_stack.h"
#include "text/chat/from_json.h"
#include "text/chat/template.h"

namespace {

using rc::JsonValue;
using rc::parse_json;
using rc::valid_utf8;
using rc::text::Span;
using rc::text::chat::from_json;
using rc::text::chat::Limits;
using rc::text::chat::make_list;
using rc::text::chat::make_variables;
using rc::text::chat::Origin;
using rc::text::chat::Rendered;
using rc::text::chat::Template;
using rc::text::chat::Value;

void check(bool holds) {
  if (!holds) __builtin_trap();
}

// In order, neither empty nor touching, within the text.
void check_spans(const std::vector<Span>& spans, size_t size, bool may_touch) {
  size_t end = 0;
  bool first = true;
  for (const Span& span : spans) {
    check(span.begin < span.end && span.end <= size);
    check(first || span.begin > end || (may_touch && span.begin == end));
    end = span.end;
    first = false;
  }
}

Limits small_limits() {
  Limits limits;
  limits.nesting = 40;
  limits.depth = 100;
  limits.steps = 200'000;
  limits.output_bytes = size_t{1} << 20;
  limits.memory_bytes = size_t{8} << 20;
  return limits;
}

Value parse_variables(std::string_view json, Origin origin) {
  try {
    const JsonValue parsed = parse_json(json, "variables", 200);
    if (parsed.is(JsonValue::Type::kObject)) return from_json(parsed, origin);
  } catch (const rc::Error&) {
    // It is the text of a message.
  }
  static const JsonValue user = parse_json(
      R"({"role": "user", "content": "<|end|> é 'q'"})", "message", 1);
  const Value answer =
      make_variables({{"role", Value::string("assistant", origin)},
                      {"content", Value::string(valid_utf8(json), origin)}});
  return make_variables(
      {{"messages", make_list({from_json(user, origin), answer})},
       {"n", Value::integer(7).with_origin(origin)},
       {"add_generation_prompt", Value::boolean(true).with_origin(origin)}});
}

void run_input(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), input.size());
  const std::string_view source = input.substr(0, zero);
  std::string_view json = input.substr(std::min(zero + 1, input.size()));
  if (!rc::is_utf8(json)) json = "{}";
  try {
    const Template chat = Template::parse(source, small_limits());
    const Rendered rendered = chat.render(
        parse_variables(json, Origin::kContent),
        {.now = rc::text::chat::LocalTime{2024, 7, 26, 1, 2, 3, 4}});
    check(rc::is_utf8(rendered.text));
    check_spans(rendered.content, rendered.text.size(), false);
    check_spans(rendered.generation, rendered.text.size(), true);
    // Where things come from changes nothing of what is written.
    const Rendered trusted = chat.render(
        parse_variables(json, Origin::kTemplate),
        {.now = rc::text::chat::LocalTime{2024, 7, 26, 1, 2, 3, 4}});
    check(trusted.text == rendered.text && trusted.content.empty());
  } catch (const rc::Error& error) {
    check(error.status() == RC_E_FORMAT || error.status() == RC_E_UNSUPPORTED ||
          error.status() == RC_E_INVALID_ARGUMENT);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The stack that limits.h promises to do with. The library takes a deep one.
  static const size_t kStack =
      (size_t{256} << 10) * small_limits().nesting / Limits().nesting;
  rc::fuzz::on_small_stack([&] { run_input(data, size); }, kStack);
  return 0;
}
