"""Lets models of random weights call tools and checks each call by jsonschema.

    pip install runcible jsonschema     (or the wheel of bindings/python)
    python required_calls.py [COUNT [FOLDER]]

COUNT calls (1000) are shared by the architectures and the formats of calls below; FOLDER holds small models of random
weights, tests/golden/architectures. Random weights keep to nothing by themselves: what is valid is so by the grammar.
Exits with 1 if a call is not valid or an answer is anything but one call.
"""

import collections
import itertools
import json
import pathlib
import sys

import jsonschema
import runcible

ARCHITECTURES = ["llama2", "qwen3", "gemma2", "granite", "ernie4_5", "smollm3", "qwen3moe"]

# Words by which templates of these formats are known.
SIGNS = {
    "hermes": "<tool_call>", "llama3": '<|start_header_id|>"parameters": ', "mistral": "[TOOL_CALLS]",
    "mistral-v11": "[TOOL_CALLS][ARGS]", "glm-4.5": "<tool_call><arg_key>", "qwen3-coder": "<tool_call><function=",
    "gemma4": "<|tool_call><|channel>", "lfm2": "<|tool_list_start|>", "kimi-k2": "<|tool_call_argument_begin|>",
    "deepseek-v3": "<｜tool▁call▁begin｜>```json", "deepseek-v3.2": "｜DSML｜invoke", "granite": "<|tool_call|>",
    "command-r7b": "<|START_ACTION|>", "minimax-m2": "minimax:tool_call", "functionary-v3.1":
    "<function=example_function_name>{</function>", "harmony": "<|channel|><|message|>"}

SCHEMAS = {
    "weather": {"type": "object", "required": ["city"], "additionalProperties": False, "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 20},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["celsius", "kelvin"]}}},
    "order": {"type": "object", "required": ["items", "paid"], "additionalProperties": False, "properties": {
        "items": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/item"}},
        "paid": {"type": "boolean"}},
        "$defs": {"item": {"type": "object", "required": ["code"], "additionalProperties": False, "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
            "price": {"type": "number", "minimum": 0, "exclusiveMaximum": 100}}}}},
    "note": {"type": "object", "properties": {"text": {"type": ["string", "null"], "maxLength": 12}}},
    "point": {"type": "object", "required": ["where"], "additionalProperties": False, "properties": {
        "where": {"anyOf": [{"type": "object", "required": ["x", "y"], "additionalProperties": False,
                             "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}},
                            {"type": "string", "maxLength": 6}]}}},
    "now": None,
}


def tools():
    for name, schema in SCHEMAS.items():
        function = {"name": name, "description": f"The tool {name}."}
        if schema is not None:
            function["parameters"] = schema
        yield {"type": "function", "function": function}


def template_of(signs):
    """Any template that knows tools; the signs are in a comment."""
    return ("{% if tools %}tools: {{ tools | length }}\n{% endif %}{% for m in messages %}{{ m.role }}: "
            "{{ m.content or m.tool_calls }}\n{% endfor %}{# " + signs.replace("#}", "") + " #}")


def fault_of(reply):
    """What is wrong with an answer; "" if nothing is."""
    if reply.report.reason != "tool calls" or len(reply.tool_calls) != 1:
        return f"{reply.report.reason}, {len(reply.tool_calls)} calls"
    if reply.text or reply.reasoning:
        return f"text: {reply.text!r}"
    call = reply.tool_calls[0]
    schema = SCHEMAS[call.name] or {"type": "object", "maxProperties": 0}
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(call.arguments))
    return f"{call.name} {call.arguments}: {errors[0].message}" if errors else ""


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else
                          pathlib.Path(__file__).parents[1] / "tests/golden/architectures")
    models = {name: runcible.Model(str(folder / f"{name}.gguf"), "cpu") for name in ARCHITECTURES}
    valid, called = collections.Counter(), collections.Counter()
    faults = []
    pairs = itertools.cycle(itertools.product(ARCHITECTURES, SIGNS))
    for seed, (architecture, form) in zip(range(count), pairs):
        with models[architecture].session() as session:
            chat = session.chat(tools=list(tools()), template_text=template_of(SIGNS[form]), thinking=False)
            chat.add("Call something.")
            reply = chat.answer(tool_choice="required", seed=seed, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0,
                                penalty_tokens=0).reply()
        fault = fault_of(reply)
        valid[architecture] += not fault
        if fault:
            faults.append(f"{architecture}, {form}, seed {seed}: {fault}")
        else:
            called[reply.tool_calls[0].name] += 1
    print("\n".join(faults))
    print(json.dumps(dict(calls=count, valid=sum(valid.values()), by_architecture=dict(valid), by_tool=dict(called),
                          formats=len(SIGNS))))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
