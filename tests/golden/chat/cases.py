"""Small templates over every operator, filter, test, method and rule of
whitespace. An error is a result like any other."""

import itertools

VARIABLES = {
    "s": "Hello, World", "u": "Ünïcödé ßtraße ΑΣ Σ ǆ ﬁ", "empty": "", "sp": " \t a  b\u00a0c \u2003\n",
    "lines": "one\ntwo\r\n\nthree\x0bfour\u2028five\n", "html": "<a href=\"x\">T&amp;'q'</a>",
    "q": "it's", "qq": "it's \"x\"", "ctl": "a\x00b\x1f\x7f\x85\u200b\ufeff\U0001f600\ud7ff",
    "i": 42, "neg": -7, "zero": 0, "big": 9007199254740993, "f": 3.14159, "half": 2.5, "tiny": 1e-7,
    "huge": 1e22, "t": True, "fa": False, "n": None,
    "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "le": [], "mix": [1, "1", 1.0, None, True, [1], {"a": 1}],
    "d": {"b": 2, "a": 1, "C": "x"}, "de": {}, "nested": {"x": {"y": [1, {"z": "deep"}]}, "items": "own"},
    "people": [{"name": "Ann", "age": 30, "tags": ["x"]}, {"name": "bob", "age": 25, "tags": []},
               {"name": "Cy", "age": 30}, {"name": "ann", "age": None}],
    "pairs": [["k", 1], ["l", 2]], "num": "12", "fl": " 1.5 ", "hex": "0x1F", "wide": "１２", "bad": "12a",
}

SUBJECTS = ["s", "u", "empty", "sp", "lines", "html", "qq", "ctl", "i", "neg", "zero", "f", "half", "huge", "t", "n",
            "l", "ls", "le", "mix", "d", "nested", "people", "pairs", "num", "fl", "bad", "missing", "range(5)",
            "(1, 'a')", "d.items()", "d.keys()", "l|map('string')", "namespace(a=1)", "s|safe", "html|e", "'%'"]

FILTERS = ["abs", "attr('name')", "attr('upper')()", "batch(2)|list", "batch(2, 'x')|list", "capitalize", "center(20)",
           "count", "d('z')", "default('z', true)", "default", "dictsort", "dictsort(true)", "dictsort(by='value')",
           "dictsort(reverse=true)", "e", "escape", "filesizeformat", "filesizeformat(true)", "first", "float",
           "float(1.5)", "forceescape", "format(1)", "format(a=1)", "groupby('age')", "groupby('name')|list",
           "groupby('tags', default='-')", "indent", "indent(2, true)", "indent('> ', blank=true)", "int", "int(7)",
           "int(0, 16)", "int(base=0)", "items|list", "join", "join(', ')", "join('-', attribute='name')", "last",
           "length", "list", "lower", "map('upper')|list", "map(attribute='name')|list",
           "map(attribute='x', default=0)|list", "map('default', 'q')|join('|')", "max", "min", "max(attribute='age')",
           "min(case_sensitive=true)", "reject|list", "reject('none')|list", "rejectattr('age')|list",
           "rejectattr('age', 'equalto', 30)|map(attribute='name')|join", "replace('a', 'X')", "replace('', '-')",
           "replace('l', 'LL', 1)", "reverse|list", "reverse", "round", "round(1)", "round(-1)", "round(2, 'ceil')",
           "round(method='floor')", "safe", "select|list", "select('string')|list", "select('in', [1, 'a'])|list",
           "selectattr('age')|list", "selectattr('age', '>', 26)|list", "selectattr('name', 'defined')|list|length",
           "slice(2)|list", "slice(3, 'f')|list", "sort", "sort(reverse=true)", "sort(case_sensitive=true)",
           "sort(attribute='name')|map(attribute='name')|list", "sort(attribute='age,name')", "string", "striptags",
           "sum", "sum(attribute='age')", "sum(start=10)", "title", "tojson", "tojson(indent=2)",
           "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'), sort_keys=true)", "tojson(indent=0)",
           "tojson(indent='\\t')", "trim", "trim('Ha')", "truncate(5)", "truncate(8, true)", "truncate(5, end='..', leeway=0)",
           "unique|list", "unique(attribute='age')|list", "unique(true)|list", "upper", "urlencode", "wordcount",
           "wordwrap(5)", "wordwrap(6, false)", "xmlattr", "nosuch"]

