"""Conversations, by the plain functions of the headers."""

import gc
import json

import pytest

import runcible
from runcible import errors
from runcible import native as _native


@pytest.fixture
def session():
    model = runcible.Model("builtin:fable", runcible.Backend("cpu"))
    return model.session(context_length=256)


def options():
    made = _native.chat_options()
    made.set_template_name("zephyr")
    return made


def say(chat, **message):
    _native.chat_add(chat, json.dumps(message))


def answer(chat, tokens=8):
    """The text of an answer as it comes."""
    generation = _native.generate_options()
    generation.max_tokens = tokens
    generation.seed = 1
    request = _native.chat_answer(chat, generation)
    pieces = []
    while True:
        event = _native.chat_next(request, 60_000)
        assert event is not None
        if event[1] is None:  # the end
            return "".join(pieces)
        pieces.append(event[1])


def messages(chat):
    return json.loads(_native.chat_messages(chat))


def test_prompt():
    model = runcible.Model("builtin:fable", runcible.Backend("cpu"))
    made = options()
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


def test_conversation(session):
    chat = _native.chat_create(session._handle, options())
    say(chat, role="user", content="Tell me a fable.")
    text = answer(chat)
    said = [{"role": "user", "content": "Tell me a fable."},
            {"role": "assistant", "content": text}]
    assert text and messages(chat) == said
    fork = _native.chat_fork(chat)
    _native.chat_undo(chat, 1)
    assert messages(chat) == said[:1] and messages(fork) == said
    assert answer(chat) == text
    del chat
    gc.collect()
    say(fork, role="user", content="And then?")
    assert answer(fork)


def test_errors(session):
    with pytest.raises(errors.NotFoundError, match="tokenizer.chat_template"):
        _native.chat_create(session._handle, None)
    made = options()
    made.set_template_text("{% if %}")
    with pytest.raises(errors.FormatError, match="line 1"):
        _native.chat_create(session._handle, made)
    made.set_template_text(None)
    chat = _native.chat_create(session._handle, made)
    with pytest.raises(errors.InvalidArgumentError, match="byte 2"):
        _native.chat_add(chat, "[")
    with pytest.raises(errors.InvalidArgumentError, match="count: 1"):
        _native.chat_undo(chat, 1)


def test_no_growth(session):
    """Options, texts, messages and prompts are given back."""
    def rounds(count):
        for _ in range(count):
            made = options()
            for _ in range(3):
                made.set_tools("[]" + " " * 100_000)
            chat = _native.chat_create(session._handle, made)
            say(chat, role="user", content="x" * 100_000)
            assert len(messages(chat)) == 1

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    rounds(20)
    before = resident()
    rounds(200)
    assert resident() - before < 16_000_000
