"""Schemas, tools, choices and messages as objects."""

import collections
import dataclasses
import json
from typing import List, Literal, Optional

import pydantic
import pytest

import runcible
from runcible import errors
from runcible._json import json_text, messages_text, option_text, schema_of
from runcible.tools import described
from test_chat import TOOLS as SHOWN_TOOLS

#: The template only checks for tools: their schemas are long for a small context.
TOOLS = SHOWN_TOOLS.replace("{{ tools | tojson }}", "")


class Cloud(pydantic.BaseModel):
    kind: Literal["low"]


class Sky(pydantic.BaseModel):
    """The sky over a town."""

    colour: Literal["grey"]
    clouds: List[Cloud] = pydantic.Field(min_length=1, max_length=1)


@dataclasses.dataclass
class Wind:
    """The wind of a place."""

    way: Literal["west"]
    inner: "Optional[Wind]" = None
    seen: int = dataclasses.field(default=0, init=False)


@pytest.fixture
def session(model):
    return model.session()


SKY = {"colour": "grey", "clouds": [{"kind": "low"}]}


def formats():
    whole = {"type": "json_schema", "json_schema": {"name": "sky", "schema": Sky}}
    plain = {"type": "json_schema",
             "json_schema": {"name": "sky", "schema": Sky.model_json_schema()}}
    return [Sky, whole, plain, json.dumps(plain), pydantic.TypeAdapter(Sky),
            {**whole, "json_schema": {"schema": pydantic.TypeAdapter(Sky)}}]


@pytest.mark.parametrize("format", formats(), ids=range(len(formats())))
def test_formats_of_answers_may_be_schemas(session, format):
    chat = session.chat(template_name="zephyr")
    reply = chat.ask("How is it?", response_format=format, max_tokens=200)
    assert reply.report.reason == "stop"
    assert Sky.model_validate_json(reply.text).model_dump() == SKY


@pytest.mark.parametrize(
    "schema", [Sky, pydantic.TypeAdapter(Sky), Sky.model_json_schema(),
               json.dumps(Sky.model_json_schema())])
def test_grammars_may_be_schemas(session, model, schema):
    grammar = runcible.Grammar.json_schema(model, schema)
    assert json.loads("".join(session.generate("A", grammar=grammar))) == SKY


def test_dataclasses_are_schemas(session, model):
    @dataclasses.dataclass
    class Town:
        name: Literal["Oslo"]
        sky: Sky

    grammar = runcible.Grammar.json_schema(model, Town)
    made = json.loads("".join(session.generate("A", grammar=grammar)))
    assert made == {"name": "Oslo", "sky": SKY}
    schema = schema_of(Wind)
    assert schema["$defs"]["Wind"]["required"] == ["way"]
    assert "seen" not in schema["$defs"]["Wind"]["properties"]

    @dataclasses.dataclass
    class Odd:
        size: complex

    with pytest.raises(TypeError, match="Odd.size: JSON has nothing"):
        runcible.Grammar.json_schema(model, Odd)


def test_tools_may_be_chosen(session):
    def look(sky: Sky) -> str:
        """Looks out."""
        return sky["colour"]

    chat = session.chat(template_text=TOOLS, tools=[look, Sky])
    chat.add("Look.")
    for name in ("look", "Sky"):
        choice = {"type": "function", "function": {"name": name}}
        reply = chat.answer(tool_choice=choice, max_tokens=300).reply()
        assert reply.report.reason == "tool calls"
        (call,) = reply.tool_calls
        assert call.arguments == ({"sky": SKY} if name == "look" else SKY)
        result = chat.call(call)
        assert result == ("grey" if name == "look" else Sky(**SKY))
    assert json.loads(chat.messages()[-1]["content"]) == SKY


def test_tools_with_nested_models_have_their_definitions():
    def look(sky: Sky, wind: Wind, other: List[Sky]) -> None:
        pass

    def twice(sky: Sky, other: type("Sky", (pydantic.BaseModel,), {
            "__annotations__": {"clouds": List[type("Cloud", (pydantic.BaseModel,), {
                "__annotations__": {"other": int}})]}})) -> None:
        pass

    parameters = described([look])[0]["function"]["parameters"]
    assert set(parameters["$defs"]) == {"Cloud", "Wind"}
    assert "$defs" not in parameters["properties"]["sky"]
    with pytest.raises(TypeError, match="two types have the name Cloud"):
        described([twice])


def test_tools_and_arguments_may_be_json(session):
    tools = json.dumps([{"type": "function", "function": {
        "name": "look", "parameters": Sky.model_json_schema()}}])
    chat = session.chat(template_text=TOOLS, tools=tools)
    reply = chat.ask("Look.", tool_choice="required", max_tokens=300)
    assert reply.tool_calls[0].arguments == SKY
    nested = [{"type": "function", "function": {"name": "look", "parameters": Sky}}]
    reply = session.chat(template_text=TOOLS, tools=nested).ask(
        "Look.", tool_choice='"required"', max_tokens=300)
    assert reply.tool_calls[0].arguments == SKY


def test_messages_may_be_objects_of_other_classes(session):
    class Said(pydantic.BaseModel):
        role: str
        content: str
        refusal: Optional[str] = None

    chat = session.chat(template_name="zephyr")
    chat.add([Said(role="user", content="a"),
              collections.UserDict(role="assistant", content="b")])
    chat.add(Said(role="user", content="c"))
    assert chat.messages() == [{"role": "user", "content": "a"},
                               {"role": "assistant", "content": "b"},
                               {"role": "user", "content": "c"}]


def test_errors_name_the_argument(session, model):
    chat = session.chat(template_name="zephyr")
    chat.add("a")
    within = []
    within.append(within)
    for bad in ({1, 2}, object(), complex(1), [b"x"], within, float("nan")):
        value = {"type": "json_schema", "json_schema": {"schema": {"const": bad}}}
        for name in ("response_format", "tool_choice"):
            with pytest.raises((TypeError, ValueError), match=f"^{name}: "):
                chat.answer(**{name: value})
        with pytest.raises((TypeError, ValueError), match="^schema: "):
            runcible.Grammar.json_schema(model, {"const": bad})
        with pytest.raises((TypeError, ValueError), match="^messages: "):
            chat.add({"role": "user", "content": bad})
        with pytest.raises((TypeError, ValueError), match="^tools: "):
            session.chat(template_text=TOOLS, tools=[{"function": bad}])
    with pytest.raises(errors.InvalidArgumentError, match="response_format.type"):
        chat.answer(response_format={"type": "xml"})
    assert chat.messages() == [{"role": "user", "content": "a"}]


def test_texts_are_json_already():
    assert json_text("[", "x") == "[" and option_text("auto", "tool_choice") == "auto"
    assert messages_text("a") == '"a"'
    assert schema_of({"type": "object"}) is None and schema_of(5) is None