TESTS = ["boolean", "callable", "defined", "undefined", "divisibleby(2)", "divisibleby 3", "eq(42)", "equalto 'x'",
         "escaped", "even", "odd", "false", "true", "filter", "float", "integer", "number", "ge(3)", "gt(3)", "lt(3)",
         "le(3)", "ne(3)", "in([1, 42])", "in 'Hello'", "iterable", "sequence", "mapping", "string", "none", "lower",
         "upper", "sameas(true)", "sameas none", "test", "not string", "not defined", "nosuch"]

METHODS = ["capitalize()", "casefold()", "center(15, '*')", "count('l')", "count('')", "count('l', 3, -1)",
           "endswith('d')", "endswith(('x', 'd'))", "expandtabs()", "expandtabs(3)", "find('o')", "find('o', 5)",
           "find('zz')", "format(1, a=2)", "index('o')", "index('zz')", "isalnum()", "isalpha()", "isascii()",
           "isdecimal()", "isdigit()", "isidentifier()", "islower()", "isnumeric()", "isprintable()", "isspace()",
           "istitle()", "isupper()", "join(['a', 'b'])", "join([1])", "ljust(15, '.')", "lower()", "lstrip()",
           "lstrip('H')", "partition(',')", "partition('zz')", "removeprefix('He')", "removesuffix('ld')",
           "replace('l', 'L')", "replace('l', 'L', 1)", "replace('', '.')", "rfind('o')", "rindex('o')", "rjust(15)",
           "rpartition('o')", "rpartition('zz')", "rsplit()", "rsplit(' ', 1)", "rsplit(none, 1)", "rstrip()",
           "rstrip('\\nd')", "split()", "split(',')", "split(none, 1)", "split(' ', maxsplit=1)", "split('')",
           "splitlines()", "splitlines(true)", "startswith('He')", "startswith('l', 2)", "strip()", "strip('Hd')",
           "swapcase()", "title()", "upper()", "zfill(15)", "items()|list", "keys()|list", "values()|list", "get('a')",
           "get('zz', 0)", "copy()", "pop('a')", "update({})", "append(1)", "index(1)", "count(1)", "bit_length()",
           "nosuch", "nosuch()", "x.y"]

OPERANDS = ["i", "neg", "zero", "f", "t", "n", "s", "empty", "l", "le", "(1,)", "d", "missing", "s|safe", "'<'", "2", "-2", "0.5"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]


def crossed():
    for subject, name in itertools.product(SUBJECTS, FILTERS):
        yield "{{ (%s)|%s }}" % (subject, name)
    for subject, name in itertools.product(SUBJECTS, TESTS):
        yield "{{ (%s) is %s }}" % (subject, name)
    for subject, name in itertools.product(
            ["s", "u", "sp", "lines", "html", "empty", "num", "wide", "s|safe", "d", "nested", "l", "i", "half", "n",
             "missing", "(1, 2)", "'+12'", "'Ab Cd'", "'AB'", "'\\u00b2\\u0663'"], METHODS):
        yield "{{ (%s).%s }}" % (subject, name)
    for left, operator, right in itertools.product(OPERANDS, OPERATORS, OPERANDS):
        if operator == "**" and (right in ("i", "f") or left in ("-2", "neg")):
            continue
        yield "{{ %s %s %s }}" % (left, operator, right)
    for subject, bounds in itertools.product(
            ["s", "u", "l", "(1, 2, 3)", "range(10)", "d", "n", "empty"],
            ["[1]", "[-1]", "[99]", "['x']", "[1:]", "[:-1]", "[::2]", "[::-1]", "[-3:-1]", "[5:2]", "[:99]", "[2:0:-1]",
             "[::0]", "[true]", "[none]", "[1.0]", "[]", "[-99:99:3]", ".0", ".1.real"]):
        yield "{{ (%s)%s }}" % (subject, bounds)


