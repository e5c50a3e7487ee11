"""Conversations, grammars and tools, besides the cases of all languages."""

import asyncio
import datetime
import gc
import json
from typing import Dict, List, Literal, Optional

import pytest

import runcible
from runcible import errors
from runcible import native as _native

TOOLS = (
    "{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n"
    '{"name": "{{ c.function.name }}", "arguments": '
    "{{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}\n"
    "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


def look(city: str, often: int = 1) -> Dict[str, str]:
    """Looks out of a window."""
    return {"sky": f"rain, {city} {often}"}


@pytest.fixture
def session(model):
    return model.session(context_length=256)


def test_prompt():
    """The plain functions of the headers make a prompt."""
    model = runcible.Model("builtin:fable", runcible.Backend("cpu"))
    made = _native.chat_options()
    made.set_template_name("zephyr")
    made.ending = _native.ENDING_MESSAGE
    prompt = _native.chat_render(
        model.tokenizer._handle, '[{"role": "user", "content": "é <|end|>"}]', made)
    assert _native.chat_prompt_text(prompt) == "<|user|>\né <|end|><|end|>\n"
    report = _native.chat_prompt_report()
    _native.chat_prompt_describe(prompt, report)
    tokens = [_native.chat_prompt_token(prompt, i) for i in range(report.token_count)]
    assert tokens.count(model.tokenizer.report.eos) == 1  # the template's
    assert _native.chat_prompt_token(prompt, report.token_count) == -1
    content = _native.chat_content_report()
    _native.chat_prompt_content(prompt, 0, content)
    assert (content.text_begin, content.text_end) == (9, 19)


def test_prompts_of_any_bytes():
    """A prompt with a NUL in it is returned as a whole."""
    model = runcible.Model("builtin:fable", runcible.Backend("cpu"))
    made = _native.chat_options()
    made.set_template_name("zephyr")
    made.ending = _native.ENDING_MESSAGE
    for content, text in (("a\\u0000b", "a\0b"), ("\\u0000", "\0"),
                          ("a\\u0000\\u0000", "a\0\0")):
        prompt = _native.chat_render(
            model.tokenizer._handle,
            '[{"role": "user", "content": "' + content + '"}]', made)
        assert _native.chat_prompt_text(prompt) == "<|user|>\n" + text + "<|end|>\n"


def test_conversation(session):
    chat = session.chat(template_name="zephyr")
    reply = chat.ask("Tell me a fable.", max_tokens=8, seed=1)
    said = [{"role": "user", "content": "Tell me a fable."},
            {"role": "assistant", "content": reply.text}]
    assert reply.text and chat.messages() == said
    fork = chat.fork()
    chat.undo()
    assert chat.messages() == said[:1] and fork.messages() == said
    answer = chat.answer(max_tokens=8, seed=1)
    parts = list(answer)
    assert "".join(parts) == reply.text
    assert sum(len(part.tokens) for part in parts) == answer.report.generated_tokens
    del chat, session
    gc.collect()
    assert fork.ask("And then?", max_tokens=4).text
    fork.close()
    with pytest.raises(errors.ClosedError):
        fork.messages()


def test_options(session):
    text = "{{ style }} {{ strftime_now('%Y-%m-%d') }} {{ enable_thinking }}"
    for now in ("2024-07-26", datetime.datetime(2024, 7, 26, 14, 5, 9, 7)):
        # Makes no answer, only its beginning.
        chat = session.chat(
            template_text=text, template_arguments={"style": "plain"},
            thinking=False, now=now,
        )
        chat.ask("?", max_tokens=0)
        prompt = session.model.detokenize(session.tokens, special=True)
        assert prompt.endswith("plain 2024-07-26 False")
        assert chat.messages() == [{"role": "user", "content": "?"}]
    for made in (runcible.Chat, runcible.Grammar):
        with pytest.raises(TypeError, match="is made by"):
            made()


def test_an_answer_that_is_left_ends(session):
    chat = session.chat(template_name="zephyr")
    chat.add("Tell me a fable.")
    for _ in chat.answer(ignore_eos=True):
        break
    said = chat.messages()[1:]  # the answer so far
    assert [each["role"] for each in said] == ["assistant"]
    # On a busy machine an answer may be complete before it is closed.
    for _ in range(100):
        answer = chat.answer(ignore_eos=True)
        next(answer)
        answer.close()
        if answer.report.reason == "cancelled":
            break
        assert answer.report.reason == "context"
        chat.undo()
    assert answer.report.reason == "cancelled"

    async def main():
        for _ in range(100):
            busy = False
            async with chat.stream(ignore_eos=True) as stream:
                await stream.__anext__()
                try:
                    _native.chat_messages(chat._handle)
                except errors.BusyError:
                    busy = True
            if stream.report.reason == "cancelled":
                break
            assert stream.report.reason == "context"
            chat.undo()
        assert stream.report.reason == "cancelled" and busy
        return await chat.aask("And then?", max_tokens=3, ignore_eos=True)

    assert asyncio.run(main()).report.reason == "length"


def test_functions_are_tools(model, session):
    chat = session.chat(tools=[look], template_text=TOOLS)
    said = '<tool_call>\n{"name": "look", "arguments": {"city": "Oslo"}}\n</tool_call>'
    reply = chat.ask("Look.", grammar=runcible.Grammar.choices(model, [said]))
    assert reply.report.reason == "tool calls" and reply.text == ""
    (call,) = reply.tool_calls
    assert call == runcible.ToolCall(call.id, "look", {"city": "Oslo"})
    assert chat.call(call) == {"sky": "rain, Oslo 1"}
    assert chat.messages()[-1] == {
        "role": "tool", "tool_call_id": call.id,
        "content": '{"sky": "rain, Oslo 1"}',
    }
    with pytest.raises(errors.NotFoundError, match="'jump'"):
        chat.call(runcible.ToolCall("1", "jump", {}))


def test_schemas_of_functions():
    def find(
        kind: Literal["fox", "crow"],
        names: List[str],
        at: Optional[float] = None,
        rest=None,
    ):
        pass

    assert runcible.tool_of(find) == {
        "type": "function",
        "function": {
            "name": "find",
            "parameters": {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["fox", "crow"]},
                    "names": {"type": "array", "items": {"type": "string"}},
                    "at": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                    "rest": {},
                },
                "required": ["kind", "names"],
            },
        },
    }
    made = runcible.tool_of(look)["function"]
    assert made["description"] == "Looks out of a window."

    def bad(what: object):
        pass

    with pytest.raises(TypeError, match="bad: what: JSON has nothing for"):
        runcible.tool_of(bad)
    with pytest.raises(TypeError, match="has no name"):
        runcible.tool_of(lambda *all: None)


