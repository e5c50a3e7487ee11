"""Writes cases.json: schemas and regular expressions with instances, judged by
jsonschema and by Python's re.

    pip install jsonschema==4.26.0 rfc3339-validator==0.1.4
    python make.py
"""

import json
import pathlib
import random
import re

import jsonschema

DRAFT = jsonschema.Draft202012Validator

SCHEMAS = [
    True,
    {"type": "integer", "minimum": -3, "maximum": 17},
    {"type": "number", "exclusiveMinimum": 0.25, "exclusiveMaximum": 12.5},
    {"type": "number", "multipleOf": 0.25},
    {"type": "integer", "multipleOf": 7, "minimum": 10},
    {"type": ["string", "null"], "minLength": 2, "maxLength": 4},
    {"type": "string", "pattern": "a+b", "minLength": 4},
    {"type": "string", "pattern": "^\\w+@\\w+$", "maxLength": 6},
    {"allOf": [{"pattern": "^a"}, {"pattern": "c$"}, {"type": "string"}]},
    {"type": "string", "not": {"pattern": "[0-9]"}},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "ipv4"},
    {"enum": [1, "1", None, True, {"a": [1, {}]}, [], "\u00e9\n\""]},
    {"const": {"a": 1, "b": [True]}},
    {"not": {"enum": [1, "a", None]}},
    {"type": "object", "properties": {"a": {"type": "integer"},
                                      "b": {"type": "string"}},
     "required": ["b", "a"], "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": "integer"}},
     "additionalProperties": {"type": "boolean"}},
    {"type": "object", "patternProperties": {"^x": {"type": "integer"},
                                             "y$": {"minimum": 5}},
     "additionalProperties": False},
    {"type": "object", "propertyNames": {"maxLength": 2}, "minProperties": 1,
     "maxProperties": 2},
    {"type": "object", "required": ["a"], "maxProperties": 1},
    {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]},
               {"properties": {"a": {"minimum": 3}, "b": {"type": "null"}},
                "required": ["b"]}], "type": "object"},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
    {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
    {"anyOf": [{"properties": {"k": {"const": "x"}, "v": {"type": "integer"}},
                "required": ["k", "v"]},
               {"properties": {"k": {"const": "y"}, "v": {"type": "string"}},
                "required": ["k", "v"]}], "type": "object"},
    {"if": {"properties": {"k": {"const": "x"}}, "required": ["k"]},
     "then": {"required": ["v"]}, "else": {"required": ["w"]},
     "type": "object"},
    {"type": "object", "dependentRequired": {"a": ["b"]},
     "dependentSchemas": {"c": {"properties": {"a": {"type": "null"}}}}},
    {"type": "object", "not": {"properties": {"a": {"type": "integer"}}}},
    {"type": "object", "not": {"additionalProperties": {"type": "integer"}}},
    {"type": "array", "prefixItems": [{"type": "integer"},
                                      {"type": "string"}],
     "items": {"type": "boolean"}, "minItems": 1, "maxItems": 4},
    {"type": "array", "contains": {"type": "integer"}, "minContains": 2,
     "maxContains": 3},
    {"type": "array", "not": {"items": {"type": "integer"}}},
    {"$ref": "#/$defs/tree",
     "$defs": {"tree": {"type": "object", "required": ["v"],
                        "properties": {"v": {"type": "integer"},
                                       "l": {"$ref": "#/$defs/tree"},
                                       "r": {"$ref": "#/$defs/tree"}},
                        "additionalProperties": False}}},
]