PERCENT = ["%s", "%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%x", "%X", "%#x", "%o", "%e", "%E", "%.2f", "%8.3f|", "%g",
           "%G", "%c", "%r", "%10s|", "%-10s|", "%.2s", "%%", "%i", "%.3d", "%u", "%q", "%", "%(a)s", "%08.2f", "%.0f"]
BRACES = ["{}", "{0}", "{0!r}", "{0!s:>5}", "{:>8}|", "{:<8}|", "{:^8}|", "{:*^9}", "{:d}", "{:5d}", "{:05}", "{:+}", "{:,}",
          "{:_}", "{:x}", "{:#x}", "{:b}", "{:.2f}", "{:e}", "{:g}", "{:%}", "{:.1%}", "{:s}", "{:.3}", "{:10.3f}|", "{{}}",
          "{", "}", "{1}", "{a}", "{0.real}", "{0[0]}", "{:{}}", "{!x}", "{:=+8}", "{:08.2f}"]


def formatted():
    for form, value in itertools.product(PERCENT, ["i", "neg", "f", "huge", "s", "t", "n", "l", "(1,)", "d", "missing", "'x'"]):
        yield "{{ '%s' %% %s }}" % (form, value)
    for form, value in itertools.product(BRACES, ["i", "neg", "f", "huge", "s", "t", "n", "l", "d"]):
        yield "{{ '%s'.format(%s) }}" % (form, value)
    for value in ["1e16", "1e15", "123456789012345680.0", "0.1", "1e-5", "0.0001", "1.0", "100.0", "1e100", "1/3", "2/3*1e20",
                  "5e-324", "1.7976931348623157e308", "-0.0", "1e400", "9007199254740993.0", "123456.789e3"]:
        yield "{{ %s }} {{ [%s] }} {{ (%s)|tojson }} {{ (%s)|round(2) }}" % ((value,) * 4)
    for value in ["0.5", "1.5", "2.5", "-0.5", "2.675", "1.005", "1234.5678", "-1234.5678", "1e20", "7", "15", "25", "-15"]:
        for digits in ["0", "1", "2", "-1", "-2", "5"]:
            for method in ["common", "ceil", "floor"]:
                yield "{{ (%s)|round(%s, '%s') }}" % (value, digits, method)
    for directive in "aAbBcCdDeFgGhHIjklmMnprRSstTuUVwWxXyYzZf%qE":
        yield "{{ strftime_now('[%" + directive + "]') }}"
    for directive in ["%-d", "%_d", "%-H", "%^a", "%#p", "%0e", "%-I", "%-j", "%-m", "%d %B %Y", "%"]:
        yield "{{ strftime_now('[" + directive + "]') }}"