def test_schemas(model, session):
    class Animal:  # like a pydantic class
        @staticmethod
        def model_json_schema():
            return {"const": {"name": "Fox"}}

    for schema in (Animal, Animal.model_json_schema(), '{"const": {"name": "Fox"}}'):
        grammar = runcible.Grammar.json_schema(model.tokenizer, schema)
        text = "".join(session.generate("Who?", grammar=grammar))
        assert json.loads(text) == {"name": "Fox"}
    with pytest.raises(TypeError, match="one text"):
        runcible.Grammar.choices(model, "ab")
    with pytest.raises(TypeError, match="Tokenizer or a Model"):
        runcible.Grammar.regex(session, "a")
    with pytest.raises(TypeError, match="grammar must be a Grammar"):
        session.generate("A", grammar="a")


def test_memory_does_not_grow(session):
    """Options, texts, messages, choices and prompts are freed."""
    def rounds(count):
        for _ in range(count):
            made = _native.chat_options()
            for _ in range(3):
                made.set_tools("[]" + " " * 100_000)
            texts = _native.text_list()
            texts.add("x" * 100_000)
            chat = session.chat(template_name="zephyr")
            chat.add("x" * 100_000)
            assert len(chat.messages()) == 1

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    rounds(20)
    # A leak grows each time; the allocator grows by leaps, and for longer if there
    # are many threads.
    grown = []
    while len(grown) < 16 and (not grown or grown[-1] >= 4 << 20):
        before = resident()
        rounds(60)
        grown.append(resident() - before)
    assert grown[-1] < 4 << 20, grown
