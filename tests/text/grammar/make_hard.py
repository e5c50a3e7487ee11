#!/usr/bin/env python3
"""Writes hard_cases.json: grammars that are small to write and hard to keep.

Each has a name, a kind as rc_grammar_kind has them, and its text. They serve the
tests of grammars and engines, and bench/hostile.cc.
"""

import json
from pathlib import Path


def schemas():
    yield "multiple of a large prime", {"type": "integer", "multipleOf": 999983}
    yield "multiple of the largest prime that is kept", {"type": "integer", "multipleOf": 19997}
    yield "multiple of a prime below a bound", {"type": "integer", "multipleOf": 9973, "maximum": 1e15}
    yield "multiples that meet", {"type": "integer", "allOf": [{"multipleOf": n} for n in (7, 11, 13, 17)]}
    yield "multiples that do not meet", {"type": "integer", "allOf": [{"multipleOf": n} for n in (9901, 9907, 9923)]}
    yield "multiples of decimals", {"type": "number", "allOf": [{"multipleOf": 0.0017}, {"multipleOf": 0.013}]}
    yield "no multiple of a prime", {"type": "integer", "minimum": 1, "not": {"multipleOf": 9973}}
    yield "one of many multiples", {"type": "integer", "oneOf": [{"multipleOf": n} for n in (211, 223, 227)]}
    yield "bounds of many digits", {"type": "number", "minimum": 1.234567890123456e-30, "maximum": 9.87654321e+300,
                                    "multipleOf": 0.001}
    yield "patterns that overlap", {"type": "string", "allOf": [
        {"pattern": "a.{12}b"}, {"pattern": "b.{12}a"}, {"not": {"pattern": "ab.{12}"}}]}
    yield "one of the patterns that overlap", {"type": "string", "oneOf": [
        {"pattern": f"{x}.{{6}}{y}"} for x in "ab" for y in "abc"]}
    yield "not a nested repetition", {"type": "string", "not": {"pattern": "(x+x+)+y"}}
    yield "unique items", {"type": "array", "items": {"enum": list(range(12))}, "uniqueItems": True}
    yield "recursion in arrays", {"$defs": {"x": {"anyOf": [
        {"type": "array", "items": {"$ref": "#/$defs/x"}}, {"type": "object", "additionalProperties": {
            "$ref": "#/$defs/x"}}, {"type": "integer"}]}}, "$ref": "#/$defs/x"}
    yield "a long list of texts", {"enum": [f"{n % 7} the {n}th of the texts that are alike {n * n}"
                                            for n in range(800)]}
    yield "names of a hard pattern", {"type": "object", "propertyNames": {"pattern": "^(a|b)*a(a|b){12}$"},
                                      "minProperties": 3}
    yield "names in many patterns", {"type": "object", "additionalProperties": False, "patternProperties": {
        f"{x}.{{{n}}}{y}": {"type": "integer", "multipleOf": n} for n, (x, y) in enumerate(
            [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")], 2)}}
    yield "schemas that depend on properties", {"type": "object", "dependentSchemas": {
        f"p{n}": {"properties": {f"p{n + 1}": {"type": "integer", "multipleOf": n + 2}}, "required": [f"p{n + 1}"]}
        for n in range(12)}}
    chain = {"type": "object"}
    for n in range(8):
        chain = {"if": {"properties": {f"p{n}": {"const": n}}, "required": [f"p{n}"]},
                 "then": {"properties": {f"q{n}": {"type": "string"}}, "required": [f"q{n}"]}, "else": chain}
    yield "a chain of conditions", chain
    yield "any of many objects", {"anyOf": [
        {"type": "object", "properties": {f"p{n}": {"type": "string", "pattern": f"a.{{{n % 9}}}b"},
                                          "x": {"type": "integer", "minimum": n}}, "required": ["x"]}
        for n in range(200)]}
    yield "counts of items", {"type": "array", "maxItems": 60, "allOf": [
        {"contains": {"type": "integer", "multipleOf": n}, "minContains": 3, "maxContains": 20} for n in (2, 3, 5)]}
    yield "any of many arrays", {"anyOf": [{"type": "array", "items": {"anyOf": [
        {"type": "integer", "multipleOf": n}, {"type": "array"}]}, "minItems": n} for n in range(2, 40)]}


def regexes():
    yield "repetitions of a repetition", "(a{1,1000}b){1,1000}"
    yield "a letter many letters before the end", "(a|b)*a(a|b){20}"
    yield "anything, and a letter far before the end", ".*a.{200}"
    yield "optional letters again and again", "((a?){50}){50}"
    yield "classes of Unicode", "(\\p{L}{1,200}\\p{N}+|[^\\p{L}]{3,90}\\p{Sc}){1,50}"
    yield "overlapping alternatives", "(a*b?a*|b*a?b*|[ab]{7,9}c?){40,90}"


GBNF = [
    ("a sum of itself", 'root ::= s "."\ns ::= "a" s s | "a"'),
    ("left recursion", 'root ::= s\ns ::= s s | "a"'),
    ("empty matches in a loop", 'root ::= (x | y)* "."\nx ::= "a"?\ny ::= ("b"? x)*'),
    ("brackets that do not tell", 'root ::= e*\ne ::= "(" root ")" | "(" root "]" | "(" root | "x"'),
    ("many rules that begin alike", "root ::= " + " | ".join(f"r{n}" for n in range(60)) + "\n" + "\n".join(
        f'r{n} ::= "a" r{(n * 7 + 1) % 60} | "a" r{(n * 11 + 5) % 60} "b" | "a{n}"' for n in range(60))),
]
LARK = [
    ("terms of terms", 'start: e\ne: t ("+" t)*\nt: f ("*" f)*\nf: "a" | "(" e ")" | "(" e ")" "!"| "-" f | "-" "-" f'),
]


def main():
    cases = [{"name": name, "kind": "schema", "text": json.dumps(schema)} for name, schema in schemas()]
    cases += [{"name": name, "kind": "regex", "text": text} for name, text in regexes()]
    cases += [{"name": name, "kind": "gbnf", "text": text} for name, text in GBNF]
    cases += [{"name": name, "kind": "lark", "text": text} for name, text in LARK]
    path = Path(__file__).with_name("hard_cases.json")
    path.write_text(json.dumps(cases, indent=0) + "\n")
    print(f"{len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