LITERALS = ["1", "0", "00", "007", "1_000", "0x_ff", "0b101", "0o17", "0xZ", "1.5", "1.", ".5", "1e3", "1E-3", "1_0.0_1", "1__0",
            "12a", "9223372036854775807", "'a' 'b'", "'a\\nb'", "'\\x41\\u00e9\\U0001F600\\101'", "'\\q\\''", "\"\\\"\"",
            "'\\é'", "'\\\\'", "'a\\\nb'", "'\\x4'", "'\\ud800'", "'unclosed", "[1, 2,]", "[,]", "[]", "()", "(1,)", "(1)",
            "1, 2", "1,", "{}", "{'a': 1, 'b': [2]}", "{'a': 1,}", "{1: 2, 1.0: 3, true: 4}", "{'a': 1, 'a': 2}", "{[1]: 2}",
            "{(1, 2): 3}", "{none: 1}", "true", "True", "TRUE", "none", "None", "null", "_x", "é", "ab1", "a b", "a-b", "-i",
            "+i", "--i", "- -i", "not not t", "not t == fa", "1 < 2 < 3", "1 < 3 < 2", "3 > 2 >= 2 != 1", "1 == 1.0 == true",
            "'a' < 'b' < 'c'", "2 ** 3 ** 2", "-2 ** 2", "2 * 3 + 4 ~ 5", "1 ~ 2 + 3", "10 - 2 - 3", "7 // 2", "-7 // 2",
            "7 % -3", "-7 % 3", "7.5 // 2", "-7.5 % 2", "1 / 2", "4 / 2", "1 // 0", "1 % 0", "2 ** -1", "2 ** 0.5", "0 ** -1",
            "i if t else n", "i if fa", "i if fa else s if fa else 'end'", "(i if fa) is undefined", "i|string|length + 1",
            "-1|abs", "(-1)|abs", "- 1 | abs", "l|first|string ~ 'x'", "i is number and s is string", "i is not none",
            "i is divisibleby 2 and t", "i is in [42]", "i in [42] is true", "not i in l", "i not in l", "s is string is true",
            "s.upper().lower()", "s['upper']()", "d.a", "d['a']", "d.items", "nested['items']", "nested.items()|list",
            "nested.x.y[1].z", "nested['x']['y'].1['z']", "missing.x", "missing['x']", "d.missing.x", "d.missing is defined",
            "missing is defined", "missing()", "s()", "n.x", "n.x.y", "i.x is defined", "l.x", "l['x']", "d[l]", "d[none]",
            "l|join(',')|upper", "people|map(attribute='name')|map('lower')|unique|sort|join(' ')",
            "people|selectattr('age', 'ne', none)|sum(attribute='age')", "people[0]['tags'][0]", "people.0.name",
            "range(3)|list", "range(1, 10, 3)|list", "range(5, 0, -2)|list", "range(0)", "range(3)", "range(1, 2, 3)",
            "range(1000000)", "range(3)[1]", "range(10)[2:5]", "range()", "range('a')", "dict(a=1, b=2)", "dict([['a', 1]])",
            "dict({'x': 1}, y=2)", "dict(1)", "namespace()", "namespace(a=1, b='x')", "namespace({'a': 1}).a",
            "cycler('a', 'b').next()", "joiner(', ')()", "raise_exception('no')", "''|safe ~ '<'",
            "('<'|safe) + '<'", "'<' + ('<'|safe)", "('a,b'|safe).split(',')", "('%s'|safe) % '<'", "('<'|e)|e",
            "('x'|safe).join(['<', '>'])", "('{}'|safe).format('<')", "['<'|safe]", "('<'|safe)|upper", "('ab'|safe)[0]",
            "('ab'|safe) * 2", "('a'|safe)|replace('a', '<')", "('a'|safe).replace('a', '<')", "'a' in s", "'' in s", "1 in s",
            "'a' in d", "'a' in d.keys()", "('a', 1) in d.items()", "2 in d.values()", "1 in range(3)", "none in mix",
            "l + l", "l + (1,)", "l * 2", "2 * l", "l * -1", "'ab' * 3", "'a' + 1", "1 + '1'", "l == [3, 1, 2]", "l < [3, 2]",
            "[1, 'a'] < [1, 2]", "d == {'a': 1, 'b': 2, 'C': 'x'}", "(1, 2) == [1, 2]", "1 == true", "'1' == 1", "n == fa",
            "l is sameas l", "[] is sameas []", "d.keys()|list == ['b', 'a', 'C']", "[missing]", "{'a': missing}",
            "[n, t, 1.0, 'x', (), {}, [], 'a\"b', \"a'b\"]", "missing ~ 'x'", "missing + 'x'", "missing == missing",
            "missing == none", "missing|length", "missing|list", "missing|join", "missing < 1", "not missing", "[1, missing]|tojson",
            "mix|map('string')|join('|')", "mix|unique|list", "[1, true, 1.0]|unique|list", "['a', 'A']|unique|list",
            "u|upper", "u|lower", "u|title", "u|capitalize", "u.title()", "u.swapcase()", "u.casefold()", "u[0]", "u[-3:]",
            "u|length", "u[::-1]", "u|list", "ctl", "[ctl]", "ctl|tojson", "ctl|tojson(ensure_ascii=true)", "big * big", "big + 1",
            "9223372036854775807 - 1", "l|map", "l|map('nosuch')|list", "l|select('nosuch')|list",
            "(l|map('string'))|length", "le|map('nosuch')|list", "s|trim(none)", "s|indent(first=true)", "s|replace('o')",
            "s|upper(1)", "s|default(default_value='x', boolean=true)", "s|default(foo=1)", "s is eq", "s is eq(1, 2)",
            "s.upper(1)", "s.split(sep=',')", "s.replace(old='a', new='b')", "s.nosuch", "s.__class__", "d.__len__",
            "s|attr('__class__')", "namespace.x", "range.x is defined", "loop is defined", "caller is defined", "kwargs is defined",
            "s.format", "d|length > 2 and d.a", "''.join(ls)", "','.join(l)", "l|sort|join", "mix|sort", "ls|sort", "ls|sort(true)",
            "ls|sort(case_sensitive=true)", "people|sort(attribute='age')", "people|sort(attribute='name')|map(attribute='name')|join",
            "pairs|map('first')|join", "pairs|map(attribute=1)|sum", "pairs|map('join', '=')|join('&')", "d|dictsort", "d|items|list",
            "d|list", "d|first", "d|last", "d|join", "d.values()|sum", "d|map('upper')|list", "d|tojson(sort_keys=true)",
            "{1: 'a', none: 'b', true: 'c', 1.5: 'd'}|tojson", "{(1, 2): 3}|tojson", "(1, [2, (3,)])|tojson", "1e400|tojson",
            "range(2)|tojson", "namespace(a=1)|tojson", "l|map('string')|tojson", "s|e|tojson", "s|format", "'%s-%s'|format(1, 2)",
            "'%(a)s'|format(a=3)", "'%s'|format(1, a=2)", "'%s %s' % (1, 2)", "'%s' % (1, 2)", "'%s' % l", "'%s' % d", "'%d' % '1'",
            "'%d' % 3.7", "'%s' % ()", "'%s'", "'%s %s' % s", "'%*d' % (5, 42)", "'%-*d|' % (5, 42)", "'%.*f' % (2, f)",
            "'%(a)s %(b)s' % d", "'%(zz)s' % d", "'' % d", "'' % l", "'' % 1", "'x' % ()", "'{a} {b}'.format(**d)",
            "'{} {}'.format(*l)", "'{0} {}'.format(1, 2)", "'{x[a]} {x[b]}'.format(x=d)", "'{0.name}'.format(s)",
            "'{:{w}}|'.format(s, w=20)", "'{!r}'.format(s)", "'{:>{}}'.format(1, 5)", "'{a}'.format_map(d)", "'{:n}'.format('x')"]

