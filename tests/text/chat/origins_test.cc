// Text that stays content, whatever a template does to it.
#include <vector>

#include "text/chat/chat_util.h"

namespace rc::text::chat {
namespace {

Value content(const nlohmann::ordered_json& json) {
  return from_json(json, Origin::kContent);
}
Value trusted(const nlohmann::ordered_json& json) {
  return from_json(json, Origin::kTemplate);
}

// With x = "Ab c" and other content, and trusted values.
std::string rendered(const std::string& source) {
  const Value variables =
      make_variables({{"x", content("Ab c")},
                      {"e", content("a&b")},
                      {"lines", content("one\ntwo")},
                      {"words", content({"b", "a"})},
                      {"d", content({{"key", "value"}, {"n", 12}})},
                      {"n", content(12)},
                      {"f", content(2.5)},
                      {"yes", content(true)},
                      {"number", content(" 42 ")},
                      {"bos", trusted("<s>")},
                      {"one", trusted(1)}});
  return marked(Template::parse(source).render(variables, recorded_time()));
}

struct OriginCase {
  const char* source;
  const char* expected;
};

void expect_all(const std::vector<OriginCase>& cases) {
  for (const OriginCase& one : cases) {
    EXPECT_EQ(rendered(one.source), one.expected) << one.source;
  }
}

TEST(Origins, FollowPrintedValues) {
  expect_all({{"a{{ x }}b", "a«Ab c»b"},
              {"{{ bos }}{{ x }}", "<s>«Ab c»"},
              {"{{ x }}{{ x }}", "«Ab cAb c»"},
              {"{{ 'a' }}{{ one }}", "a1"},
              {"{{ n }} {{ f }} {{ yes }}", "«12» «2.5» «True»"},
              {"{{ d }}", "{'«key»': '«value»', '«n»': «12»}"},
              {"{{ words }}", "['«b»', '«a»']"},
              {"{{ [x, 'y', (x,)] }}", "['«Ab c»', 'y', ('«Ab c»',)]"},
              {"{{ d.items() }}",
               "dict_items([('«key»', '«value»'), ('«n»', «12»)])"}});
}

TEST(Origins, FollowOperators) {
  expect_all({{"{{ '<' + x + '>' }}", "<«Ab c»>"},
              {"{{ '<' ~ x ~ n ~ one }}", "<«Ab c12»1"},
              {"{{ (x ~ '|') * 2 }}", "«Ab c»|«Ab c»|"},
              {"{{ ('<' ~ x ~ '>')[1:4] }}", "«Ab »"},
              {"{{ ('<' ~ x ~ '>')[:2] }}", "<«A»"},
              {"{{ ('<' ~ x ~ '>')[::-1] }}", ">«c bA»<"},
              {"{{ x[0] ~ 'x' ~ x[-1] }}", "«A»x«c»"},
              {"{{ n + 1 }} {{ one + 1 }} {{ -n }}", "«13» 2 «-12»"},
              {"{{ n * f }} {{ n // 5 }} {{ 7 % n }}", "«30.0» «2» «7»"},
              {"{{ '[%s|%5s|%d]' % (x, x, n) }}", "[«Ab c»| «Ab c»|«12»]"},
              {"{{ x if yes else 'no' }}", "«Ab c»"},
              {"{{ x and 'yes' }}", "yes"},
              {"{{ x == 'Ab c' }}", "True"}});
}

TEST(Origins, FollowLoopsAndBlocks) {
  expect_all(
      {{"{% for c in x %}[{{ c }}]{% endfor %}", "[«A»][«b»][« »][«c»]"},
       {"{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
        "«key»=«value»;«n»=«12»;"},
       {"{% for k in d %}{{ k }},{% endfor %}", "«key»,«n»,"},
       {"{% set y %}<{{ x }}>{% endset %}{{ y }}", "<«Ab c»>"},
       {"{% filter upper %}a{{ x }}b{% endfilter %}", "A«AB C»B"},
       {"{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(x)|upper }}", "<«AB C»>"},
       {"{% macro m() %}<{{ caller() }}>{% endmacro %}"
        "{% call m() %}a{{ x }}{% endcall %}",
        "<a«Ab c»>"},
       {"{% set ns = namespace(t='') %}{% for c in words %}"
        "{% set ns.t = ns.t ~ '-' ~ c %}{% endfor %}{{ ns.t }}",
        "-«b»-«a»"},
       {"{% macro m() %}{{ kwargs }}{{ varargs }}{% endmacro %}"
        "{{ m(x, **{'a': x}) }}",
        "{'a': '«Ab c»'}('«Ab c»',)"}});
}

TEST(Origins, FollowMethods) {
  expect_all(
      {{"{{ x.upper() }}{{ x.title() }}", "«AB CAb C»"},
       {"{{ (' ' ~ x ~ ' ').strip() }}", "«Ab c»"},
       {"{{ x.split(' ') }}", "['«Ab»', '«c»']"},
       {"{{ ('<' ~ x ~ '>').split('b') }}", "['<«A»', '« c»>']"},
       {"{{ '+'.join(words) }}", "«b»+«a»"},
       {"{{ x.join(['1', '2']) }}", "1«Ab c»2"},
       {"{{ 'a-b'.replace('-', x) }}", "a«Ab c»b"},
       {"{{ x.replace('b', '<>') }}", "«A»<>« c»"},
       {"{{ x.center(8, '*') }}", "**«Ab c»**"},
       {"{{ x.partition('b') }}", "('«A»', '«b»', '« c»')"},
       {"{{ '{} {!r} {:>6}'.format(x, x, x) }}", "«Ab c» '«Ab c»'   «Ab c»"},
       {"{{ '{a[key]}'.format(a=d) }}", "«value»"},
       {"{{ x.zfill(6) }}", "00«Ab c»"},
       {"{{ d.get('key') }}{{ d.get('no', '-') }}", "«value»-"},
       {"{{ 'x%sy'|format(x) }}", "x«Ab c»y"},
       {"{{ lines.splitlines()|last }}", "«two»"}});
}

TEST(Origins, FollowTextFilters) {
  expect_all({{"{{ x|upper }}|{{ x|lower }}|{{ x|title }}|{{ x|capitalize }}",
               "«AB C»|«ab c»|«Ab C»|«Ab c»"},
              {"{{ ('a ' ~ x)|title }}", "A «Ab C»"},
              {"{{ e|e }}", "«a&amp;b»"},
              {"{{ ('<' ~ e)|e }}", "&lt;«a&amp;b»"},
              {"{{ x|safe ~ '<' }}", "«Ab c»<"},
              {"{{ lines|indent(2) }}", "«one»\n  «two»"},
              {"{{ ('abc ' ~ x)|truncate(6, leeway=0) }}", "abc..."},
              {"{{ x|truncate(3, true, '', 0) }}", "«Ab »"},
              {"{{ ('12 ' ~ x)|wordwrap(5) }}", "12 «Ab»\n«c»"},
              {"{{ x|replace(' ', '_') }}", "«Ab»_«c»"},
              {"{{ x|trim('A') }}", "«b c»"},
              {"{{ x|urlencode }}", "«Ab%20c»"},
              {"{{ (x ~ '<b>')|striptags }}", "«Ab» «c»"},
              {"{{ x|center(8) }}", "  «Ab c»  "}});
}

TEST(Origins, FollowListAndNumberFilters) {
  expect_all(
      {{"{{ words|join(', ') }}", "«b», «a»"},
       {"{{ words|sort|first ~ '.' }}", "«a»."},
       {"{{ [1, x]|map('string')|join('/') }}", "1/«Ab c»"},
       {"{{ d|dictsort }}", "[('«key»', '«value»'), ('«n»', «12»)]"},
       {"{{ d|tojson }}", "{\"«key»\": \"«value»\", \"«n»\": «12»}"},
       {"{{ {'a': x}|tojson(indent=1) }}", "{\n \"a\": \"«Ab c»\"\n}"},
       {"{{ lines|tojson }}", "\"«one\\ntwo»\""},
       {"{{ number|int }} {{ number|float }}", "«42» «42.0»"},
       {"{{ f|round }} {{ f|int }} {{ (-n)|abs }}", "«2.0» «2» «12»"},
       {"{{ [n, 1]|sum }} {{ [one, 1]|sum }}", "«13» 2"},
       {"{{ x|default('y') }}{{ z|default('y') }}", "«Ab c»y"},
       {"{{ words|groupby(0) }}", "[('«a»', ['«a»']), ('«b»', ['«b»'])]"},
       {"{{ x|reverse }}", "«c bA»"},
       {"{{ x|list }}", "['«A»', '«b»', '« »', '«c»']"},
       {"{{ words|length }}", "2"}});
}

TEST(Origins, TimeHasTheOriginOfItsFormat) {
  EXPECT_EQ(rendered("{{ strftime_now('%Y') }}"), "2024");
  EXPECT_EQ(rendered("{{ strftime_now('<' ~ '%d') }}{{ x }}"), "<26«Ab c»");
}

bool is_cyrillic(unsigned char byte) { return byte == 0xD0 || byte == 0xD1; }

// In the templates here nothing is Cyrillic but what messages say.
std::vector<Span> cyrillic_spans(const std::string& text) {
  std::vector<Span> spans;
  for (size_t at = 0; at < text.size();) {
    if (!is_cyrillic(static_cast<unsigned char>(text[at]))) {
      ++at;
    } else if (!spans.empty() && spans.back().end == at) {
      at = spans.back().end += 2;
    } else {
      spans.push_back({at, at + 2});
      at += 2;
    }
  }
  return spans;
}

Value message(const std::string& role, const std::string& text) {
  return make_variables({{"role", trusted(role)}, {"content", content(text)}});
}

TEST(Origins, FollowWholeConversations) {
  const Value tools = content(nlohmann::ordered_json::array());
  for (const auto& entry : std::filesystem::directory_iterator(
           test::source_path("tests/golden/chat/templates"))) {
    const Template chat = Template::parse(read_text(entry.path()));
    const Value messages =
        make_list({message("user", "Привет"),
                   message("assistant", "Здравствуй"), message("user", "Как"),
                   message("assistant", "Так"), message("user", "Хорошо")});
    const Value variables =
        make_variables({{"messages", messages},
                        {"bos_token", trusted("<s>")},
                        {"eos_token", trusted("</s>")},
                        {"add_generation_prompt", trusted(true)},
                        {"tools", tools}});
    const Rendered rendered = chat.render(variables, recorded_time());
    EXPECT_EQ(rendered.content, cyrillic_spans(rendered.text))
        << entry.path() << "\n"
        << marked(rendered);
    EXPECT_EQ(rendered.content.size(), 5u) << entry.path();
  }
}

}  // namespace
}  // namespace rc::text::chat