MORE_SCHEMAS = [
    {"type": "array", "uniqueItems": True},
    {"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
    {"type": "object", "allOf": [{"properties": {"a": {}}}],
     "properties": {"b": {}}, "unevaluatedProperties": False},
    {"type": "object",
     "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]},
               {"properties": {"b": {"type": "string"}}, "required": ["b"]}],
     "unevaluatedProperties": False},
    {"type": "object",
     "if": {"properties": {"k": {"const": "x"}}, "required": ["k"]},
     "then": {"properties": {"v": {}}}, "else": {"properties": {"w": {}}},
     "unevaluatedProperties": {"type": "integer"}},
    {"type": "object",
     "oneOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]},
               {"patternProperties": {"^x": {}}, "required": ["x1"]}],
     "unevaluatedProperties": False},
    {"type": "object", "dependentSchemas": {"a": {"properties": {"b": {}}}},
     "properties": {"a": {}}, "unevaluatedProperties": False},
    {"type": "object", "properties": {"a": True, "b": True},
     "additionalProperties": False},
    {"type": "array", "prefixItems": [{"type": "integer"}],
     "contains": {"type": "string"}, "unevaluatedItems": False},
    {"type": "array",
     "anyOf": [{"prefixItems": [{"const": 1}]},
               {"prefixItems": [{}, {"const": 2}]}],
     "unevaluatedItems": {"type": "null"}},
]
ATOMS = [None, True, False, 0, 1, -1, 2, 3, 5, 7, 14, 17, 18, 0.25, 0.3, 12.25,
         12.5, 2.0, 1e-7, 1e20, -4, "", "a", "x", "y", "1", "aab", "aaab",
         "abc", "ac", "axc", "b@c", "ab@cde", "a1", "ab", "abcd", "abcde",
         "2024-02-29", "2023-02-29", "10.0.0.255", "10.0.0.256", "\u00e9\n\"",
         "\U0001f600\U0001f600"]
KEYS = ["a", "b", "c", "k", "v", "w", "x1", "xy", "l", "r", "zzz"]

PATTERNS = ["a|b", "^a|b$", "^(a|b)*$", "a{2,3}", "^a{2}b?$", "[^a]", "\\d+x",
            "^\\w+-\\w+$", "^(?:a(b|c))+$", "^$", "a.c", "\\.", "^[a-c\\d_-]+$",
            "(^a)?b", "x*", "^\\S+(\\s\\S+)*$", "[\\]a]b", "^(ab|a)(bc|c)$"]
TEXTS = ["", "a", "b", "ab", "abc", "aa", "aaa", "aab", "aaab", "1x", "x",
         "a-b", "a b", "a  b", "ac", "acb", "abac", "a.c", "a\u00e9c", "]b",
         "abbc", "-_3", "xyz", "bcd"]


def instance(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return rng.choice(ATOMS)
    if kind < 0.6:
        return [instance(rng, depth - 1) for _ in range(rng.randrange(5))]
    keys = rng.sample(KEYS, rng.randrange(4))
    return {key: instance(rng, depth - 1) for key in keys}


def near(rng, schema, depth=4):
    """An instance that the schema is likely to say yes to."""
    if not isinstance(schema, dict) or depth == 0 or rng.random() < 0.1:
        return instance(rng, 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if schema.get("$ref"):
        return near(rng, SCHEMAS[-1]["$defs"]["tree"], depth - 1)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return near(rng, rng.choice(schema[key]), depth)
    properties = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        properties.update(part.get("properties", {}))
    if properties or schema.get("type") == "object":
        keys = list(properties) + rng.sample(KEYS, rng.randrange(2))
        keys += schema.get("required", [])
        keys = [key for key in dict.fromkeys(keys) if rng.random() < 0.8]
        rng.shuffle(keys)
        return {key: near(rng, properties.get(key), depth - 1) for key in keys}
    if schema.get("type") == "array":
        return [near(rng, {"type": rng.choice(["integer", "x"])}, depth - 1)
                for _ in range(rng.randrange(5))]
    if schema.get("type") == "integer":
        return rng.choice([0, 1, 2, 3, 7, 14, 17, 18, -4])
    return rng.choice(ATOMS)


def main():
    rng = random.Random(1)
    schemas = []
    for schema in SCHEMAS + MORE_SCHEMAS:
        judge = DRAFT(schema, format_checker=DRAFT.FORMAT_CHECKER)
        texts = {}
        values = ATOMS + [instance(rng, 3) for _ in range(60)]
        values += [near(rng, schema) for _ in range(60)]
        for value in values:
            texts[json.dumps(value)] = judge.is_valid(value)
        schemas.append({"schema": json.dumps(schema),
                        "valid": sorted(t for t, ok in texts.items() if ok),
                        "invalid": sorted(t for t, ok in texts.items()
                                          if not ok)[:60]})
    regexes = []
    for pattern in PATTERNS:
        regexes.append({
            "pattern": pattern,
            "found": [t for t in TEXTS if re.search(pattern, t, re.ASCII)],
            "all": [t for t in TEXTS if re.fullmatch(pattern, t, re.ASCII)],
            "texts": TEXTS})
    path = pathlib.Path(__file__).with_name("cases.json")
    path.write_text(json.dumps({"schemas": schemas, "regexes": regexes},
                               indent=0) + "\n")


if __name__ == "__main__":
    main()
