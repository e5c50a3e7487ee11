"""Renders conversations as the text that the model learns, by the chat template of its file, like transformers."""

from pathlib import Path
from typing import Any, Dict, List, Tuple

from transformers.utils.chat_template_utils import _compile_jinja_template

from conversations import Conversation

TEMPLATE = (Path(__file__).parent / "chatml.jinja").read_text()
_BEGIN = "<|im_start|>assistant\n"
_END = "<|im_end|>"
_template = _compile_jinja_template(TEMPLATE)


def text_of(messages: List[Dict[str, Any]], tools: List[Dict[str, Any]], answer: bool = False) -> str:
    return _template.render(messages=messages, tools=tools or None, add_generation_prompt=answer)


def render(conversation: Conversation) -> List[Tuple[str, bool]]:
    """Returns the parts of the text, and whether the assistant says them."""
    parts = []
    first, *rest = text_of(conversation.messages, conversation.tools).split(_BEGIN)
    parts.append((first, False))
    for text in rest:
        said, after = text.split(_END, 1)
        parts += [(_BEGIN, False), (said + _END, True), (after, False)]
    return [part for part in parts if part[0]]
