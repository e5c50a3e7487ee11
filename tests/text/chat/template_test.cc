// Errors, time, sharing and speed of chat templates.
#include <thread>
#include <vector>

#include "text/chat/chat_util.h"

namespace rc::text::chat {
namespace {

TEST(ChatTemplate, ErrorsNameThePlaceAndTheFault) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{{ x.y }}", "line 1, column 6: the variable 'x' is undefined"},
      {"a\nb {{ 'x' + 1 }}", "line 2, column 10: '+' doesn't go with a str"},
      {"{% if 1 %}\n  x", "line 2, column 1: the block 'if' has no end"},
      {"{{ 1|nosuch }}", "line 1, column 6: there is no filter named 'nosuch'"},
      {"{{ 'ü' ~ nosuch() }}", "line 1, column 10: the variable 'nosuch'"},
      {"{% include 'x' %}", "line 1, column 4: the tag 'include' is not"},
      {"{{ 'abc }}", "line 1, column 4: the string has no end"},
      {"{{ [1, 2 }}", "line 1, column 10: unexpected '}', expected ']'"},
      {"x {{ raise_exception('no tools') }}",
       "line 1, column 6: the template refuses the conversation: no tools"},
  };
  for (const auto& [source, expected] : cases) {
    const std::string error = error_of(source);
    EXPECT_NE(error.find(expected), std::string::npos) << error;
  }
}

rc_status status_of(const std::string& source) {
  try {
    Template::parse(source).render(make_variables({}));
  } catch (const Error& error) {
    return error.status();
  }
  return RC_OK;
}

TEST(ChatTemplate, ErrorsHaveAStatus) {
  EXPECT_EQ(status_of("{{ raise_exception('x') }}"), RC_E_INVALID_ARGUMENT);
  EXPECT_EQ(status_of("{{ 1 + 'x' }}"), RC_E_FORMAT);
  EXPECT_EQ(status_of("{% if %}"), RC_E_FORMAT);
  EXPECT_EQ(status_of("\xFF"), RC_E_FORMAT);
  EXPECT_EQ(status_of("{{ 10**30 }}"), RC_E_UNSUPPORTED);
  EXPECT_EQ(status_of("{{ 'a' * 10**12 }}"), RC_E_UNSUPPORTED);
  EXPECT_THROW(Template::parse("x").render(Value::integer(1)), Error);
}

// The list is one that nothing else holds, or Python would change that, too.
TEST(ChatTemplate, AppendAndPopChangeOneVariable) {
  const auto text = [](const std::string& source) {
    return text_of(source, {{"given", {1}}});
  };
  EXPECT_EQ(text("{% set l = [] %}{% set _ = l.append(1) %}"
                 "{{ l.append('b') }} {{ l }}"),
            "None [1, 'b']");
  EXPECT_EQ(text("{% set l = [] %}{% for x in [1, 2] %}"
                 "{% set _ = l.append([x]) %}{% endfor %}{{ l }}"),
            "[[1], [2]]");
  EXPECT_EQ(text("{% set q = namespace(ids=[]) %}{% for x in [1, 2] %}"
                 "{% set _ = q.ids.append(x) %}{% endfor %}{{ q.ids }}"),
            "[1, 2]");
  EXPECT_EQ(text("{% set l = [1, 2, 3] %}{{ l.pop(0) }} {{ l.pop() }} "
                 "{{ l.pop(-1) }} {{ l }}"),
            "1 3 2 []");
  EXPECT_NE(text("{% set l = [1] %}{{ l.pop(1) }}").find("no element 1"),
            std::string::npos);
  for (const char* refused :
       {"{% set a = [] %}{% set b = a %}{{ a.append(1) }}",
        "{% set a = [[]] %}{{ a[0].append(1) }}", "{{ given.append(1) }}",
        "{% set a = [1] %}{% for x in a %}{{ a.append(x) }}{% endfor %}",
        "{% set a = [] %}{{ a.append() }}", "{{ given.pop() }}",
        "{% set a = [] %}{{ a.append(1, 2) }}", "{{ [].append(1) }}",
        "{% set q = namespace(ids=[]) %}{% set r = q.ids %}"
        "{{ q.ids.append(1) }}"}) {
    EXPECT_NE(text(refused).find("in place"), std::string::npos)
        << refused << ": " << text(refused);
  }
}

