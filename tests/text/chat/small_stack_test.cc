// Hostile conversations and answers, on a small stack. Templates are rendered
// on a deep one, as the library does.
#include "small_stack.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/deep_stack.h"
#include "text/chat/calls/call_grammar.h"
#include "text/chat/chat_util.h"
#include "text/chat/conversation.h"
#include "text/chat/from_json.h"
#include "text/chat/loose_json.h"
#include "text/chat/replies/call_parts.h"
#include "text/chat/replies/call_reader.h"

namespace rc::text::chat {
namespace {

std::string nested(std::string_view open, std::string_view inner,
                   std::string_view close, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += open;
  result += inner;
  for (size_t i = 0; i < count; ++i) result += close;
  return result;
}

class Ignored : public CallSink {
  void begin_call(std::string_view, std::string_view) override {}
  void add_arguments(std::string_view) override {}
  void end_call(std::string_view) override {}
};

TEST(SmallStack, ParsesCallsInAnswers) {
  for (const size_t depth : {50, 99, 100, 100'000}) {
    for (const std::string& value :
         {nested("[", "1", "]", depth), nested("{\"a\": ", "1", "}", depth),
          nested("[{\"a\": ", "1", "}]", depth / 2)}) {
      Ignored sink;
      EXPECT_TRUE(test::fits_small_stack([&] {
        read_literal_calls({.shape = CallShape::kPython},
                           "[f(a=" + value + ")]", &sink);
      })) << depth;
      EXPECT_TRUE(test::fits_small_stack([&] {
        read_literal_calls({.shape = CallShape::kGemma},
                           "call:f{a:" + value + "}", &sink);
      })) << depth;
    }
  }
}

TEST(SmallStack, RendersArgumentsInJson) {
  for (const size_t depth : {100, 198, 100'000}) {
    for (const std::string& value :
         {nested("[", "1", "]", depth), nested("{\"a\": ", "1", "}", depth)}) {
      EXPECT_TRUE(test::fits_small_stack([&] {
        const JsonValue parsed = parse_argument(value, "messages");
        on_deep_stack([&] {
          Template::parse("{{ a }}{{ a|tojson }}{{ a == a }}{{ [a]|string }}")
              .render(
                  make_variables({{"a", from_json(parsed, Origin::kContent)}}));
        });
      })) << depth;
      EXPECT_TRUE(test::fits_small_stack([&] {
        parse_response_format(
            R"({"type": "json_schema", "json_schema": {"schema": )" + value +
            "}}");
      })) << depth;
      EXPECT_TRUE(test::fits_small_stack([&] { parse_tool_choice(value); }));
    }
  }
}

TEST(SmallStack, ParsesValuesOfModels) {
  const std::pair<const char*, const char*> kNests[] = {{"[", "]"},
                                                        {"{\"a\": ", "}"}};
  for (const auto& nest : kNests) {
    for (const size_t depth : {size_t{100}, kDeepestJson, size_t{50'000}}) {
      const std::string text = nested(nest.first, "1", nest.second, depth);
      EXPECT_TRUE(test::fits_small_stack([&] {
        if (read_loose_json(text).has_value() != (depth <= kDeepestJson)) {
          std::abort();
        }
        if (read_python_literal(text).has_value() != (depth <= 100)) {
          std::abort();
        }
      })) << text.substr(0, 20)
          << depth;
    }
  }
}

TEST(SmallStack, ParsesAndRendersTemplates) {
  for (const size_t depth : {90, 100, 50'000}) {
    for (const std::string& source :
         {"{{ " + nested("(", "1", ")", depth) + " }}",
          "{{ " + nested("[", "1", "]", depth) + " }}",
          "{{ " + nested("not ", "1", "", depth) + " }}",
          "{{ " + nested("-", "1", "", depth) + " }}",
          "{{ " + nested("1 if ", "1", " else 2", depth) + " }}",
          "{{ 1" + nested(" + 1", "", "", depth) + " }}",
          "{{ 2" + nested(" ** 1", "", "", depth) + " }}",
          "{{ a" + nested(".a", "", "", depth) + " }}",
          "{{ a" + nested("|list", "", "", depth) + " }}",
          nested("{% if 1 %}", "1", "{% endif %}", depth),
          nested("{% for a in [1] %}", "1", "{% endfor %}", depth),
          nested("{% filter upper %}", "1", "{% endfilter %}", depth),
          std::string(
              "{% macro m(a) %}{{ m([a]) }}{% endmacro %}{{ m(1) }}")}) {
      EXPECT_TRUE(test::fits_small_stack([&] {
        on_deep_stack(
            [&] { Template::parse(source).render(make_variables({})); });
      })) << source.substr(0, 40)
          << depth;
    }
  }
}

}  // namespace
}  // namespace rc::text::chat