STATEMENTS = [
    "{% if t %}a{% elif n %}b{% else %}c{% endif %}", "{% if n %}a{% elif t %}b{% else %}c{% endif %}",
    "{% if n %}a{% elif fa %}b{% else %}c{% endif %}", "{% if l, %}x{% endif %}", "{% if %}x{% endif %}", "{% if t %}",
    "{% if t %}{% endfor %}", "{% endif %}", "{% nosuch %}", "{% for x in l %}{{ x }},{% endfor %}",
    "{% for x in le %}{{ x }}{% else %}none{% endfor %}", "{% for x in missing %}x{% else %}none{% endfor %}",
    "{% for x in n %}x{% endfor %}", "{% for x in i %}x{% endfor %}", "{% for c in u %}[{{ c }}]{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}", "{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, b in l %}x{% endfor %}", "{% for a, b in [[1, 2, 3]] %}x{% endfor %}", "{% for (a, b) in pairs %}{{ a }}{{ b }}{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }};{% endfor %}",
    "{% for x in l|map('string') %}{{ loop.index }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }};{% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}", "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %}", "{% for x in l %}{{ loop.nosuch }}{{ loop['index'] }}{% endfor %}",
    "{% for x in l %}{{ loop }}{% endfor %}", "{% for x in l if x > 1 %}{{ x }}{{ loop.index }}{{ loop.length }}{{ loop.last }}{% else %}e{% endfor %}",
    "{% for x in l if x > 9 %}{{ x }}{% else %}e{% endfor %}", "{% for x in l if loop.index %}{{ x }}{% endfor %}",
    "{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% break %}{% else %}else{% endfor %}", "{% for x in l %}{{ x }}{% continue %}{% else %}else{% endfor %}",
    "{% break %}", "{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
    "{% for x in l %}{% set y %}{% break %}{% endset %}{% endfor %}ok", "{% for x in l %}{% filter upper %}a{% continue %}{% endfilter %}{% endfor %}ok",
    "{% for x in l %}{% for y in ls %}{{ loop.index }}{% endfor %}{{ loop.index }};{% endfor %}",
    "{% for x in [[1, [2]], [3]] recursive %}[{% if x is iterable %}{{ loop(x) }}{% else %}{{ x }}@{{ loop.depth }}{% endif %}]{% endfor %}",
    "{% for x in l %}{{ loop(l) }}{% endfor %}", "{% for x in l %}{% set y = x %}{% endfor %}{{ y is defined }}",
    "{% set y = 0 %}{% for x in l %}{% set y = y + x %}{{ y }}{% endfor %}{{ y }}", "{% set ns = namespace(y=0) %}{% for x in l %}{% set ns.y = ns.y + x %}{% endfor %}{{ ns.y }}",
    "{% set ns = namespace() %}{% set ns.a, b = 1, 2 %}{{ ns.a }}{{ b }}{{ ns }}", "{% set d.x = 1 %}", "{% set missing.x = 1 %}",
    "{% set loop = 1 %}{{ loop }}", "{% for x in l %}{% set loop = 1 %}{% endfor %}", "{% for loop in l %}{% endfor %}",
    "{% for x in l %}{{ x }}{% endfor %}{{ x is defined }}", "{% set x = 1 %}{% for x in l %}{% endfor %}{{ x }}",
    "{% set x = 1, 2 %}{{ x }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a, b = [1] %}", "{% set (a, b) = 'xy' %}{{ a }}{{ b }}",
    "{% set x %}a{{ i }}b{% endset %}[{{ x }}]", "{% set x | upper %}abc{% endset %}{{ x }}", "{% set x | replace('a', 'b') | upper %}abc{% endset %}{{ x }}",
    "{% set y = 1 %}{% set x %}{% set y = 2 %}{{ y }}{% endset %}{{ x }}{{ y }}", "{% set 1 = 2 %}", "{% set true = 2 %}", "{% set x %}",
    "{% if t %}{% set z = 1 %}{% endif %}{{ z }}", "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% with a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{% endwith %}", "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q }}",
    "{% filter upper %}abc {{ s }}{% endfilter %}", "{% filter replace('a', 'b')|upper %}aaa{% endfilter %}", "{% filter nosuch %}{% endfilter %}",
    "{% macro m(a, b=2, *c) %}{% endmacro %}", "{% macro m(a, b=2) %}{{ a }}-{{ b }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=1, a=2) }}{{ m() }}",
    "{% macro m(a, b=2) %}{{ a }}-{{ b }};{% endmacro %}{{ m(1, 2, 3) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=1) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}", "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}",
    "{% macro m(a=1, b) %}{% endmacro %}", "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}",
    "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}body {{ i }}{% endcall %}",
    "{% macro m() %}[{{ caller(1, 2) }}]{% endmacro %}{% call(a, b=5) m() %}{{ a }}{{ b }}{% endcall %}",
    "{% macro m() %}x{% endmacro %}{% call m() %}body{% endcall %}", "{% call s %}x{% endcall %}", "{% call s.upper() %}x{% endcall %}",
    "{% macro m() %}{% set q = 5 %}{{ q }}{% endmacro %}{{ m() }}{{ q is defined }}", "{% macro m() %}{{ late }}{% endmacro %}{% set late = 1 %}{{ m() }}",
    "{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% macro m() %}a{% endmacro %}{{ m() ~ m()|upper }}{{ m }}{{ m.name }}", "{% macro m(a, a) %}{% endmacro %}", "{{ m() }}{% macro m() %}{% endmacro %}",
    "{% macro outer() %}{% macro inner() %}i{{ i }}{% endmacro %}{{ inner() }}{% endmacro %}{{ outer() }}",
    "{% macro m(loop) %}{{ loop }}{% endmacro %}{{ m(1) }}", "{% generation %}a{{ i }}{% endgeneration %}b", "{% for x in l %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}",
    "{% generation %}{% set w = 1 %}{% endgeneration %}{{ w is defined }}", "{% print i, s %}", "{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}",
    "{# c #}a{#- c -#} b {#+ c +#} d", "{# unclosed", "{{ unclosed", "{% unclosed", "{{ }}", "{% %}", "{{ 1 }", "{ {1} }", "a { b } c", "{", "}}", "%}", "{{ '}}' }}", "{{ {'a': {'b': 1}}['a'] }}",
    "{% raw %}{{ x }}{% y %}{% endraw %}", "{% raw -%}  {{ x }}  {%- endraw %}", "a {%- raw %} b {% endraw -%} c", "{% raw %}\n x {% endraw %}\ny", "{% raw %}", "{%+ raw %}  a\n  {% endraw +%}\nb",
    "{% if nosuch_test is defined %}{{ 1|nosuch }}{% endif %}ok", "{{ 1|nosuch if fa else 2 }}", "{% if fa %}{{ 1|nosuch }}{% endif %}ok", "{% if fa %}{% for x in l %}{{ x|nosuch }}{% endfor %}{% endif %}ok",
    "{% if t: %}x{% endif %}", "{{ joiner }}{{ cycler }}"[:0] + "{% set j = joiner('; ') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}",
    "{% set c = cycler('a', 'b', 'c') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.reset() }}{{ c.next() }}",
    "{% set g = l|map('string') %}{{ g|list }}{{ g|list }}", "{% set g = l|select %}{% for x in g %}{{ x }}{% break %}{% endfor %}{{ g|list }}",
    "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns.x.x is defined }}", "{% set x = [1] %}{% set y = x + [2] %}{{ x }}{{ y }}",
    "{% for m in people %}{{ m.name if m.age else '?' }}{{ ', ' if not loop.last }}{% endfor %}", "{%- for x in l -%} {{- x -}} {%- endfor -%}",
    "{% set a = b = 1 %}", "{{ a = 1 }}", "{{ s[ }}", "{{ (1 }}", "{{ 1) }}", "{{ [1} }}", "{{ 'a' if }}", "{{ f(a=1, 2) }}", "{{ dict(a=1, a=2) }}", "{{ dict(**{'a': 1}, **{}) }}", "{{ dict(*[], **{'a': 1}) }}", "{{ range(*[1, 4])|list }}",
    "{{ s is }}", "{{ s | }}", "{{ .5 }}", "{{ s.1 }}", "{{ s. }}", "{{ not }}", "{{ 1 if 2 }}{{ '' }}", "{{ a.b.c is defined }}", "{{ @ }}", "{{ $x }}", "{{ a ? b }}", "{{ a ! b }}", "{{ ; }}",
]