TEST(ChatTemplate, TimeIsGivenByTheCaller) {
  const Template chat = Template::parse("{{ strftime_now('%H:%M') }}");
  EXPECT_THROW(chat.render(make_variables({})), Error);
  EXPECT_EQ(chat.render(make_variables({}), recorded_time()).text, "14:05");
  EXPECT_THROW(chat.render(make_variables({}), {.now = LocalTime{2024, 13}}),
               Error);
}

// As strftime() of Python and glibc, in UTC.
TEST(ChatTemplate, FormatsTwelveAndTwentyFourHours) {
  const Template chat =
      Template::parse("{{ strftime_now('%p %P %#p %I %k %l %H %s') }}");
  const std::pair<int, const char*> cases[] = {
      {0, "AM am am 12  0 12 00 1709165229"},
      {1, "AM am am 01  1  1 01 1709168829"},
      {11, "AM am am 11 11 11 11 1709204829"},
      {12, "PM pm pm 12 12 12 12 1709208429"},
      {13, "PM pm pm 01 13  1 13 1709212029"},
      {23, "PM pm pm 11 23 11 23 1709248029"},
  };
  for (const auto& [hour, expected] : cases) {
    EXPECT_EQ(chat.render(make_variables({}),
                          {.now = LocalTime{2024, 2, 29, hour, 7, 9, 5}})
                  .text,
              expected);
  }
}

TEST(ChatTemplate, GenerationBlocksAreRendered) {
  const Rendered rendered = Template::parse(
                                "a{% generation %}bc{% endgeneration %}d"
                                "{% generation %}{% endgeneration %}"
                                "{% generation %}é{% endgeneration %}")
                                .render(make_variables({}));
  EXPECT_EQ(rendered.text, "abcdé");
  EXPECT_EQ(rendered.generation, (std::vector<Span>{{1, 3}, {4, 6}}));
}

TEST(ChatTemplate, InvalidUtf8OfCallersIsReplaced) {
  const Value broken =
      make_variables({{"x", Value::string("a\xFF", Origin::kContent)}});
  EXPECT_NO_THROW(Template::parse("{{ x|upper|tojson }}{{ x[1] }}{{ [x] }}")
                      .render(broken));
  const JsonValue text{.type = JsonValue::Type::kString, .text = "a\xFF"};
  EXPECT_EQ(
      Template::parse("{{ x }}")
          .render(make_variables({{"x", from_json(text, Origin::kContent)}}))
          .text,
      "a\xEF\xBF\xBD");
}

nlohmann::ordered_json conversation(int messages) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (int i = 0; i < messages; ++i) {
    out.push_back({{"role", i % 2 == 0 ? "user" : "assistant"},
                   {"content", "message " + std::to_string(i) +
                                   " with some words of text in it"}});
  }
  return out;
}

TEST(ChatTemplate, CanBeUsedByManyThreads) {
  const Template chat = Template::parse(
      read_text(test::source_path("tests/golden/chat/templates/hermes.jinja")));
  const Value variables = make_variables(
      {{"messages", from_json(conversation(20), Origin::kContent)},
       {"add_generation_prompt", from_json(true, Origin::kTemplate)}});
  const Rendered expected = chat.render(variables);
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const Rendered rendered = chat.render(variables);
        same[t] += rendered.text == expected.text &&
                   rendered.content == expected.content;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : same) EXPECT_EQ(count, 50);
}

// A conversation takes a small part of the limits, however long it is.
TEST(ChatTemplate, LongConversationsFit) {
  const Template chat = Template::parse(
      read_text(test::source_path("tests/golden/chat/templates/hermes.jinja")));
  const Value variables = make_variables(
      {{"messages", from_json(conversation(20000), Origin::kContent)}});
  EXPECT_GT(chat.render(variables).text.size(), size_t{20000} * 40);
}

}  // namespace
}  // namespace rc::text::chat
