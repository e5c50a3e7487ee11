// Calls of functions, macros and loops with wrong arguments, and the nearest
// calls that are right. Values are those of Jinja2 in its sandbox, with the
// settings of transformers; some limits are ours alone.
#include "text/chat/error_cases.h"

namespace rc::text::chat {
namespace {

TEST(ChatCalls, InvalidCallsAreRefused) {
  expect_errors({
      {"{{ joiner('-')(1) }}", "a joiner takes no arguments"},
      {"{{ joiner('-')(a=1) }}", "a joiner takes no arguments"},
      {"{{ (1)() }}", "an int can't be called"},
      {"{{ 'a'|replace('a', 'b', old='c') }}",
       "'replace' gets its argument 'old' twice"},
      {"{{ 'a'|replace('a') }}", "'replace' needs the argument 'new'"},
      {"{{ 'aa'|replace('a', 'b', 1, 2) }}",
       "'replace' takes 3 arguments at most, not 4"},
      {"{{ 'a'|replace('a', 'b', most=1) }}",
       "'replace' takes no argument 'most' by name"},
      {"{{ 'a'.center('b') }}",
       "'center' needs a whole number as argument 1, not a str"},
      {"{{ 'a'.find(1) }}", "'find' needs a string as argument 1, not an int"},
      {"{{ range(1.5) }}",
       "'range' needs a whole number as argument 1, not a float"},
      {"{{ range(0, 1.5) }}",
       "'range' needs a whole number as argument 2, not a float"},
      {"{{ range(0, 2, 'a') }}",
       "'range' needs a whole number as argument 3, not a str"},
      {"{{ cycler() }}", "cycler() needs the values to go through"},
      {"{{ cycler(1, a=2) }}", "cycler() needs the values to go through"},
      {"{{ dict([], []) }}",
       "dict() and namespace() take one dict or list of pairs, and names"},
      {"{{ namespace({}, {}) }}",
       "dict() and namespace() take one dict or list of pairs, and names"},
      {"{{ dict([[1, 2, 3]]) }}", "a dict is made of pairs, not of 3 elements"},
      {"{{ dict([[1]]) }}", "a dict is made of pairs, not of 1 elements"},
      {"{{ range(1, 2, 0) }}", "the step of range() can't be 0"},
      {"{{ range(100001) }}", "range() has 100001 elements, more than 100000"},
      {"{{ range(0, 200001, 2) }}", "range() has 100001 elements"},
      {"{% for a in [1] recursive %}{{ loop() }}{% endfor %}",
       "loop() takes one argument"},
      {"{% for a in [1] recursive %}{{ loop([], []) }}{% endfor %}",
       "loop() takes one argument"},
      {"{% for a in [1] recursive %}{{ loop([], x=1) }}{% endfor %}",
       "loop() takes one argument"},
      {"{% for a in [1, 2] %}{{ loop.cycle() }}{% endfor %}",
       "loop.cycle() needs the values to go through"},
      {"{% for a in [1] %}{{ loop.cycle(1, a=2) }}{% endfor %}",
       "loop.cycle() needs the values to go through"},
      {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, b=2) }}",
       "the macro 'm' takes no argument named 'b'"},
      {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
       "the macro 'm' takes 1 arguments at most, not 2"},
      {"{{ dict(**[1]) }}", "arguments after ** must be a dict, not a list"},
      {"{{ dict(**{1: 2}) }}",
       "names of arguments after ** must be strings, not an int"},
      {"{{ dict(a=1, **{'a': 2}) }}", "the argument 'a' is given twice"},
      {"{% for a in 5 %}{% endfor %}", "an int can't be gone through"},
      {"{{ none|list }}", "can't be gone through"},
  });
}

TEST(ChatCalls, NearestValidCallsMatchJinja) {
  expect_texts({
      {"{% set j = joiner('-') %}{{ j() }}a{{ j() }}b", "a-b"},
      {"{{ cycler(1).next() }}", "1"},
      {"{{ 'a'|replace(old='a', new='b') }}", "b"},
      {"{{ 'a'|replace('a', 'b') }}", "b"},
      {"{{ 'aa'|replace('a', 'b', 1) }}", "ba"},
      {"{{ 'aa'|replace('a', 'b', count=1) }}", "ba"},
      {"{{ 'a'.center(3) ~ '|' }}", " a |"},
      {"{{ 'ab'.find('b') }}", "1"},
      {"{{ range(2)|list }}", "[0, 1]"},
      {"{{ range(0, 2)|list }}", "[0, 1]"},
      {"{{ range(0, 4, 2)|list }}", "[0, 2]"},
      {"{{ cycler(7).current }}", "7"},
      {"{{ dict([['a', 1]]) }}", "{'a': 1}"},
      {"{{ dict({'a': 1}, b=2) }}", "{'a': 1, 'b': 2}"},
      {"{{ dict() }}", "{}"},
      {"{{ namespace({'a': 1}).a }}", "1"},
      {"{{ dict([[1, 2]]) }}", "{1: 2}"},
      {"{{ range(1, 2, 1)|list }}", "[1]"},
      {"{{ range(2, 1, -1)|list }}", "[2]"},
      {"{{ range(100000)|length }}", "100000"},
      {"{{ range(0, 200000, 2)|length }}", "100000"},
      {"{% for a in [[[]]] recursive %}<{{ loop(a) }}>{% endfor %}", "<<>>"},
      {"{% for a in [1, 2, 3] %}{{ loop.cycle('x', 'y') }}{% endfor %}", "xyx"},
      {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(a=2) }}", "2"},
      {"{% macro m(a) %}{{ a }}{{ kwargs }}{% endmacro %}{{ m(1, b=2) }}",
       "1{'b': 2}"},
      {"{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1) }}", "1"},
      {"{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2) }}",
       "1(2,)"},
      {"{{ dict(**{'a': 1}) }}", "{'a': 1}"},
      {"{{ dict(**{}) }}", "{}"},
      {"{{ dict(a=1, **{'b': 2}) }}", "{'a': 1, 'b': 2}"},
      {"{% for a in 'ab' %}{{ a }},{% endfor %}", "a,b,"},
      {"{{ {'a': 1}|list }}", "['a']"},
  });
}

}  // namespace
}  // namespace rc::text::chat
