// Templates with wrong syntax, and the nearest that are right.
// Values are those of Jinja2 in its sandbox, with the settings of transformers;
// some limits are ours alone.
#include "text/chat/error_cases.h"

namespace rc::text::chat {
namespace {

TEST(ChatSyntax, InvalidSyntaxIsRefused) {
  expect_errors({
      {"{# a", "the comment has no end: close it with '#}'"},
      {"{% raw %}a", "the raw block has no end: close it with '{% endraw %}'"},
      {"{% raw %}a{% endra %}", "the raw block has no end"},
      {"{{ 1", "the tag has no end: close it with '}}'"},
      {"{% if 1", "the tag has no end: close it with '%}'"},
      {"{{ '\\N{DIGIT ONE}' }}", "characters by name"},
      {"{{ '\\x4' }}", "the escape \\x needs 2 hexadecimal digits after it"},
      {"{{ '\\u004' }}", "the escape \\u needs 4 hexadecimal digits after it"},
      {"{{ '\\U0000004' }}",
       "the escape \\U needs 8 hexadecimal digits after it"},
      {"{{ '\\x4g' }}", "the escape \\x needs 2 hexadecimal digits after it"},
      {"{{ '\\U00110000' }}", "the escape \\U00110000 is no character"},
      {"{{ ٣a }}", "a name can't begin with '٣a'"},
      {"{% nosuch %}", "unknown tag 'nosuch'"},
      {"{% break %}", "'break' outside of a loop"},
      {"{% continue %}", "'continue' outside of a loop"},
      {"{% for a in [1] %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
       "'break' outside of a loop"},
      {"{% macro m(caller) %}{{ caller() }}{% endmacro %}",
       "the parameter 'caller' of a macro must have a default, or be left out"},
      {"{% call 1 %}{% endcall %}",
       "expected the call of a macro, such as {% call name() %}"},
      {"{{ [1]. }}", "a name or a number after '.'"},
      {"{{ [1].'a' }}", "a name or a number after '.'"},
      {"{{ 1 is number is true }}",
       "tests can't be chained: join them with 'and'"},
      {"{% macro m(a, a) %}{% endmacro %}", "the parameter 'a' is there twice"},
      {"{% macro m(a=1, b) %}{% endmacro %}",
       "the parameter 'b' needs a default"},
      {"{% set true = 1 %}", "can't assign to true"},
      {"{% set none = 1 %}", "can't assign to none"},
      {"{% set None = 1 %}", "can't assign to None"},
      {"{% for False in [1] %}{% endfor %}", "can't assign to False"},
      {"{% for a in [1] %}{% set loop = 1 %}{% endfor %}",
       "can't assign to 'loop'"},
      {"{% set a = {} %}{% set a.b = 1 %}", "can't set an attribute of a dict"},
      {"{% set a, b = [1] %}", "can't assign 1 elements to 2 variables"},
      {"{% set a, b = [1, 2, 3] %}", "can't assign 3 elements to 2 variables"},
  });
}

TEST(ChatSyntax, NearestValidSyntaxMatchesJinja) {
  expect_texts({
      {"{# a #}b", "b"},
      {"a{#", "a"},
      {"{% raw %}{{ a{% endraw %}b", "{{ ab"},
      {"{{ 1 }}", "1"},
      {"{% if 1 %}a{% endif %}", "a"},
      {"{{ '\\n'|length }}", "1"},
      {"{{ '\\x41' }}", "A"},
      {"{{ '\\x410' }}", "A0"},
      {"{{ '\\u0041' }}", "A"},
      {"{{ '\\U00000041' }}", "A"},
      {"{{ '\\U0010FFFF'|length }}", "1"},
      {"{% set a٣ = 1 %}{{ a٣ }}", "1"},
      {"{% for a in [1, 2] %}{{ a }}{% break %}{% endfor %}", "1"},
      {"{% for a in [1, 2] %}{% continue %}{{ a }}{% endfor %}", ""},
      {"{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}a{% endcall "
       "%}",
       "<a>"},
      {"{% macro m(caller=none) %}{{ caller is none }}{% endmacro %}{{ m() }}",
       "True"},
      {"{{ [1].0 }}", "1"},
      {"{{ {'a': 2}.a }}", "2"},
      {"{{ 1 is number and 1 is odd }}", "True"},
      {"{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(1, 2) }}", "12"},
      {"{% macro m(a, b=1) %}{{ a }}{{ b }}{% endmacro %}{{ m(3) }}", "31"},
      {"{% set truth = 1 %}{{ truth }}", "1"},
      {"{% set loop = 1 %}{{ loop }}", "1"},
      {"{% set a = namespace() %}{% set a.b = 1 %}{{ a.b }}", "1"},
      {"{% set a, b = [1, 2] %}{{ a }}{{ b }}", "12"},
  });
}

}  // namespace
}  // namespace rc::text::chat