# Whitespace: every sign at every place, around lines.
BEGINS, ENDS = ["", "-", "+"], ["", "-", "+"]


def spaced():
    for begin, end in itertools.product(BEGINS, ENDS):
        yield "a \n  {%%%s if true %s%%} \n b \n\t{%%%s endif %s%%}\n\n c" % (begin, end, begin, end)
        yield "a \n  {#%s c %s#} \n b" % (begin, end)
        yield "  {#%s c %s#}\nx" % (begin, end)
        if end != "+":
            yield "a \n  {{%s i %s}} \n b" % (begin, end)
        yield "x {%%%s set y = 1 %s%%}\n  {%%%s set z = 1 %s%%}\n{{ y }}\n" % (begin, end, begin, end)
        yield "{%%%s raw %s%%}  \n x \n  {%%%s endraw %s%%}  \n z" % (begin, end if end != "+" else "", begin, end)
    yield from ["a\n", "a\n\n", "\n", "a\r\nb\rc\n", "{% if true %}\r\nx{% endif %}\r\n", "  {% if true %}x{% endif %}  {% if true %}y{% endif %}\n",
                "\u00a0{%- if true %}x{% endif -%}\u2003y", "\x0b\x0c {% if true %}x{% endif %}", "  {{ i }}\n  {% if true %}\n    x\n  {% endif %}\n",
                "{{ i }}\n", "{{ i }}\n\n", "{% if true %}\n\nx{% endif %}", "{%if true%}x{%endif%}", "{{i}}{{- i -}}{{i}}", "{%- if true %} a {% endif -%} "]


def all_cases():
    seen = set()
    sources = itertools.chain(("{{ " + one + " }}" for one in LITERALS), STATEMENTS, spaced(), formatted(), crossed())
    for source in sources:
        if source not in seen:
            seen.add(source)
            yield source
