// Templates that want too much end soon, with an error that says where.
#include <ctime>
#include <vector>

#include "text/chat/chat_util.h"

namespace rc::text::chat {
namespace {

void expect_refused(const std::string& source, const std::string& why,
                    const Limits& limits = {}) {
  // Processor time, to which other programs add nothing.
  const std::clock_t begin = std::clock();
  const std::string error = error_of(source, limits);
  const double took =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_NE(error.find(why), std::string::npos)
      << source.substr(0, 200) << " gives " << error;
  EXPECT_NE(error.find(", column "), std::string::npos) << error;
  EXPECT_LT(took, 30.0) << source.substr(0, 200);
}

TEST(ChatLimits, RangesAreLimited) {
  expect_refused("{{ range(10**9)|list }}", "100000");
  expect_refused("{% for i in range(-9223372036854775807, 1) %}{% endfor %}",
                 "100000");
}

TEST(ChatLimits, NamesAreLimited) {
  std::string names;
  for (int i = 0; i < 50000; ++i) names += "a" + std::to_string(i) + "=1,";
  expect_refused("{{ dict(" + names + ") }}", "1000");
  expect_refused("{% macro m(" + names + "z=1) %}{% endmacro %}", "1000");
  expect_refused(
      "{% set l = range(100000)|list %}"
      "{{ ([[]] * 100000)|map('map', *l)|list }}",
      "more than");
}

TEST(ChatLimits, MemoryIsLimited) {
  expect_refused("{{ 'a' * 10**9 }}", "bytes");
  expect_refused("{{ 'a' * 10**18 }}", "bytes");
  // 2^64 bytes, which no number of 64 bits counts.
  expect_refused("{{ 'abcd' * 4611686018427387904 }}", "bytes");
  expect_refused("{{ [0] * 10**9 }}", "bytes");
  expect_refused("{{ [0, 1] * 9223372036854775807 }}", "bytes");
  expect_refused("{{ '%999999999d' % 1 }}", "bytes");
  expect_refused("{{ '{:999999999}'.format(1) }}", "bytes");
  expect_refused("{{ 'a'.center(10**12) }}", "bytes");
  expect_refused("{{ '\\t'.expandtabs(10**12) }}", "bytes");
  expect_refused("{{ 'a'|indent(10**12) }}", "spaces");
  expect_refused("{{ ('a' * 10**6).replace('a', 'b' * 10**6) }}", "bytes");
  expect_refused("{{ ('a' * 10**6).join('a' * 10**6) }}", "bytes");
  expect_refused(
      "{% set ns = namespace(x='a') %}{% for i in range(99) %}"
      "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "bytes");
  expect_refused(
      "{% set ns = namespace(x=['a']) %}{% for i in range(99) %}"
      "{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "more than");
}

TEST(ChatLimits, OutputIsLimited) {
  Limits limits;
  limits.output_bytes = 1000;
  expect_refused("{% for i in range(99) %}0123456789012{% endfor %}", "1000",
                 limits);
}

// Rendering ends as soon as more is written than the caller can use: not after
// the loop, and not after the value.
TEST(ChatLimits, OutputStopsAtTheBytesOfTheCaller) {
  const Value none = make_variables({});
  RenderOptions options;
  options.most_bytes = 1000;
  Limits limits;
  limits.steps = 5000;
  limits.memory_bytes = 100'000;
  for (const char* source : {"{% for i in range(100000) %}{{ i }} {% endfor %}",
                             "{{ 'a' * 50000 }}{{ 'a' * 200000 }}"}) {
    try {
      Template::parse(source, limits).render(none, options);
      ADD_FAILURE() << source;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_CONTEXT_FULL) << error.message();
      EXPECT_NE(error.message().find("1000"), std::string::npos);
    }
  }
  // Text that is not written does not count.
  EXPECT_EQ(Template::parse("{{ ('a' * 5000)|length }}", limits)
                .render(none, options)
                .text,
            "5000");
  EXPECT_EQ(Template::parse("{{ 'a' * 1000 }}", limits)
                .render(none, options)
                .text.size(),
            1000u);
}

// Memory is counted as it is taken: with both copies of a text that grows, and
// with the origins of its bytes.
TEST(ChatLimits, PeakMemoryIsCounted) {
  Limits limits;
  limits.memory_bytes = 100'000;
  // 50,000 bytes fit, but not while they are copied.
  expect_refused("{% for i in range(5000) %}0123456789{% endfor %}", "bytes",
                 limits);
  nlohmann::ordered_json variables;
  variables["s"] = std::string(3000, 'x');
  const Template chat =
      Template::parse("{% for c in s %}{{ c }}-{% endfor %}", limits);
  try {
    chat.render(from_json(tree_of(variables), Origin::kContent));
    ADD_FAILURE() << "3000 spans of 16 bytes were not counted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED) << error.message();
  }
  // All of it is given back.
  limits.memory_bytes = 30'000;
  EXPECT_EQ(text_of("{% for i in range(200) %}{% set x = 'a' * 400 %}"
                    "{% endfor %}{{ 'a' * 400 }}",
                    nlohmann::ordered_json::object(), limits),
            std::string(400, 'a'));
}

TEST(ChatLimits, RenderingCanBeStopped) {
  const Value none = make_variables({});
  for (const char* source :
       {"{% for i in range(50000) %}{% endfor %}",
        "{% set a = 'a' * 10**6 %}{% for i in range(30) %}"
        "{% if a ~ 'b' == a ~ 'c' %}{% endif %}{% endfor %}",
        "{{ 'ab' * 10**7 }}"}) {
    const Template chat = Template::parse(source);
    int asked = 0;
    RenderOptions options;
    options.should_stop = [&] {
      ++asked;
      return false;
    };
    chat.render(none, options);
    EXPECT_GT(asked, 10) << source;
    for (int last = 1; last < asked; last = last * 2 + 1) {
      int now = 0;
      options.should_stop = [&] { return ++now == last; };
      try {
        chat.render(none, options);
        ADD_FAILURE() << "went on: " << source;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), RC_E_CANCELLED);
      }
      EXPECT_EQ(now, last);
    }
  }
}

TEST(ChatLimits, StepsAreLimited) {
  expect_refused(
      "{% for i in range(100000) %}{% for j in range(100000) %}"
      "{% endfor %}{% endfor %}",
      "steps");
  expect_refused(
      "{% set a = 'a' * 10**7 %}{% for i in range(100000) %}"
      "{% if a ~ 'b' == a ~ 'c' %}{% endif %}{% endfor %}",
      "steps");
  expect_refused(
      "{% set a = 'a' * 10**7 %}{% for i in range(100000) %}"
      "{% if ('b' ~ a) in a %}{% endif %}{% endfor %}",
      "steps");
  // Where looking for a string is slow unless done right.
  EXPECT_EQ(text_of("{{ ('a' * 10**5 ~ 'b') in 'a' * 10**6 }}",
                    nlohmann::ordered_json::object()),
            "False");
}

TEST(ChatLimits, NestingIsLimited) {
  expect_refused("{{ " + repeated("(", 5000) + repeated(")", 5000) + " }}",
                 "nested");
  expect_refused("{{ " + repeated("[", 50000) + repeated("]", 50000) + " }}",
                 "nested");
  expect_refused("{{ " + repeated("not ", 100000) + "1 }}", "nested");
  expect_refused("{{ " + repeated("-", 100000) + "1 }}", "nested");
  expect_refused("{{ " + repeated("1 if 1 else ", 50000) + "1 }}", "nested");
  expect_refused(repeated("{% if 1 %}", 100000), "nested");
  expect_refused("{{ 1" + repeated(" + 1", 100000) + " }}", "levels deep");
  expect_refused("{{ a" + repeated(".a", 100000) + " }}", "levels deep");
  expect_refused("{{ a" + repeated("|list", 100000) + " }}", "levels deep");
  expect_refused(
      "{% set " + repeated("(", 50000) + "a" + repeated(")", 50000) + " = 1 %}",
      "nested");
}

TEST(ChatLimits, RecursionIsLimited) {
  expect_refused("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deep");
  expect_refused(
      "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}"
      "{{ m() }}",
      "deep");
  expect_refused(
      "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}",
      "deep");
  expect_refused("{% set ns = namespace() %}{% set ns.ns = ns %}{{ ns }}",
                 "deep");
  expect_refused("{% set ns = namespace() %}{% set ns.ns = [ns] %}{{ ns.ns }}",
                 "deep");
  expect_refused(
      "{% set ns = namespace(x=[]) %}{% for i in range(10000) %}"
      "{% set ns.x = [ns.x] %}{% endfor %}",
      "deep");
  expect_refused(
      "{% set ns = namespace(x=[]) %}{% for i in range(10000) %}"
      "{% set ns.x = ns.x|map('string') %}{% endfor %}{{ ns.x|list }}",
      "deep");
}

// Values within values, of kinds that are not written as such.
TEST(ChatLimits, ChainsOfValuesAreLimited) {
  const auto chained = [](const std::string& next) {
    return "{% set ns = namespace(x=1) %}{% for i in range(50000) %}" + next +
           "{% endfor %}";
  };
  expect_refused(chained("{% set ns.x = cycler(ns.x) %}"), "deep");
  expect_refused(chained("{% set ns.x = joiner(ns.x) %}"), "deep");
  expect_refused(chained("{% for y in [ns.x] %}{% set ns.x = loop %}"
                         "{% endfor %}"),
                 "deep");
  expect_refused(chained("{% set ns.x = {1: ns.x}.items() %}"), "deep");
  expect_refused(chained("{% set ns.x = [ns.x]|select %}"), "deep");
  expect_refused(chained("{% set ns.x = {1: ns.x}.get %}"), "deep");
  // Macros hold the variables around them, which let go in the end.
  EXPECT_EQ(text_of(chained("{% set p = ns.x %}{% macro m() %}{{ p }}"
                            "{% endmacro %}{% set ns.x = m %}"),
                    nlohmann::ordered_json::object()),
            "");
}

TEST(ChatLimits, SharedValuesCountEachTime) {
  const std::string doubled =
      "{% set ns = namespace(a=(1,), b=(1,)) %}{% for i in range(60) %}"
      "{% set ns.a = (ns.a, ns.a) %}{% set ns.b = (ns.b, ns.b) %}{% endfor %}";
  expect_refused(doubled + "{{ ns.a == ns.b }}", "steps");
  expect_refused(doubled + "{{ {ns.a: 1} }}", "key");
  expect_refused(doubled + "{{ ns.a in {} }}", "key");
  expect_refused(doubled + "{{ ns.a }}", "steps");
  expect_refused(doubled + "{{ ns.a|tojson }}", "steps");
}

// Values within tuples count, and these tuples, however they are nested.
TEST(ChatLimits, KeysAreLimited) {
  for (const char* key : {"(1,) * 1000", "((1,) * 499, (1,) * 499)",
                          "((1,) * 998, 2)", "(2, (1,) * 998)"}) {
    EXPECT_EQ(text_of(std::string("{{ {") + key + ": 'v'}.values()|first }}",
                      nlohmann::ordered_json::object()),
              "v")
        << key;
  }
  for (const char* key :
       {"(1,) * 1001", "((1,) * 999, (1,))", "((1,) * 499, (1,) * 500)",
        "((1,) * 998, 2, 3)", "((1,) * 999, 2)"}) {
    expect_refused(std::string("{{ {") + key + ": 'v'} }}",
                   "a tuple of more than 1000 values can't be a key");
  }
}

TEST(ChatLimits, ListsCannotContainThemselves) {
  expect_refused("{% set l = [] %}{{ l.append(l) }}", "in place");
}

TEST(ChatLimits, SourceIsLimited) {
  Limits limits;
  limits.source_bytes = 10;
  EXPECT_THROW(Template::parse("12345678901", limits), Error);
  EXPECT_NO_THROW(Template::parse("1234567890", limits));
}

// Keys that collide in a hash table are as good as others here.
TEST(ChatLimits, ObjectsWithManyKeysAreFast) {
  nlohmann::ordered_json object;
  for (int i = 0; i < 20000; ++i) {
    object["k" + std::to_string(i * 7919)] = i;
  }
  EXPECT_EQ(text_of("{{ d.k7919 }}{% for k in d %}{% if d[k] is none %}x"
                    "{% endif %}{% endfor %}",
                    {{"d", object}}),
            "1");
}

TEST(ChatLimits, NumbersHave64Bits) {
  for (const char* source :
       {"{{ 9223372036854775807 + 1 }}", "{{ 9223372036854775808 }}",
        "{{ 10**19 }}", "{{ 3037000500 * 3037000500 }}", "{{ 1e19|int }}",
        "{{ '9999999999999999999'|int }}",
        "{{ (-9223372036854775807 - 1) // -1 }}",
        "{{ -(-9223372036854775807 - 1) }}",
        "{{ (-9223372036854775807 - 1)|abs }}"}) {
    expect_refused(source, "64 bits");
  }
  EXPECT_EQ(text_of("{{ 9223372036854775807 }}{{ -9223372036854775807 - 1 }}"
                    "{{ (-9223372036854775807 - 1) % -1 }}{{ (-1)**63 }}",
                    nlohmann::ordered_json::object()),
            "9223372036854775807-92233720368547758080-1");
}

}  // namespace
}  // namespace rc::text::chat
